//! Parses the points in time and durations of filters.

use chrono::{DateTime, TimeDelta, Utc};

use super::InstanceError;
use crate::{LocalZone, parse_day, parse_rfc3339, valid_time};

/// Parses a time such as `2026-05-17T10:30:00Z`, `2026-05-17` (its beginning in the zone of `now`) or `24h` (before `now`).
///
/// # Errors
/// [`InstanceError::Invalid`] if the text has no such format or the time is out of range. [`InstanceError::Invalid`].
pub fn parse_time(text: &str, now: &DateTime<LocalZone>) -> Result<DateTime<Utc>, InstanceError> {
    let day = || parse_day(text).map(|day| now.timezone().start_of_day(day));
    let age = || now.to_utc().checked_sub_signed(parse_duration(text).ok()?);
    parse_rfc3339(text)
        .or_else(day)
        .or_else(|| age().and_then(valid_time))
        .ok_or_else(|| {
            InstanceError::invalid(
                format!("{text:?} is not a time"),
                "use a time such as 2026-05-17T10:30:00Z, 2026-05-17 or 24h",
            )
        })
}

/// Parses a duration: numbers with a unit `s`, `m`, `h`, `d` or `w`, added up as in `1h30m`.
///
/// # Errors
/// [`InstanceError::Invalid`] if the text has no such format or the duration is out of range.
pub fn parse_duration(text: &str) -> Result<TimeDelta, InstanceError> {
    let wrong = || {
        InstanceError::invalid(
            format!("{text:?} is not a duration"),
            "use a duration such as 90s, 30m, 24h, 30d, 2w or 1h30m",
        )
    };
    let mut rest = text;
    let mut whole = TimeDelta::zero();
    while !rest.is_empty() {
        let digits = rest
            .find(|own: char| !own.is_ascii_digit())
            .ok_or_else(wrong)?;
        let number: i64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit = rest[digits..].chars().next().ok_or_else(wrong)?;
        let seconds = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return Err(wrong()),
        };
        let part = number
            .checked_mul(seconds)
            .and_then(TimeDelta::try_seconds)
            .ok_or_else(wrong)?;
        whole = whole.checked_add(&part).ok_or_else(wrong)?;
        rest = &rest[digits + unit.len_utf8()..];
    }
    if text.is_empty() {
        Err(wrong())
    } else {
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;
    use crate::testing::FakeClock;

    #[test]
    fn moments_are_dates_times_and_ages() {
        let now = DateTime::from_timestamp(1_000_000, 0).unwrap();
        let now = now.with_timezone(&FakeClock::in_zone(-8).zone());
        let read = |text: &str| parse_time(text, &now).map(|moment| moment.to_rfc3339());
        assert_eq!(
            read("2026-05-17T12:30:00.5+02:00").unwrap(),
            "2026-05-17T10:30:00.500+00:00"
        );
        assert_eq!(read("2026-05-17").unwrap(), "2026-05-17T08:00:00+00:00");
        assert_eq!(
            parse_time("1h30m", &now).unwrap(),
            now.to_utc() - TimeDelta::minutes(90)
        );
        assert_eq!(
            parse_duration("2w").unwrap(),
            parse_duration("14d").unwrap()
        );
        for wrong in [
            "",
            "soon",
            "5",
            "d",
            "5y",
            "-5d",
            "99999999999999999999d",
            "9223372036854775807w",
            "2026-13-01",
            "+10000-01-01",
            "3000w99999w",
            "5é",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
