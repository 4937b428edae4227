//! Resource limits of the Unix socket server.

use std::num::NonZero;
use std::thread;
use std::time::Duration;

/// Maximum length of a line, in bytes.
///
/// A bank value has at most 1 MiB, and a client may write each byte as `\u00e9`.
pub const LONGEST_LINE: usize = 8 << 20;

/// Resource limits of the Unix socket server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketLimits {
    /// Maximum number of connections served at the same time.
    pub connections: usize,
    /// Maximum number of accepted connections that wait for a free place.
    ///
    /// Further ones wait in the backlog of the system.
    pub waiting: usize,
    /// Maximum time that an accepted connection waits for a free place.
    pub patience: Duration,
    /// Maximum number of requests of one connection that are executed or have unread responses.
    pub at_once: usize,
    /// Maximum number of lines of all connections that are executed at the same time.
    pub workers: usize,
    /// Maximum time from the first byte of a line to its end.
    pub line_time: Duration,
    /// Maximum time that a client may take to read a response.
    pub read_time: Duration,
    /// Time that running requests get after shutdown was requested.
    pub last_words: Duration,
}

impl Default for SocketLimits {
    fn default() -> Self {
        Self {
            connections: 500,
            waiting: 100,
            patience: Duration::from_secs(1),
            at_once: 8,
            workers: thread::available_parallelism().map_or(2, NonZero::get).max(2),
            line_time: Duration::from_secs(30),
            read_time: Duration::from_secs(10),
            last_words: Duration::from_secs(3),
        }
    }
}
