//! Filters for records: criteria and windows.

use std::ops::{Bound, RangeBounds};

use chrono::{DateTime, Utc};

use super::{RecordRole, SessionRecord};

/// A filter for records; a record matches if it meets all criteria.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordFilter {
    /// Accepted roles; empty accepts all.
    pub roles: Vec<RecordRole>,
    /// Excluded roles.
    pub not_roles: Vec<RecordRole>,
    /// The earliest time.
    pub from: Bound<DateTime<Utc>>,
    /// The latest time.
    pub to: Bound<DateTime<Utc>>,
}

impl Default for RecordFilter {
    fn default() -> Self {
        Self {
            roles: Vec::new(),
            not_roles: Vec::new(),
            from: Bound::Unbounded,
            to: Bound::Unbounded,
        }
    }
}

impl RecordFilter {
    /// Returns whether the filter accepts all records.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether a record matches. A record without a time does not match a filter with a time bound.
    pub fn matches(&self, record: &SessionRecord) -> bool {
        let is_timeless = (self.from, self.to) == (Bound::Unbounded, Bound::Unbounded);
        (self.roles.is_empty() || self.roles.contains(record.role()))
            && !self.not_roles.contains(record.role())
            && (is_timeless
                || record
                    .at()
                    .is_some_and(|at| (self.from, self.to).contains(&at)))
    }
}

/// A range of the matching records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// Number of records to skip.
    pub offset: usize,
    /// Maximum number of records.
    pub limit: Option<usize>,
    /// Whether the limit applies from the start or from the end.
    pub end: WindowEnd,
}

/// The end of a session that a limit counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WindowEnd {
    /// The first records.
    #[default]
    First,
    /// The last records.
    Last,
}

impl Window {
    /// Returns the elements of `records` in the window, in their order. All `records` must match already.
    pub fn of<T>(self, records: impl Iterator<Item = T>) -> Vec<T> {
        let left = records.skip(self.offset);
        match (self.limit, self.end) {
            (None, _) => left.collect(),
            (Some(limit), WindowEnd::First) => left.take(limit).collect(),
            (Some(limit), WindowEnd::Last) => {
                let mut last = std::collections::VecDeque::new();
                for record in left {
                    last.push_back(record);
                    if limit < last.len() {
                        last.pop_front();
                    }
                }
                last.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_skips_first_and_then_takes_from_its_end() {
        let taken = |offset, limit, end| Window { offset, limit, end }.of(0..10);
        assert_eq!(taken(0, None, WindowEnd::Last), (0..10).collect::<Vec<_>>());
        assert_eq!(taken(7, None, WindowEnd::First), [7, 8, 9]);
        assert_eq!(taken(2, Some(3), WindowEnd::First), [2, 3, 4]);
        assert_eq!(taken(2, Some(3), WindowEnd::Last), [7, 8, 9]);
        assert_eq!(taken(8, Some(3), WindowEnd::Last), [8, 9]);
        assert_eq!(taken(11, Some(3), WindowEnd::Last), [0; 0]);
        assert_eq!(taken(0, Some(0), WindowEnd::Last), [0; 0]);
    }
}
