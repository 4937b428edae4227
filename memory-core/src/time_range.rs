//! The range of times: the years 0 to 9999, which RFC 3339 can express.
//!
//! A time outside the range is refused where it enters the program, and sums stay in it.

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Utc};

/// The start of the year 0.
pub const MIN_TIME: DateTime<Utc> =
    DateTime::from_timestamp(-62_167_219_200, 0).expect("the year 0 is supported");

/// The end of the year 9999.
pub const MAX_TIME: DateTime<Utc> =
    DateTime::from_timestamp(253_402_300_799, 999_999_999).expect("the year 9999 is supported");

/// Returns `at` if it is in the range.
pub fn valid_time(at: DateTime<Utc>) -> Option<DateTime<Utc>> {
    (MIN_TIME..=MAX_TIME).contains(&at).then_some(at)
}

/// Parses a time of the range in RFC 3339.
pub fn parse_rfc3339(text: &str) -> Option<DateTime<Utc>> {
    #[expect(clippy::disallowed_methods, reason = "the range is checked")]
    let parsed = DateTime::parse_from_rfc3339(text);
    valid_time(parsed.ok()?.to_utc())
}

/// Parses a day of the range, such as `2026-05-07`.
pub fn parse_day(text: &str) -> Option<NaiveDate> {
    parse_day_as(text, "%Y-%m-%d")
}

/// Parses a day of the range in a format of [`chrono::format::strftime`].
pub fn parse_day_as(text: &str, format: &str) -> Option<NaiveDate> {
    #[expect(clippy::disallowed_methods, reason = "the range is checked")]
    let day = NaiveDate::parse_from_str(text, format).ok()?;
    (0..=9999).contains(&day.year()).then_some(day)
}

/// Returns `at + span`, or the end of the range that the sum exceeds.
pub fn add_time(at: DateTime<Utc>, span: TimeDelta) -> DateTime<Utc> {
    let end = if span < TimeDelta::zero() {
        MIN_TIME
    } else {
        MAX_TIME
    };
    at.checked_add_signed(span)
        .map_or(end, |sum| sum.clamp(MIN_TIME, MAX_TIME))
}

/// Returns `at - span`, or the end of the range that the difference exceeds.
pub fn subtract_time(at: DateTime<Utc>, span: TimeDelta) -> DateTime<Utc> {
    add_time(at, -span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_outside_the_range_are_refused() {
        for text in ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"] {
            assert!(parse_rfc3339(text).is_some(), "{text}");
        }
        for text in [
            "0000-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "+10000-01-01T00:00:00Z",
        ] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
        assert!(parse_day("0000-01-01").is_some() && parse_day("9999-12-31").is_some());
        for text in ["-0001-12-31", "+10000-01-01", "+262142-12-31"] {
            assert_eq!(parse_day(text), None, "{text}");
        }
    }

    #[test]
    fn sums_end_at_the_range() {
        let chosen = [
            MIN_TIME,
            DateTime::UNIX_EPOCH,
            MAX_TIME,
            DateTime::<Utc>::MIN_UTC,
            DateTime::<Utc>::MAX_UTC,
        ];
        for at in chosen {
            assert_eq!(add_time(at, TimeDelta::MAX), MAX_TIME);
            assert_eq!(add_time(at, TimeDelta::MIN), MIN_TIME);
            assert_eq!(subtract_time(at, TimeDelta::MAX), MIN_TIME);
            assert_eq!(subtract_time(at, TimeDelta::MIN), MAX_TIME);
        }
        let day = TimeDelta::days(1);
        assert_eq!(
            subtract_time(DateTime::UNIX_EPOCH, day) + day,
            DateTime::UNIX_EPOCH
        );
    }
}
