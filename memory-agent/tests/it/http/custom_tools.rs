//! Custom tools over HTTP and over the Model Context Protocol.

use memory_agent::http::HttpLimits;
use serde_json::json;

use super::server::HttpTestServer;
use crate::custom_tools::agent_that_counts;

#[test]
fn a_custom_tool_has_its_routes() {
    let server = HttpTestServer::of(agent_that_counts(), None, HttpLimits::default());
    assert_eq!(
        server.get("/v1/tools/count").json()["description"],
        "Count the memories."
    );
    assert_eq!(server.post("/v1/tools/count", "{}").json()["count"], 0);
    assert_eq!(
        server.post("/v1/tools/count", r#"{"tag":7}"#).code(),
        (400, "INVALID_INPUT".to_owned())
    );
    assert!(server.get("/openapi.json").json()["paths"]["/v1/tools/count"]["post"].is_object());
}

#[test]
fn a_custom_tool_is_listed_and_called_over_mcp() {
    let server = HttpTestServer::of(agent_that_counts(), None, HttpLimits::default());
    let accept = [
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
    ];
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
    let answer = server.send("POST", "/mcp", &accept, &hello.to_string());
    let session = ("Mcp-Session-Id", answer.headers["mcp-session-id"].as_str());
    let send = |message: serde_json::Value| {
        server.send(
            "POST",
            "/mcp",
            &[&accept[..], &[session]].concat(),
            &message.to_string(),
        )
    };
    send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let listed = send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    assert!(listed.body.contains(r#""name":"count""#), "{listed:?}");
    let call = json!({ "name": "count", "arguments": {} });
    let called = send(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }));
    assert!(
        called.body.contains(r#""structuredContent":{"count":0"#),
        "{called:?}"
    );
}
