//! Serving all who come.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::bind::Socket;
use super::connection::attend;
use super::limits::Limits;
use super::room::Room;
use crate::agent::Agent;

/// When the system has no room for another connection, it may have after so long.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves the tools to programs of the same person, until `shutdown` is done. What they asked for before that is finished, as
/// far as the limits give it time.
///
/// # Errors
/// When the system refuses to tell who comes.
pub async fn serve(
    socket: Socket,
    agent: Arc<Agent>,
    limits: Limits,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let listener = UnixListener::from_std(socket.listener()?)?;
    let room = Arc::new(Room::new(limits));
    let end = CancellationToken::new();
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        let has_room = connections.len() < limits.connections + limits.waiting;
        tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if has_room => match accepted {
                Ok((stream, _)) if is_ours(&stream) => {
                    connections.spawn(attend(stream, Arc::clone(&agent), Arc::clone(&room), end.clone()));
                }
                Ok(_) => {}
                Err(_) => sleep(PAUSE).await,
            },
        }
    }
    // Whoever comes now finds nobody, rather than somebody who does not answer.
    drop((listener, socket));
    end.cancel();
    let _ = timeout(limits.last_words, async { while connections.join_next().await.is_some() {} }).await;
    connections.shutdown().await;
    Ok(())
}

/// Tells whether a client runs for the same person, or for whoever may do everything.
fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == 0 || peer.uid() == geteuid().as_raw())
}
