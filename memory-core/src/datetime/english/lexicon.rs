//! The English vocabulary of dates and times.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use chrono::Weekday;

use super::super::cursor::TokenCursor;
use super::super::duration::{CalendarDuration, Quantity, TimeUnit};
use super::super::time_of_day::DayPart;
use super::super::zones::can_start_place;

word_classes! {
    /// The English words of dates and times. Words with their meaning are in groups of the same meaning.
    WORDS = "../../language/en/dates.json": EnglishWords {
        /// The names of weekdays, from Monday.
        weekdays: [Vec<&'static str>; 7],
        /// The names of months, from January.
        months: [Vec<&'static str>; 12],
        /// The names of weekdays and months that have another meaning as well.
        ambiguous_names,
        /// Words such as "tomorrow", with their offset in days.
        near_days: Vec<(i64, Vec<&'static str>)>,
        /// Units of durations, with the number of them that the word denotes.
        units: Vec<((TimeUnit, u64), Vec<&'static str>)>,
        /// Letters for a unit directly after a number.
        unit_letters: Vec<(TimeUnit, Vec<&'static str>)>,
        /// Words such as "daily", with their interval.
        frequencies: Vec<((TimeUnit, u64), Vec<&'static str>)>,
        /// Words for activities, with their usual part of the day.
        activities: Vec<(DayPart, Vec<&'static str>)>,
        day_parts: Vec<(DayPart, Vec<&'static str>)>,
        /// Abbreviations of a time zone in summer and in winter, with its identifier.
        zone_ids: HashMap<&'static str, &'static str>,
        /// Abbreviations of time zones, with their UTC offset in minutes.
        zone_minutes: Vec<(i32, Vec<&'static str>)>,
        cardinals: HashMap<&'static str, u64>,
        ordinals: HashMap<&'static str, u32>,
        /// Words that denote a time in any context, beside names and frequencies.
        time_words,
        /// Words behind a number that are no noun which it counts.
        after_numbers: HashSet<&'static str>,
        /// Words that an expression can start with, beside names and numbers.
        first_words: HashSet<&'static str>,
        /// Words behind a decimal number that is no time.
        measures,
        /// Words between an expression and words of time that belong to it.
        connecting,
        /// Words between a day and its time; a phrase precedes its own start.
        connectors,
        /// Words for the current moment.
        now,
        /// Words before a part of the day that say nothing about the hour.
        loose_hours,
        /// Words that introduce a part of the day.
        day_part_openings,
        /// Words between "in" and an amount that is a limit.
        limits,
        /// Words before an amount that is not exact.
        about,
        /// Words behind an amount that is counted from now.
        from_now,
        /// Words behind the amount of time by which a reminder precedes its event.
        ahead,
        /// Words between a number and its unit.
        before_units,
        /// Words for two.
        two,
        /// Words for three quarters.
        three_quarters,
    }
}

/// The names of weekdays, months and time zones, and the words for frequencies.
static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let frequencies = WORDS.frequencies.iter().flat_map(|(_, words)| words);
    let zones = WORDS.zone_minutes.iter().flat_map(|(_, words)| words);
    let names = WORDS.weekdays.iter().chain(&WORDS.months).flatten();
    let words = names.chain(frequencies).chain(zones);
    words.chain(WORDS.zone_ids.keys()).copied().collect()
});

/// Returns what a word means in a table.
fn meaning<T: Copy>(table: &[(T, Vec<&str>)], word: &str) -> Option<T> {
    (!word.is_empty()).then_some(())?;
    let (meaning, _) = table.iter().find(|(_, words)| words.contains(&word))?;
    Some(*meaning)
}

/// Whether a word is unambiguous, or has another meaning as well ("sun", "may").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sense {
    Only,
    AmongOthers,
}

impl Sense {
    fn of_name(word: &str) -> Self {
        if WORDS.ambiguous_names.contains(&word) {
            Self::AmongOthers
        } else {
            Self::Only
        }
    }
}

/// The names that are long enough to be known with letters in another order, and the longer ones with a wrong letter.
static LONG_NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let names = WORDS.weekdays.iter().chain(&WORDS.months);
    let whole = names.map(|names| names[0]);
    whole.filter(|name| 6 <= name.len()).collect()
});

/// Returns the name of a weekday or month that `word` misspells by one letter, or by two in the wrong order.
///
/// A name of six letters is known only by its letters in another order: "sundae" and "Augusta" are other words.
fn misspelled_name(word: &str) -> Option<&'static str> {
    let letters = |word: &str| {
        let mut letters = word.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    LONG_NAMES.iter().copied().find(|name| {
        name.as_bytes()[0] == word.bytes().next().unwrap_or_default()
            && name.len().abs_diff(word.len()) <= 1
            && *name != word
            && strsim::osa_distance(name, word) == 1
            && (6 < name.len() || letters(name) == letters(word))
    })
}

/// Returns the place of a name in a table, also of a misspelled one.
fn lookup_name(table: &[Vec<&str>], word: &str) -> Option<u8> {
    // No name is shorter.
    (3 <= word.len()).then_some(())?;
    let name = misspelled_name(word).unwrap_or(word);
    let place = table.iter().position(|names| names.contains(&name))?;
    u8::try_from(place).ok()
}

pub(crate) fn lookup_weekday(word: &str) -> Option<(Weekday, Sense)> {
    let weekday = Weekday::try_from(lookup_name(&WORDS.weekdays, word)?).ok()?;
    Some((weekday, Sense::of_name(word)))
}

pub(crate) fn lookup_month(word: &str) -> Option<(u32, Sense)> {
    let place = lookup_name(&WORDS.months, word)?;
    Some((u32::from(place) + 1, Sense::of_name(word)))
}

/// Returns the offset in days of a word such as "tomorrow".
pub(super) fn lookup_near_day(word: &str) -> Option<i64> {
    meaning(&WORDS.near_days, word)
}

/// Returns the unit, and the number of such units that the word denotes ("fortnight").
pub(super) fn lookup_unit(word: &str) -> Option<(TimeUnit, u64)> {
    meaning(&WORDS.units, word)
}

/// Returns the unit of a letter that directly follows a number.
pub(super) fn lookup_unit_letter(word: &str) -> Option<TimeUnit> {
    meaning(&WORDS.unit_letters, word)
}

pub(super) fn lookup_day_part(word: &str) -> Option<DayPart> {
    meaning(&WORDS.day_parts, word)
}

/// Returns whether a word denotes a time in any context.
pub(in super::super) fn is_time_word(word: &str) -> bool {
    WORDS.time_words.contains(&word)
        || lookup_weekday(word).is_some_and(|_| !matches!(word, "sat" | "sun"))
        || lookup_month(word).is_some_and(|(_, sense)| sense == Sense::Only)
        || lookup_day_part(word).is_some_and(|_| !matches!(word, "lunch" | "night" | "nights"))
        || lookup_frequency(word).is_some()
}

/// Returns whether a word denotes a unit of durations.
pub(in super::super) fn is_unit(word: &str) -> bool {
    lookup_unit(word).is_some()
}

/// Returns whether a word after a number denotes the half of the day.
pub(in super::super) fn is_half_day(word: &str) -> bool {
    matches!(word, "am" | "pm")
}

/// Returns the interval of "daily", "weekly" and the like.
pub(super) fn lookup_frequency(word: &str) -> Option<CalendarDuration> {
    let (unit, count) = meaning(&WORDS.frequencies, word)?;
    unit.duration(Quantity::whole(count)?)
}

/// Returns the identifier of the zone that an abbreviation denotes in summer and in winter.
pub(super) fn lookup_zone_id(word: &str) -> Option<&'static str> {
    WORDS.zone_ids.get(word).copied()
}

/// Returns the UTC offset of a time zone, in seconds.
pub(super) fn lookup_zone(word: &str) -> Option<i32> {
    meaning(&WORDS.zone_minutes, word).map(|minutes| minutes * 60)
}

/// Returns whether a number before the word is complete, because the word is not a noun that it counts.
pub(super) fn can_follow_number(word: &str) -> bool {
    WORDS.after_numbers.contains(word) || is_name(word)
}

fn is_name(word: &str) -> bool {
    NAMES.contains(word) || misspelled_name(word).is_some()
}

/// Returns whether an expression can start with the word.
pub(in super::super) fn can_start_expression(word: &str) -> bool {
    WORDS.first_words.contains(word)
        || is_name(word)
        || super::numbers::is_numeral(word)
        || super::holiday_names::can_start_holiday(word)
        || can_start_place(word)
}

/// Returns whether a word behind a decimal number shows that it is no time.
pub(in super::super) fn is_measure(word: &str) -> bool {
    WORDS.measures.contains(&word)
}

/// Returns whether a word can be between an expression and words of time that belong to it.
pub(in super::super) fn is_connecting(word: &str) -> bool {
    WORDS.connecting.contains(&word)
}

/// Returns the usual part of the day of the activity that the words at the cursor name.
pub(in super::super) fn usual_day_part(cursor: &TokenCursor<'_>) -> Option<DayPart> {
    let word = cursor.word();
    let is_rising = matches!(word, "get" | "getting") && cursor.word_ahead(1) == "up";
    meaning(&WORDS.activities, word).or(is_rising.then_some(DayPart::Morning))
}
