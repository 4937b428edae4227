//! Parsing of dates in common formats.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Utc};

/// Parses a date, or a date and a time of day, of the years 0 to 9999, which RFC 3339 can express.
///
/// A time without an offset is in UTC, and a date without a time is midnight.
pub(crate) fn parse(text: &str) -> Option<DateTime<Utc>> {
    parse_any_year(text.trim()).filter(|moment| (0..=9999).contains(&moment.year()))
}

fn parse_any_year(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Some(moment.to_utc());
    }
    let with_offset = ["%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S%z", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M %z"];
    if let Some(moment) = with_offset.iter().find_map(|format| DateTime::parse_from_str(text, format).ok()) {
        return Some(moment.to_utc());
    }
    let with_time = [
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M",
        "%Y/%m/%d %H:%M:%S",
        "%Y/%m/%d %H:%M",
    ];
    if let Some(moment) = with_time.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok()) {
        return Some(moment.and_utc());
    }
    parse_day(text).or_else(|| parse_milliseconds(text))
}

/// Parses a date without a time of day, also as it occurs in the file names of journals.
pub(crate) fn parse_day(text: &str) -> Option<DateTime<Utc>> {
    let formats = ["%Y-%m-%d", "%Y_%m_%d", "%Y/%m/%d", "%Y.%m.%d"];
    let has_year = text.len() <= 10 && 4 <= text.bytes().take_while(u8::is_ascii_digit).count();
    let date = || formats.iter().find_map(|format| NaiveDate::parse_from_str(text, format).ok());
    let date = has_year.then(date).flatten()?;
    Some(date.and_hms_opt(0, 0, 0)?.and_utc())
}

/// Parses the milliseconds since 1970 that Logseq writes.
fn parse_milliseconds(text: &str) -> Option<DateTime<Utc>> {
    let is_count = text.len() == 13 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_count.then(|| text.parse().ok().and_then(DateTime::from_timestamp_millis)).flatten()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn dates_are_read_as_people_write_them() {
        for (text, moment) in [
            ("2024-01-02", "2024-01-02T00:00:00Z"),
            ("2024_01_02", "2024-01-02T00:00:00Z"),
            ("2024-01-02 03:04", "2024-01-02T03:04:00Z"),
            ("2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05.678Z"),
            ("2024-01-02 03:04:05 +0800", "2024-01-01T19:04:05Z"),
            ("1609459200000", "2021-01-01T00:00:00Z"),
        ] {
            assert_eq!(parse(text), Some(moment.parse().expect("a moment")), "{text}");
        }
        for text in
            ["", "yesterday", "{{date}}", "24-01-02", "2024-13-01", "20240102", "-0026-05-07T10:00:00", "+12026-05-07T10:00:00"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
