//! The conditions of SQL statements.

use std::ops::{Bound, Range};

use chrono::{DateTime, Datelike, SubsecRound, Utc};
use memory_core::instance::history::{RecordFilter, RecordRole, SessionRecord};
use tokio_postgres::types::{ToSql, Type};

/// Maximum number of rows in a statement, and of bytes in their contents.
const BATCH: (usize, usize) = (1_000, 8 << 20);

/// The value of a parameter and its type.
pub(super) type SqlParameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// The conditions of a statement, and the values of its numbered parameters.
#[derive(Debug, Default)]
pub(super) struct SqlConditions {
    values: Vec<(Box<dyn ToSql + Sync>, Type)>,
    /// The conditions as SQL. If not empty, the text starts with ` AND`.
    pub text: String,
}

impl SqlConditions {
    /// Adds a value, and returns its placeholder.
    pub(super) fn value(&mut self, value: impl ToSql + Sync + 'static, kind: Type) -> String {
        self.values.push((Box::new(value), kind));
        format!("${}", self.values.len())
    }

    /// Adds the condition that a record matches `filter`.
    pub(super) fn add_filter(&mut self, filter: &RecordFilter) {
        let words = |roles: &[RecordRole]| {
            roles
                .iter()
                .map(|role| role.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        // An equality reads one range of the index on the role; `ANY` reads one range for each role.
        match filter.roles.as_slice() {
            [] => {}
            [role] => {
                let role = self.value(role.as_str().to_owned(), Type::TEXT);
                self.text.extend([" AND role = ", &role]);
            }
            roles => {
                let roles = self.value(words(roles), Type::TEXT_ARRAY);
                self.text.extend([" AND role = ANY(", &roles, ")"]);
            }
        }
        if !filter.not_roles.is_empty() {
            let roles = self.value(words(&filter.not_roles), Type::TEXT_ARRAY);
            self.text.extend([" AND role <> ALL(", &roles, ")"]);
        }
        self.add_bound(filter.from, [" >= ", " > "]);
        self.add_bound(filter.to, [" <= ", " < "]);
    }

    fn add_bound(&mut self, bound: Bound<DateTime<Utc>>, [included, excluded]: [&str; 2]) {
        let (moment, sign) = match bound {
            Bound::Included(moment) => (moment, included),
            Bound::Excluded(moment) => (moment, excluded),
            Bound::Unbounded => return,
        };
        // No record has a time outside these years, and the database may not support one.
        let moment = match moment.year() {
            ..0 => DateTime::from_timestamp(-62_198_755_200, 0).unwrap_or(moment),
            10_000.. => DateTime::from_timestamp(253_402_300_800, 0).unwrap_or(moment),
            _ => moment,
        };
        let (at, nanos) = split_nanos(moment);
        let (at, nanos) = (
            self.value(at, Type::TIMESTAMPTZ),
            self.value(nanos, Type::INT2),
        );
        self.text.extend([
            " AND (said_at, said_nanos)",
            sign,
            "(",
            &at,
            ", ",
            &nanos,
            ")",
        ]);
    }

    /// Returns the values and their types.
    pub(super) fn values(&self) -> Vec<SqlParameter<'_>> {
        self.values
            .iter()
            .map(|(value, kind)| (value.as_ref(), kind.clone()))
            .collect()
    }
}

/// Returns the time of a record in microseconds, if it has one, and the remaining nanoseconds.
pub(super) fn record_time(record: &SessionRecord) -> (Option<DateTime<Utc>>, i16) {
    // A year outside these four digits has no text form that can be parsed.
    match record
        .at()
        .filter(|at| (0..10_000).contains(&at.year()))
        .map(split_nanos)
    {
        Some((at, nanos)) => (Some(at), nanos),
        None => (None, 0),
    }
}

/// Returns a time in microseconds, and the remaining nanoseconds.
pub(super) fn split_nanos(moment: DateTime<Utc>) -> (DateTime<Utc>, i16) {
    let nanos = i16::try_from(moment.timestamp_subsec_nanos() % 1_000).unwrap_or_default();
    (moment.trunc_subsecs(6), nanos)
}

/// Returns ranges of rows with contents of these sizes, each of which fits into a statement.
pub(super) fn batches(sizes: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let (mut batches, mut start, mut end, mut bytes) = (Vec::new(), 0, 0, 0);
    for size in sizes {
        (end, bytes) = (end + 1, bytes + size);
        if BATCH.0 <= end - start || BATCH.1 <= bytes {
            batches.push(start..end);
            (start, bytes) = (end, 0);
        }
    }
    if start < end {
        batches.push(start..end);
    }
    batches
}
