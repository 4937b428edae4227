//! The time that a text states by itself, such as a property or a cell of a table.

use chrono::{DateTime, FixedOffset, TimeZone, Utc};

use super::{DateMention, DatePrecision, find_dates};

/// Maximum length of a time in bytes.
const MAX_LENGTH: usize = 80;

/// A time that is the same whenever and wherever its text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedTime {
    /// The time; without a zone in the text, as if in UTC.
    pub at: DateTime<Utc>,
    /// Whether the text names the zone.
    pub has_zone: bool,
    /// Whether the text names a day without a time of day.
    pub is_day: bool,
}

impl StatedTime {
    /// Parses a text that is nothing but a day with its year, possibly with a time of day.
    ///
    /// A date whose day could also be its month, such as "03/05/2024", states no time. An hour without AM or PM is one of 24 hours.
    ///
    /// ```
    /// use memory_core::datetime::StatedTime;
    ///
    /// let at = |text| StatedTime::parse(text).map(|stated| stated.at.to_rfc3339());
    /// assert_eq!(at("Tue Mar 05 2024 10:11:12 GMT+0100").as_deref(), Some("2024-03-05T09:11:12+00:00"));
    /// assert_eq!(at("5 March"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let text = Some(text.trim()).filter(|text| text.len() <= MAX_LENGTH)?;
        let mut digits = text.split(|letter: char| !letter.is_ascii_digit());
        digits.find(|digits| 4 <= digits.len())?;
        let text = text.split_once(" (").map_or(text, |(time, zone)| {
            // JavaScript writes the name of the zone behind its offset.
            if zone.ends_with(')') { time } else { text }
        });
        let text = &with_full_hour(text);
        let early = Utc.with_ymd_and_hms(1999, 1, 3, 0, 0, 0).single()?;
        let far = FixedOffset::east_opt(19_800)?;
        let late = far.with_ymd_and_hms(2051, 8, 22, 13, 14, 15).single()?;
        let (one, other) = (read_whole(text, &early)?, read_whole(text, &late)?);
        let has_zone = one.at == other.at;
        (has_zone || one.at.naive_local() == other.at.naive_local()).then_some(Self {
            at: one.at.to_utc(),
            has_zone,
            is_day: one.kind == DatePrecision::Date,
        })
    }
}

/// Returns a text with two digits for its hour, which then is one of 24 hours, unless AM or PM follows.
fn with_full_hour(text: &str) -> String {
    let mut full = String::with_capacity(text.len() + 1);
    let mut before = ['0'; 2];
    for letter in text.chars() {
        let has_one_digit = before[1].is_ascii_digit() && !before[0].is_ascii_digit();
        if letter == ':' && has_one_digit && before[0] != ':' {
            full.insert(full.len() - 1, '0');
        }
        full.push(letter);
        before = [before[1], letter];
    }
    full
}

/// Returns the only day that a text names, if the text has no other words.
fn read_whole<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Option<DateMention> {
    let [found] = find_dates(text, now).try_into().ok()?;
    let is_whole = found.span == (0..text.len()) && found.end.is_none();
    let has_hour = found.kind == DatePrecision::DateTime;
    let is_clear = !has_hour || text.contains([':', '点', '时']) || text.ends_with(['m', 'M']);
    (is_whole && is_clear && found.is_full_date && !found.repeats).then_some(found)
}
