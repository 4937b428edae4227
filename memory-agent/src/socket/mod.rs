//! Serves the tools over a local socket to programs of the same user.
//!
//! On Unix it is a Unix socket. On other systems it is a TCP listener on 127.0.0.1: the file of the socket has its address and a
//! token, and [`connect`] sends the token first.
//!
//! Each line is a JSON-RPC message, see [`crate::rpc`]. Memory is bounded for any client behaviour: a line has at most
//! [`LONGEST_LINE`](crate::rpc::LONGEST_LINE) bytes and is parsed only when a worker is free; unread responses share one budget, and a client
//! that does not read them is disconnected.
//!
//! Requests of one connection run concurrently, and responses are sent when they are ready. The client is
//! identified in the order of the lines. A client that stops in the middle of a line is disconnected. So
//! regardless of the number of clients, only as many requests as threads are parsed in memory. The socket is
//! bound under another name, made private, and renamed to its final path.

mod bind;
mod client;
mod connection;
mod limits;
mod lines;
mod serve;

pub use bind::{InheritedListener, NAME, Socket, SocketError};
pub use client::request;
pub use limits::SocketLimits;
pub use serve::serve;

pub use crate::system::local_socket::{LocalStream, connect};
