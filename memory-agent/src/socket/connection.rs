//! Serves one connection of the Unix socket.

use std::sync::Arc;

use memory_core::View;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::limits::LONGEST_LINE;
use super::lines::{Lines, Next};
use super::room::{Room, taken};
use crate::agent::Agent;
use crate::rpc::{Fault, Speech, Work};

/// Writes the responses of a connection.
#[derive(Debug)]
struct Voice {
    half: Mutex<OwnedWriteHalf>,
    room: Arc<Room>,
    /// Cancelled when the client no longer reads responses.
    broken: CancellationToken,
}

/// Serves a client until it disconnects, is too slow, or `end` is cancelled.
///
/// After `end` is cancelled, the pending requests are finished first.
pub(super) async fn attend(stream: UnixStream, agent: Arc<Agent>, room: Arc<Room>, end: CancellationToken) {
    let (reader, writer) = stream.into_split();
    let voice = Arc::new(Voice { half: Mutex::new(writer), room: Arc::clone(&room), broken: CancellationToken::new() });
    let place = timeout(room.limits.patience, Arc::clone(&room.places).acquire_owned());
    let place = tokio::select! {
        place = place => place,
        () = end.cancelled() => return,
    };
    let Ok(place) = place.map(taken) else {
        let why = format!("the limit of {} connections is reached", room.limits.connections);
        return voice.say(Fault::no_room(why).answer(&Value::Null).to_string(), None).await;
    };
    let mut tasks = JoinSet::new();
    let mut lines = Lines::new(reader, Arc::clone(&room));
    tokio::select! {
        () = listen(&mut lines, &agent, &voice, &mut tasks) => {}
        () = end.cancelled() => {}
        () = voice.broken.cancelled() => {}
    }
    tokio::select! {
        () = async { while tasks.join_next().await.is_some() {} } => {}
        () = voice.broken.cancelled() => {}
    }
    drop(place);
}

/// Executes all requests until the input ends. Some tasks may still run afterwards.
async fn listen(lines: &mut Lines, agent: &Arc<Agent>, voice: &Arc<Voice>, tasks: &mut JoinSet<()>) {
    let room = &voice.room;
    let turns = Arc::new(Semaphore::new(room.limits.at_once));
    let mut speech = Speech::begin(agent, View::default());
    loop {
        let next = lines.next().await;
        let turn = taken(Arc::clone(&turns).acquire_owned().await);
        while tasks.try_join_next().is_some() {}
        match next {
            Next::End => return,
            Next::TooLong => {
                let fault = Fault::no_request(format!("the line is longer than {LONGEST_LINE} bytes"));
                let (voice, answer) = (Arc::clone(voice), fault.answer(&Value::Null).to_string());
                tasks.spawn(async move {
                    voice.say(answer, None).await;
                    drop(turn);
                });
            }
            Next::Line(line) => {
                // A parsed line can take many times its size, so a worker permit is acquired before parsing.
                let worker = taken(Arc::clone(&room.workers).acquire_owned().await);
                if let Some(work) = speech.take(&line) {
                    let voice = Arc::clone(voice);
                    tasks.spawn(async move {
                        work_on(work, worker, &voice).await;
                        drop(turn);
                    });
                }
            }
        }
    }
}

/// Executes requests on a blocking thread and sends the response.
async fn work_on(work: Work, worker: OwnedSemaphorePermit, voice: &Voice) {
    // The permit is returned by the thread, because a blocking thread cannot be cancelled.
    let done = spawn_blocking(move || (work.answer(), worker)).await;
    match done {
        Ok((Some(answer), worker)) => voice.say(answer, Some(worker)).await,
        Ok((None, _)) => {}
        // The client must not wait for a response that will never be sent.
        Err(_) => voice.broken.cancel(),
    }
}

impl Voice {
    /// Sends a line to the client; if the client does not read it in time, the connection is closed.
    async fn say(&self, mut line: String, worker: Option<OwnedSemaphorePermit>) {
        line.push('\n');
        let _room = match self.room.for_answer_now(line.len()) {
            Some(room) => room,
            // The budget is exhausted and this client has not read its previous response: other clients must not wait
            // for it.
            None if self.half.try_lock().is_err() => return self.broken.cancel(),
            None => self.room.for_answer(line.len()).await,
        };
        drop(worker);
        let mut half = self.half.lock().await;
        let said = timeout(self.room.limits.read_time, half.write_all(line.as_bytes())).await;
        if !matches!(said, Ok(Ok(()))) {
            self.broken.cancel();
        }
    }
}
