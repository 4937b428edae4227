//! Selects the most likely of the dates that a text mentions.

use std::cmp::Reverse;

use chrono::{DateTime, TimeZone};

use super::find::find_dates;
use super::mention::{DateMention, DatePrecision, TimeRelation};

/// Returns the most likely date that a text refers to, relative to `now` in its time zone.
///
/// Future dates precede the present, which precedes past ones; a single day or time precedes a whole period; a day
/// precedes a time without a day; otherwise the first in the text is returned.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::datetime::{DatePrecision, TimeRelation, find_date};
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00+02:00").unwrap();
/// let reading = find_date("remind me to call Anna tomorrow at 3pm", &now).unwrap();
/// assert_eq!(reading.text, "tomorrow at 3pm");
/// assert_eq!((reading.kind, reading.relation), (DatePrecision::DateTime, TimeRelation::Future));
/// assert_eq!(find_date("Anna likes tea", &now), None);
/// ```
pub fn find_date<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Option<DateMention> {
    find_dates(text, now).into_iter().min_by_key(|reading| (Reverse(reading.relation), reading.is_vague, mention_rank(reading)))
}

fn mention_rank(reading: &DateMention) -> (u8, usize) {
    let rank = match (reading.relation, reading.kind) {
        (TimeRelation::Future, DatePrecision::Time) => 1,
        (TimeRelation::Future | TimeRelation::Present | TimeRelation::Past, _) => 0,
    };
    (rank, reading.span.start)
}
