//! The protocol on the standard streams.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use tokio::sync::{Mutex, Semaphore};

use super::refusal::{error, refusal};
use super::server::{Server, Speaker};
use crate::agent::Agent;
use crate::exact;
use crate::socket::LONGEST_LINE;

/// Serves one client on the standard streams, until it closes them. Blocks.
///
/// # Errors
/// When the client does not speak the protocol, or the system refuses.
pub fn serve_stdio(agent: &Arc<Agent>, speaker: &Speaker) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(serve(agent, speaker, tokio::io::stdin(), tokio::io::stdout()));
    // A read of the standard input cannot be interrupted.
    runtime.shutdown_background();
    served
}

/// So many requests may be on their way; a client that does not read the answers is not read either.
const ON_THEIR_WAY: usize = 64;

/// So many bytes lie between us and the SDK.
const BETWEEN: usize = 64 << 10;

pub(crate) async fn serve(
    agent: &Arc<Agent>,
    speaker: &Speaker,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let (ours, theirs) = duplex(BETWEEN);
    let (answers, requests) = split(ours);
    let output = Arc::new(Mutex::new(output));
    let room = Arc::new(Semaphore::new(ON_THEIR_WAY));
    let hearing = tokio::spawn(hear(BufReader::new(input), requests, Arc::clone(&output), Arc::clone(&room)));
    let saying = tokio::spawn(say(BufReader::new(answers), output, room));
    let served = converse(agent, speaker, theirs).await;
    hearing.abort();
    // What was answered is said to the end.
    saying.await.map_err(io::Error::other)??;
    served
}

async fn converse(agent: &Arc<Agent>, speaker: &Speaker, stream: DuplexStream) -> io::Result<()> {
    let running = match Server::new(agent, speaker).serve(stream).await {
        Ok(running) => running,
        // Who goes without a word has not done anything wrong.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    running.waiting().await.map(drop).map_err(io::Error::other)
}

/// Hands on what a client says, line by line, and answers itself what is no message: the SDK would pass over it in silence, and
/// whoever waits for the answer would wait for ever.
async fn hear(
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
            match exact::from_slice(&line) {
                Ok(Value::Object(message)) => {
                    if let Some(answer) = refusal(&message) {
                        write_line(&output, exact::to_text(&answer).as_bytes()).await?;
                        continue;
                    }
                    if message.contains_key("id") && message.contains_key("method") {
                        room.acquire().await.map_err(io::Error::other)?.forget();
                    } else if message.get("method").is_some_and(|method| method == "notifications/cancelled") {
                        // It may never be answered.
                        give_back(&room);
                    }
                    None
                }
                Ok(_) => Some((-32600, "a message is an object".to_owned())),
                Err(error) => Some((-32700, format!("the line is no JSON: {error}"))),
            }
        } else {
            Some((-32600, format!("a line has at most {LONGEST_LINE} bytes")))
        };
        if let Some((code, message)) = complaint {
            write_line(&output, error(&Value::Null, code, &message).to_string().as_bytes()).await?;
            continue;
        }
        if let Cow::Owned(marked) = std::str::from_utf8(&line).map_or(Cow::Borrowed(""), exact::mark) {
            line = marked.into_bytes();
        }
        line.push(b'\n');
        requests.write_all(&line).await?;
    }
    requests.shutdown().await
}

/// Reads the next line, without what ends it; tells whether it is whole, which one that is too long is not. Nothing at the end.
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

/// Hands on what the SDK says.
async fn say(
    mut answers: impl AsyncBufReadExt + Unpin,
    output: Arc<Mutex<impl AsyncWrite + Unpin>>,
    room: Arc<Semaphore>,
) -> io::Result<()> {
    let mut line = Vec::new();
    while answers.read_until(b'\n', &mut line).await? != 0 {
        while line.last().is_some_and(u8::is_ascii_whitespace) {
            line.pop();
        }
        let plain = std::str::from_utf8(&line).map_or(Cow::Borrowed(""), exact::unmark);
        write_line(&output, if let Cow::Owned(plain) = &plain { plain.as_bytes() } else { &line }).await?;
        // What asks has a method; what answers has none.
        let is_answer = serde_json::from_slice::<Head>(&line).is_ok_and(|head| head.method.is_none());
        if is_answer {
            give_back(&room);
        }
        line.clear();
    }
    Ok(())
}

/// What tells an answer from a question.
#[derive(serde::Deserialize)]
struct Head {
    method: Option<serde::de::IgnoredAny>,
}

fn give_back(room: &Semaphore) {
    if room.available_permits() < ON_THEIR_WAY {
        room.add_permits(1);
    }
}

async fn write_line(output: &Mutex<impl AsyncWrite + Unpin>, line: &[u8]) -> io::Result<()> {
    let mut output = output.lock().await;
    output.write_all(line).await?;
    output.write_all(b"\n").await?;
    output.flush().await
}
