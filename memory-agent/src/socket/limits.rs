//! How much is given to whom.

use std::num::NonZero;
use std::thread;
use std::time::Duration;

/// A longer line is refused. A value of a bank has 1 MiB at most, and a client may write each of its bytes as `\u00e9`.
pub const LONGEST_LINE: usize = 8 << 20;

/// How much is given to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// So many connections are served at once.
    pub connections: usize,
    /// So many more wait for a place; whoever comes then waits outside.
    pub waiting: usize,
    /// How long they wait.
    pub patience: Duration,
    /// So many requests of one connection are worked on, or have answers that wait to be read.
    pub at_once: usize,
    /// So many lines of all connections are worked on.
    pub workers: usize,
    /// How long a line that has begun may take to end.
    pub line_time: Duration,
    /// How long an answer may take to be read.
    pub read_time: Duration,
    /// How long what runs may go on after the end was asked for.
    pub last_words: Duration,
}

impl Default for Limits {
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
