//! Tests of topics over MCP.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

#[test]
fn a_client_of_mcp_reads_the_memory_tool_as_it_speaks() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["mcp", "--tools", "memory_20250818", "--topics", "notes"]);
    let mut server = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let (mut input, output) = (
        server.stdin.take().expect("a pipe"),
        server.stdout.take().expect("a pipe"),
    );
    let mut output = BufReader::new(output);
    let mut say = |message: Value| writeln!(input, "{message}").expect("it listens");
    let mut hear = || {
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        serde_json::from_str::<Value>(&line).expect("JSON")
    };
    let client = json!({ "name": "test", "version": "1" });
    let begin =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    say(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": begin }));
    hear();
    say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let mut call = |arguments: Value| {
        let parameters = json!({ "name": "memory", "arguments": arguments });
        say(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters }));
        hear()["result"].clone()
    };
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let created = call(json!({ "command": "create", "path": "/memories/a.txt", "file_text": "x" }));
    assert_eq!(
        created["content"],
        text("File created successfully at: /memories/a.txt")
    );
    assert_eq!(
        (&created["isError"], &created["structuredContent"]),
        (&json!(false), &Value::Null)
    );
    let missing = call(json!({ "command": "delete", "path": "/memories/b.txt" }));
    assert_eq!(
        missing["content"],
        text("Error: The path /memories/b.txt does not exist")
    );
    assert_eq!(
        (&missing["isError"], &missing["structuredContent"]),
        (&json!(true), &Value::Null)
    );
    drop(input);
    assert!(server.wait().expect("it ends").success());
}
