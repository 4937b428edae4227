//! What a text says about time.

use std::ops::Range;

use chrono::{DateTime, FixedOffset};

/// A point in time that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The bytes of the text that name it.
    pub span: Range<usize>,
    /// Those bytes.
    pub text: String,
    /// When it is, in the zone of the reader; a [`Kind::Date`] begins here, which is midnight wherever there is one.
    pub at: DateTime<FixedOffset>,
    /// How exactly it was said.
    pub kind: Kind,
    /// Whether it is still to come.
    pub relation: Relation,
    /// Whether it comes again ("every Monday"); `at` is then the next time only.
    pub repeats: bool,
    /// What was taken for granted, as sentences, where the words alone leave it open.
    pub assumed: Option<String>,
    /// Whether a point in time is only the beginning of what was said ("in June", "next week").
    pub is_vague: bool,
}

/// How exactly a point in time was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A day and no time of it.
    Date,
    /// A time of day and no day; the next such time is meant.
    Time,
    /// A day and a time, or a distance from now in hours or less.
    DateTime,
}

impl Kind {
    /// Returns its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Time => "time",
            Self::DateTime => "datetime",
        }
    }
}

/// Where a point in time lies, seen from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// Before now; of a date, before today.
    Past,
    /// Now; of a date, today.
    Present,
    /// After now; of a date, after today.
    Future,
}

impl Relation {
    /// Returns its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Past => "past",
            Self::Present => "present",
            Self::Future => "future",
        }
    }
}
