//! Fuzzes MCP clients, with or without a handshake.
//!
//! Every response is JSON, and there are no more responses than requests. The id of a line that is too long to be parsed is
//! the id that a parser finds.

use memory_agent::mcp::ClientIdentity;
use memory_agent::testing::{mcp_answers, request_id_of_long_line};
use serde_json::Value;

use crate::fixtures::agent;

const HANDSHAKE: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

/// Sends the lines of an MCP client, with a handshake if the first byte says so.
pub fn mcp(bytes: &[u8]) {
    let Some((first, said)) = bytes.split_first() else {
        return;
    };
    said.split(|byte| *byte == b'\n').for_each(check_request_id);
    let agent = agent();
    let input = if first % 4 == 0 {
        said.to_vec()
    } else {
        [HANDSHAKE, said].concat()
    };
    let lines = input
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .count();
    // An input that violates the protocol ends with an error, which is a valid result.
    let Ok(answers) = mcp_answers(&agent, &ClientIdentity::default(), input) else {
        return;
    };
    let answers: Vec<Value> = answers
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("JSON"))
        .collect();
    let told = answers
        .iter()
        .filter(|answer| answer.get("id").is_some() && answer.get("method").is_none())
        .count();
    assert!(told <= lines, "{told} answers to {lines} lines");
    assert!(answers.iter().all(|answer| answer["jsonrpc"] == "2.0"));
}

/// Compares the id of a request with that of a parser.
fn check_request_id(line: &[u8]) {
    // No input makes it panic.
    let _ = request_id_of_long_line(line);
    let Ok(Value::Object(message)) = serde_json::from_slice(line) else {
        return;
    };
    let id = message
        .get("id")
        .filter(|id| {
            let is_response = message.contains_key("result") || message.contains_key("error");
            !is_response && !id.is_null()
        })
        .cloned();
    let is_plain = id.as_ref().is_none_or(|id| {
        id.is_boolean() || id.is_i64() || id.as_str().is_some_and(|id| id.len() < 100)
    });
    // The object is serialized again, because its names may be repeated in the line.
    let text = Value::Object(message).to_string();
    if is_plain {
        assert_eq!(request_id_of_long_line(text.as_bytes()), id);
    }
}
