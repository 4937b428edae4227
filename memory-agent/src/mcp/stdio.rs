//! The protocol on the standard streams.

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::transport::stdio;

use super::server::{Server, Speaker};
use crate::agent::Agent;

/// Serves one client on the standard streams, until it closes them. Blocks.
///
/// # Errors
/// When the client does not speak the protocol, or the system refuses.
pub fn serve_stdio(agent: &Arc<Agent>, speaker: &Speaker) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let running = match Server::new(agent, speaker).serve(stdio()).await {
            Ok(running) => running,
            // Who goes without a word has not done anything wrong.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(io::Error::other(error)),
        };
        running.waiting().await.map(drop).map_err(io::Error::other)
    });
    // A read of the standard input cannot be interrupted.
    runtime.shutdown_background();
    served
}
