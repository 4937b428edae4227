//! JSON-RPC over lines.

use insta::assert_snapshot;
use memory_agent::rpc::{MOST, RpcConnection, RpcWork};
use memory_agent::{Agent, OpenedPage, PageOpener};
use memory_core::{ToolError, View};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agents::agent;

/// Returns the response to each line, if there is one.
fn answers(lines: &[&str]) -> Vec<String> {
    let mut speech = RpcConnection::begin(&agent(), View::default());
    let answer = |line: &&str| speech.parse_line(line.as_bytes())?.execute();
    lines.iter().filter_map(answer).collect()
}

fn answer(line: &str) -> String {
    answers(&[line]).join("\n")
}

/// Returns the code of an error and its id.
fn error(answer: &str) -> (i64, Value) {
    let answer: Value = serde_json::from_str(answer).expect("JSON");
    assert!(
        answer["error"]["data"]["code"].is_string() && answer["error"]["message"].is_string(),
        "{answer}"
    );
    (
        answer["error"]["code"].as_i64().expect("a number"),
        answer["id"].clone(),
    )
}

#[test]
fn a_tool_is_called_by_its_name_or_as_the_parameter_of_a_call() {
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"memory_write","params":{"content":"I like tea"}}"#,
        r#"{"id":"two","method":"tools/call","params":{"name":"memory_search","params":{"query":"milk"}}}"#,
        r#"{"id":null,"method":"tools/call","params":{"name":"memory_list","arguments":{"category":"people"}}}"#,
        r#"{"id":-3.5,"method":"memory_list","params":null}"#,
    ];
    assert_snapshot!(answers(&lines).join("\n"), @r#"
    {"jsonrpc":"2.0","id":1,"result":{"id":"3c6ef372-fe94-f82a-c391-0c8d016b07d5","path":"categories/inbox/3c6ef372-fe94-f82a-c391-0c8d016b07d5.md","created":true,"expires_at":"2026-05-14T10:00:01Z"}}
    {"jsonrpc":"2.0","id":"two","result":{"hits":[],"total":0}}
    {"jsonrpc":"2.0","id":null,"result":{"memories":[],"total":0}}
    {"jsonrpc":"2.0","id":-3.5,"result":{"memories":[{"id":"3c6ef372-fe94-f82a-c391-0c8d016b07d5","content":"I like tea","content_hash":"66653c22a91084e799f3607afa1d4c46ee1ef1efd9435d71a4abbcead30bbe51","phase":"inbox","category":"inbox","scope":"global","tags":[],"source":"","created_at":"2026-05-07T10:00:01Z","updated_at":"2026-05-07T10:00:01Z","expires_at":"2026-05-14T10:00:01Z","access_count":0,"links":[],"version":1,"path":"categories/inbox/3c6ef372-fe94-f82a-c391-0c8d016b07d5.md"}],"total":1}}
    "#);
}

#[test]
fn tools_describe_themselves() {
    let listed: Value =
        serde_json::from_str(&answer(r#"{"id":1,"method":"tools/list"}"#)).expect("JSON");
    let tools = listed["result"]["tools"].as_array().expect("tools");
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, memory_agent::tools::DEFAULT);
    assert!(
        tools
            .iter()
            .all(|tool| tool["description"].is_string() && tool["parameters"]["type"] == "object")
    );
    let all: Value = serde_json::from_str(&answer(
        r#"{"id":1,"method":"tools/list","params":{"all":true}}"#,
    ))
    .expect("JSON");
    // The topic tools are only included if they are selected.
    assert_eq!(
        all["result"]["tools"].as_array().map(Vec::len),
        Some(memory_agent::tools::all().len() - 6)
    );
}

#[test]
fn what_cannot_be_done_says_why_by_number_and_name() {
    let lines = [
        "{",
        "\u{feff}{}",
        "[]",
        "7",
        r#"{"id":1}"#,
        r#"{"id":1,"method":7}"#,
        r#"{"id":{},"method":"ping"}"#,
        r#"{"id":1,"jsonrpc":"1.0","method":"ping"}"#,
        r#"{"id":1,"method":"tools/lisp"}"#,
        r#"{"id":1,"method":"memory_lisp"}"#,
        r#"{"id":1,"method":"ping","params":[1]}"#,
        r#"{"id":1,"method":"ping","params":{"loud":true}}"#,
        r#"{"id":1,"method":"tools/list","params":{"all":"yes"}}"#,
        r#"{"id":1,"method":"tools/call","params":{"params":{}}}"#,
        r#"{"id":1,"method":"tools/call","params":{"name":"memory_list","params":{},"arguments":{}}}"#,
        r#"{"id":1,"method":"memory_list","params":{"limit":"ten"}}"#,
        r#"{"id":1,"method":"memory_list","params":{"limits":1}}"#,
        r#"{"id":1,"method":"memory_read","params":{"id":"550e8400"}}"#,
        r#"{"id":1,"method":"session/open","params":{"agent":"cli"}}"#,
        r#"{"id":1,"method":"session/open","params":{"project":""}}"#,
    ];
    assert_snapshot!(answers(&lines).join("\n"), @r#"
    {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON: EOF while parsing an object at line 1 column 1","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON: expected value at line 1 column 1","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the list is empty","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the request is not an object","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"method: missing","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"method: not a string","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"id: not a string, number or null","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"jsonrpc: must be \"2.0\" if present","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no method or tool is named tools/lisp","data":{"code":"TOOL_NOT_FOUND","hint":"tools/list with {\"all\": true} lists all tools"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no tool is named memory_lisp","data":{"code":"TOOL_NOT_FOUND","hint":"available tools: memory_write, memory_read, memory_delete, memory_list, memory_search, memory_tag, memory_smart_search, memory_update, memory_remind, memory_reminders, memory_done, memory_context, memory_link, memory_backlinks, memory_undo, bank_read, bank_write, bank_update, bank_delete, bank_list, bank_query, bank_search"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params: not an object","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown field loud","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"all: neither true nor false","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"name: missing","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"params, arguments: aliases; send only one of them","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"limit: \"ten\" is not of type \"integer\"","data":{"code":"INVALID_INPUT","hint":"memory_list takes limit, budget, cursor, tags, category, scope, phase, source, from, to"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown field limits, did you mean limit?","data":{"code":"INVALID_INPUT","hint":"memory_list takes limit, budget, cursor, tags, category, scope, phase, source, from, to"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no memory matches 550e8400","data":{"code":"MEMORY_NOT_FOUND","hint":"memory_list lists the memories; memory_search finds them by words; an id may be shortened to 4 digits"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"agent: \"cli\" is not the name of an agent (up to 64 letters, digits, -, _ and .; not a reserved name such as cli)","data":{"code":"INVALID_INPUT"}}}
    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"project: not a name without control characters","data":{"code":"INVALID_INPUT"}}}
    "#);
}

#[test]
fn whoever_wants_no_answer_has_none_but_the_work_is_done() {
    let lines = [
        "",
        " \t\r",
        r#"{"method":"memory_write","params":{"content":"I like tea"}}"#,
        r#"{"method":"memory_lisp"}"#,
        r#"[{"method":"ping"},{"method":"ping"}]"#,
        r#"{"id":1,"method":"memory_list"}"#,
    ];
    let answers = answers(&lines);
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].contains("I like tea"));
}

/// A page at a fixed address.
#[derive(Debug)]
struct FakePage;

impl PageOpener for FakePage {
    fn open_page(&self, port: Option<u16>) -> Result<OpenedPage, ToolError> {
        Ok(OpenedPage {
            address: ([127, 0, 0, 1], port.unwrap_or(8719)).into(),
            code: "K7QM-29XD".into(),
        })
    }
}

#[test]
fn the_page_is_opened_only_where_it_is_served_and_all_memories_are_visible() {
    let request = r#"{"id":1,"method":"ui/open","params":{"port":80}}"#;
    assert_eq!(error(&answer(request)).0, -32601, "no page is served");
    let services =
        memory_core::testing::services(std::sync::Arc::new(memory_core::MemStore::default()));
    let agent = Agent::builder(services)
        .page(std::sync::Arc::new(FakePage))
        .build()
        .expect("an agent");
    let execute = |mut connection: RpcConnection, line: &str| {
        connection
            .parse_line(line.as_bytes())
            .and_then(RpcWork::execute)
            .expect("a response")
    };
    let open = |line: &str| execute(RpcConnection::begin(&agent, View::default()), line);
    assert_eq!(
        open(request),
        r#"{"jsonrpc":"2.0","id":1,"result":{"address":"127.0.0.1:80","code":"K7QM-29XD"}}"#
    );
    assert!(open(r#"{"id":1,"method":"ui/open"}"#).contains("127.0.0.1:8719"));
    assert_eq!(
        error(&open(
            r#"{"id":1,"method":"ui/open","params":{"port":70000}}"#
        ))
        .0,
        -32602
    );
    let restricted = execute(
        RpcConnection::with_fixed_view(&agent, View::default()),
        request,
    );
    assert_eq!(
        error(&restricted).0,
        -32601,
        "the page shows more than this view"
    );
}

#[test]
fn a_list_is_answered_by_one_list_in_its_order() {
    let line = r#"[{"id":2,"method":"ping"},{"method":"ping"},{"id":"a","method":"pong"},1]"#;
    assert_snapshot!(answer(line), @r#"[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"no tool is named pong","data":{"code":"TOOL_NOT_FOUND","hint":"available tools: memory_write, memory_read, memory_delete, memory_list, memory_search, memory_tag, memory_smart_search, memory_update, memory_remind, memory_reminders, memory_done, memory_context, memory_link, memory_backlinks, memory_undo, bank_read, bank_write, bank_update, bank_delete, bank_list, bank_query, bank_search"}}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the request is not an object","data":{"code":"INVALID_INPUT"}}}]"#);
    let of = |count: usize| {
        answer(&json!(vec![json!({ "id": 1, "method": "ping" }); count]).to_string())
    };
    assert_eq!(
        serde_json::from_str::<Vec<Value>>(&of(MOST))
            .expect("a list")
            .len(),
        MOST
    );
    assert_eq!(error(&of(10_000)), (-32_600, Value::Null));
}

#[test]
fn a_session_counts_from_the_next_request_on() {
    let lines = [
        r#"{"id":1,"method":"session/open","params":{"agent":"Claude","project":"tea"}}"#,
        r#"{"id":2,"method":"memory_write","params":{"content":"mine","scope":"agent:claude"}}"#,
        r#"[{"id":3,"method":"session/open"},{"id":4,"method":"memory_search","params":{"query":"mine"}}]"#,
        r#"{"id":5,"method":"memory_write","params":{"content":"yours","scope":"agent:claude"}}"#,
    ];
    assert_snapshot!(answers(&lines).join("\n"), @r#"
    {"jsonrpc":"2.0","id":1,"result":{"agent":"claude","project":"tea","scopes":["global","agent:claude","project:tea"]}}
    {"jsonrpc":"2.0","id":2,"result":{"id":"3c6ef372-fe94-f82a-c391-0c8d016b07d5","path":"categories/inbox/3c6ef372-fe94-f82a-c391-0c8d016b07d5.md","created":true,"expires_at":"2026-05-14T10:00:01Z"}}
    [{"jsonrpc":"2.0","id":3,"result":{"agent":null,"project":null,"scopes":["global"]}},{"jsonrpc":"2.0","id":4,"result":{"hits":[],"total":0}}]
    {"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"this agent may not access agent:claude","data":{"code":"SCOPE_REFUSED","hint":"an agent may access global, agent:<its name> and project:<its project>; session/open with {\"agent\": NAME, \"project\": NAME} sets them"}}}
    "#);
}

#[test]
fn what_is_nested_too_deep_is_no_json() {
    assert_eq!(error(&answer(&"[".repeat(1_000))), (-32_700, Value::Null));
    let deep = format!(
        "{{\"id\":1,\"method\":\"ping\",\"params\":{}{}}}",
        "{\"a\":".repeat(1_000),
        "1".to_owned() + &"}".repeat(1_000)
    );
    assert_eq!(error(&answer(&deep)), (-32_700, json!(1)));
}

proptest! {
    #[test]
    fn any_bytes_have_an_answer_and_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 1..200)) {
        prop_assume!(!bytes.iter().all(u8::is_ascii_whitespace));
        let mut speech = RpcConnection::begin(&agent(), View::default());
        let answer = speech.parse_line(&bytes).expect("it is not blank").execute().expect("an answer");
        prop_assert!(error(&answer).0 == -32_700 || error(&answer).0 == -32_600);
    }

    #[test]
    fn any_request_has_an_answer_with_its_id(
        method in prop::sample::select(vec!["ping", "tools/list", "tools/call", "session/open", "memory_list", "memory_tag", "", "x/y"]),
        id in prop_oneof![Just(json!(null)), any::<i64>().prop_map(Value::from), ".{0,8}".prop_map(Value::from)],
        name in ".{0,6}",
        text in ".{0,20}",
    ) {
        let mut speech = RpcConnection::begin(&agent(), View::default());
        let line = json!({ "id": id, "method": method, "params": { name: text, "name": "memory_list" } }).to_string();
        let answer = speech.parse_line(line.as_bytes()).expect("it is not blank").execute().expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        prop_assert_eq!(&answer["id"], &id);
        prop_assert!(answer["result"].is_object() != answer["error"].is_object());
    }
}
