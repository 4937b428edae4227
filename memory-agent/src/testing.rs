//! What fuzzing calls and nobody else does.

use std::io::{self, Cursor};
use std::sync::Arc;

use tokio::io::{AsyncReadExt, duplex};

use crate::agent::Agent;
#[cfg(feature = "server")]
pub use crate::http::heard;
use crate::mcp::{Speaker, serve};

/// Returns all that a client of the Model Context Protocol is told who says `input` and closes its end. Blocks.
///
/// # Errors
/// When it does not speak the protocol.
pub fn mcp_answers(agent: &Arc<Agent>, speaker: &Speaker, input: Vec<u8>) -> io::Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (ours, mut theirs) = duplex(64 << 10);
        let mut answers = Vec::new();
        let (served, heard) = tokio::join!(serve(agent, speaker, Cursor::new(input), ours), theirs.read_to_end(&mut answers));
        heard.and(served)?;
        Ok(answers)
    })
}
