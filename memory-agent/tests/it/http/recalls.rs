//! Recalls over HTTP and over the Model Context Protocol.

use memory_agent::Session;
use memory_agent::http::HttpLimits;
use serde_json::{Value, json};

use super::server::HttpTestServer;
use crate::recalls::agent_with_ledger;

#[test]
fn a_request_over_http_has_no_session() {
    let (agent, ledger, _) = agent_with_ledger();
    let server = HttpTestServer::of(agent, None, HttpLimits::default());
    let headers = [("Memory-Agent", "codex"), ("Memory-Project", "harbour")];
    server.send("POST", "/v1/tools/memory_list", &headers, "{}");
    let record = &ledger.records()[0];
    assert_eq!(
        (
            record.interface.as_str(),
            record.tool.as_str(),
            record.session.as_deref()
        ),
        ("http", "memory_list", None)
    );
    assert_eq!(
        (record.agent.as_str(), record.project.as_deref()),
        ("codex", Some("harbour"))
    );
}

#[test]
fn resources_and_prompts_of_mcp_are_recorded_in_one_session() {
    let (agent, ledger, [tea, friday]) = agent_with_ledger();
    let server = HttpTestServer::of(agent, None, HttpLimits::default());
    let accept = [
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
    ];
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "codex", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
    let answer = server.send("POST", "/mcp", &accept, &hello.to_string());
    let session = ("Mcp-Session-Id", answer.headers["mcp-session-id"].as_str());
    let send = |message: Value| {
        server.send(
            "POST",
            "/mcp",
            &[&accept[..], &[session]].concat(),
            &message.to_string(),
        )
    };
    send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let ask = |method: &str, parameters: Value| {
        let answer =
            send(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters }));
        assert!(answer.body.contains("\"result\""), "{answer:?}");
    };
    ask(
        "resources/read",
        json!({ "uri": format!("memory://note/{tea}") }),
    );
    ask("resources/read", json!({ "uri": "memory://index" }));
    ask(
        "prompts/get",
        json!({ "name": "recall", "arguments": { "topic": "green tea" } }),
    );
    ask("prompts/get", json!({ "name": "review" }));
    ask(
        "tools/call",
        json!({ "name": "memory_read", "arguments": { "id": friday } }),
    );
    let records = ledger.records();
    let recorded: Vec<_> = records
        .iter()
        .map(|record| {
            (
                record.tool.as_str(),
                record.query.as_deref(),
                record.memories.len(),
                record.interface.as_str(),
            )
        })
        .collect();
    assert_eq!(
        recorded,
        [
            ("resource", None, 1, "mcp"),
            ("resource", None, 2, "mcp"),
            ("recall", Some("green tea"), 1, "mcp"),
            ("review", None, 2, "mcp"),
            ("memory_read", None, 1, "mcp"),
        ]
    );
    assert!(
        records
            .iter()
            .all(|record| record.agent == "codex" && record.session == records[0].session),
        "{records:?}"
    );
    assert!(records[0].session.is_some());
}

#[test]
fn the_standing_memories_in_the_instructions_of_mcp_are_recorded() {
    let (agent, ledger, _) = agent_with_ledger();
    let preference =
        json!({ "content": "Always answer in metric units", "category": "preferences" });
    Session::for_person(&agent)
        .call("memory_write", preference)
        .expect("it is written");
    let server = HttpTestServer::of(agent, None, HttpLimits::default());
    let accept = [
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
    ];
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "codex", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
    let answer = server.send("POST", "/mcp", &accept, &hello.to_string());
    assert!(answer.body.contains("metric units"), "{answer:?}");
    let record = &ledger.records()[0];
    assert_eq!(
        (
            record.agent.as_str(),
            record.tool.as_str(),
            record.session.as_deref()
        ),
        ("codex", "initialize", None)
    );
    assert_eq!(
        (
            record.memories.len(),
            record.memories[0].parts[0].0.as_str()
        ),
        (1, "standing")
    );
    assert!(0 < record.tokens);
}
