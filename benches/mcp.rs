//! Benchmark of MCP servers on standard input and output: `mcp ROUNDS 'COMMAND' TOOL ARGUMENTS…`.
//!
//! Each server has three arguments; `ARGUMENTS` are JSON. Each round starts every server once, one after the other. The program prints the
//! median time from the start to the response to `initialize`, and the median time of the first tool call after it.

use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let usage = "usage: mcp ROUNDS 'COMMAND' TOOL ARGUMENTS…";
    let (rounds, servers) = arguments.split_first().ok_or(usage)?;
    let (servers, []) = servers.as_chunks::<3>() else { return Err(usage.into()) };
    let mut times = vec![(Vec::new(), Vec::new()); servers.len()];
    for _ in 0..rounds.parse::<u32>()? {
        for ([command, tool, arguments], (ready, called)) in servers.iter().zip(&mut times) {
            let (until_ready, call) = measure_server(command, tool, &serde_json::from_str(arguments)?)?;
            ready.push(until_ready);
            called.push(call);
        }
    }
    println!("| server | ready | first call |\n|---|---:|---:|");
    for ([command, ..], (ready, called)) in servers.iter().zip(&mut times) {
        println!("| {command} | {:.1} ms | {:.1} ms |", median(ready), median(called));
    }
    Ok(())
}

/// Starts a server and calls the tool once.
///
/// Returns the milliseconds until the server was ready and the milliseconds of the call.
fn measure_server(command: &str, tool: &str, arguments: &Value) -> Result<(f64, f64), Box<dyn Error>> {
    let mut words = command.split_whitespace();
    let start = Instant::now();
    let mut server = Command::new(words.next().ok_or("a command is empty")?)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = server.stdin.take().ok_or("there is no pipe")?;
    let mut answers = BufReader::new(server.stdout.take().ok_or("there is no pipe")?).lines();
    let client = json!({ "name": "bench", "version": "1" });
    let parameters = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters }))?;
    answers.next().ok_or("the server closed its output")??;
    let ready = start.elapsed();
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    let start = Instant::now();
    let parameters = json!({ "name": tool, "arguments": arguments });
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": parameters }))?;
    let answer: Value = serde_json::from_str(&answers.next().ok_or("the server closed its output")??)?;
    let called = start.elapsed();
    if answer["result"]["content"].is_null() {
        return Err(format!("{command} returned no content: {answer}").into());
    }
    drop(input);
    server.wait()?;
    Ok((ready.as_secs_f64() * 1_000.0, called.as_secs_f64() * 1_000.0))
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
