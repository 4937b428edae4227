//! Entry points for fuzz targets only.

use std::io::{self, Cursor};
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncReadExt, duplex};

use crate::agent::Agent;
pub use crate::http::streamed_outcome;
use crate::mcp::{ClientIdentity, serve};
use crate::rpc::MessageIdScanner;

/// Serves `input` as an MCP client that then closes its end, and returns all bytes sent to it. Blocks.
///
/// # Errors
/// If the client does not follow the protocol.
pub fn mcp_answers(
    agent: &Arc<Agent>,
    identity: &ClientIdentity,
    input: Vec<u8>,
) -> io::Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (ours, mut theirs) = duplex(64 << 10);
        let mut answers = Vec::new();
        let (served, heard) = tokio::join!(
            serve(agent, identity, Cursor::new(input), ours),
            theirs.read_to_end(&mut answers)
        );
        heard.and(served)?;
        Ok(answers)
    })
}

/// Returns the id of a JSON-RPC request as it is found in a line that cannot be parsed.
pub fn request_id_of_long_line(line: &[u8]) -> Option<Value> {
    let mut scanner = MessageIdScanner::default();
    scanner.scan(line);
    scanner.request_id()
}
