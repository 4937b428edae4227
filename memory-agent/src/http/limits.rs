//! Resource limits of the HTTP server.

use std::time::Duration;

/// Resource limits of the HTTP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Maximum number of open connections of one user of this machine, or of one address. All together have at most twice as many.
    pub connections: usize,
    /// Maximum number of requests that are processed at the same time; others wait.
    pub workers: usize,
    /// Maximum size of a request body, in bytes.
    pub body: usize,
    /// Maximum total size of request bodies in memory, in bytes; others wait to be read.
    pub bodies: usize,
    /// Maximum time to receive the headers of a request, and maximum idle time of a connection.
    pub head_time: Duration,
    /// Maximum time to wait for the body of a request, in total; a body that the chat proxy passes on may take longer at 16 KiB per second.
    pub body_time: Duration,
    /// Maximum time for which sent data may stay unacknowledged.
    pub read_time: Duration,
    /// Time that running requests get after shutdown was requested.
    pub drain: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 2048,
            workers: 64,
            body: 16 << 20,
            bodies: 32 << 20,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            read_time: Duration::from_secs(30),
            drain: Duration::from_secs(30),
        }
    }
}
