//! Serves one connection of the local socket.

use std::sync::Arc;

use memory_core::{RecallInterface, View};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::limits::{SharedResources, unwrap_permit};
use super::lines::{ConnectionLines, NextLine};
use crate::agent::Agent;
use crate::exact_json;
use crate::places::PlaceHolder;
use crate::rpc::{LONGEST_LINE, RpcConnection, RpcError, RpcWork};
use crate::system::local_socket::{AsyncLocalStream, ReadHalf, WriteHalf, authenticate};

/// Writes the responses of a connection.
#[derive(Debug)]
struct ResponseSink {
    half: Mutex<WriteHalf>,
    room: Arc<SharedResources>,
    /// Cancelled when the client no longer reads responses.
    broken: CancellationToken,
}

/// Serves a client until it disconnects, is too slow, or `end` is cancelled.
///
/// After `end` is cancelled, the pending requests are finished first.
pub(super) async fn serve_connection(
    stream: AsyncLocalStream,
    holder: PlaceHolder,
    identity: Arc<str>,
    agent: Arc<Agent>,
    room: Arc<SharedResources>,
    end: CancellationToken,
) {
    let place = room.places.acquire(holder, room.limits.patience);
    let place = tokio::select! {
        place = place => place,
        () = end.cancelled() => return,
    };
    let Some(place) = place else {
        return refuse(stream, room).await;
    };
    let stream = tokio::select! {
        stream = authenticate(stream, &identity) => stream,
        () = place.evicted() => return,
        () = end.cancelled() => return,
    };
    let Some(stream) = stream else {
        return;
    };
    // A session lasts as long as its connection, which is therefore never idle.
    place.set_idle(false);
    let (reader, voice) = split(stream, &room);
    let mut tasks = JoinSet::new();
    let mut lines = ConnectionLines::new(reader, Arc::clone(&room));
    tokio::select! {
        () = execute_requests(&mut lines, &agent, &voice, &mut tasks) => {}
        () = end.cancelled() => {}
        () = voice.broken.cancelled() => {}
    }
    tokio::select! {
        () = async { while tasks.join_next().await.is_some() {} } => {}
        () = voice.broken.cancelled() => {}
    }
    drop(place);
}

/// Tells a client that it gets no place.
async fn refuse(stream: AsyncLocalStream, room: Arc<SharedResources>) {
    let why = format!(
        "the limit of {} connections is reached",
        room.limits.connections
    );
    let answer = RpcError::overloaded(why).to_response(&Value::Null);
    split(stream, &room).1.send(answer.to_string(), None).await;
}

fn split(stream: AsyncLocalStream, room: &Arc<SharedResources>) -> (ReadHalf, Arc<ResponseSink>) {
    let (reader, writer) = stream.into_split();
    let voice = ResponseSink {
        half: Mutex::new(writer),
        room: Arc::clone(room),
        broken: CancellationToken::new(),
    };
    (reader, Arc::new(voice))
}

/// Executes all requests until the input ends. Some tasks may still run afterwards.
async fn execute_requests(
    lines: &mut ConnectionLines,
    agent: &Arc<Agent>,
    voice: &Arc<ResponseSink>,
    tasks: &mut JoinSet<()>,
) {
    let room = &voice.room;
    let turns = Arc::new(Semaphore::new(room.limits.at_once));
    let mut speech =
        RpcConnection::begin(agent, View::default()).with_interface(RecallInterface::Socket);
    loop {
        let next = lines.next().await;
        let turn = unwrap_permit(Arc::clone(&turns).acquire_owned().await);
        while tasks.try_join_next().is_some() {}
        match next {
            NextLine::End => return,
            NextLine::TooLong(id) => {
                let fault = RpcError::invalid_request(format!(
                    "the line is longer than {LONGEST_LINE} bytes"
                ));
                let answer = exact_json::to_text(&fault.to_response(&id));
                let voice = Arc::clone(voice);
                tasks.spawn(async move {
                    voice.send(answer, None).await;
                    drop(turn);
                });
            }
            NextLine::Line(line) => {
                // A parsed line can take many times its size, so a worker permit is acquired before parsing.
                let worker = unwrap_permit(Arc::clone(&room.workers).acquire_owned().await);
                if let Some(work) = speech.parse_line(&line) {
                    let voice = Arc::clone(voice);
                    tasks.spawn(async move {
                        execute_work(work, worker, &voice).await;
                        drop(turn);
                    });
                }
            }
        }
    }
}

/// Executes requests on a blocking thread and sends the response.
async fn execute_work(work: RpcWork, worker: OwnedSemaphorePermit, voice: &ResponseSink) {
    // The permit is returned by the thread, because a blocking thread cannot be cancelled.
    let done = spawn_blocking(move || (work.execute(), worker)).await;
    match done {
        Ok((Some(answer), worker)) => voice.send(answer, Some(worker)).await,
        Ok((None, _)) => {}
        // The client must not wait for a response that will never be sent.
        Err(_) => voice.broken.cancel(),
    }
}

impl ResponseSink {
    /// Sends a line to the client; if the client does not read it in time, the connection is closed.
    async fn send(&self, mut line: String, worker: Option<OwnedSemaphorePermit>) {
        line.push('\n');
        let _room = match self.room.try_reserve(line.len()) {
            Some(room) => room,
            // The budget is exhausted and this client has not read its previous response: other clients must not wait
            // for it.
            None if self.half.try_lock().is_err() => return self.broken.cancel(),
            None => self.room.reserve(line.len()).await,
        };
        drop(worker);
        let mut half = self.half.lock().await;
        let said = timeout(self.room.limits.read_time, half.write_all(line.as_bytes())).await;
        if !matches!(said, Ok(Ok(()))) {
            self.broken.cancel();
        }
    }
}
