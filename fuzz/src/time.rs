//! Fuzzes texts with dates, relative to any time in any zone.
//!
//! The span of a reading contains its text, and a period starts before it ends.

use std::cmp::Ordering;

use chrono::{DateTime, Datelike, FixedOffset};
use memory_core::Filter;
use memory_core::datetime::{DatePrecision, TimeRelation, find_date, find_dates};
use memory_core::query_parser::extract_filter;

use crate::fixtures::parse_input;

/// The last second of the year 9999, as a Unix timestamp.
const MAX_TIMESTAMP: u64 = 253_402_300_799;

/// Finds the dates of a text, relative to a time in a zone.
pub fn time(bytes: &[u8]) {
    let Some((seconds, zone, text)) = parse_input::<(u64, u32, &str)>(bytes) else {
        return;
    };
    let offset = FixedOffset::east_opt((zone % 47 * 1800).cast_signed() - 23 * 1800)
        .expect("less than a day is an offset");
    let seconds = i64::try_from(seconds % (MAX_TIMESTAMP + 1)).expect("these years have moments");
    let now: DateTime<FixedOffset> = DateTime::from_timestamp(seconds, 0)
        .expect("so they do")
        .with_timezone(&offset);
    let (mut end, mut last) = (0, None);
    let all = find_dates(text, &now);
    for reading in &all {
        assert_eq!(text[reading.span.clone()], reading.text);
        assert!(
            end <= reading.span.start && reading.span.start < reading.span.end,
            "{reading:?}"
        );
        assert!((1..=9999).contains(&reading.at.year()), "{reading:?}");
        end = reading.span.end;
        let order = match reading.kind {
            DatePrecision::Date => reading.at.date_naive().cmp(&now.date_naive()),
            DatePrecision::Time | DatePrecision::DateTime => reading.at.cmp(&now),
        };
        let relation = match order {
            Ordering::Less => TimeRelation::Past,
            Ordering::Equal => TimeRelation::Present,
            Ordering::Greater => TimeRelation::Future,
        };
        assert_eq!(reading.relation, relation, "{reading:?}");
        last = last.max(Some(reading.relation));
    }
    let chosen = find_date(text, &now);
    assert_eq!(chosen.as_ref().map(|reading| reading.relation), last);
    assert!(chosen.is_none_or(|chosen| all.contains(&chosen)));
    let asked = extract_filter(text, &Filter::default(), &now);
    let period = asked.filter.from.zip(asked.filter.until);
    assert!(period.is_none_or(|(from, until)| from < until), "{asked:?}");
    assert!(
        asked.filter.from.is_none_or(|from| from <= now.to_utc()),
        "{asked:?}"
    );
    assert!(
        asked.text.len() <= text.len(),
        "words are taken away and none is added: {asked:?}"
    );
}
