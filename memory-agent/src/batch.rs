//! Parses and runs tool calls that are given as JSON on standard input.

use memory_core::{Code, ToolError};
use serde_json::{Map, Value, json};

use crate::agent::Session;
use crate::json;

/// Hint that lists the accepted forms of a request.
pub const FORMS: &str = "send one call {\"name\": TOOL, \"params\": {…}}, a list of calls, or {\"prompt\": TEXT} for a context";

/// A request of the `batch` input, as one JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchRequest {
    /// `[{"name", "params"}, …]`: several calls, with one result each, in order.
    Calls(Vec<Value>),
    /// `{"name", "params"}`: one call.
    Call(Value),
    /// `{"jsonrpc"?, "id"?, "method", "params"?}`, or a list of these: JSON-RPC, see [`crate::rpc`].
    Rpc(Value),
    /// `{"prompt", "budget"?, "calls"?}`: the remembered context for a prompt, followed by calls.
    Prompt {
        /// The prompt.
        prompt: String,
        /// Maximum number of tokens of the context, if given.
        budget: Option<usize>,
        /// The calls.
        calls: Vec<Value>,
    },
}

impl BatchRequest {
    /// Parses a request.
    ///
    /// # Errors
    /// If `value` has no accepted form; the error gives the reason.
    pub fn parse(value: Value) -> Result<Self, ToolError> {
        let is_rpc = |value: &Value| {
            let has = |key: &str| value.get(key).is_some();
            has("jsonrpc") || (has("method") && !has("name") && !has("prompt"))
        };
        match value {
            Value::Array(requests) if requests.first().is_some_and(is_rpc) => {
                Ok(Self::Rpc(Value::Array(requests)))
            }
            request if is_rpc(&request) => Ok(Self::Rpc(request)),
            Value::Array(calls) => Ok(Self::Calls(calls)),
            Value::Object(mut wish) if wish.contains_key("prompt") => {
                let Some(Value::String(prompt)) = wish.remove("prompt") else {
                    return Err(invalid("prompt is not a string"));
                };
                let budget = match wish.remove("budget") {
                    None | Some(Value::Null) => None,
                    Some(budget) => {
                        let budget = budget
                            .as_u64()
                            .and_then(|budget| usize::try_from(budget).ok());
                        Some(budget.ok_or_else(|| invalid("budget is not a number of tokens"))?)
                    }
                };
                let calls = match wish.remove("calls") {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::Array(calls)) => calls,
                    Some(_) => return Err(invalid("calls is not a list")),
                };
                reject_unknown_fields(&wish)?;
                Ok(Self::Prompt {
                    prompt,
                    budget,
                    calls,
                })
            }
            call @ Value::Object(_) => Ok(Self::Call(call)),
            _ => Err(invalid(
                "the input is neither a list of calls, nor a call, nor {\"prompt\": …}",
            )),
        }
    }
}

/// Runs one call; returns its response and whether it succeeded.
///
/// The response is `{id?, name, result}` or `{id?, name, error: {code, message, hint?}}`.
pub fn run_call(session: &Session, call: Value) -> (Value, bool) {
    let mut shape = Map::new();
    let done = match call {
        Value::Object(call) => parse_call(call, &mut shape)
            .and_then(|(name, parameters)| session.call(&name, parameters)),
        _ => Err(invalid(
            "a call is an object: {\"name\": …, \"params\": {…}}",
        )),
    };
    let is_done = done.is_ok();
    match done {
        Ok(result) => drop(shape.insert("result".into(), result)),
        Err(error) => {
            let told = json::tool_error(&error);
            shape.extend(
                told.as_object()
                    .into_iter()
                    .flatten()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
        }
    }
    (Value::Object(shape), is_done)
}

fn parse_call(
    mut call: Map<String, Value>,
    shape: &mut Map<String, Value>,
) -> Result<(String, Value), ToolError> {
    if let Some(id) = call.remove("id") {
        shape.insert("id".into(), id);
    }
    let Some(Value::String(name)) = call.remove("name") else {
        return Err(invalid("name is missing or is not a string"));
    };
    shape.insert("name".into(), name.as_str().into());
    let given: Vec<Value> = ["params", "arguments", "parameters"]
        .iter()
        .filter_map(|key| call.remove(*key))
        .collect();
    reject_unknown_fields(&call)?;
    match given.as_slice() {
        [] | [Value::Null] => Ok((name, json!({}))),
        [parameters] => Ok((name, parameters.clone())),
        _ => Err(invalid(
            "params, arguments and parameters are aliases; send only one of them",
        )),
    }
}

fn reject_unknown_fields(rest: &Map<String, Value>) -> Result<(), ToolError> {
    match rest.keys().next() {
        Some(key) => Err(invalid(&format!(
            "unknown field {}",
            memory_core::text::to_one_line(key, 80)
        ))),
        None => Ok(()),
    }
}

fn invalid(message: &str) -> ToolError {
    ToolError::new(Code::InvalidInput, message, Some(FORMS.into()))
}
