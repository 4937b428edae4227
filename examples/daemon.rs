//! Runs the daemon in this process, with a custom tool: `cargo run -p examples --bin daemon [HOME]`.
//!
//! The daemon maintains the home, and serves all tools over a Unix socket, over HTTP and to clients of the Model Context
//! Protocol (at `/mcp`). `memory` itself uses the same home.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_cli::Home;
use memory_core::{Effect, Filter, PageRequest, Tool, ToolContext, ToolError, list};
use serde_json::{Value, json};

/// Counts the memories that the calling agent sees.
#[derive(Debug)]
struct CountTool;

impl Tool for CountTool {
    fn name(&self) -> &'static str {
        "count"
    }

    fn description(&self) -> &'static str {
        "Count the memories."
    }

    fn parameters(&self) -> Value {
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, _: &Value) -> Result<Value, ToolError> {
        Ok(
            json!({ "count": list(&context.services, &Filter::default(), &PageRequest::default())?.total }),
        )
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let root = std::env::args_os()
        .nth(1)
        .map_or_else(|| folder.path().join("home"), PathBuf::from);
    let home = Home::open(&root)?;
    let memories = home.memories();
    memories.write("The user prefers dark mode")?;
    memories.write("We deploy on Fridays")?;
    memories.undo()?;
    println!("found: {}", memories.search("dark mode")?.hits.len());

    let daemon = home
        .daemon()
        .tool(Arc::new(CountTool))
        .http(([127, 0, 0, 1], 0).into())
        .start()?;
    let address = daemon.http_address().ok_or("no HTTP server")?;
    println!(
        "HTTP: {}",
        post(
            &format!("http://{address}/v1/tools/count"),
            None,
            &json!({})
        )?
        .1["count"]
    );
    println!(
        "socket: {}",
        call_over_socket(daemon.socket().ok_or("no socket")?, "count")?["count"]
    );
    println!(
        "MCP: {}",
        call_over_mcp(&format!("http://{address}/mcp"), "count")?["count"]
    );
    daemon.stop()?;
    Ok(())
}

/// Posts JSON, and returns the session of the Model Context Protocol, if there is one, and the JSON of the response.
fn post(
    url: &str,
    session: Option<&str>,
    body: &Value,
) -> Result<(Option<String>, Value), Box<dyn Error>> {
    let mut request = ureq::post(url)
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("Mcp-Session-Id", session);
    }
    let mut response = request.send(body.to_string())?;
    let session = response
        .headers()
        .get("Mcp-Session-Id")
        .and_then(|id| id.to_str().ok())
        .map(str::to_owned);
    let text = response.body_mut().read_to_string()?;
    // The response is one JSON value, or a stream of events with one in its data, or empty.
    let event = text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .find(|data| data.trim().starts_with('{'));
    let json = event.unwrap_or(&text).trim();
    Ok((
        session,
        if json.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(json)?
        },
    ))
}

/// Calls a tool with one line of JSON-RPC.
fn call_over_socket(socket: &Path, tool: &str) -> Result<Value, Box<dyn Error>> {
    let mut stream = memory_agent::socket::connect(socket)?;
    writeln!(
        stream,
        "{}",
        json!({ "id": 1, "method": tool, "params": {} })
    )?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    Ok(serde_json::from_str::<Value>(&line)?["result"].take())
}

/// Calls a tool as a client of the Model Context Protocol.
fn call_over_mcp(url: &str, tool: &str) -> Result<Value, Box<dyn Error>> {
    let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "daemon", "version": "1" } });
    let (session, _) = post(
        url,
        None,
        &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client }),
    )?;
    post(
        url,
        session.as_deref(),
        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    )?;
    let call = json!({ "name": tool, "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    Ok(post(url, session.as_deref(), &call)?.1["result"]["structuredContent"].take())
}
