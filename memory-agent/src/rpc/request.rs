//! Parses JSON-RPC requests.

use memory_core::{AgentName, MAX_INPUT_SIZE, Scope, View};
use serde_json::{Map, Value};

use super::{MessageIdScanner, RpcError};
use crate::exact_json;

/// Maximum number of requests in one list.
pub const MOST: usize = 1_000;

/// Maximum length of a line, in bytes.
///
/// A line may contain the largest memory. A bank value has at most 1 MiB, and a client may write each byte as `\u00e9`.
pub const LONGEST_LINE: usize = MAX_INPUT_SIZE;

/// A parsed line.
#[derive(Debug, Clone, PartialEq)]
pub enum RpcLine {
    /// A blank line.
    Blank,
    /// A single request.
    One(RpcRequest),
    /// A list of requests.
    Batch(Vec<RpcRequest>),
}

/// A JSON-RPC request.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcRequest {
    /// The `id` of the request, unchanged; `None` if no response is wanted.
    pub id: Option<Value>,
    /// The requested method, or the reason why the request is invalid.
    pub ask: Result<RpcMethod, RpcError>,
}

/// The methods, with their parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum RpcMethod {
    /// Checks that the server responds.
    Ping,
    /// Lists the tools.
    Tools {
        /// Whether tools that are not listed are included.
        all: bool,
    },
    /// Calls a tool.
    Call {
        /// The name of the tool.
        tool: String,
        /// The parameters of the tool.
        parameters: Value,
    },
    /// Sets the agent and project of all later requests.
    Open(View),
    /// Embeds texts with the embedding model of this process.
    Embed(Vec<String>),
    /// Serves the web page and issues a code to sign in.
    OpenPage {
        /// The port, if the page is not served yet.
        port: Option<u16>,
    },
}

/// Maximum number of texts in an `parse_embed` request.
const MAX_TEXTS: usize = 8;

/// Parses a line without its line break.
pub fn parse_line(line: &[u8]) -> RpcLine {
    if line.iter().all(u8::is_ascii_whitespace) {
        return RpcLine::Blank;
    }
    match exact_json::from_slice(line) {
        Err(error) => RpcLine::One(RpcRequest {
            id: Some(MessageIdScanner::find_id(line).unwrap_or_default()),
            ask: Err(RpcError::not_json(&error)),
        }),
        Ok(Value::Array(items)) if items.is_empty() => RpcLine::One(RpcRequest::invalid(
            RpcError::invalid_request("the list is empty"),
        )),
        Ok(Value::Array(items)) if MOST < items.len() => {
            let why = format!(
                "a list may have at most {MOST} requests; this one has {}",
                items.len()
            );
            RpcLine::One(RpcRequest::invalid(RpcError::invalid_request(why)))
        }
        Ok(Value::Array(items)) => RpcLine::Batch(items.into_iter().map(parse_request).collect()),
        Ok(other) => RpcLine::One(parse_request(other)),
    }
}

impl RpcRequest {
    fn invalid(fault: RpcError) -> Self {
        Self {
            id: Some(Value::Null),
            ask: Err(fault),
        }
    }
}

fn parse_request(value: Value) -> RpcRequest {
    let Value::Object(mut members) = value else {
        return RpcRequest::invalid(RpcError::invalid_request("the request is not an object"));
    };
    let id = members.remove("id");
    if matches!(
        id,
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_))
    ) {
        return RpcRequest::invalid(RpcError::invalid_request(
            "id: not a string, number or null",
        ));
    }
    let ask = parse_method(&mut members);
    // An invalid request may not be a notification, so it always gets a response.
    let is_request = members
        .remove("method")
        .is_some_and(|method| method.is_string());
    RpcRequest {
        id: if is_request {
            id
        } else {
            Some(id.unwrap_or_default())
        },
        ask,
    }
}

fn parse_method(members: &mut Map<String, Value>) -> Result<RpcMethod, RpcError> {
    if members
        .get("jsonrpc")
        .is_some_and(|version| version != "2.0")
    {
        return Err(RpcError::invalid_request(
            "jsonrpc: must be \"2.0\" if present",
        ));
    }
    let parameters = members.remove("params");
    let method = match members.get("method") {
        Some(Value::String(method)) => method,
        Some(_) => return Err(RpcError::invalid_request("method: not a string")),
        None => return Err(RpcError::invalid_request("method: missing")),
    };
    let mut parameters = match parameters {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(parameters)) => parameters,
        Some(_) => return Err(RpcError::invalid_parameters("params: not an object")),
    };
    match method.as_str() {
        "ping" => reject_unknown_fields(&parameters).map(|()| RpcMethod::Ping),
        "tools/list" => {
            let all = match parameters.remove("all") {
                None | Some(Value::Null) => false,
                Some(Value::Bool(all)) => all,
                Some(_) => return Err(RpcError::invalid_parameters("all: neither true nor false")),
            };
            reject_unknown_fields(&parameters).map(|()| RpcMethod::Tools { all })
        }
        "tools/call" => parse_call(parameters),
        "session/open" => parse_open(parameters),
        "embed" => parse_embed(parameters),
        "ui/open" => {
            let port = match parameters.remove("port") {
                None | Some(Value::Null) => None,
                Some(port) => {
                    let port = port.as_u64().and_then(|port| u16::try_from(port).ok());
                    Some(port.ok_or_else(|| {
                        RpcError::invalid_parameters("port: not a number from 0 to 65535")
                    })?)
                }
            };
            reject_unknown_fields(&parameters).map(|()| RpcMethod::OpenPage { port })
        }
        tool if tool.contains('/') => Err(RpcError::method_not_found(tool)),
        tool => Ok(RpcMethod::Call {
            tool: tool.to_owned(),
            parameters: Value::Object(parameters),
        }),
    }
}

fn parse_call(mut parameters: Map<String, Value>) -> Result<RpcMethod, RpcError> {
    let tool = take_text(&mut parameters, "name")?
        .ok_or_else(|| RpcError::invalid_parameters("name: missing"))?;
    let own = match (parameters.remove("params"), parameters.remove("arguments")) {
        (Some(_), Some(_)) => {
            return Err(RpcError::invalid_parameters(
                "params, arguments: aliases; send only one of them",
            ));
        }
        (own, None) | (None, own) => own,
    };
    reject_unknown_fields(&parameters)?;
    let own = own
        .filter(|own| !own.is_null())
        .unwrap_or_else(|| Value::Object(Map::new()));
    Ok(RpcMethod::Call {
        tool,
        parameters: own,
    })
}

fn parse_open(mut parameters: Map<String, Value>) -> Result<RpcMethod, RpcError> {
    let agent = take_text(&mut parameters, "agent")?
        .map(|agent| agent.parse::<AgentName>())
        .transpose();
    let agent = agent.map_err(|error| RpcError::invalid_parameters(format!("agent: {error}")))?;
    let project = take_text(&mut parameters, "project")?.map(|project| {
        match format!("project:{project}").parse() {
            Ok(Scope::Project(name)) => Ok(name),
            _ => Err(RpcError::invalid_parameters(
                "project: not a name without control characters",
            )),
        }
    });
    let project = project.transpose()?;
    reject_unknown_fields(&parameters).map(|()| {
        RpcMethod::Open(View {
            agent,
            project,
            ..View::default()
        })
    })
}

fn parse_embed(mut parameters: Map<String, Value>) -> Result<RpcMethod, RpcError> {
    let wrong = || {
        RpcError::invalid_parameters(format!("texts: not a list of at most {MAX_TEXTS} strings"))
    };
    let texts = parameters
        .remove("texts")
        .filter(|texts| !exact_json::contains_marked_number(texts));
    let Some(Value::Array(texts)) = texts else {
        return Err(wrong());
    };
    let texts: Option<Vec<String>> = texts
        .into_iter()
        .map(|text| text.as_str().map(str::to_owned))
        .collect();
    let texts = texts
        .filter(|texts| texts.len() <= MAX_TEXTS)
        .ok_or_else(wrong)?;
    reject_unknown_fields(&parameters).map(|()| RpcMethod::Embed(texts))
}

fn take_text(parameters: &mut Map<String, Value>, name: &str) -> Result<Option<String>, RpcError> {
    match parameters.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) if exact_json::contains_marked_number(&value) => Err(
            RpcError::invalid_parameters(format!("{name}: not a string")),
        ),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(RpcError::invalid_parameters(format!(
            "{name}: not a string"
        ))),
    }
}

fn reject_unknown_fields(parameters: &Map<String, Value>) -> Result<(), RpcError> {
    match parameters.keys().next() {
        None => Ok(()),
        Some(name) => Err(RpcError::invalid_parameters(format!(
            "unknown field {}",
            memory_core::text::to_one_line(name, 80)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_comes_back_as_it_came() {
        for id in [
            "1",
            "-7",
            "1.5",
            "18446744073709551615",
            "-9223372036854775808",
            "\"18446744073709551616\"",
            "18446744073709551616",
            "-9223372036854775809",
            "1e400",
            "null",
        ] {
            let RpcLine::One(RpcRequest {
                id: Some(read),
                ask,
            }) = parse_line(format!("{{\"id\":{id},\"method\":\"ping\"}}").as_bytes())
            else {
                panic!("{id}");
            };
            assert_eq!(
                (exact_json::to_text(&read).as_str(), ask),
                (id, Ok(RpcMethod::Ping))
            );
        }
    }

    #[test]
    fn a_line_that_is_no_json_keeps_its_id() {
        for (line, id) in [
            (
                r#"{"id":7,"method":"memory_write","params":{"content":}}"#,
                "7",
            ),
            (r#"{"method":"ping","params":{"a":1,},"id":"b"}"#, "\"b\""),
            (r#"{"id":7,"method":"ping""#, "7"),
            (r#"{"params":{"id":7}"#, "null"),
            (r#"[{"id":7,"method":"ping"},]"#, "null"),
        ] {
            let RpcLine::One(request) = parse_line(line.as_bytes()) else {
                panic!("{line}");
            };
            assert_eq!(request.id.map(|id| id.to_string()).as_deref(), Some(id));
            assert!(request.ask.is_err(), "{line}");
        }
        let bytes = b"{\"id\":7,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}";
        let RpcLine::One(request) = parse_line(bytes) else {
            panic!("one request");
        };
        assert_eq!(request.id, Some(7.into()));
    }
}
