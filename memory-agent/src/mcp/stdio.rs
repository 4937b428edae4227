//! Serves the Model Context Protocol on standard input and output.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt};
use serde_json::{Map, Value};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex, split,
};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

use super::batches::{BatchResponse, OpenBatches};
use super::caller::ClientIdentity;
use super::invalid_message::{
    INVALID_REQUEST, check_message, complete_message, error_response, names_own_version,
};
use super::server::McpServer;
use super::subscriptions::ListenLimit;
use crate::agent::Agent;
use crate::exact_json;
use crate::rpc::{LONGEST_LINE, MOST, MessageIdScanner};

/// Serves one client on standard input and output until it closes them. Blocks.
///
/// # Errors
/// If the client violates the protocol, or if an I/O operation fails.
pub fn serve_stdio(agent: &Arc<Agent>, identity: &ClientIdentity) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(serve(
        agent,
        identity,
        tokio::io::stdin(),
        tokio::io::stdout(),
    ));
    // A read of standard input cannot be cancelled.
    runtime.shutdown_background();
    served
}

/// Maximum number of pending requests; a client that does not read responses is not read either.
const MAX_PENDING: usize = 64;

/// Size of the pipe to the SDK, in bytes.
const PIPE_SIZE: usize = 64 << 10;

/// Serves one client on a stream of lines until it closes `input`.
///
/// # Errors
/// If the client violates the protocol, or if an I/O operation fails.
pub async fn serve(
    agent: &Arc<Agent>,
    identity: &ClientIdentity,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let (ours, theirs) = duplex(PIPE_SIZE);
    let (answers, requests) = split(ours);
    let output = Arc::new(Mutex::new(output));
    let room = Arc::new(Semaphore::new(MAX_PENDING));
    let batches = OpenBatches::default();
    let end = CancellationToken::new();
    let messages = RequestForwarder {
        requests,
        output: Arc::clone(&output),
        room: Arc::clone(&room),
        batches: batches.clone(),
        has_opened: false,
    };
    let forwarded = messages.forward_lines(BufReader::new(input));
    // Subscriptions do not end by themselves.
    let until = end.clone().drop_guard();
    let hearing = tokio::spawn(async move {
        let _until = until;
        forwarded.await
    });
    let saying = tokio::spawn(forward_responses(
        BufReader::new(answers),
        output,
        room,
        batches,
    ));
    let served = run_server(
        McpServer::new(agent, identity, &ListenLimit::default(), &end),
        theirs,
    )
    .await;
    hearing.abort();
    // Remaining responses are written to the end.
    saying.await.map_err(io::Error::other)??;
    served
}

async fn run_server(server: McpServer, stream: DuplexStream) -> io::Result<()> {
    let (input, output) = split(stream);
    // The length of each line is checked before.
    let transport =
        AsyncRwTransport::<RoleServer, _, _>::new(input, output).with_max_line_length(usize::MAX);
    let running = match server.serve(transport).await {
        Ok(running) => running,
        // A client that disconnects before initialization is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    running.waiting().await.map(drop).map_err(io::Error::other)
}

/// Forwards messages of the client to the SDK, and responds to invalid messages itself.
///
/// The SDK would drop them silently, and the client would wait forever for a response. It also knows no batches.
struct RequestForwarder<R, W> {
    requests: R,
    output: Arc<Mutex<W>>,
    room: Arc<Semaphore>,
    batches: OpenBatches,
    has_opened: bool,
}

impl<R: AsyncWrite + Unpin, W: AsyncWrite + Unpin> RequestForwarder<R, W> {
    async fn forward_lines(mut self, mut input: impl AsyncBufReadExt + Unpin) -> io::Result<()> {
        let mut line = Vec::new();
        while let Some(next) = next_line(&mut input, &mut line).await? {
            if next == StdioLine::Complete && line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let answer = match next {
                StdioLine::Complete => match exact_json::from_slice(&line) {
                    Ok(Value::Array(messages)) => self.forward_batch(messages).await?,
                    Ok(message) => match check_any(&message) {
                        Ok(message) => {
                            self.forward(message, std::mem::take(&mut line)).await?;
                            None
                        }
                        Err(answer) => Some(exact_json::to_text(&answer)),
                    },
                    Err(error) => {
                        let id = MessageIdScanner::find_id(&line).unwrap_or_default();
                        let why = format!("the line is not JSON: {error}");
                        Some(exact_json::to_text(&error_response(&id, -32700, &why)))
                    }
                },
                StdioLine::TooLong(id) => {
                    let why = format!(
                        "the line is longer than {LONGEST_LINE} bytes; split the text into several memories"
                    );
                    Some(exact_json::to_text(&error_response(
                        &id,
                        INVALID_REQUEST,
                        &why,
                    )))
                }
            };
            if let Some(answer) = answer {
                write_line(&self.output, answer.as_bytes()).await?;
            }
        }
        self.requests.shutdown().await
    }

    /// Forwards the messages of a batch; returns its responses if there are no others to wait for.
    async fn forward_batch(&mut self, messages: Vec<Value>) -> io::Result<Option<String>> {
        let why = match messages.len() {
            0 => Some("the batch is empty".to_owned()),
            count if MOST < count => Some(format!(
                "a batch may have at most {MOST} messages; this one has {count}"
            )),
            _ => None,
        };
        if let Some(why) = why {
            let answer = error_response(&Value::Null, INVALID_REQUEST, &why);
            return Ok(Some(exact_json::to_text(&answer)));
        }
        let (mut valid, mut pending, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for message in &messages {
            let message = match check_any(message) {
                Ok(message) => message,
                Err(answer) => {
                    refused.push(exact_json::to_text(&answer));
                    continue;
                }
            };
            let id = message.get("id").filter(|_| is_request(message));
            // The SDK answers only one of two requests with the same id.
            if let Some(id) = id.filter(|id| pending.contains(*id) || self.batches.is_pending(id)) {
                let why = format!("the id {id} belongs to another request without a response");
                let answer = error_response(&Value::Null, INVALID_REQUEST, &why);
                refused.push(exact_json::to_text(&answer));
                continue;
            }
            pending.extend(id.cloned());
            valid.push(message);
        }
        let complete = self.batches.open(pending, refused);
        for message in valid {
            let text = exact_json::to_text(&Value::Object(message.clone()));
            self.forward(message, text.into_bytes()).await?;
        }
        Ok(complete)
    }

    /// Forwards a valid message, whose text is `line`.
    async fn forward(&mut self, message: &Map<String, Value>, mut line: Vec<u8>) -> io::Result<()> {
        if let Some(completed) = complete_message(message) {
            line = completed.into_bytes();
        }
        self.has_opened |= opens_connection(message);
        if !self.has_opened && !message.contains_key("id") {
            return Ok(());
        }
        if is_request(message) {
            let permit = self.room.acquire().await.map_err(io::Error::other)?;
            permit.forget();
        } else if message
            .get("method")
            .is_some_and(|method| method == "notifications/cancelled")
        {
            // A cancelled request may never get a response.
            release_permit(&self.room);
            let parameters = message.get("params");
            let id = parameters.and_then(|parameters| parameters.get("requestId"));
            let settled = id.map(|id| self.batches.cancel(id));
            if let Some(BatchResponse::Complete(responses)) = settled {
                write_line(&self.output, responses.as_bytes()).await?;
            }
        }
        if let Cow::Owned(marked) =
            std::str::from_utf8(&line).map_or(Cow::Borrowed(""), exact_json::mark)
        {
            line = marked.into_bytes();
        }
        line.push(b'\n');
        self.requests.write_all(&line).await
    }
}

/// Returns the message, or the error response to a value that must not reach the SDK.
fn check_any(message: &Value) -> Result<&Map<String, Value>, Value> {
    let Value::Object(message) = message else {
        let why = "the message is not an object";
        return Err(error_response(&Value::Null, INVALID_REQUEST, why));
    };
    check_message(message).map_or(Ok(message), Err)
}

fn is_request(message: &Map<String, Value>) -> bool {
    message.contains_key("id") && message.contains_key("method")
}

/// Returns whether the SDK accepts notifications after this message: `initialize`, or a self-contained request other than
/// `server/discover`. An earlier notification would end the connection.
fn opens_connection(message: &Map<String, Value>) -> bool {
    match message.get("method").and_then(Value::as_str) {
        Some("initialize") => true,
        Some("server/discover") | None => false,
        Some(_) => message.contains_key("id") && names_own_version(message),
    }
}

/// The next line of the client.
#[derive(Debug, PartialEq)]
enum StdioLine {
    /// It was read completely.
    Complete,
    /// It is too long. Contains its request id, or null.
    TooLong(Value),
}

/// Reads the next line without its line break; returns `None` at the end.
async fn next_line(
    input: &mut (impl AsyncBufReadExt + Unpin),
    line: &mut Vec<u8>,
) -> io::Result<Option<StdioLine>> {
    line.clear();
    let mut has_begun = false;
    let mut too_long: Option<MessageIdScanner> = None;
    let result = |too_long: Option<MessageIdScanner>| match too_long {
        Some(scanner) => StdioLine::TooLong(scanner.request_id().unwrap_or(Value::Null)),
        None => StdioLine::Complete,
    };
    loop {
        let buffer = input.fill_buf().await?;
        if buffer.is_empty() {
            return Ok(has_begun.then(|| result(too_long)));
        }
        has_begun = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        if let Some(scanner) = &mut too_long {
            scanner.scan(part);
        } else if line.len() + part.len() <= LONGEST_LINE {
            line.extend_from_slice(part);
        } else {
            let scanner = too_long.insert(MessageIdScanner::default());
            scanner.scan(line);
            scanner.scan(part);
            line.clear();
            line.shrink_to_fit();
        }
        let read = end.map_or(buffer.len(), |end| end + 1);
        input.consume(read);
        if end.is_some() {
            return Ok(Some(result(too_long)));
        }
    }
}

/// Forwards messages of the SDK to the client.
async fn forward_responses(
    mut answers: impl AsyncBufReadExt + Unpin,
    output: Arc<Mutex<impl AsyncWrite + Unpin>>,
    room: Arc<Semaphore>,
    batches: OpenBatches,
) -> io::Result<()> {
    let mut line = Vec::new();
    while answers.read_until(b'\n', &mut line).await? != 0 {
        while line.last().is_some_and(u8::is_ascii_whitespace) {
            line.pop();
        }
        let plain = std::str::from_utf8(&line).map_or(Cow::Borrowed(""), exact_json::to_wire);
        let plain = if let Cow::Owned(plain) = &plain {
            plain.as_bytes()
        } else {
            &line
        };
        // A request has a method; a response has none.
        let answered = serde_json::from_slice::<MessageHead>(&line)
            .ok()
            .filter(|head| head.method.is_none())
            .map(|head| batches.take(&head.id, &String::from_utf8_lossy(plain)));
        match &answered {
            None | Some(BatchResponse::Single) => write_line(&output, plain).await?,
            Some(BatchResponse::Incomplete) => {}
            Some(BatchResponse::Complete(responses)) => {
                write_line(&output, responses.as_bytes()).await?;
            }
        }
        if answered.is_some() {
            release_permit(&room);
        }
        line.clear();
    }
    Ok(())
}

/// The fields that distinguish a request from a response, and responses from one another.
#[derive(serde::Deserialize)]
struct MessageHead {
    #[serde(default)]
    id: Value,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_line_is_read_and_a_longer_one_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let read = |bytes: usize| {
            let (mut input, mut line) = (vec![b'a'; bytes], Vec::new());
            input.extend_from_slice(b"\nb");
            let mut input = input.as_slice();
            let first = runtime
                .block_on(next_line(&mut input, &mut line))
                .expect("a line");
            let length = line.len();
            let second = runtime
                .block_on(next_line(&mut input, &mut line))
                .expect("a line");
            assert_eq!(
                (second, line.as_slice()),
                (Some(StdioLine::Complete), b"b".as_slice())
            );
            (first, length)
        };
        assert_eq!(
            read(LONGEST_LINE),
            (Some(StdioLine::Complete), LONGEST_LINE)
        );
        assert_eq!(
            read(LONGEST_LINE + 1),
            (Some(StdioLine::TooLong(Value::Null)), 0)
        );
    }
}
