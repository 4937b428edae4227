//! The `Retry-After` header.

use std::time::Duration;

use chrono::DateTime;

/// Parses a `Retry-After` value: a number of seconds, or a date.
///
/// A date is relative to `answered`, the `Date` header of the response. Without that header the pause is unknown.
pub(super) fn parse_pause(asked: &str, answered: Option<&str>) -> Option<Duration> {
    if let Ok(seconds) = asked.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = |text: &str| DateTime::parse_from_rfc2822(text.trim()).ok();
    // A date in the past means no pause.
    Some(moment(asked)?.signed_duration_since(moment(answered?)?).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Option<&str> = Some("Wed, 21 Oct 2026 07:28:00 GMT");

    #[test]
    fn a_pause_is_a_number_of_seconds_or_a_moment_to_come() {
        assert_eq!(parse_pause(" 7 ", None), Some(Duration::from_secs(7)));
        assert_eq!(parse_pause("Wed, 21 Oct 2026 07:28:30 GMT", NOW), Some(Duration::from_secs(30)));
        assert_eq!(parse_pause("Wed, 21 Oct 2015 07:28:00 GMT", NOW), Some(Duration::ZERO));
    }

    #[test]
    fn what_is_neither_asks_for_nothing() {
        for asked in ["", "soon", "-1", "1.5", "2026-10-21T07:28:30Z"] {
            assert_eq!(parse_pause(asked, NOW), None, "{asked:?}");
        }
        assert_eq!(parse_pause("Wed, 21 Oct 2026 07:28:30 GMT", None), None);
        assert_eq!(parse_pause("Wed, 21 Oct 2026 07:28:30 GMT", Some("today")), None);
    }
}
