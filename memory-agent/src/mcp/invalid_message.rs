//! Completes or rejects messages that the SDK would mishandle: lost ids, rounded numbers and parts of a handshake.

use rmcp::model::{ClientCapabilities, Implementation, ProtocolVersion};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::exact_json;

/// JSON-RPC error code of an invalid request.
pub(super) const INVALID_REQUEST: i32 = -32600;

/// Returns the error response to a message that must not reach the SDK.
///
/// A number that would be rounded is a marked string within a message ([`exact`]). The arguments of a tool are
/// validated against its schema; in all other fields such a number is rejected here.
pub(super) fn check_message(message: &Map<String, Value>) -> Option<Value> {
    let id = message.get("id");
    let refused = |why: &str| {
        Some(error_response(
            id.unwrap_or(&Value::Null),
            INVALID_REQUEST,
            why,
        ))
    };
    if let Some(field) = field_of_long_number(message) {
        return refused(&format!(
            "{field}: numbers of this precision are only accepted in the arguments of a tool"
        ));
    }
    let is_response = message.contains_key("result") || message.contains_key("error");
    let method = message.get("method");
    if is_response && method.is_none() {
        return None;
    }
    let Some(id) = id else {
        return match method {
            Some(Value::String(_)) => None,
            Some(_) => refused("method: not a string"),
            None => refused("method: missing"),
        };
    };
    // The SDK would answer without the id.
    if !id.is_string() && id.as_i64().is_none() {
        return refused("id: not a string or an integer of 64 bits");
    }
    match method {
        Some(Value::String(method)) if method.is_empty() => return refused("method: empty"),
        Some(Value::String(_)) => {}
        Some(_) => return refused("method: not a string"),
        None => return refused("method: missing"),
    }
    if message
        .get("jsonrpc")
        .is_none_or(|version| version != "2.0")
    {
        return refused("jsonrpc: must be \"2.0\"");
    }
    if message
        .get("params")
        .is_some_and(|parameters| !parameters.is_object() && !parameters.is_null())
    {
        return refused("params: not an object");
    }
    let arguments = call_arguments(message);
    if arguments.is_some_and(|own| !own.is_object() && !own.is_null() && decode(own).is_none()) {
        return refused("params.arguments: neither an object nor the JSON text of one");
    }
    let handshake = handshake_parameters(message)?;
    let why = type_error::<ClientCapabilities>(&handshake, "capabilities")
        .or_else(|| type_error::<Implementation>(&handshake, "clientInfo"))?;
    refused(&why)
}

/// Returns the message in the form that the SDK expects, if it has another one that is as clear.
///
/// The arguments of a tool can be the JSON text of an object, as some models send them, and parameters of `initialize` can be
/// missing.
pub(super) fn complete_message(message: &Map<String, Value>) -> Option<String> {
    let decoded = || {
        let arguments = decode(call_arguments(message)?)?;
        let mut parameters = message.get("params")?.as_object()?.clone();
        parameters.insert("arguments".to_owned(), Value::Object(arguments));
        Some(parameters)
    };
    let parameters = handshake_parameters(message).or_else(decoded)?;
    let mut message = message.clone();
    message.insert("params".to_owned(), Value::Object(parameters));
    Some(exact_json::to_text(&Value::Object(message)))
}

/// Returns the parameters of `initialize` with a default for each that is missing, and the latest version of the handshake for one
/// that is not a string.
fn handshake_parameters(message: &Map<String, Value>) -> Option<Map<String, Value>> {
    let method = message.get("method")?;
    if method != "initialize" || names_own_version(message) {
        return None;
    }
    let own = message.get("params").and_then(Value::as_object).cloned();
    let mut own = own.unwrap_or_default();
    if !own.get("protocolVersion").is_some_and(Value::is_string) {
        let latest = ProtocolVersion::LATEST_WITH_INITIALIZE;
        own.insert("protocolVersion".to_owned(), json!(latest));
    }
    set_default(&mut own, "capabilities", json!({}));
    set_default(&mut own, "clientInfo", json!({}));
    if let Some(client) = own.get_mut("clientInfo").and_then(Value::as_object_mut) {
        set_default(client, "name", json!("unknown"));
        set_default(client, "version", json!("unknown"));
    }
    Some(own)
}

/// Returns whether the metadata of a request names its version of the protocol, so that it needs no handshake.
pub(super) fn names_own_version(message: &Map<String, Value>) -> bool {
    let metadata = message.get("params").and_then(|own| own.get("_meta"));
    metadata.is_some_and(|own| own.get("io.modelcontextprotocol/protocolVersion").is_some())
}

/// Sets a field that is missing or null.
fn set_default(fields: &mut Map<String, Value>, name: &str, value: Value) {
    let field = fields.entry(name).or_insert(Value::Null);
    if field.is_null() {
        *field = value;
    }
}

/// Returns why a field of the parameters does not have the type `T`.
fn type_error<T: for<'de> Deserialize<'de>>(
    parameters: &Map<String, Value>,
    name: &str,
) -> Option<String> {
    let error = T::deserialize(parameters.get(name)?).err()?;
    Some(format!("params.{name}: {error}"))
}

/// Returns the arguments in a call of a tool.
fn call_arguments(message: &Map<String, Value>) -> Option<&Value> {
    let is_call = message
        .get("method")
        .is_some_and(|method| method == "tools/call");
    message.get("params")?.get("arguments").filter(|_| is_call)
}

/// Returns the object in a JSON text; a blank text is an empty one.
fn decode(arguments: &Value) -> Option<Map<String, Value>> {
    let text = arguments.as_str()?;
    if text.trim().is_empty() {
        return Some(Map::new());
    }
    match exact_json::from_slice(text.as_bytes()) {
        Ok(Value::Object(arguments)) => Some(arguments),
        _ => None,
    }
}

/// Builds a JSON-RPC error response.
pub(super) fn error_response(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

fn field_of_long_number(message: &Map<String, Value>) -> Option<String> {
    let parameters = message.get("params").and_then(Value::as_object);
    let of_message = message
        .iter()
        .filter(|(name, _)| *name != "id" && (*name != "params" || parameters.is_none()));
    let of_parameters = parameters
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "arguments");
    let fields = of_message.map(|(name, value)| (name.clone(), value));
    let mut fields =
        fields.chain(of_parameters.map(|(name, value)| (format!("params.{name}"), value)));
    fields
        .find(|(_, value)| exact_json::contains_marked_number(value))
        .map(|(field, _)| field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str) -> Option<String> {
        let Ok(Value::Object(message)) = exact_json::from_slice(message.as_bytes()) else {
            panic!("{message}")
        };
        check_message(&message).map(|answer| exact_json::to_text(&answer))
    }

    #[test]
    fn a_long_number_is_refused_outside_of_the_arguments_and_answered_with_the_id() {
        for (message, expected) in [
            (
                r#"{"id":7,"method":"tools/call","params":1e400}"#,
                r#""id":7"#,
            ),
            (r#"{"id":"a","method":1e400}"#, r#""id":"a""#),
            (
                r#"{"id":1e400,"method":"tools/call","params":{"name":1e400,"arguments":{}}}"#,
                r#""id":1e400"#,
            ),
            (
                r#"{"id":7,"method":"initialize","params":{"clientInfo":{"name":12345678901234567890123}}}"#,
                "params.clientInfo: ",
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":5}"#,
                "params: not an object",
            ),
            (r#"{"id":7,"method":5}"#, "method: not a string"),
            (r#"{"id":7,"methods":"ping"}"#, "method: missing"),
            (r#"{"id":7,"method":"ping"}"#, r#"jsonrpc: must be \"2.0\""#),
            (
                r"{}",
                r#""id":null,"error":{"code":-32600,"message":"method: missing""#,
            ),
            (r#"{"method":7}"#, r#""id":null"#),
            (r#"{"id":7.5,"method":"ping"}"#, r#""id":7.5"#),
            (r#"{"id":null,"method":"ping"}"#, "id: not a string"),
            (r#"{"id":{},"method":"ping"}"#, "id: not a string"),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":""}"#,
                r#""id":7,"error":{"code":-32600,"message":"method: empty""#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"capabilities":5}}"#,
                "params.capabilities: invalid type",
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"clientInfo":{"name":5}}}"#,
                "params.clientInfo: invalid type",
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":[1]}}"#,
                "params.arguments: neither",
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":"tea"}}"#,
                "params.arguments: neither",
            ),
        ] {
            let answer = refused(message).unwrap_or_else(|| panic!("{message}"));
            assert!(answer.contains(expected), "{answer}");
            assert!(
                exact_json::from_slice(answer.as_bytes()).is_ok(),
                "{answer}"
            );
        }
    }

    #[test]
    fn arguments_as_json_text_become_an_object_with_every_digit() {
        let decoded = |arguments: &str| {
            let message = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{arguments}}}}}"#
            );
            let Ok(Value::Object(message)) = exact_json::from_slice(message.as_bytes()) else {
                panic!("{arguments}")
            };
            assert_eq!(check_message(&message), None, "{arguments}");
            complete_message(&message)
        };
        let text = decoded(r#""{\"value\":12345678901234567890123,\"list\":[\"键\"]}""#);
        let expected = r#""arguments":{"value":12345678901234567890123,"list":["键"]}"#;
        assert!(
            text.as_ref().is_some_and(|text| text.contains(expected)),
            "{text:?}"
        );
        assert!(decoded(r#"" ""#).is_some_and(|text| text.contains(r#""arguments":{}"#)));
        assert_eq!(decoded(r#"{"content":"{}"}"#), None);
        assert_eq!(decoded("null"), None);
    }

    #[test]
    fn the_arguments_of_a_tool_and_the_id_may_hold_any_number() {
        for message in [
            r#"{"jsonrpc":"2.0","id":1e400,"method":"tools/call","params":{"name":"bank_write","arguments":{"value":1e400}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"id":1,"result":{"a":[5]}}"#,
            r#"{"method":"notifications/initialized","params":null}"#,
        ] {
            assert_eq!(refused(message), None);
        }
    }
}
