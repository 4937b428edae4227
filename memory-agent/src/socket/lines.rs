//! Reads lines from a connection, with limits on length and time.

use std::sync::Arc;

use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::limits::{SHORT, SharedResources, unwrap_permit};
use crate::rpc::{LONGEST_LINE, MessageIdScanner};
use crate::system::local_socket::ReadHalf;

/// The lines of a connection.
#[derive(Debug)]
pub(super) struct ConnectionLines {
    half: ReadHalf,
    room: Arc<SharedResources>,
    buffer: Vec<u8>,
    /// Offset in the buffer of the first byte that was not returned yet.
    start: usize,
    /// Offset in the buffer up to which no further line break exists.
    searched: usize,
    /// Deadline for the end of the current line.
    deadline: Option<Instant>,
    /// Permit that is held while the buffer, or the line that was returned last, is long.
    long: Option<OwnedSemaphorePermit>,
    /// Searches for the id of the request in the line that is skipped, if one is.
    skipped: Option<MessageIdScanner>,
    is_over: bool,
}

/// The next item of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextLine {
    /// A line without its line break.
    Line(Vec<u8>),
    /// A line that was too long, with the id of the request, or null.
    TooLong(Value),
    /// The end of the input, or a timeout in the middle of a line.
    End,
}

/// Minimum size of a read, in bytes.
const CHUNK: usize = 4 << 10;

impl ConnectionLines {
    /// Creates the line reader of a connection.
    pub(super) fn new(half: ReadHalf, room: Arc<SharedResources>) -> Self {
        Self {
            half,
            room,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            deadline: None,
            long: None,
            skipped: None,
            is_over: false,
        }
    }

    /// Returns the next item. Not cancel-safe: do not call it again after dropping an unfinished call.
    pub(super) async fn next(&mut self) -> NextLine {
        loop {
            if let Some(line) = self.take_line() {
                return if self.skipped.is_some() || LONGEST_LINE < line.len() {
                    self.too_long(&line)
                } else {
                    NextLine::Line(line)
                };
            }
            self.compact();
            if LONGEST_LINE < self.buffer.len() || self.skipped.is_some() {
                self.skipped.get_or_insert_default().scan(&self.buffer);
                self.buffer.clear();
                self.searched = 0;
            }
            if self.is_over || !self.read().await {
                return self.last();
            }
        }
    }

    /// Ends a line that is too long with its last bytes.
    fn too_long(&mut self, end: &[u8]) -> NextLine {
        let mut scanner = self.skipped.take().unwrap_or_default();
        scanner.scan(end);
        NextLine::TooLong(scanner.request_id().unwrap_or_default())
    }

    fn take_line(&mut self) -> Option<Vec<u8>> {
        let end = self.buffer[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n');
        let Some(end) = end.map(|end| self.searched + end) else {
            self.searched = self.buffer.len();
            return None;
        };
        let line = self.buffer[self.start..end].to_vec();
        (self.start, self.searched) = (end + 1, end + 1);
        // Each line has its own deadline.
        self.deadline = None;
        Some(line)
    }

    /// Removes the returned lines from the buffer.
    fn compact(&mut self) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        if self.buffer.len() <= SHORT {
            self.buffer.shrink_to(SHORT);
            self.long = None;
        }
    }

    /// Reads more bytes; returns whether more may follow.
    async fn read(&mut self) -> bool {
        if self.buffer.is_empty() && self.skipped.is_none() {
            // An idle connection has no timeout.
            self.buffer.reserve(CHUNK);
            return matches!(self.half.read_buf(&mut self.buffer).await, Ok(1..));
        }
        let deadline = *self
            .deadline
            .get_or_insert_with(|| Instant::now() + self.room.limits.line_time);
        let Self {
            half,
            room,
            buffer,
            long,
            ..
        } = self;
        let more = async {
            if SHORT < buffer.len() && long.is_none() {
                *long = Some(unwrap_permit(
                    Arc::clone(&room.long_lines).acquire_owned().await,
                ));
            }
            buffer.reserve(buffer.len().clamp(CHUNK, SHORT));
            half.read_buf(buffer).await
        };
        match timeout_at(deadline, more).await {
            Ok(Ok(0)) => {
                self.is_over = true;
                !self.buffer.is_empty()
            }
            Ok(Ok(_)) => true,
            Ok(Err(_)) | Err(_) => {
                self.buffer.clear();
                false
            }
        }
    }

    /// Returns the text after the last line break.
    fn last(&mut self) -> NextLine {
        (self.start, self.searched, self.is_over) = (0, 0, true);
        let line = std::mem::take(&mut self.buffer);
        if self.skipped.is_some() {
            self.too_long(&line)
        } else if line.is_empty() {
            NextLine::End
        } else {
            NextLine::Line(line)
        }
    }
}
