//! Serves the Model Context Protocol on standard input and output.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use tokio::sync::{Mutex, Semaphore};

use super::invalid_message::{check_message, error_response};
use super::server::{ClientIdentity, McpServer};
use crate::agent::Agent;
use crate::exact_json;
use crate::rpc::LONGEST_LINE;

/// Serves one client on standard input and output until it closes them. Blocks.
///
/// # Errors
/// If the client violates the protocol, or if an I/O operation fails.
pub fn serve_stdio(agent: &Arc<Agent>, speaker: &ClientIdentity) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(serve(agent, speaker, tokio::io::stdin(), tokio::io::stdout()));
    // A read of standard input cannot be cancelled.
    runtime.shutdown_background();
    served
}

/// Maximum number of pending requests; a client that does not read responses is not read either.
const MAX_PENDING: usize = 64;

/// Size of the pipe to the SDK, in bytes.
const PIPE_SIZE: usize = 64 << 10;

pub(crate) async fn serve(
    agent: &Arc<Agent>,
    speaker: &ClientIdentity,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let (ours, theirs) = duplex(PIPE_SIZE);
    let (answers, requests) = split(ours);
    let output = Arc::new(Mutex::new(output));
    let room = Arc::new(Semaphore::new(MAX_PENDING));
    let hearing = tokio::spawn(forward_requests(BufReader::new(input), requests, Arc::clone(&output), Arc::clone(&room)));
    let saying = tokio::spawn(forward_responses(BufReader::new(answers), output, room));
    let served = run_server(agent, speaker, theirs).await;
    hearing.abort();
    // Remaining responses are written to the end.
    saying.await.map_err(io::Error::other)??;
    served
}

async fn run_server(agent: &Arc<Agent>, speaker: &ClientIdentity, stream: DuplexStream) -> io::Result<()> {
    let running = match McpServer::new(agent, speaker).serve(stream).await {
        Ok(running) => running,
        // A client that disconnects before initialization is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    running.waiting().await.map(drop).map_err(io::Error::other)
}

/// Forwards lines of the client to the SDK, and responds to invalid messages itself.
///
/// The SDK would drop them silently, and the client would wait forever for a response.
async fn forward_requests(
    mut input: impl AsyncBufReadExt + Unpin,
    mut requests: impl AsyncWriteExt + Unpin,
    output: Arc<Mutex<impl AsyncWrite + Unpin>>,
    room: Arc<Semaphore>,
) -> io::Result<()> {
    let mut line = Vec::new();
    while let Some(is_whole) = next_line(&mut input, &mut line).await? {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let complaint = if is_whole {
            match exact_json::from_slice(&line) {
                Ok(Value::Object(message)) => {
                    if let Some(answer) = check_message(&message) {
                        write_line(&output, exact_json::to_text(&answer).as_bytes()).await?;
                        continue;
                    }
                    if message.contains_key("id") && message.contains_key("method") {
                        room.acquire().await.map_err(io::Error::other)?.forget();
                    } else if message.get("method").is_some_and(|method| method == "notifications/cancelled") {
                        // A cancelled request may never get a response.
                        release_permit(&room);
                    }
                    None
                }
                Ok(_) => Some((-32600, "the message is not an object".to_owned())),
                Err(error) => Some((-32700, format!("the line is not JSON: {error}"))),
            }
        } else {
            Some((-32600, format!("the line is longer than {LONGEST_LINE} bytes")))
        };
        if let Some((code, message)) = complaint {
            write_line(&output, error_response(&Value::Null, code, &message).to_string().as_bytes()).await?;
            continue;
        }
        if let Cow::Owned(marked) = std::str::from_utf8(&line).map_or(Cow::Borrowed(""), exact_json::mark) {
            line = marked.into_bytes();
        }
        line.push(b'\n');
        requests.write_all(&line).await?;
    }
    requests.shutdown().await
}

/// Reads the next line without its line break; returns whether it is complete, or `None` at the end.
///
/// A line that exceeds the maximum length is incomplete.
async fn next_line(input: &mut (impl AsyncBufReadExt + Unpin), line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    let (mut is_whole, mut has_begun) = (true, false);
    loop {
        let buffer = input.fill_buf().await?;
        if buffer.is_empty() {
            return Ok(has_begun.then_some(is_whole));
        }
        has_begun = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        is_whole &= line.len() + part.len() <= LONGEST_LINE;
        if is_whole {
            line.extend_from_slice(part);
        }
        let read = end.map_or(buffer.len(), |end| end + 1);
        input.consume(read);
        if end.is_some() {
            return Ok(Some(is_whole));
        }
    }
}

/// Forwards messages of the SDK to the client.
async fn forward_responses(
    mut answers: impl AsyncBufReadExt + Unpin,
    output: Arc<Mutex<impl AsyncWrite + Unpin>>,
    room: Arc<Semaphore>,
) -> io::Result<()> {
    let mut line = Vec::new();
    while answers.read_until(b'\n', &mut line).await? != 0 {
        while line.last().is_some_and(u8::is_ascii_whitespace) {
            line.pop();
        }
        let plain = std::str::from_utf8(&line).map_or(Cow::Borrowed(""), exact_json::unmark);
        write_line(&output, if let Cow::Owned(plain) = &plain { plain.as_bytes() } else { &line }).await?;
        // A request has a method; a response has none.
        let is_answer = serde_json::from_slice::<MessageHead>(&line).is_ok_and(|head| head.method.is_none());
        if is_answer {
            release_permit(&room);
        }
        line.clear();
    }
    Ok(())
}

/// The field that distinguishes a request from a response.
#[derive(serde::Deserialize)]
struct MessageHead {
    method: Option<serde::de::IgnoredAny>,
}

fn release_permit(room: &Semaphore) {
    if room.available_permits() < MAX_PENDING {
        room.add_permits(1);
    }
}

async fn write_line(output: &Mutex<impl AsyncWrite + Unpin>, line: &[u8]) -> io::Result<()> {
    let mut output = output.lock().await;
    output.write_all(line).await?;
    output.write_all(b"\n").await?;
    output.flush().await
}
