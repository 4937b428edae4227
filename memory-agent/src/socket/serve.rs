//! Accepts and serves the connections of the local socket.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::bind::Socket;
use super::connection::serve_connection;
use super::limits::{SharedResources, SocketLimits};
use crate::agent::Agent;
use crate::system::local_socket::{AsyncListener, place_holder};

/// Pause after the system failed to accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves the tools to programs of the same user until `shutdown` completes.
///
/// Earlier requests are finished within the limits.
///
/// # Errors
/// If the listener cannot be registered with the runtime.
pub async fn serve(
    socket: Socket,
    agent: Arc<Agent>,
    limits: SocketLimits,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let listener = AsyncListener::from_std(socket.listener()?)?;
    let identity: Arc<str> = socket.identity().into();
    let room = Arc::new(SharedResources::new(limits));
    let end = CancellationToken::new();
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // A program of another user takes no place.
                    let Some(holder) = place_holder(&stream) else { continue };
                    let (agent, room, end, identity) = (Arc::clone(&agent), Arc::clone(&room), end.clone(), Arc::clone(&identity));
                    connections.spawn(serve_connection(stream, holder, identity, agent, room, end));
                }
                Err(_) => sleep(ACCEPT_PAUSE).await,
            },
        }
    }
    // From now on clients fail to connect instead of waiting for a server that does not respond.
    drop((listener, socket));
    end.cancel();
    let _ = timeout(limits.last_words, async {
        while connections.join_next().await.is_some() {}
    })
    .await;
    connections.shutdown().await;
    Ok(())
}
