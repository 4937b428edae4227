//! The cursors with which lists and texts continue.

use std::fmt;

use chrono::DateTime;
use memory_core::{Filter, Memory, ToolError};

use super::input::invalid;

/// The place in a list of memories, newest first, at which the next answer begins.
///
/// It names the last shown memory, so that the list goes on behind it also if memories were deleted or written since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ListCursor {
    /// The number of memories that were shown.
    pub offset: usize,
    /// The creation time of the last one in microseconds, and the start of its id.
    last: Option<(i64, String)>,
}

impl ListCursor {
    /// Parses a cursor, or a plain offset.
    pub(super) fn parse(cursor: Option<&str>) -> Result<Self, ToolError> {
        let Some((offset, last)) = cursor.and_then(|cursor| cursor.trim().split_once('.')) else {
            return Ok(Self {
                offset: parse_cursor(cursor)?,
                last: None,
            });
        };
        let last = last
            .split_once('.')
            .and_then(|(at, id)| Some((at.parse().ok()?, id.to_owned())));
        match last {
            Some(last) => Ok(Self {
                offset: parse_cursor(Some(offset))?,
                last: Some(last),
            }),
            None => Err(invalid("cursor: not a cursor of an earlier answer".into())),
        }
    }

    /// Returns whether the cursor names a memory, and not only a number of memories.
    pub(super) fn is_place(&self) -> bool {
        self.last.is_some()
    }

    pub(super) fn after(offset: usize, memory: &Memory) -> Self {
        Self {
            offset,
            last: Some((memory.created_at.timestamp_micros(), memory.id.short())),
        }
    }

    /// Restricts a filter to memories that may follow, and returns the number of memories to skip.
    pub(super) fn narrow(&self, filter: Filter) -> (Filter, usize) {
        let Some(end) = self
            .last
            .as_ref()
            .and_then(|(at, _)| DateTime::from_timestamp_micros(at.checked_add(1)?))
        else {
            return (filter, self.offset);
        };
        let until = filter.until.map_or(end, |until| until.min(end));
        (
            Filter {
                until: Some(until),
                ..filter
            },
            0,
        )
    }

    /// Returns whether a memory precedes the place. Memories with one creation time are in the order of their ids.
    pub(super) fn is_before(&self, memory: &Memory) -> bool {
        let key = (-memory.created_at.timestamp_micros(), memory.id.short());
        self.last
            .as_ref()
            .is_some_and(|(at, id)| key <= (at.saturating_neg(), id.clone()))
    }
}

impl fmt::Display for ListCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.last {
            Some((at, id)) => write!(formatter, "{}.{at}.{id}", self.offset),
            None => write!(formatter, "{}", self.offset),
        }
    }
}

/// Parses the cursor of an earlier answer, an offset.
pub(super) fn parse_cursor(cursor: Option<&str>) -> Result<usize, ToolError> {
    let wrong = |_| invalid("cursor: not a cursor of an earlier answer".into());
    cursor.map_or(Ok(0), |cursor| cursor.trim().parse().map_err(wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_the_same_after_it_was_printed_and_parsed() {
        for text in ["0", "20", "20.1764103200000123.7b86694d"] {
            assert_eq!(ListCursor::parse(Some(text)).unwrap().to_string(), text);
        }
        for wrong in ["", "x", "1.2", "1.x.7b86694d"] {
            assert!(ListCursor::parse(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
