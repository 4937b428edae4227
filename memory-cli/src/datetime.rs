//! Parsing and formatting of dates, times and durations.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::datetime::find_date;
use memory_core::query_parser::parse_period;
use memory_core::{
    DueTime, ParseError, StoreError, add_time, parse_day, parse_rfc3339, valid_time,
};

use crate::zone::UserTimeZone;

/// A period that a user names: a day, a time in RFC 3339, or words such as `last monday`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPeriod(String);

/// A time in the future: a day, a time in RFC 3339, words such as `next friday`, or a duration from now, such as `30d`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Deadline(String);

impl NamedPeriod {
    /// Returns the start of the period, relative to `now` and in its time zone.
    pub(crate) fn start(&self, now: &DateTime<UserTimeZone>) -> Result<DateTime<Utc>, ParseError> {
        self.resolve(now).map(|(start, _)| start)
    }

    /// Returns the end of the period; the end of a point in time is that time.
    pub(crate) fn end(&self, now: &DateTime<UserTimeZone>) -> Result<DateTime<Utc>, ParseError> {
        self.resolve(now).map(|(_, end)| end)
    }

    fn resolve(
        &self,
        now: &DateTime<UserTimeZone>,
    ) -> Result<(DateTime<Utc>, DateTime<Utc>), ParseError> {
        parse_period(&self.0, now).ok_or_else(|| {
            ParseError::new(
                &self.0,
                "a day (YYYY-MM-DD), a time (RFC 3339) or words such as \"last monday\"",
            )
        })
    }
}

impl From<String> for NamedPeriod {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl Deadline {
    /// Returns the time, relative to `now` and in its time zone; that of a day is its start.
    pub(crate) fn resolve(
        &self,
        now: &DateTime<UserTimeZone>,
    ) -> Result<DateTime<Utc>, ParseError> {
        let text = self.0.trim();
        let is_literal = parse_rfc3339(text).is_some() || parse_day(text).is_some();
        let literal = || Some(parse_period(text, now)?.0).filter(|_| is_literal);
        let span = || {
            let span = TimeDelta::from_std(parse_duration(text).ok()?).ok()?;
            Some(add_time(now.to_utc(), span))
        };
        let words = || {
            let reading = find_date(text, now)?;
            let is_whole = reading.text.len() == text.len() && !reading.repeats;
            Some(reading.at.to_utc()).filter(|at| is_whole && now.to_utc() < *at)
        };
        literal().or_else(span).or_else(words).ok_or_else(|| {
            ParseError::new(
                &self.0,
                "a duration such as 30d, a day (YYYY-MM-DD), a time (RFC 3339) or words such as \"next friday\"",
            )
        })
    }
}

impl From<String> for Deadline {
    fn from(text: String) -> Self {
        Self(text)
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

/// Parses the interval of regular work: a duration of at least one second.
pub(crate) fn parse_interval(text: &str) -> Result<Duration, ParseError> {
    let interval = parse_duration(text)?;
    if interval < MIN_INTERVAL {
        return Err(ParseError::new(text, "an interval of at least 1s"));
    }
    Ok(interval)
}

/// Parses a timeout: a duration above zero, within which nothing would succeed.
pub(crate) fn parse_timeout(text: &str) -> Result<Duration, ParseError> {
    match parse_duration(text)? {
        Duration::ZERO => Err(ParseError::new(text, "a timeout above 0s")),
        timeout => Ok(timeout),
    }
}

/// Minimum interval of regular work.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Formats a duration for the settings file, such as `60s` or `168h`.
pub(crate) fn format_duration(span: Duration) -> String {
    match span.as_secs() {
        0 => humantime::format_duration(span).to_string(),
        seconds if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        seconds => format!("{seconds}s"),
    }
}

/// Formats the day of a time, in `zone`.
pub(crate) fn format_day(moment: DateTime<Utc>, zone: UserTimeZone) -> String {
    format_time(moment, zone, "%Y-%m-%d")
}

/// Formats a time with a precision of minutes, in `zone`.
pub(crate) fn format_minute(moment: DateTime<Utc>, zone: UserTimeZone) -> String {
    format_time(moment, zone, "%Y-%m-%d %H:%M")
}

/// Formats a time with a precision of seconds, in `zone`.
pub(crate) fn format_second(moment: DateTime<Utc>, zone: UserTimeZone) -> String {
    format_time(moment, zone, "%Y-%m-%d %H:%M:%S")
}

fn format_time(moment: DateTime<Utc>, zone: UserTimeZone, form: &str) -> String {
    let shown = moment.with_timezone(&zone).fixed_offset();
    shown.format(form).to_string()
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
        assert_eq!(parse_interval("1s"), Ok(Duration::from_secs(1)));
        for text in ["0s", "0", "999ms", "-5s", "soon"] {
            assert!(parse_interval(text).is_err(), "{text}");
        }
        assert_eq!(parse_timeout("999ms"), Ok(Duration::from_millis(999)));
        for text in ["0s", "0", "0h 0m", "-5s"] {
            assert!(parse_timeout(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_deadline_is_a_span_a_day_a_moment_or_words() {
        let zone = crate::zone::parse_zone("Asia/Shanghai").expect("a zone");
        let now = DateTime::UNIX_EPOCH.with_timezone(&UserTimeZone::Named(zone));
        let deadline = |text: &str| {
            Deadline(text.to_owned())
                .resolve(&now)
                .map(|deadline| deadline.to_rfc3339())
        };
        assert_eq!(deadline("2h").as_deref(), Ok("1970-01-01T02:00:00+00:00"));
        assert_eq!(
            deadline("2026-05-07T10:00:00+02:00").as_deref(),
            Ok("2026-05-07T08:00:00+00:00")
        );
        assert_eq!(
            deadline("2026-05-07").as_deref(),
            Ok("2026-05-06T16:00:00+00:00")
        );
        assert_eq!(
            deadline("tomorrow").as_deref(),
            Ok("1970-01-01T16:00:00+00:00")
        );
        for text in [
            "soon",
            "yesterday",
            "every day",
            "tomorrow or so",
            "2026-02-30",
        ] {
            assert!(deadline(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_period_is_in_the_zone_of_the_user() {
        let zone = crate::zone::parse_zone("Asia/Shanghai").expect("a zone");
        let now = DateTime::UNIX_EPOCH.with_timezone(&UserTimeZone::Named(zone));
        let day = NamedPeriod("1969-12-31".to_owned());
        assert_eq!(
            [day.start(&now), day.end(&now)].map(|at| at.map(|at| at.to_rfc3339())),
            ["1969-12-30T16:00:00+00:00", "1969-12-31T16:00:00+00:00"].map(|at| Ok(at.to_owned()))
        );
        assert_eq!(NamedPeriod("昨天".to_owned()).start(&now), day.start(&now));
        assert!(NamedPeriod("soon".to_owned()).start(&now).is_err());
    }
}
