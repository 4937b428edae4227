//! The Model Context Protocol over HTTP.

use memory_agent::http::HttpLimits;
use memory_core::testing::services;
use memory_core::{Draft, MemStore, Scope, SecretPolicy};
use serde_json::{Value, json};

use super::server::{HttpTestResponse, HttpTestServer};

const USUAL: [(&str, &str); 2] = [
    ("Accept", "application/json, text/event-stream"),
    ("Content-Type", "application/json"),
];

pub(super) fn send(
    server: &HttpTestServer,
    headers: &[(&str, &str)],
    message: &Value,
) -> HttpTestResponse {
    server.send(
        "POST",
        "/mcp",
        &[&USUAL[..], headers].concat(),
        &message.to_string(),
    )
}

pub(super) fn initialize(server: &HttpTestServer, headers: &[(&str, &str)]) -> HttpTestResponse {
    let client = json!({ "name": "c", "version": "1" });
    let parameters =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    send(
        server,
        headers,
        &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters }),
    )
}

/// Sends a self-contained request with the headers of the protocol.
fn send_self_contained(
    server: &HttpTestServer,
    headers: &[(&str, &str)],
    method: &str,
    mut parameters: Value,
) -> HttpTestResponse {
    let meta = &mut parameters["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let own = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
    ];
    let own: Vec<_> = own
        .into_iter()
        .filter(|(name, _)| !headers.iter().any(|(given, _)| given == name))
        .collect();
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters });
    send(server, &[&own, headers].concat(), &message)
}

/// Returns the JSON of a response or of the last event of a stream.
pub(super) fn answer(response: &HttpTestResponse) -> Value {
    // The body is chunked: the lines between its JSON are lengths.
    let mut lines = response
        .body
        .lines()
        .map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let text = lines
        .rfind(|line| line.starts_with('{'))
        .unwrap_or(&response.body);
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {response:?}"))
}

fn resource_count(response: &HttpTestResponse) -> Option<usize> {
    answer(response)["result"]["resources"]
        .as_array()
        .map(Vec::len)
}

#[test]
fn a_session_ends_at_the_request_of_its_client() {
    let server = HttpTestServer::start();
    let opened = initialize(&server, &[]);
    let session = ("Mcp-Session-Id", opened.headers["mcp-session-id"].as_str());
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" });
    assert_eq!(send(&server, &[session], &list).status, 200);
    let end = |session| server.send("DELETE", "/mcp", &[session], "").status;
    assert_eq!(end(session), 204);
    assert_eq!(send(&server, &[session], &list).status, 404);
    assert_eq!(
        server
            .send("GET", "/mcp", &[&USUAL[..], &[session]].concat(), "")
            .status,
        404
    );
    assert_eq!(end(session), 404);
    assert_eq!(end(("Mcp-Session-Id", "unknown")), 404);
    assert_eq!(
        send(&server, &[("Mcp-Session-Id", "unknown")], &list).status,
        404
    );
}

#[test]
fn a_self_contained_request_needs_no_session_and_its_headers_match_it() {
    let server = HttpTestServer::start();
    let read = json!({ "uri": "memory://index" });
    let name = ("Mcp-Name", "memory://index");
    let answered = send_self_contained(&server, &[name], "resources/read", read.clone());
    assert_eq!(
        (answered.status, answered.headers.get("mcp-session-id")),
        (200, None)
    );
    assert_eq!(answer(&answered)["result"]["ttlMs"], 0);
    for headers in [
        &[][..],
        &[("Mcp-Name", "memory://note/1")],
        &[name, ("Mcp-Method", "tools/list")],
        &[name, ("MCP-Protocol-Version", "2025-11-25")],
    ] {
        let refused = send_self_contained(&server, headers, "resources/read", read.clone());
        assert_eq!(
            (refused.status, &answer(&refused)["error"]["code"]),
            (400, &json!(-32020)),
            "{headers:?}"
        );
    }
    for removed in [
        "ping",
        "initialize",
        "resources/subscribe",
        "no/such/method",
    ] {
        let refused = send_self_contained(&server, &[], removed, json!({}));
        assert_eq!(
            (refused.status, &answer(&refused)["error"]["code"]),
            (404, &json!(-32601)),
            "{removed}"
        );
    }
    let missing = send_self_contained(
        &server,
        &[("Mcp-Name", "memory://note/1")],
        "resources/read",
        json!({ "uri": "memory://note/1" }),
    );
    assert_eq!(
        answer(&missing)["error"]["data"],
        json!({ "uri": "memory://note/1" })
    );
}

#[test]
fn headers_name_the_agent_and_the_project() {
    let services = services(std::sync::Arc::new(MemStore::default()));
    for scope in [
        Scope::Agent("planner".into()),
        Scope::Project("team".into()),
    ] {
        let draft = Draft {
            scope,
            ..Draft::new("for some")
        };
        memory_core::write(&services, draft, SecretPolicy::Refuse).expect("a memory");
    }
    let agent = memory_agent::Agent::builder(services)
        .build()
        .expect("an agent");
    let server = HttpTestServer::of(agent, None, HttpLimits::default());
    let named = [("Memory-Agent", "planner"), ("Memory-Project", "team")];
    let list = |headers: &[(&str, &str)]| {
        send_self_contained(&server, headers, "resources/list", json!({}))
    };
    assert_eq!(resource_count(&list(&[])), Some(1));
    assert_eq!(resource_count(&list(&named[..1])), Some(2));
    assert_eq!(resource_count(&list(&named)), Some(3));
    assert_eq!(
        answer(&list(&[("Memory-Agent", "a/b")]))["error"]["code"],
        -32602
    );
    let opened = initialize(&server, &named);
    let session = ("Mcp-Session-Id", opened.headers["mcp-session-id"].as_str());
    let in_session = send(
        &server,
        &[session],
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" }),
    );
    assert_eq!(resource_count(&in_session), Some(3));
}

#[test]
fn self_contained_requests_are_served_while_all_sessions_are_taken() {
    let server = HttpTestServer::start();
    let opened = (0..128)
        .map(|_| initialize(&server, &[]).status)
        .filter(|status| *status == 200)
        .count();
    assert_eq!(opened, 128);
    assert_eq!(initialize(&server, &[]).status, 503);
    assert_eq!(
        send_self_contained(&server, &[], "tools/list", json!({})).status,
        200
    );
}

#[test]
fn a_body_that_is_no_json_is_answered_with_its_id() {
    let server = HttpTestServer::start();
    let send = |body: &str| server.send("POST", "/mcp", &USUAL, body);
    for (body, id) in [
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"a":}}"#,
            json!(7),
        ),
        (r#"{"jsonrpc":"2.0","method":"ping",,"id":"b"}"#, json!("b")),
        ("{", Value::Null),
    ] {
        let refused = send(body);
        let answer = answer(&refused);
        assert_eq!((refused.status, &answer["id"]), (400, &id), "{body}");
        assert_eq!(answer["error"]["code"], -32700, "{body}");
    }
    for (body, word) in [
        (r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#, "batches"),
        ("[]", "batches"),
        ("{}", "method"),
        ("42", "object"),
    ] {
        let refused = send(body);
        let answer = answer(&refused);
        assert_eq!(
            (refused.status, &answer["id"]),
            (400, &Value::Null),
            "{body}"
        );
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(word), "{body}: {message}");
    }
}

#[test]
fn half_a_surrogate_pair_is_read_as_no_character() {
    let server = HttpTestServer::start();
    let body = r#"{"content":"tea \ud83d"}"#;
    let written = server.send("POST", "/v1/tools/memory_write", &USUAL[1..], body);
    assert_eq!(written.status, 200, "{written:?}");
    let listed = server.send("POST", "/v1/tools/memory_list", &USUAL[1..], "{}");
    assert_eq!(answer(&listed)["memories"][0]["content"], "tea \u{fffd}");
}
