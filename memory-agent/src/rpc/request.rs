//! Parses JSON-RPC requests.

use memory_core::{AgentName, Scope, View};
use serde_json::{Map, Number, Value};

use super::Fault;
use crate::exact;

/// Maximum number of requests in one list.
pub const MOST: usize = 1_000;

/// A parsed line.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// A blank line.
    Blank,
    /// A single request.
    One(Request),
    /// A list of requests.
    Batch(Vec<Request>),
}

/// A JSON-RPC request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The `id` of the request, unchanged; `None` if no response is wanted.
    pub id: Option<Value>,
    /// The requested method, or the reason why the request is invalid.
    pub ask: Result<Ask, Fault>,
}

/// The methods, with their parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
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
}

/// Maximum number of texts in an `embed` request.
const MOST_TEXTS: usize = 8;

/// Parses a line without its line break.
pub fn read(line: &[u8]) -> Line {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Line::Blank;
    }
    match exact::from_slice(line) {
        Err(error) => Line::One(Request::refused(Fault::not_json(&error))),
        Ok(Value::Array(items)) if items.is_empty() => Line::One(Request::refused(Fault::no_request("the list is empty"))),
        Ok(Value::Array(items)) if MOST < items.len() => {
            let why = format!("a list may have at most {MOST} requests; this one has {}", items.len());
            Line::One(Request::refused(Fault::no_request(why)))
        }
        Ok(Value::Array(items)) => Line::Batch(items.into_iter().map(request).collect()),
        Ok(other) => Line::One(request(other)),
    }
}

impl Request {
    fn refused(fault: Fault) -> Self {
        Self { id: Some(Value::Null), ask: Err(fault) }
    }
}

fn request(value: Value) -> Request {
    let Value::Object(mut members) = value else {
        return Request::refused(Fault::no_request("the request is not an object"));
    };
    let id = members.remove("id");
    if matches!(id, Some(Value::Bool(_) | Value::Array(_) | Value::Object(_))) {
        return Request::refused(Fault::no_request("id: not a string, number or null"));
    }
    // The client could not match the response to its request, because the number would be rounded.
    if id.as_ref().is_some_and(|id| exact::as_number(id).is_some() || id.as_number().is_some_and(is_rounded)) {
        return Request::refused(Fault::no_request("id: a number of this precision cannot be returned unchanged; use a string"));
    }
    let ask = ask(&mut members);
    // An invalid request may not be a notification, so it always gets a response.
    let is_request = members.remove("method").is_some_and(|method| method.is_string());
    Request { id: if is_request { id } else { Some(id.unwrap_or_default()) }, ask }
}

/// Returns whether a number may differ from the number in the text.
fn is_rounded(number: &Number) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.is_f64() && number.as_f64().is_none_or(|number| EXACT <= number.abs())
}

fn ask(members: &mut Map<String, Value>) -> Result<Ask, Fault> {
    if members.get("jsonrpc").is_some_and(|version| version != "2.0") {
        return Err(Fault::no_request("jsonrpc: must be \"2.0\" if present"));
    }
    let parameters = members.remove("params");
    let method = match members.get("method") {
        Some(Value::String(method)) => method,
        Some(_) => return Err(Fault::no_request("method: not a string")),
        None => return Err(Fault::no_request("method: missing")),
    };
    let mut parameters = match parameters {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(parameters)) => parameters,
        Some(_) => return Err(Fault::parameters("params: not an object")),
    };
    match method.as_str() {
        "ping" => none_left(&parameters).map(|()| Ask::Ping),
        "tools/list" => {
            let all = match parameters.remove("all") {
                None | Some(Value::Null) => false,
                Some(Value::Bool(all)) => all,
                Some(_) => return Err(Fault::parameters("all: neither true nor false")),
            };
            none_left(&parameters).map(|()| Ask::Tools { all })
        }
        "tools/call" => call(parameters),
        "session/open" => open(parameters),
        "embed" => embed(parameters),
        tool if tool.contains('/') => Err(Fault::no_method(tool)),
        tool => Ok(Ask::Call { tool: tool.to_owned(), parameters: Value::Object(parameters) }),
    }
}

fn call(mut parameters: Map<String, Value>) -> Result<Ask, Fault> {
    let tool = text(&mut parameters, "name")?.ok_or_else(|| Fault::parameters("name: missing"))?;
    let own = match (parameters.remove("params"), parameters.remove("arguments")) {
        (Some(_), Some(_)) => return Err(Fault::parameters("params, arguments: aliases; send only one of them")),
        (own, None) | (None, own) => own,
    };
    none_left(&parameters)?;
    let own = own.filter(|own| !own.is_null()).unwrap_or_else(|| Value::Object(Map::new()));
    Ok(Ask::Call { tool, parameters: own })
}

fn open(mut parameters: Map<String, Value>) -> Result<Ask, Fault> {
    let agent = text(&mut parameters, "agent")?.map(|agent| agent.parse::<AgentName>()).transpose();
    let agent = agent.map_err(|error| Fault::parameters(format!("agent: {error}")))?;
    let project = text(&mut parameters, "project")?.map(|project| match format!("project:{project}").parse() {
        Ok(Scope::Project(name)) => Ok(name),
        _ => Err(Fault::parameters("project: not a name without control characters")),
    });
    let project = project.transpose()?;
    none_left(&parameters).map(|()| Ask::Open(View { agent, project }))
}

fn embed(mut parameters: Map<String, Value>) -> Result<Ask, Fault> {
    let wrong = || Fault::parameters(format!("texts: not a list of at most {MOST_TEXTS} strings"));
    let texts = parameters.remove("texts").filter(|texts| !exact::holds_number(texts));
    let Some(Value::Array(texts)) = texts else { return Err(wrong()) };
    let texts: Option<Vec<String>> = texts.into_iter().map(|text| text.as_str().map(str::to_owned)).collect();
    let texts = texts.filter(|texts| texts.len() <= MOST_TEXTS).ok_or_else(wrong)?;
    none_left(&parameters).map(|()| Ask::Embed(texts))
}

fn text(parameters: &mut Map<String, Value>, name: &str) -> Result<Option<String>, Fault> {
    match parameters.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) if exact::holds_number(&value) => Err(Fault::parameters(format!("{name}: not a string"))),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Fault::parameters(format!("{name}: not a string"))),
    }
}

fn none_left(parameters: &Map<String, Value>) -> Result<(), Fault> {
    match parameters.keys().next() {
        None => Ok(()),
        Some(name) => Err(Fault::parameters(format!("unknown field {}", memory_core::text::one_line(name, 80)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_comes_back_as_it_came_or_is_refused() {
        for id in ["1", "-7", "1.5", "18446744073709551615", "-9223372036854775808", "\"18446744073709551616\"", "null"] {
            let Line::One(Request { id: Some(read), ask }) = read(format!("{{\"id\":{id},\"method\":\"ping\"}}").as_bytes())
            else {
                panic!("{id}");
            };
            assert_eq!((read.to_string().as_str(), ask), (id, Ok(Ask::Ping)));
        }
        for id in ["18446744073709551616", "-9223372036854775809", "1e300"] {
            let Line::One(request) = read(format!("{{\"id\":{id},\"method\":\"ping\"}}").as_bytes()) else { panic!("{id}") };
            assert!(request.id == Some(Value::Null) && request.ask.is_err(), "{id}");
        }
    }
}
