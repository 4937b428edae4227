//! Features of the times that a note names.

use chrono::{DateTime, NaiveDate, Utc};
use memory_core::datetime::{DatePrecision, find_dates};

use super::feature::Features;

/// Number of bytes that are read for times; the start of a note determines its category.
const MAX_READ_BYTES: usize = 160;

/// Adds the features of the times that `text` names.
pub(super) fn add_time_cues(text: &str, features: &mut Features) {
    let text = &text[..text.floor_char_boundary(MAX_READ_BYTES)];
    let found = if may_have_time(text) { find_dates(text, &REFERENCE_TIME) } else { Vec::new() };
    let mut add = |cue: &str| features.add_cue(cue);
    match found.len() {
        0 => return add("no time"),
        1 => {}
        2 => add("two times"),
        _ => add("many times"),
    }
    for reading in found {
        add(match (reading.kind, reading.repeats) {
            (_, true) => "a time again and again",
            (DatePrecision::Date, false) => "a day",
            (DatePrecision::Time, false) => "a time of day",
            (DatePrecision::DateTime, false) => "a day and its time",
        });
        if reading.span.start == 0 {
            add("a time first");
        }
    }
}

/// An arbitrary reference time: the features depend only on the form of the times.
const REFERENCE_TIME: DateTime<Utc> = match NaiveDate::from_ymd_opt(2026, 1, 15) {
    Some(day) => day.and_hms_opt(12, 0, 0).expect("noon").and_utc(),
    None => panic!("a day of the calendar"),
};

/// Returns whether a text may contain a time.
///
/// The check avoids parsing, which takes as long as all other features.
fn may_have_time(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    text.bytes().any(is_digit) || text.contains(is_of_time) || has_time_word(text)
}

fn is_of_time(character: char) -> bool {
    "日天月年周週星期时時点點刻早晚午夜今明昨后後初末节節秒分".contains(character)
}

/// Returns whether a word of a text starts like a word for a time.
fn has_time_word(text: &str) -> bool {
    let begins = |word: &str| {
        let is_beginning = |own: &&str| word.get(..own.len()).is_some_and(|first| first.eq_ignore_ascii_case(own));
        2 < word.len() && TIME_PREFIXES.iter().any(is_beginning)
    };
    text.split(|character: char| !character.is_ascii_alphabetic()).any(begins)
}

const TIME_PREFIXES: [&str; 45] = [
    "mond", "tues", "wedn", "thur", "frid", "satu", "sund", "janu", "febr", "march", "april", "may", "june", "july", "augu",
    "septe", "octob", "novem", "decem", "today", "tomor", "tonig", "yester", "noon", "midn", "morn", "aftern", "even", "night",
    "day", "week", "year", "month", "hour", "minute", "second", "quarter", "easter", "christ", "thanksg", "spring", "summer",
    "winter", "autumn", "every",
];
