//! Which rows are meant.

use std::ops::Bound;

use chrono::{DateTime, Datelike, SubsecRound, Utc};
use memory_core::instance::history::{Filter, Record, Role};
use tokio_postgres::types::{ToSql, Type};

/// A value that a statement names by its place, and what it is.
pub(super) type Given<'a> = (&'a (dyn ToSql + Sync), Type);

/// What a statement says of rows, and the values that it names by number.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    values: Vec<(Box<dyn ToSql + Sync>, Type)>,
    /// Begins with ` AND`, if it says anything.
    pub text: String,
}

impl Conditions {
    /// Names a value, and returns how.
    pub(super) fn value(&mut self, value: impl ToSql + Sync + 'static, kind: Type) -> String {
        self.values.push((Box::new(value), kind));
        format!("${}", self.values.len())
    }

    /// Says that a record fits.
    pub(super) fn fits(&mut self, filter: &Filter) {
        let words = |roles: &[Role]| roles.iter().map(|role| role.as_str().to_owned()).collect::<Vec<_>>();
        // One role is found by itself; several are a question for each.
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
        self.bound(filter.from, [" >= ", " > "]);
        self.bound(filter.to, [" <= ", " < "]);
    }

    fn bound(&mut self, bound: Bound<DateTime<Utc>>, [included, excluded]: [&str; 2]) {
        let (moment, sign) = match bound {
            Bound::Included(moment) => (moment, included),
            Bound::Excluded(moment) => (moment, excluded),
            Bound::Unbounded => return,
        };
        // No record is said before or after these years, and a database may not know them.
        let moment = match moment.year() {
            ..0 => DateTime::from_timestamp(-62_198_755_200, 0).unwrap_or(moment),
            10_000.. => DateTime::from_timestamp(253_402_300_800, 0).unwrap_or(moment),
            _ => moment,
        };
        let (at, nanos) = parts(moment);
        let (at, nanos) = (self.value(at, Type::TIMESTAMPTZ), self.value(nanos, Type::INT2));
        self.text.extend([" AND (said_at, said_nanos)", sign, "(", &at, ", ", &nanos, ")"]);
    }

    /// Returns the values with what they are.
    pub(super) fn values(&self) -> Vec<Given<'_>> {
        self.values.iter().map(|(value, kind)| (value.as_ref(), kind.clone())).collect()
    }
}

/// Returns when a record was said, as far as it is told, and the nanoseconds beyond its microseconds.
pub(super) fn said(record: &Record) -> (Option<DateTime<Utc>>, i16) {
    // A year that has more digits is written so that nobody reads it.
    match record.at().filter(|at| (0..10_000).contains(&at.year())).map(parts) {
        Some((at, nanos)) => (Some(at), nanos),
        None => (None, 0),
    }
}

fn parts(moment: DateTime<Utc>) -> (DateTime<Utc>, i16) {
    let nanos = i16::try_from(moment.timestamp_subsec_nanos() % 1_000).unwrap_or_default();
    (moment.trunc_subsecs(6), nanos)
}
