//! Parses times and dates in digits, which both languages write alike: 15:30, 3pm, 2020-07-01.

use chrono::{NaiveDate, Weekday};

use super::cursor::TokenCursor;
use super::duration::{CalendarDuration, Quantity, TimeUnit};
use super::period::{Month, Year};
use super::syntax::{DateExpression, DayExpression};
use super::time_of_day::{HalfDay, TimeOfDay};
use super::token::DateNumber;
use super::token::DateTokenKind::{self, Han, Number, Other, Sign, Word};
use super::{english, range};

/// Whether the context allows a bare number to be an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BareHour {
    /// Only unambiguous times are recognised.
    None,
    /// A number is an hour if it counts nothing, as after "at", a day or a part of the day.
    Hour,
}

/// Consumes an unambiguous time: "15:30", "3pm", "8:00:25 am", "11h45", "330 p.m."
pub(super) fn parse_clock(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    (cursor.starts_cleanly() && !is_ratio(cursor)).then_some(())?;
    cursor.attempt_any(&[
        parse_compact_time,
        parse_colon_time,
        parse_h_time,
        parse_dotted_time,
        parse_half_day_time,
        parse_range_start,
    ])
}

fn is_ratio(cursor: &TokenCursor<'_>) -> bool {
    const NAMES: [&str; 8] = [
        "ratio", "score", "scored", "odds", "scale", "won", "lost", "aspect",
    ];
    let is_named = |back| NAMES.contains(&cursor.word_before(back));
    let is_compared = cursor.is_han_before(2, "比") && cursor.is_han_before(1, "分例率");
    is_compared || is_named(1) || cursor.word_before(1) == "is" && is_named(2)
}

/// Returns whether a date such as "2026-12-03" precedes the cursor, perhaps with a `T`. Its hours are those of 24 in a day.
fn follows_iso_date(cursor: &TokenCursor<'_>) -> bool {
    let mark = usize::from(cursor.word_before(1) == "t");
    let has_digits = |back: usize, digits| {
        let token = cursor.peek_back(mark + back);
        matches!(token, Some(Number(number)) if number.digits == digits)
    };
    let is_dash = |back| cursor.sign_before(mark + back) == Some('-');
    has_digits(1, 2) && is_dash(2) && has_digits(3, 2) && is_dash(4) && has_digits(5, 4)
}

/// Consumes "15:30" or "8:00:25", with an optional "am" or "pm".
fn parse_colon_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let is_of_day = follows_iso_date(cursor);
    let hour = cursor.consume_digits(1..=2)?;
    let minute = consume_colon_number(cursor)?;
    let second = cursor.attempt(consume_colon_number);
    // The fraction of a second is consumed and ignored.
    if second.is_some() {
        cursor.attempt(|cursor| {
            let has_colon = cursor.consume_glued_sign(':');
            let is_marked = has_colon || cursor.consume_any_glued_sign(&['.', ',']).is_some();
            let fraction = cursor.consume_glued_number().filter(|_| is_marked)?;
            (!has_colon || fraction.digits == 3).then_some(())
        });
    }
    let mut clock = TimeOfDay::from_clock_face(hour.value, minute, second.unwrap_or(0))?;
    clock.is_sure |= hour.digits == 2 && (hour.value < 10 || is_of_day);
    if let Some(half) = parse_half_day(cursor) {
        return clock.in_half(half);
    }
    (cursor.consume_word("ish") || cursor.ends_cleanly() || is_zone_next(cursor)).then_some(clock)
}

fn consume_colon_number(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    cursor.consume_glued_sign(':').then_some(())?;
    Some(cursor.consume_glued_digits(2..=2)?.value)
}

/// Returns whether the `Z` or the offset of an RFC 3339 time, or the end of a range follows.
fn is_zone_next(cursor: &TokenCursor<'_>) -> bool {
    cursor.word() == "z" || cursor.sign(0) == Some('+') || range::consume_joint(&mut cursor.clone())
}

/// Consumes "11h45" or "16h". A bare "16h" without context is as often a duration, and is rejected.
fn parse_h_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let may_be_bare = allows_bare_hour(cursor);
    let hour = cursor.consume_digits(1..=2)?;
    cursor.consume_glued_word("h").then_some(())?;
    let minute = cursor.consume_glued_number();
    let is_hour = minute.map_or(may_be_bare, |minute| minute.digits == 2);
    (is_hour && cursor.ends_cleanly()).then_some(())?;
    let minute = minute.map_or(0, |minute| minute.value);
    TimeOfDay::from_clock_face(hour.value, minute, 0).map(TimeOfDay::sure)
}

/// Returns whether the preceding word allows a bare hour, such as "at" or the name of a day.
fn allows_bare_hour(cursor: &TokenCursor<'_>) -> bool {
    let word = cursor.word_before(1);
    matches!(word, "at" | "around" | "today" | "tomorrow" | "tonight") || word.ends_with("day")
}

/// Consumes "3.30pm" and, after "at" or as the whole text, "3.30".
fn parse_dotted_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let is_first = cursor.is_at_start();
    let is_after_at = follows_at(cursor);
    let halved = |cursor: &mut TokenCursor<'_>| {
        parse_dotted_numbers(cursor)?.in_half(parse_half_day(cursor)?)
    };
    cursor.attempt(halved).or_else(|| {
        parse_dotted_hour(cursor)
            .filter(|_| is_after_at && cursor.word().is_empty() || is_first && cursor.is_at_end())
    })
}

/// Returns whether a word that only hours follow precedes the cursor, in one of several languages.
fn follows_at(cursor: &TokenCursor<'_>) -> bool {
    matches!(cursor.word_before(1), "at" | "um" | "kl")
        || cursor.sign_before(1) == Some('.') && cursor.word_before(2) == "kl"
}

/// Returns whether nothing precedes a number that it could belong to, such as the noun in "chapter 7.15".
pub(super) fn stands_alone(cursor: &TokenCursor<'_>) -> bool {
    match cursor.peek_back(1) {
        None | Some(Sign(_)) => true,
        Some(Word(word)) => {
            follows_at(cursor)
                || [
                    "around", "about", "by", "until", "till", "after", "before", "between", "from",
                    "to", "and", "or",
                ]
                .contains(&word)
        }
        Some(Number(_) | Han(_) | Other) => false,
    }
}

/// Consumes "9.30", which the context must make a time; the following word is no currency or other measure.
pub(super) fn parse_dotted_hour(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    cursor.starts_cleanly().then_some(())?;
    let clock = parse_dotted_numbers(cursor)?;
    let is_measure =
        english::is_measure(cursor.word()) || cursor.is_han_next(0, "元块米万亿倍分个版公美欧");
    let is_whole = cursor.ends_cleanly() || {
        let mut ahead = *cursor;
        range::consume_joint(&mut ahead) && parse_dotted_numbers(&mut ahead).is_some()
    };
    (clock.minute % 5 == 0 && is_whole && !is_measure).then_some(clock)
}

fn parse_dotted_numbers(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let hour = cursor.consume_digits(1..=2)?;
    cursor.consume_glued_sign('.').then_some(())?;
    let minute = cursor.consume_glued_digits(2..=2)?;
    TimeOfDay::from_clock_face(hour.value, minute.value, 0)
}

/// Consumes "150000" or "1500" after the `T` of a date in ISO 8601.
fn parse_compact_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let (hour, minute, second) = parse_compact_numbers(cursor)?;
    TimeOfDay::from_clock_face(hour, minute, second).map(TimeOfDay::sure)
}

/// Consumes the hour, minute and second of "150000" or "1500" after a `T`.
fn parse_compact_numbers(cursor: &mut TokenCursor<'_>) -> Option<(u64, u64, u64)> {
    let is_after_date = follows_date_mark(cursor);
    let shown = cursor.consume_number().filter(|_| is_after_date)?;
    match shown.digits {
        6 => Some(shown.split()),
        4 => Some((shown.value / 100, shown.value % 100, 0)),
        2 if cursor.sign(0) != Some(':') => Some((shown.value, 0, 0)),
        _ => None,
    }
}

/// Returns whether the `T` between date and time directly precedes the cursor.
fn follows_date_mark(cursor: &TokenCursor<'_>) -> bool {
    cursor.word_before(1) == "t" && cursor.is_glued(0)
}

/// Consumes the end of a timestamp in Org mode after its date and time, and adds its recurrence to `spoken`.
pub(super) fn consume_timestamp_end(
    cursor: &mut TokenCursor<'_>,
    spoken: &mut DateExpression,
) -> bool {
    let is_exact = spoken.has_day(DayExpression::is_exact);
    let is_open = is_exact && spoken.every.is_none();
    let every = cursor.attempt(|cursor| parse_repeater(cursor).filter(|_| is_open));
    spoken.every = spoken.every.or(every.filter(|every| !every.is_zero()));
    every.is_some()
}

/// Consumes the end of a timestamp in Org mode: its repeater, the warning before a deadline, or both, as in "+1w>", "++1m -3d>",
/// ".+2d/4d]" and "-3d>".
///
/// Returns the interval of the repeater; it is zero without one.
pub(super) fn parse_repeater(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    let unit = |cursor: &mut TokenCursor<'_>| {
        let count = cursor.consume_glued_number()?;
        let unit = match cursor.word() {
            "d" => TimeUnit::Day,
            "w" => TimeUnit::Week,
            "m" => TimeUnit::Month,
            "y" => TimeUnit::Year,
            _ => return None,
        };
        cursor.step();
        unit.duration(Quantity::whole(count.value)?)
    };
    let start = cursor.position();
    let repeater = cursor.attempt(|cursor| {
        consume_repeater_mark(cursor).then_some(())?;
        let every = unit(cursor).filter(|every| !every.is_zero())?;
        // A habit also has a longest interval, which is no part of the recurrence.
        cursor.attempt(|cursor| {
            cursor.consume_glued_sign('/').then_some(())?;
            unit(cursor)
        });
        Some(every)
    });
    // The warning is no part of the recurrence.
    cursor.attempt(|cursor| {
        cursor.consume_sign('-').then_some(())?;
        cursor.consume_glued_sign('-');
        unit(cursor)
    });
    let is_end = start < cursor.position() && matches!(cursor.sign(0), Some('>' | ']'));
    is_end.then_some(repeater.unwrap_or_default())
}

/// Consumes "+", "++" or ".+".
fn consume_repeater_mark(cursor: &mut TokenCursor<'_>) -> bool {
    cursor.consume_sign('.');
    let is_repeater = cursor.consume_sign('+');
    cursor.consume_glued_sign('+');
    is_repeater
}

/// Consumes the repeater in hours of a timestamp in Org mode, as in "+1h" and ".+10h". A recurrence has an interval of whole days.
pub(super) fn consume_hourly_repeater(cursor: &mut TokenCursor<'_>) -> bool {
    cursor.try_consume(|cursor| {
        consume_repeater_mark(cursor)
            && cursor.consume_glued_number().is_some()
            && cursor.consume_word("h")
    })
}

/// Consumes a time that no clock shows: "25:00", "24:30", "10:75", "15am", "13 p.m.", "T2561".
pub(super) fn consume_impossible_clock(cursor: &mut TokenCursor<'_>) -> bool {
    let compact = |cursor: &mut TokenCursor<'_>| {
        let is_clean = cursor.starts_cleanly();
        parse_compact_numbers(cursor).is_some_and(|(hour, minute, second)| {
            is_clean && TimeOfDay::from_clock_face(hour, minute, second).is_none()
        })
    };
    let shown = |cursor: &mut TokenCursor<'_>| {
        (cursor.starts_cleanly() && !is_ratio(cursor)).then_some(())?;
        let is_after_date = follows_date_mark(cursor);
        let hour = cursor.consume_digits(1..=2)?;
        let minute = cursor.attempt(consume_colon_number);
        if minute.is_some() {
            cursor.attempt(consume_colon_number);
        }
        let is_long = cursor.word().len() == 2 || cursor.peek_ahead_sign() == Some('.');
        let half = is_long.then(|| parse_half_day(cursor)).flatten();
        let is_oclock = half.is_none() && minute.is_none() && consume_oclock(cursor);
        let clock = TimeOfDay::from_clock_face(hour.value, minute.unwrap_or(0), 0);
        let is_time = clock.is_some_and(|clock| half.is_none() || clock.hour <= 12);
        let is_written = minute.is_some() || half.is_some() || is_oclock;
        let is_whole = is_after_date || cursor.ends_cleanly();
        (is_written && !is_time && is_whole).then_some(())
    };
    cursor.try_consume(compact) || cursor.attempt(shown).is_some()
}

/// Returns whether "am" or "pm" precedes the cursor.
pub(super) fn follows_half_day(cursor: &TokenCursor<'_>) -> bool {
    (1..=4).any(|back| matches!(cursor.word_before(back), "am" | "pm" | "a" | "p"))
}

/// Consumes "3pm", "3 o'clock", "330 p.m." and "3ish pm".
fn parse_half_day_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let shown = cursor.consume_number()?;
    cursor.consume_glued_word("ish");
    if cursor.consume_phrase("o clock") || consume_oclock(cursor) {
        return TimeOfDay::from_hour(shown.value)?.in_any_half(parse_half_day(cursor));
    }
    let clock = compact_time(shown)?;
    let is_before = |cursor: &mut TokenCursor<'_>| cursor.consume_phrase("in the am");
    let half = parse_half_day(cursor).or_else(|| is_before(cursor).then_some(HalfDay::Before))?;
    clock.in_half(half)
}

/// Consumes the "4" of "4-5pm", where "pm" applies to both ends.
fn parse_range_start(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let start = TimeOfDay::from_hour(cursor.consume_digits(1..=2)?.value)?;
    let mut ahead = *cursor;
    ahead.consume_sign('-').then_some(())?;
    let end = ahead.consume_digits(1..=2)?;
    let minute = ahead.attempt(consume_colon_number).unwrap_or(0);
    let half = parse_half_day(&mut ahead)?;
    let end = TimeOfDay::from_clock_face(end.value, minute, 0)?.in_half(half)?;
    (start.hour <= 12).then(|| range::align_half(start, end, true))
}

/// Consumes "o'clock".
pub(super) fn consume_oclock(cursor: &mut TokenCursor<'_>) -> bool {
    cursor.consume_word("oclock")
        || cursor.try_consume(|cursor| {
            cursor.consume_word("o")
                && cursor.consume_any_sign(&['\'', '\u{2019}']).is_some()
                && cursor.consume_word("clock")
        })
}

/// Returns the time for a number such as "3", "330" or "1140".
pub(super) fn compact_time(shown: DateNumber) -> Option<TimeOfDay> {
    match shown.digits {
        1 | 2 => TimeOfDay::from_hour(shown.value),
        3 | 4 => TimeOfDay::from_clock_face(shown.value / 100, shown.value % 100, 0),
        _ => None,
    }
}

/// Consumes "am", "p.m.", "p . m ." or, directly after a number, "p".
pub(super) fn parse_half_day(cursor: &mut TokenCursor<'_>) -> Option<HalfDay> {
    cursor.attempt(|cursor| {
        let is_glued = cursor.is_glued(0);
        let word = cursor.word();
        let half = match word {
            "am" | "a" => HalfDay::Before,
            "pm" | "p" => HalfDay::After,
            _ => return None,
        };
        cursor.step();
        if word.len() == 1 {
            let full = cursor.attempt(|cursor| {
                cursor.consume_sign('.');
                cursor.consume_word("m").then(|| cursor.consume_sign('.'))
            });
            let is_short =
                (is_glued || word == "p" && cursor.word().is_empty()) && cursor.ends_cleanly();
            return (full.is_some() || is_short).then_some(half);
        }
        cursor.consume_point();
        Some(half)
    })
}

/// Consumes an unambiguous date: year, month and day in any common order.
pub(super) fn parse_full_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    cursor.attempt_any(&[parse_year_first, parse_year_last])
}

/// Consumes a date that starts with the year. Such dates are also recognised within file names.
fn parse_year_first(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let day = cursor.attempt_any(&[
        parse_compact_date,
        parse_spaced_date,
        parse_week_date,
        parse_separated_date,
    ])?;
    // The `T` between date and time in RFC 3339.
    cursor.try_consume(|cursor| cursor.consume_glued_word("t") && cursor.is_number(0));
    Some(day)
}

/// Consumes "2026-W49-5" or "2026W495".
fn parse_week_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let (year, is_separated) = parse_year_of_week(cursor)?;
    let shown = cursor.consume_glued_number()?;
    let (week, day) = match shown.digits {
        2 if is_separated => {
            cursor.consume_glued_sign('-').then_some(())?;
            (shown.value, cursor.consume_glued_number()?.value)
        }
        3 if !is_separated => (shown.value / 10, shown.value % 10),
        _ => return None,
    };
    let weekday = Weekday::try_from(u8::try_from(day).ok()?.checked_sub(1)?).ok()?;
    let date = NaiveDate::from_isoywd_opt(year, u32::try_from(week).ok()?, weekday)?;
    (cursor.ends_cleanly() || cursor.word() == "t").then(|| DayExpression::on(date))
}

/// Consumes "2026-W" or "2026W", and returns whether it has a hyphen.
fn parse_year_of_week(cursor: &mut TokenCursor<'_>) -> Option<(i32, bool)> {
    cursor.starts_cleanly().then_some(())?;
    let year = i32::try_from(cursor.consume_digits(4..=4)?.value).ok()?;
    let is_separated = cursor.consume_glued_sign('-');
    cursor
        .consume_glued_word("w")
        .then_some((year, is_separated))
}

/// Consumes the week "2026-W49", and returns its first day.
pub(super) fn parse_week(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let (year, _) = parse_year_of_week(cursor)?;
    let week = u32::try_from(cursor.consume_glued_digits(2..=2)?.value).ok()?;
    cursor.ends_cleanly().then_some(())?;
    NaiveDate::from_isoywd_opt(year, week, Weekday::Mon).map(DayExpression::on)
}

/// Consumes "2020-07-01".
fn parse_separated_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let is_inside = cursor.is_number_before(2)
        && matches!(cursor.sign_before(1), Some('-' | '.' | '/' | ':'))
        && cursor.is_glued(0);
    (!is_inside).then_some(())?;
    let year = cursor.consume_digits(4..=4)?.value;
    let separator = consume_separator(cursor)?;
    let month = cursor.consume_glued_digits(1..=2)?;
    cursor.consume_glued_sign(separator).then_some(())?;
    let day = cursor.consume_glued_digits(1..=2)?;
    let is_whole = cursor.ends_cleanly();
    let goes_on = separator == '.' && cursor.is_glued(0) && cursor.sign(0) == Some('.');
    (is_whole || !goes_on).then_some(())?;
    let is_iso = separator == '-'
        && month.digits == 2
        && day.digits == 2
        && (1970..2100).contains(&year)
        && (is_whole || cursor.word() == "t");
    let date = if is_iso {
        date_or_impossible
    } else {
        exact_date
    };
    date(year, month.value, day.value)
}

/// Consumes "20170302".
fn parse_compact_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let is_apart = !cursor.is_glued(0)
        || cursor.is_at_start()
        || cursor
            .sign_before(1)
            .is_some_and(|sign| "-_/(<[:".contains(sign));
    let shown = cursor.consume_digits(8..=8).filter(|_| is_apart)?;
    let (year, month, day) = shown.split();
    (1970..2100).contains(&year).then_some(())?;
    let is_timed = cursor.is_glued(0)
        && cursor.word() == "t"
        && cursor.is_glued(1)
        && matches!(cursor.peek(1), Some(Number(time)) if time.digits <= 6);
    let goes_on = cursor.is_glued(0) && matches!(cursor.peek(0), Some(Number(_) | Other));
    if is_timed {
        return date_or_impossible(year, month, day);
    }
    exact_date(year, month, day).filter(|_| !goes_on)
}

/// Consumes "2016 10 16".
fn parse_spaced_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    cursor.starts_cleanly().then_some(())?;
    let year = cursor.consume_digits(4..=4)?.value;
    let month = cursor.consume_digits(2..=2)?;
    let day = cursor.consume_digits(2..=2)?;
    let is_alone = cursor.ends_cleanly() && !cursor.is_number(0);
    exact_date(year, month.value, day.value).filter(|_| is_alone && (1900..2100).contains(&year))
}

/// Consumes "10/31/1974", "31.10.1974" and "10-31-74".
///
/// The month is first, unless it is out of range or the separator is a point.
fn parse_year_last(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let (first, separator, second) = parse_two_numbers(cursor)?;
    cursor.consume_glued_sign(separator).then_some(())?;
    let year = cursor.consume_glued_number()?;
    let year = match year.digits {
        4 => year.value,
        2 if separator != '.' => expand_year(year.value),
        _ => return None,
    };
    cursor.ends_cleanly().then_some(())?;
    in_either_order(first, second, separator == '.', |month, day| {
        exact_date(year, month, day)
    })
}

/// Consumes "10/31" without what is before and after it.
fn parse_two_numbers(cursor: &mut TokenCursor<'_>) -> Option<(u64, char, u64)> {
    cursor.starts_cleanly().then_some(())?;
    let first = cursor.consume_digits(1..=2)?;
    let separator = consume_separator(cursor)?;
    let second = cursor.consume_glued_digits(1..=2)?;
    Some((first.value, separator, second.value))
}

/// Returns the date of a day and a month, with the reading that swaps them if both are valid and neither is known to be the day.
///
/// The month is first, unless it is out of range or `day_first`.
fn in_either_order(
    first: u64,
    second: u64,
    day_first: bool,
    date: impl Fn(u64, u64) -> Option<DayExpression>,
) -> Option<DayExpression> {
    let is_day_first = if day_first { second <= 12 } else { 12 < first };
    let (month, day) = if is_day_first {
        (second, first)
    } else {
        (first, second)
    };
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    let read = date(month, day).filter(|_| is_date)?;
    if day_first || 12 < first || 12 < second || first == second {
        return Some(read);
    }
    Some(DayExpression::EitherWay(
        Box::new(read),
        Box::new(date(second, first)?),
    ))
}

/// Expands a two-digit year: up to 50 to this century, otherwise to the previous one.
pub(super) fn expand_year(short: u64) -> u64 {
    if short <= 50 {
        2000 + short
    } else {
        1900 + short
    }
}

/// Consumes "4/25" or "2-15". The caller checks that the context makes it a date.
pub(super) fn parse_short_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    cursor.attempt(|cursor| {
        let (first, separator, second) = parse_two_numbers(cursor)?;
        let year = cursor.attempt(|cursor| {
            cursor.consume_sign(',').then_some(())?;
            let year = cursor.consume_digits(4..=4)?.value;
            cursor.ends_cleanly().then(|| i32::try_from(year).ok())?
        });
        (separator != '.' && cursor.ends_cleanly()).then_some(())?;
        let year = year.map_or(Year::Unsaid, Year::Exactly);
        in_either_order(first, second, false, |month, day| date_in(year, month, day))
    })
}

/// Consumes "5.12" at the end of a clause. The caller checks that the context makes it a date.
pub(super) fn parse_dotted_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let (first, separator, second) = parse_two_numbers(cursor)?;
    (separator == '.').then_some(())?;
    // "18.03. at 8" has a point after the month as well.
    let has_point =
        cursor.try_consume(|cursor| cursor.consume_glued_sign('.') && cursor.peek(0).is_some());
    let is_last = match cursor.peek(0) {
        Some(Word(word)) => ["at", "um", "and", "or"].contains(&word),
        Some(Number(_)) => false,
        _ => true,
    };
    (is_last && cursor.ends_cleanly()).then_some(())?;
    in_either_order(first, second, has_point, |month, day| {
        date_in(Year::Unsaid, month, day)
    })
}

/// Consumes "12-11-10" with the year first, as in Chinese.
pub(super) fn parse_short_year_first(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    cursor.starts_cleanly().then_some(())?;
    let year = cursor.consume_digits(2..=2)?;
    let separator = consume_separator(cursor)?;
    let month = cursor.consume_glued_digits(1..=2)?;
    cursor.consume_glued_sign(separator).then_some(())?;
    let day = cursor.consume_glued_digits(1..=2)?;
    cursor.ends_cleanly().then_some(())?;
    exact_date(expand_year(year.value), month.value, day.value)
}

fn consume_separator(cursor: &mut TokenCursor<'_>) -> Option<char> {
    cursor.consume_any_glued_sign(&['-', '/', '.'])
}

fn date_in(year: Year, month: u64, day: u64) -> Option<DayExpression> {
    let month = Month::Named(u32::try_from(month).ok()?, year);
    Some(DayExpression::OfMonth(u32::try_from(day).ok()?, month))
}

/// Returns the date of digits that only a date has, also one that no calendar has, such as "2026-13-03".
fn date_or_impossible(year: u64, month: u64, day: u64) -> Option<DayExpression> {
    date_in(Year::Exactly(i32::try_from(year).ok()?), month, day)
}

fn exact_date(year: u64, month: u64, day: u64) -> Option<DayExpression> {
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    date_or_impossible(year, month, day).filter(|_| is_date)
}

/// Consumes the UTC offset directly after a time: "15:00+02:00", "15:00:00 -0500".
///
/// A minus starts a range instead, unless the time has seconds or follows a `T`.
pub(super) fn parse_clock_offset(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    let before = |wanted: DateTokenKind<'_>| {
        let is_wanted = |back: &usize| cursor.peek_back(*back) == Some(wanted);
        (1..=7).filter(is_wanted).count()
    };
    let is_complete = 2 <= before(Sign(':')) || 1 <= before(Word("t"));
    let is_glued = cursor.is_glued(0);
    cursor.is_number_before(1).then_some(())?;
    let is_west = !cursor.consume_sign('+');
    (!is_west || is_complete && cursor.consume_sign('-')).then_some(())?;
    let start = cursor.position();
    let seconds = parse_offset_numbers(cursor)?;
    let is_in_full = 1 < cursor.position() - start
        || matches!(cursor.peek_back(1), Some(Number(shown)) if shown.digits == 4);
    let signed = if is_west { -seconds } else { seconds };
    ((is_glued || is_in_full) && cursor.ends_cleanly()).then_some(signed)
}

/// Consumes the offset of "UTC+2", "GMT-05:30" or "UTC+0200".
pub(super) fn parse_utc_offset(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    let is_west = !cursor.consume_glued_sign('+');
    (!is_west || cursor.consume_glued_sign('-')).then_some(())?;
    let seconds = parse_offset_numbers(cursor)?;
    Some(if is_west { -seconds } else { seconds })
}

fn parse_offset_numbers(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    let hours = cursor.consume_glued_number()?;
    let colon = cursor.attempt(|cursor| {
        cursor
            .consume_glued_sign(':')
            .then(|| cursor.consume_glued_number())?
    });
    let minutes = match (hours.digits, colon) {
        (1 | 2, minutes) => hours.value * 60 + minutes.map_or(0, |minutes| minutes.value.min(59)),
        (4, None) => hours.value / 100 * 60 + hours.value % 100,
        _ => return None,
    };
    i32::try_from(minutes * 60)
        .ok()
        .filter(|seconds| *seconds <= 15 * 3600)
}

/// Consumes the decimals of "1.5" after its whole number.
pub(super) fn parse_decimals(cursor: &mut TokenCursor<'_>, whole: i64) -> Option<Quantity> {
    cursor.consume_glued_sign('.').then_some(())?;
    let decimals = cursor.consume_glued_digits(1..=3)?;
    let under = 10_i64.pow(u32::try_from(decimals.digits).ok()?);
    let decimals = i64::try_from(decimals.value).ok()?;
    let over = whole.checked_mul(under)?.checked_add(decimals)?;
    Some(Quantity { over, under })
}
