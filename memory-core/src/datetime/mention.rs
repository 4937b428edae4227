//! The result type of date recognition.

use std::ops::Range;

use chrono::{DateTime, FixedOffset};

/// A date or time that a text mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateMention {
    /// The byte range of the expression in the text.
    pub span: Range<usize>,
    /// The text of the expression.
    pub text: String,
    /// The point in time, in the time zone of the caller.
    ///
    /// For a [`DatePrecision::Date`] it is the start of the day, which is midnight unless a clock change skips it.
    pub at: DateTime<FixedOffset>,
    /// The precision of the expression.
    pub kind: DatePrecision,
    /// Whether the point in time is in the past or the future.
    pub relation: TimeRelation,
    /// Whether the expression recurs ("every Monday"); `at` is then the next occurrence.
    pub repeats: bool,
    /// The assumptions that were made to resolve an ambiguity, as sentences.
    pub assumed: Option<String>,
    /// Whether the expression denotes a longer period, of which `at` is the start ("in June", "next week").
    pub is_vague: bool,
}

/// The precision of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DatePrecision {
    /// A day without a time.
    Date,
    /// A time without a day; it resolves to its next occurrence.
    Time,
    /// A day and a time, or an offset from now in hours or less.
    DateTime,
}

impl DatePrecision {
    /// Returns the identifier in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Time => "time",
            Self::DateTime => "datetime",
        }
    }
}

/// The position of a point in time relative to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeRelation {
    /// Before now; for a date, before today.
    Past,
    /// Now; for a date, today.
    Present,
    /// After now; for a date, after today.
    Future,
}

impl TimeRelation {
    /// Returns the identifier in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Past => "past",
            Self::Present => "present",
            Self::Future => "future",
        }
    }
}
