//! Moments and spans of time as people type and read them.

use std::time::Duration;

use chrono::{DateTime, Days, Local, NaiveDate, NaiveTime, TimeDelta, TimeZone, Utc};
use memory_core::{ParseError, StoreError};

use crate::zone::Zone;

/// A day, as in `2026-05-07`: from midnight to midnight where the machine stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day(NaiveDate);

/// A moment still to come: a day, a moment (RFC 3339), or a span from now on, as in `30d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// At this moment.
    At(DateTime<Utc>),
    /// So long from now.
    After(TimeDelta),
}

impl Day {
    /// Returns its first moment.
    pub(crate) fn start(self) -> DateTime<Utc> {
        let midnight = self.0.and_time(NaiveTime::MIN);
        // Where clocks are put forward at midnight, that midnight does not exist; the same in UTC is near enough.
        Local.from_local_datetime(&midnight).earliest().map_or_else(|| midnight.and_utc(), |moment| moment.to_utc())
    }

    /// Returns the first moment after it.
    pub(crate) fn end(self) -> DateTime<Utc> {
        self.0.checked_add_days(Days::new(1)).map_or(DateTime::<Utc>::MAX_UTC, |next| Self(next).start())
    }
}

impl std::str::FromStr for Day {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        NaiveDate::parse_from_str(text.trim(), "%Y-%m-%d").map(Self).map_err(|_| ParseError::new(text, "a day (YYYY-MM-DD)"))
    }
}

impl Deadline {
    /// Returns the moment, seen from `now`.
    pub(crate) fn from(self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            Self::At(moment) => moment,
            Self::After(span) => now.checked_add_signed(span).unwrap_or(DateTime::<Utc>::MAX_UTC),
        }
    }
}

impl std::str::FromStr for Deadline {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let moment = || DateTime::parse_from_rfc3339(text.trim()).ok().map(|moment| Self::At(moment.to_utc()));
        let day = || text.parse::<Day>().ok().map(|day| Self::At(day.start()));
        let span = || span(text).ok().and_then(|span| TimeDelta::from_std(span).ok()).map(Self::After);
        moment()
            .or_else(day)
            .or_else(span)
            .ok_or_else(|| ParseError::new(text, "a span such as 30d, a day (YYYY-MM-DD) or a moment (RFC 3339)"))
    }
}

/// Reads a span of time such as `60s`, `168h`, `30d` or `1h 30m`.
pub(crate) fn span(text: &str) -> Result<Duration, ParseError> {
    humantime::parse_duration(text.trim()).map_err(|_| ParseError::new(text, "a span of time such as 60s, 168h or 30d"))
}

/// Writes a span of time as the settings file has it, such as `60s` or `168h`.
pub(crate) fn span_text(span: Duration) -> String {
    match span.as_secs() {
        0 => humantime::format_duration(span).to_string(),
        seconds if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        seconds => format!("{seconds}s"),
    }
}

/// Writes the day of a moment, where the machine stands.
pub(crate) fn day_text(moment: DateTime<Utc>) -> String {
    moment.with_timezone(&Local).format("%Y-%m-%d").to_string()
}

/// Writes a moment to the minute, where the machine stands.
pub(crate) fn minute_text(moment: DateTime<Utc>) -> String {
    moment.with_timezone(&Local).format("%Y-%m-%d %H:%M").to_string()
}

/// Writes a moment to the minute, as the clocks of `zone` show it.
pub(crate) fn minute_in(moment: DateTime<Utc>, zone: Zone) -> String {
    moment.with_timezone(&zone).fixed_offset().format("%Y-%m-%d %H:%M").to_string()
}

/// Reads when something is due, seen from `now`: a moment (RFC 3339), a span such as `30m`, or words; returns what was taken
/// for granted as well.
pub(crate) fn due(text: &str, now: &DateTime<Zone>) -> Result<(DateTime<Utc>, Option<String>), StoreError> {
    let moment = || DateTime::parse_from_rfc3339(text.trim()).ok().map(|moment| moment.to_utc());
    let later = || TimeDelta::from_std(span(text).ok()?).ok().and_then(|span| now.to_utc().checked_add_signed(span));
    if let Some(at) = moment().or_else(later) {
        return Ok((at, None));
    }
    memory_core::due(text, now).map(|due| (due.at, due.assumed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_may_count_days() {
        assert_eq!(span("30d"), span("720h"));
        assert_eq!(span("168h").expect("a span"), Duration::from_hours(168));
        assert!(span("soon").is_err());
        assert!(span("30").is_err());
    }

    #[test]
    fn a_day_ends_where_the_next_begins() {
        let day = |text: &str| text.parse::<Day>().expect("a day");
        assert_eq!(day("2026-02-28").end(), day("2026-03-01").start());
        assert!("2026-02-30".parse::<Day>().is_err());
    }

    #[test]
    fn a_deadline_is_a_span_a_day_or_a_moment() {
        let now = DateTime::UNIX_EPOCH;
        let deadline = |text: &str| text.parse::<Deadline>().map(|deadline| deadline.from(now).to_rfc3339());
        assert_eq!(deadline("2h").as_deref(), Ok("1970-01-01T02:00:00+00:00"));
        assert_eq!(deadline("2026-05-07T10:00:00+02:00").as_deref(), Ok("2026-05-07T08:00:00+00:00"));
        assert!(deadline("tomorrow").is_err());
    }
}
