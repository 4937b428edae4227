//! How much is given to whom.

use std::time::Duration;

/// How much is given to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// So many connections are open at once; whoever comes then waits outside.
    pub connections: usize,
    /// So many requests are worked on at once; others wait.
    pub workers: usize,
    /// The longest body of a request, in bytes.
    pub body: usize,
    /// The bodies of all requests together, in bytes; others wait to be read.
    pub bodies: usize,
    /// How long the head of a request may take to come, and a connection to be without one.
    pub head_time: Duration,
    /// How long the body of a request may take to come.
    pub body_time: Duration,
    /// How long what was sent may go unread.
    pub read_time: Duration,
    /// How long what runs may go on after the end was asked for.
    pub drain: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 4096,
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
