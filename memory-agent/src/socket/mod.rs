//! The tools over a Unix socket, for programs of the same person: one line of JSON-RPC each way, see [`crate::rpc`].
//!
//! Whatever clients do, it takes a bounded amount of memory: a line is read up to 1 MiB, and parsed once a thread is free to
//! work on it; answers that wait to be read have a common budget, and whoever does not read them is dropped.

mod bind;
mod connection;
mod limits;
mod lines;
mod room;
mod serve;

pub use bind::{NAME, Socket, SocketError};
pub use limits::{LONGEST_LINE, Limits};
pub use serve::serve;
