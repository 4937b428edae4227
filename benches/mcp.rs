//! Benchmark of MCP servers on standard input and output: `mcp ROUNDS 'COMMAND' TOOL ARGUMENTS…`.
//!
//! `mcp --replay FILE 'COMMAND'` calls the tools of a transcript instead, such as `working_day.jsonl`, and prints the tokens of the
//! answers as JSON, with the listing of the tools. A line of the file is `{name, arguments}`; `$N` in the arguments is the first id in
//! the answer to line N.
//!
//! Each server has three arguments; `ARGUMENTS` are JSON. Each round starts every server once, one after the other. The program prints the
//! median time from the start to the response to `initialize`, and the median time of the first tool call after it.

use std::env;
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use memory_core::text::token_count;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [mode, file, command] = arguments.as_slice()
        && mode == "--replay"
    {
        return replay(&fs::read_to_string(file)?, command);
    }
    let usage = "usage: mcp ROUNDS 'COMMAND' TOOL ARGUMENTS… | mcp --replay FILE 'COMMAND'";
    let (rounds, servers) = arguments.split_first().ok_or(usage)?;
    let (servers, []) = servers.as_chunks::<3>() else {
        return Err(usage.into());
    };
    let mut times = vec![(Vec::new(), Vec::new()); servers.len()];
    for _ in 0..rounds.parse::<u32>()? {
        for ([command, tool, arguments], (ready, called)) in servers.iter().zip(&mut times) {
            let (until_ready, call) =
                measure_server(command, tool, &serde_json::from_str(arguments)?)?;
            ready.push(until_ready);
            called.push(call);
        }
    }
    println!("| server | ready | first call |\n|---|---:|---:|");
    for ([command, ..], (ready, called)) in servers.iter().zip(&mut times) {
        println!(
            "| {command} | {:.1} ms | {:.1} ms |",
            median(ready),
            median(called)
        );
    }
    Ok(())
}

/// Starts a server and calls the tool once.
///
/// Returns the milliseconds until the server was ready and the milliseconds of the call.
fn measure_server(
    command: &str,
    tool: &str,
    arguments: &Value,
) -> Result<(f64, f64), Box<dyn Error>> {
    let start = Instant::now();
    let mut server = start_server(command)?;
    let mut input = server.stdin.take().ok_or("there is no pipe")?;
    let mut answers = BufReader::new(server.stdout.take().ok_or("there is no pipe")?).lines();
    let client = json!({ "name": "bench", "version": "1" });
    let parameters =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    writeln!(
        input,
        "{}",
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters })
    )?;
    answers.next().ok_or("the server closed its output")??;
    let ready = start.elapsed();
    writeln!(
        input,
        "{}",
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
    )?;
    let start = Instant::now();
    let parameters = json!({ "name": tool, "arguments": arguments });
    writeln!(
        input,
        "{}",
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": parameters })
    )?;
    let answer: Value =
        serde_json::from_str(&answers.next().ok_or("the server closed its output")??)?;
    let called = start.elapsed();
    if answer["result"]["content"].is_null() {
        return Err(format!("{command} returned no content: {answer}").into());
    }
    drop(input);
    server.wait()?;
    Ok((
        ready.as_secs_f64() * 1_000.0,
        called.as_secs_f64() * 1_000.0,
    ))
}

fn start_server(command: &str) -> Result<Child, Box<dyn Error>> {
    let mut words = command.split_whitespace();
    let program = words.next().ok_or("a command is empty")?;
    Ok(Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?)
}

/// Calls the tools of a transcript, and prints the tokens of the listing and of the answers.
fn replay(transcript: &str, command: &str) -> Result<(), Box<dyn Error>> {
    let mut server = start_server(command)?;
    let mut input = server.stdin.take().ok_or("there is no pipe")?;
    let mut lines = BufReader::new(server.stdout.take().ok_or("there is no pipe")?).lines();
    let mut request = |method: &str, params: Value| -> Result<Value, Box<dyn Error>> {
        writeln!(
            input,
            "{}",
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
        )?;
        loop {
            let mut answer: Value =
                serde_json::from_str(&lines.next().ok_or("the server closed its output")??)?;
            // A message without an id is a notification.
            if !answer["id"].is_null() {
                return Ok(answer["result"].take());
            }
        }
    };
    let client = json!({ "name": "bench", "version": "1" });
    request(
        "initialize",
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
    )?;
    let listing = token_count(&request("tools/list", json!({}))?["tools"].to_string());
    let (mut ids, mut all, mut failed): (Vec<Option<String>>, Vec<usize>, usize) =
        (Vec::new(), Vec::new(), 0);
    for line in transcript.lines() {
        let mut call: Value = serde_json::from_str(line)?;
        if let Some(Value::String(id)) = call["arguments"].get_mut("id") {
            let number: usize = id.trim_start_matches('$').parse()?;
            *id = ids[number - 1].clone().ok_or("the answer has no id")?;
        }
        let answer = request("tools/call", call)?;
        failed += usize::from(answer["isError"] == true);
        ids.push(first_id(&answer["structuredContent"]));
        all.push(token_count(&answer.to_string()));
    }
    let largest = all.iter().max().copied().unwrap_or_default();
    println!(
        "| listing | calls | failed | tokens of all answers | largest answer |\n|---:|---:|---:|---:|---:|"
    );
    println!(
        "| {listing} | {} | {failed} | {} | {largest} |",
        all.len(),
        all.iter().sum::<usize>()
    );
    drop(input);
    server.wait()?;
    Ok(())
}

/// Returns the first id in an answer.
fn first_id(answer: &Value) -> Option<String> {
    match answer {
        Value::Object(fields) => match fields.get("id") {
            Some(Value::String(id)) => Some(id.clone()),
            _ => fields.values().find_map(first_id),
        },
        Value::Array(items) => items.iter().find_map(first_id),
        _ => None,
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
