//! The Chinese vocabulary of dates and times.

use std::collections::HashMap;

use super::super::cursor::TokenCursor;
use super::super::duration::TimeUnit;
use super::super::period::PeriodEdge;
use super::super::time_of_day::DayPart;

word_classes! {
    /// The Chinese words of dates and times. Words with their meaning are in groups of the same meaning.
    ///
    /// A word precedes its own prefixes.
    WORDS = "../../language/zh/dates.json": ChineseWords {
        /// The simplified forms of traditional characters and variants.
        simplified: HashMap<char, char>,
        /// Names of parts of the day that are unambiguous on their own.
        day_parts: Vec<(DayPart, Vec<&'static str>)>,
        /// Words for activities, with their usual part of the day.
        activities: Vec<(DayPart, Vec<&'static str>)>,
        /// Names of days, with their offset from today.
        near_days: Vec<(i64, Vec<&'static str>)>,
        /// Names of a part of such a day.
        near_day_parts: Vec<((i64, DayPart), Vec<&'static str>)>,
        /// Words for the current moment.
        now,
        /// Words for the current time of day.
        same_time,
        /// Names of years, with their offset from the current one.
        years: Vec<(i32, Vec<&'static str>)>,
        /// Names of the start, the middle and the end of a month or year.
        edges: Vec<(PeriodEdge, Vec<&'static str>)>,
        /// Units of durations, with the number of them that the word denotes.
        units: Vec<((TimeUnit, i64), Vec<&'static str>)>,
        /// Characters that an expression can start with, beside names and numbers.
        first_characters: &'static str,
        /// Characters before a number and 点 that is no hour: "two points", "a bit".
        before_other_points: &'static str,
        /// Characters behind a number and 点 that is no hour.
        after_other_points: &'static str,
        /// Characters of things that have a number before 号.
        numbered_things: &'static str,
        /// Characters of what a number behind a month counts.
        counted_by_number: &'static str,
    }
}

/// Returns the simplified form of a character of the time vocabulary, and any other character unchanged.
pub(in super::super) fn simplify_date_character(character: char) -> char {
    let simplified = WORDS.simplified.get(&character);
    simplified.copied().unwrap_or(character)
}

/// Returns the usual part of the day of the activity that the characters at the cursor name.
pub(in super::super) fn usual_day_part(cursor: &mut TokenCursor<'_>) -> Option<DayPart> {
    cursor.consume_meaning(&WORDS.activities)
}
