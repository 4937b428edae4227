//! Parsing and formatting of dates, times and durations.

use std::time::Duration;

use chrono::{DateTime, Days, Local, NaiveDate, NaiveTime, TimeDelta, TimeZone, Utc};
use memory_core::{
    DueTime, MAX_TIME, MIN_TIME, ParseError, StoreError, add_time, parse_day, parse_rfc3339,
    valid_time,
};

use crate::zone::UserTimeZone;

/// A calendar day in local time, such as `2026-05-07`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LocalDay(NaiveDate);

/// A time in the future: a day, a time in RFC 3339, or a duration from now, such as `30d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// At this time.
    At(DateTime<Utc>),
    /// This long from now.
    After(TimeDelta),
}

impl LocalDay {
    /// Returns the start of the day.
    pub(crate) fn start(self) -> DateTime<Utc> {
        let midnight = self.0.and_time(NaiveTime::MIN);
        // If clocks skip midnight for daylight saving time, midnight in UTC is a sufficient approximation.
        Local
            .from_local_datetime(&midnight)
            .earliest()
            .map_or_else(|| midnight.and_utc(), |moment| moment.to_utc())
            .clamp(MIN_TIME, MAX_TIME)
    }

    /// Returns the start of the next day.
    pub(crate) fn end(self) -> DateTime<Utc> {
        self.0
            .checked_add_days(Days::new(1))
            .map_or(MAX_TIME, |next| Self(next).start())
    }
}

impl std::str::FromStr for LocalDay {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_day(text.trim())
            .map(Self)
            .ok_or_else(|| ParseError::new(text, "a day (YYYY-MM-DD)"))
    }
}

impl Deadline {
    /// Returns the time; durations are relative to `now`.
    pub(crate) fn resolve(self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::At(moment) => moment,
            Self::After(span) => add_time(now, span),
        }
    }
}

impl std::str::FromStr for Deadline {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let moment = || parse_rfc3339(text.trim()).map(Self::At);
        let day = || {
            text.parse::<LocalDay>()
                .ok()
                .map(|day| Self::At(day.start()))
        };
        let span = || {
            parse_duration(text)
                .ok()
                .and_then(|span| TimeDelta::from_std(span).ok())
                .map(Self::After)
        };
        moment().or_else(day).or_else(span).ok_or_else(|| {
            ParseError::new(
                text,
                "a duration such as 30d, a day (YYYY-MM-DD) or a time (RFC 3339)",
            )
        })
    }
}

/// A longer duration has the same effect, and sums of durations could exceed their range.
const MAX_DURATION: Duration = Duration::from_hours(10_000 * 366 * 24);

/// Parses a duration such as `60s`, `168h`, `30d` or `1h 30m`; at most 10,000 years.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, ParseError> {
    humantime::parse_duration(text.trim())
        .map(|span| span.min(MAX_DURATION))
        .map_err(|_| ParseError::new(text, "a duration such as 60s, 168h or 30d"))
}

/// Formats a duration for the settings file, such as `60s` or `168h`.
pub(crate) fn format_duration(span: Duration) -> String {
    match span.as_secs() {
        0 => humantime::format_duration(span).to_string(),
        seconds if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        seconds => format!("{seconds}s"),
    }
}

/// Formats the day of a time, in local time.
pub(crate) fn format_day(moment: DateTime<Utc>) -> String {
    moment.with_timezone(&Local).format("%Y-%m-%d").to_string()
}

/// Formats a time with a precision of minutes, in local time.
pub(crate) fn format_minute(moment: DateTime<Utc>) -> String {
    moment
        .with_timezone(&Local)
        .format("%Y-%m-%d %H:%M")
        .to_string()
}

/// Formats a time with a precision of minutes, in `zone`.
pub(crate) fn format_minute_in(moment: DateTime<Utc>, zone: UserTimeZone) -> String {
    moment
        .with_timezone(&zone)
        .fixed_offset()
        .format("%Y-%m-%d %H:%M")
        .to_string()
}

/// Parses a due time relative to `now`: a time in RFC 3339, a duration such as `30m`, or words.
pub(crate) fn parse_due_time(
    text: &str,
    now: &DateTime<UserTimeZone>,
) -> Result<DueTime, StoreError> {
    let later = || {
        TimeDelta::from_std(parse_duration(text).ok()?)
            .ok()
            .and_then(|span| now.to_utc().checked_add_signed(span))
            .and_then(valid_time)
    };
    later().map_or_else(
        || memory_core::parse_due_time(text, now),
        |at| Ok(at.into()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_may_count_days() {
        assert_eq!(parse_duration("30d"), parse_duration("720h"));
        assert_eq!(
            parse_duration("168h").expect("a span"),
            Duration::from_hours(168)
        );
        assert!(parse_duration("soon").is_err());
        assert!(parse_duration("30").is_err());
    }

    #[test]
    fn a_day_ends_where_the_next_begins() {
        let day = |text: &str| text.parse::<LocalDay>().expect("a day");
        assert_eq!(day("2026-02-28").end(), day("2026-03-01").start());
        assert!("2026-02-30".parse::<LocalDay>().is_err());
    }

    #[test]
    fn a_deadline_is_a_span_a_day_or_a_moment() {
        let now = DateTime::UNIX_EPOCH;
        let deadline = |text: &str| {
            text.parse::<Deadline>()
                .map(|deadline| deadline.resolve(now).to_rfc3339())
        };
        assert_eq!(deadline("2h").as_deref(), Ok("1970-01-01T02:00:00+00:00"));
        assert_eq!(
            deadline("2026-05-07T10:00:00+02:00").as_deref(),
            Ok("2026-05-07T08:00:00+00:00")
        );
        assert!(deadline("tomorrow").is_err());
    }
}
