//! Which records are meant.

use std::ops::{Bound, RangeBounds};

use chrono::{DateTime, Utc};

use super::{Record, Role};

/// Which records are meant: those that fit all that it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Said by one of these, if there are any.
    pub roles: Vec<Role>,
    /// Said by none of these.
    pub not_roles: Vec<Role>,
    /// Not said before.
    pub from: Bound<DateTime<Utc>>,
    /// Not said after.
    pub to: Bound<DateTime<Utc>>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { roles: Vec::new(), not_roles: Vec::new(), from: Bound::Unbounded, to: Bound::Unbounded }
    }
}

impl Filter {
    /// Tells whether it means every record.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Tells whether a record fits. One that does not say when it was said fits no bounds.
    pub fn fits(&self, record: &Record) -> bool {
        let is_timeless = (self.from, self.to) == (Bound::Unbounded, Bound::Unbounded);
        (self.roles.is_empty() || self.roles.contains(record.role()))
            && !self.not_roles.contains(record.role())
            && (is_timeless || record.at().is_some_and(|at| (self.from, self.to).contains(&at)))
    }
}

/// Which of the records that fit are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// So many of the first are left out.
    pub offset: usize,
    /// At most so many are meant.
    pub limit: Option<usize>,
    /// Which ones, if there are more.
    pub end: End,
}

/// The end of a session from which records are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
}

impl Window {
    /// Returns those of `records`, all of which fit, that are meant; in their order.
    pub fn of<T>(self, records: impl Iterator<Item = T>) -> Vec<T> {
        let left = records.skip(self.offset);
        match (self.limit, self.end) {
            (None, _) => left.collect(),
            (Some(limit), End::First) => left.take(limit).collect(),
            (Some(limit), End::Last) => {
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
        assert_eq!(taken(0, None, End::Last), (0..10).collect::<Vec<_>>());
        assert_eq!(taken(7, None, End::First), [7, 8, 9]);
        assert_eq!(taken(2, Some(3), End::First), [2, 3, 4]);
        assert_eq!(taken(2, Some(3), End::Last), [7, 8, 9]);
        assert_eq!(taken(8, Some(3), End::Last), [8, 9]);
        assert_eq!(taken(11, Some(3), End::Last), [0; 0]);
        assert_eq!(taken(0, Some(0), End::Last), [0; 0]);
    }
}
