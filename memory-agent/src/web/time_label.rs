//! Times for templates.

use std::fmt;

use askama::filters::HtmlSafe;
use chrono::{DateTime, Datelike, FixedOffset, SecondsFormat, TimeDelta, Timelike};

/// A time in the zone of the user, as an element with the exact time as its title.
///
/// A time of today is a clock time, another one is a day, with its year unless it is the current one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeLabel(String);

impl TimeLabel {
    /// Returns the label of `time`; both times are in the zone of the user.
    pub(crate) fn new(time: DateTime<FixedOffset>, now: DateTime<FixedOffset>) -> Self {
        let text = if time.date_naive() == now.date_naive() {
            format!("{:02}:{:02}", time.hour(), time.minute())
        } else if time.year() == now.year() {
            time.format("%-d %b").to_string()
        } else {
            time.format("%-d %b %Y").to_string()
        };
        Self::with_text(time, &text)
    }

    /// Returns the label of `time` with its day and its clock time.
    pub(crate) fn exact(time: DateTime<FixedOffset>) -> Self {
        Self::with_text(time, &time.format("%-d %b %Y, %H:%M").to_string())
    }

    /// Returns the label of `time` with its clock time.
    pub(crate) fn clock_time(time: DateTime<FixedOffset>) -> Self {
        Self::with_text(time, &time.format("%H:%M").to_string())
    }

    fn with_text(time: DateTime<FixedOffset>, text: &str) -> Self {
        let machine = time.to_rfc3339_opts(SecondsFormat::Secs, true);
        Self(format!(
            "<time datetime=\"{machine}\" title=\"{}\">{text}</time>",
            time.format("%A, %-d %B %Y, %H:%M:%S %:z")
        ))
    }
}

/// Returns a duration in minutes, or in hours and minutes.
pub(crate) fn describe_duration(duration: TimeDelta) -> String {
    match (duration.num_hours(), duration.num_minutes() % 60) {
        (0, 0) => "less than a minute".to_owned(),
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

impl fmt::Display for TimeLabel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl HtmlSafe for TimeLabel {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_minutes_and_hours() {
        let text = |minutes: i64| describe_duration(TimeDelta::minutes(minutes));
        assert_eq!(
            [0, 1, 59, 60, 125, 1500].map(text),
            [
                "less than a minute",
                "1 min",
                "59 min",
                "1 h",
                "2 h 5 min",
                "25 h"
            ]
        );
    }

    #[test]
    fn a_time_is_as_long_as_its_distance_requires() {
        let at = |text: &str| text.parse::<DateTime<FixedOffset>>().unwrap();
        let now = at("2026-11-25T20:00:00+01:00");
        let text = |time: &str| {
            let label = TimeLabel::new(at(time), now).to_string();
            label
                .split_once('>')
                .and_then(|(_, rest)| rest.strip_suffix("</time>"))
                .map(str::to_owned)
                .unwrap()
        };
        assert_eq!(text("2026-11-25T09:05:00+01:00"), "09:05");
        assert_eq!(text("2026-03-01T09:05:00+01:00"), "1 Mar");
        assert_eq!(text("2025-12-31T23:59:00+01:00"), "31 Dec 2025");
        assert_eq!(
            TimeLabel::exact(now).to_string(),
            "<time datetime=\"2026-11-25T20:00:00+01:00\" title=\"Wednesday, 25 November 2026, 20:00:00 +01:00\">\
             25 Nov 2026, 20:00</time>"
        );
    }
}
