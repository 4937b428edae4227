//! Serves the tools over a Unix socket to programs of the same user.
//!
//! Each line is a JSON-RPC message, see [`crate::rpc`]. Memory is bounded for any client behaviour: a line has at most
//! [`LONGEST_LINE`] bytes and is parsed only when a worker is free; unread responses share one budget, and a client
//! that does not read them is disconnected.

mod bind;
mod connection;
mod limits;
mod lines;
mod room;
mod serve;

pub use bind::{NAME, Socket, SocketError};
pub use limits::{LONGEST_LINE, Limits};
pub use serve::serve;
