//! Parses times and dates in digits, which both languages write alike: 15:30, 3pm, 2020-07-01.

use chrono::{NaiveDate, Weekday};

use super::cursor::TokenCursor;
use super::syntax::{
    CalendarDuration, DateExpression, DayExpression, HalfDay, Month, Quantity, TimeOfDay, TimeUnit,
    Year,
};
use super::token::DateNumber;
use super::token::DateTokenKind::{self, Han, Number, Other, Sign, Word};
use super::{english, range};

/// Consumes an unambiguous time: "15:30", "3pm", "8:00:25 am", "11h45", "330 p.m."
pub(super) fn parse_clock(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    (cursor.starts_cleanly() && !is_ratio(cursor)).then_some(())?;
    [
        parse_compact_time,
        parse_colon_time,
        parse_h_time,
        parse_dotted_time,
        parse_half_day_time,
        parse_range_start,
    ]
    .into_iter()
    .find_map(|form| cursor.attempt(form))
}

fn is_ratio(cursor: &TokenCursor<'_>) -> bool {
    let is_named = |word: &str| {
        matches!(
            word,
            "ratio" | "score" | "scored" | "odds" | "scale" | "won" | "lost" | "aspect"
        )
    };
    let is_compared = matches!(
        (cursor.peek_back(2), cursor.peek_back(1)),
        (Some(Han('比')), Some(Han('分' | '例' | '率')))
    );
    is_named(cursor.word_before(1))
        || is_compared
        || (cursor.word_before(1) == "is" && is_named(cursor.word_before(2)))
}

/// Returns whether a date such as "2026-12-03" precedes the cursor, perhaps with a `T`. Its hours are those of 24 in a day.
fn follows_iso_date(cursor: &TokenCursor<'_>) -> bool {
    let mark = usize::from(cursor.word_before(1) == "t");
    let has_digits = |back: usize, digits| {
        let token = cursor.peek_back(mark + back);
        matches!(token, Some(Number(number)) if number.digits == digits)
    };
    let is_dash = |back| cursor.peek_back(mark + back) == Some(Sign('-'));
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
            (has_colon || cursor.consume_glued_sign('.') || cursor.consume_glued_sign(','))
                .then(|| cursor.consume_glued_number())
                .flatten()
                .filter(|fraction| !has_colon || fraction.digits == 3)
        });
    }
    let clock = TimeOfDay::from_clock_face(
        hour.value,
        minute.value,
        second.map_or(0, |second| second.value),
    )?;
    let clock = if hour.digits == 2 && (hour.value < 10 || is_of_day) {
        clock.sure()
    } else {
        clock
    };
    if let Some(half) = parse_half_day(cursor) {
        return clock.in_half(half);
    }
    let is_approximate = cursor
        .attempt(|cursor| cursor.consume_word("ish").then_some(()))
        .is_some();
    (is_approximate || cursor.ends_cleanly() || is_zone_next(cursor)).then_some(clock)
}

fn consume_colon_number(cursor: &mut TokenCursor<'_>) -> Option<DateNumber> {
    cursor.consume_glued_sign(':').then_some(())?;
    cursor.consume_glued_digits(2..=2)
}

/// Returns whether the `Z` or the offset of an RFC 3339 time, or the end of a range follows.
fn is_zone_next(cursor: &TokenCursor<'_>) -> bool {
    cursor.word() == "z" || cursor.sign(0) == Some('+') || range::consume_joint(&mut cursor.clone())
}

/// Consumes "11h45" or "16h". A bare "16h" without context is as often a duration, and is rejected.
fn parse_h_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let may_be_bare = allows_bare_hour(cursor);
    let hour = cursor.consume_digits(1..=2)?;
    (cursor.is_glued(0) && cursor.consume_word("h")).then_some(())?;
    let minute = cursor.consume_glued_number();
    if minute.is_none() && !may_be_bare
        || minute.is_some_and(|minute| minute.digits != 2)
        || !cursor.ends_cleanly()
    {
        return None;
    }
    let clock = TimeOfDay::from_clock_face(hour.value, minute.map_or(0, |minute| minute.value), 0)?;
    Some(clock.sure())
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
        let clock = parse_dotted_numbers(cursor)?;
        let half = parse_half_day(cursor)?;
        clock.in_half(half)
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
                || matches!(
                    word,
                    "around"
                        | "about"
                        | "by"
                        | "until"
                        | "till"
                        | "after"
                        | "before"
                        | "between"
                        | "from"
                        | "to"
                        | "and"
                        | "or"
                )
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
    let clock = TimeOfDay::from_clock_face(hour, minute, second)?;
    Some(clock.sure())
}

/// Consumes the hour, minute and second of "150000" or "1500" after a `T`.
fn parse_compact_numbers(cursor: &mut TokenCursor<'_>) -> Option<(u64, u64, u64)> {
    let is_after_date = follows_date_mark(cursor);
    let shown = cursor.consume_number().filter(|_| is_after_date)?;
    match shown.digits {
        6 => Some((
            shown.value / 10_000,
            shown.value / 100 % 100,
            shown.value % 100,
        )),
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
    let is_open =
        spoken.every.is_none() && spoken.day.as_ref().is_some_and(DayExpression::is_exact);
    let Some(every) = cursor.attempt(|cursor| parse_repeater(cursor).filter(|_| is_open)) else {
        return false;
    };
    spoken.every = Some(every).filter(|every| !every.is_zero());
    true
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
        cursor.consume_sign('.');
        cursor.consume_sign('+').then_some(())?;
        cursor.consume_glued_sign('+');
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

/// Consumes the repeater in hours of a timestamp in Org mode, as in "+1h" and ".+10h". A recurrence has an interval of whole days.
pub(super) fn consume_hourly_repeater(cursor: &mut TokenCursor<'_>) -> bool {
    let repeater = cursor.attempt(|cursor| {
        cursor.consume_sign('.');
        cursor.consume_sign('+').then_some(())?;
        cursor.consume_glued_sign('+');
        cursor.consume_glued_number()?;
        cursor.consume_word("h").then_some(())
    });
    repeater.is_some()
}

/// Consumes a time that no clock shows: "25:00", "24:30", "10:75", "15am", "13 p.m.", "T2561".
pub(super) fn consume_impossible_clock(cursor: &mut TokenCursor<'_>) -> bool {
    let compact = |cursor: &mut TokenCursor<'_>| {
        let is_clean = cursor.starts_cleanly();
        let (hour, minute, second) = parse_compact_numbers(cursor).filter(|_| is_clean)?;
        let is_time = TimeOfDay::from_clock_face(hour, minute, second).is_some();
        (!is_time).then_some(())
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
        let half = if is_long {
            parse_half_day(cursor)
        } else {
            None
        };
        let is_oclock = half.is_none() && minute.is_none() && consume_oclock(cursor);
        let clock =
            TimeOfDay::from_clock_face(hour.value, minute.map_or(0, |minute| minute.value), 0);
        let is_time = clock.is_some_and(|clock| half.is_none() || clock.hour <= 12);
        let is_written = minute.is_some() || half.is_some() || is_oclock;
        let is_whole = is_after_date || cursor.ends_cleanly();
        (is_written && !is_time && is_whole).then_some(())
    };
    cursor.attempt(compact).is_some() || cursor.attempt(shown).is_some()
}

/// Returns whether "am" or "pm" precedes the cursor.
pub(super) fn follows_half_day(cursor: &TokenCursor<'_>) -> bool {
    (1..=4).any(|back| matches!(cursor.word_before(back), "am" | "pm" | "a" | "p"))
}

/// Consumes "3pm", "3 o'clock", "330 p.m." and "3ish pm".
fn parse_half_day_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let shown = cursor.consume_number()?;
    let is_approximate = cursor.is_glued(0) && cursor.consume_word("ish");
    if cursor.consume_phrase("o clock") || consume_oclock(cursor) {
        let clock = TimeOfDay::from_clock_face(shown.value, 0, 0)?;
        return parse_half_day(cursor).map_or(Some(clock), |half| clock.in_half(half));
    }
    let clock = compact_time(shown)?;
    let half = parse_half_day(cursor).or_else(|| {
        cursor
            .consume_phrase("in the am")
            .then_some(HalfDay::Before)
    })?;
    let is_whole = is_approximate || shown.digits <= 2 || shown.digits <= 4;
    if is_whole { clock.in_half(half) } else { None }
}

/// Consumes the "4" of "4-5pm", where "pm" applies to both ends.
fn parse_range_start(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let hour = cursor.consume_digits(1..=2)?;
    let start = TimeOfDay::from_clock_face(hour.value, 0, 0)?;
    let mut ahead = *cursor;
    ahead.consume_sign('-').then_some(())?;
    let end = ahead.consume_digits(1..=2)?;
    let minute = ahead.attempt(consume_colon_number);
    let half = parse_half_day(&mut ahead)?;
    let end = TimeOfDay::from_clock_face(end.value, minute.map_or(0, |minute| minute.value), 0)?
        .in_half(half)?;
    (start.hour <= 12).then(|| range::align_half(start, end, true))
}

/// Consumes "o'clock".
pub(super) fn consume_oclock(cursor: &mut TokenCursor<'_>) -> bool {
    let eaten = cursor.attempt(|cursor| {
        if cursor.consume_word("oclock") {
            return Some(());
        }
        let is_apart = cursor.consume_word("o")
            && (cursor.consume_sign('\'') || cursor.consume_sign('\u{2019}'))
            && cursor.consume_word("clock");
        is_apart.then_some(())
    });
    eaten.is_some()
}

/// Returns the time for a number such as "3", "330" or "1140".
pub(super) fn compact_time(shown: DateNumber) -> Option<TimeOfDay> {
    match shown.digits {
        1 | 2 => TimeOfDay::from_clock_face(shown.value, 0, 0),
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
    [parse_year_first, parse_year_last]
        .into_iter()
        .find_map(|form| cursor.attempt(form))
}

/// Consumes a date that starts with the year. Such dates are also recognised within file names.
fn parse_year_first(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let day = cursor
        .attempt(parse_compact_date)
        .or_else(|| cursor.attempt(parse_spaced_date))
        .or_else(|| cursor.attempt(parse_week_date))
        .or_else(|| cursor.attempt(parse_separated_date))?;
    // The `T` between date and time in RFC 3339.
    cursor.attempt(|cursor| {
        let is_moment = cursor.is_glued(0) && cursor.consume_word("t") && cursor.is_number(0);
        is_moment.then_some(())
    });
    Some(day)
}

/// Consumes "2026-W49-5" or "2026W495".
fn parse_week_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let is_clean = cursor.starts_cleanly();
    let year = cursor.consume_digits(4..=4).filter(|_| is_clean)?;
    let is_separated = cursor.consume_glued_sign('-');
    (cursor.is_glued(0) && cursor.consume_word("w")).then_some(())?;
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
    let date = NaiveDate::from_isoywd_opt(
        i32::try_from(year.value).ok()?,
        u32::try_from(week).ok()?,
        weekday,
    )?;
    (cursor.ends_cleanly() || cursor.word() == "t").then(|| DayExpression::on(date))
}

/// Consumes the week "2026-W49", and returns its first day.
pub(super) fn parse_week(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let is_clean = cursor.starts_cleanly();
    let year = cursor.consume_digits(4..=4).filter(|_| is_clean)?;
    cursor.consume_glued_sign('-');
    (cursor.is_glued(0) && cursor.consume_word("w")).then_some(())?;
    let week = cursor
        .consume_glued_number()
        .filter(|week| week.digits == 2 && cursor.ends_cleanly())?;
    let date = NaiveDate::from_isoywd_opt(
        i32::try_from(year.value).ok()?,
        u32::try_from(week.value).ok()?,
        Weekday::Mon,
    )?;
    Some(DayExpression::on(date))
}

/// Consumes "2020-07-01".
fn parse_separated_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let is_inside = matches!(
        (cursor.peek_back(2), cursor.peek_back(1)),
        (Some(Number(_)), Some(Sign('-' | '.' | '/' | ':')))
    );
    (!is_inside || !cursor.is_glued(0)).then_some(())?;
    let year = cursor.consume_digits(4..=4)?;
    let separator = consume_separator(cursor)?;
    let month = cursor.consume_glued_digits(1..=2)?;
    cursor.consume_glued_sign(separator).then_some(())?;
    let day = cursor.consume_glued_digits(1..=2)?;
    let goes_on = cursor.is_glued(0)
        && cursor.sign(0) == Some(separator)
        && separator == '.'
        && !cursor.ends_cleanly();
    (!goes_on).then_some(())?;
    let is_iso = separator == '-'
        && month.digits == 2
        && day.digits == 2
        && (1970..2100).contains(&year.value)
        && (cursor.ends_cleanly() || cursor.word() == "t");
    if is_iso {
        date_or_impossible(year.value, month.value, day.value)
    } else {
        exact_date(year.value, month.value, day.value)
    }
}

/// Consumes "20170302".
fn parse_compact_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let is_apart = !cursor.is_glued(0)
        || cursor.is_at_start()
        || matches!(
            cursor.sign_before(1),
            Some('-' | '_' | '/' | '(' | '<' | '[' | ':')
        );
    let shown = cursor
        .consume_number()
        .filter(|shown| is_apart && shown.digits == 8)?;
    let (year, month, day) = (
        shown.value / 10_000,
        shown.value / 100 % 100,
        shown.value % 100,
    );
    let is_of_our_time = (1970..2100).contains(&year);
    let is_timed = cursor.is_glued(0)
        && cursor.word() == "t"
        && cursor.is_glued(1)
        && matches!(cursor.peek(1), Some(Number(time)) if time.digits <= 6);
    if is_of_our_time && is_timed {
        return date_or_impossible(year, month, day);
    }
    let goes_on = cursor.is_glued(0) && matches!(cursor.peek(0), Some(Number(_) | Other));
    if is_of_our_time && !goes_on {
        exact_date(year, month, day)
    } else {
        None
    }
}

/// Consumes "2016 10 16".
fn parse_spaced_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let is_clean = cursor.starts_cleanly();
    let year = cursor
        .consume_number()
        .filter(|year| year.digits == 4 && (1900..2100).contains(&year.value))?;
    let month = cursor.consume_digits(2..=2)?;
    let day = cursor.consume_digits(2..=2)?;
    let is_alone = is_clean && cursor.ends_cleanly() && !cursor.is_number(0);
    if is_alone {
        exact_date(year.value, month.value, day.value)
    } else {
        None
    }
}

/// Consumes "10/31/1974", "31.10.1974" and "10-31-74".
///
/// The month is first, unless it is out of range or the separator is a point.
fn parse_year_last(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    cursor.starts_cleanly().then_some(())?;
    let first = cursor.consume_digits(1..=2)?;
    let separator = consume_separator(cursor)?;
    let second = cursor.consume_glued_digits(1..=2)?;
    cursor.consume_glued_sign(separator).then_some(())?;
    let year = cursor
        .consume_glued_number()
        .filter(|year| year.digits == 4 || year.digits == 2 && separator != '.')?;
    cursor.ends_cleanly().then_some(())?;
    let year = if year.digits == 2 {
        expand_year(year.value)
    } else {
        year.value
    };
    let (month, day) = order_month_and_day(first, second, separator == '.')?;
    let read = exact_date(year, month, day)?;
    if separator == '.' {
        Some(read)
    } else {
        with_swapped_order(read, first, second, |month, day| {
            exact_date(year, month, day)
        })
    }
}

/// Returns a date together with the reading that swaps day and month, if both are valid.
fn with_swapped_order(
    read: DayExpression,
    first: DateNumber,
    second: DateNumber,
    date: impl Fn(u64, u64) -> Option<DayExpression>,
) -> Option<DayExpression> {
    let is_open = first.value <= 12 && second.value <= 12 && first.value != second.value;
    if is_open {
        Some(DayExpression::EitherWay(
            Box::new(read),
            Box::new(date(second.value, first.value)?),
        ))
    } else {
        Some(read)
    }
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
        cursor.starts_cleanly().then_some(())?;
        let first = cursor.consume_digits(1..=2)?;
        consume_separator(cursor).filter(|separator| *separator != '.')?;
        let second = cursor.consume_glued_digits(1..=2)?;
        let (month, day) = order_month_and_day(first, second, false)?;
        let year = cursor.attempt(|cursor| {
            let year = cursor
                .consume_sign(',')
                .then(|| cursor.consume_number())
                .flatten()
                .filter(|year| year.digits == 4)?;
            cursor
                .ends_cleanly()
                .then(|| i32::try_from(year.value).ok())
                .flatten()
        });
        cursor.ends_cleanly().then_some(())?;
        let year = year.map_or(Year::Unsaid, Year::Exactly);
        let date = |month: u64, day: u64| {
            Some(DayExpression::OfMonth(
                u32::try_from(day).ok()?,
                Month::Named(u32::try_from(month).ok()?, year),
            ))
        };
        with_swapped_order(date(month, day)?, first, second, date)
    })
}

/// Consumes "5.12" at the end of a clause. The caller checks that the context makes it a date.
pub(super) fn parse_dotted_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    cursor.starts_cleanly().then_some(())?;
    let first = cursor.consume_digits(1..=2)?;
    cursor.consume_glued_sign('.').then_some(())?;
    let second = cursor.consume_glued_digits(1..=2)?;
    // "18.03. at 8" has a point after the month as well.
    let has_point = cursor
        .attempt(|cursor| {
            (cursor.consume_glued_sign('.') && cursor.peek(0).is_some()).then_some(())
        })
        .is_some();
    let is_time_next = matches!(cursor.peek(0), Some(Word("at" | "um" | "and" | "or")));
    let is_last = cursor.ends_cleanly()
        && (is_time_next || !matches!(cursor.peek(0), Some(Word(_) | Number(_))));
    let (month, day) = order_month_and_day(first, second, has_point).filter(|_| is_last)?;
    let date = |month: u64, day: u64| {
        Some(DayExpression::OfMonth(
            u32::try_from(day).ok()?,
            Month::Named(u32::try_from(month).ok()?, Year::Unsaid),
        ))
    };
    if has_point {
        date(month, day)
    } else {
        with_swapped_order(date(month, day)?, first, second, date)
    }
}

/// Consumes "12-11-10" with the year first, as in Chinese.
pub(super) fn parse_short_year_first(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    cursor.starts_cleanly().then_some(())?;
    let year = cursor.consume_digits(2..=2)?;
    let separator = consume_separator(cursor)?;
    let month = cursor.consume_glued_digits(1..=2)?;
    let day = cursor
        .consume_glued_sign(separator)
        .then(|| cursor.consume_glued_number())
        .flatten()
        .filter(|day| day.digits <= 2)?;
    if cursor.ends_cleanly() {
        exact_date(expand_year(year.value), month.value, day.value)
    } else {
        None
    }
}

fn order_month_and_day(
    first: DateNumber,
    second: DateNumber,
    day_first: bool,
) -> Option<(u64, u64)> {
    let is_day_first = if day_first {
        second.value <= 12
    } else {
        12 < first.value
    };
    let (month, day) = if is_day_first {
        (second.value, first.value)
    } else {
        (first.value, second.value)
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((month, day))
}

fn consume_separator(cursor: &mut TokenCursor<'_>) -> Option<char> {
    ['-', '/', '.']
        .into_iter()
        .find(|separator| cursor.consume_glued_sign(*separator))
}

/// Returns the date of digits that only a date has, also one that no calendar has, such as "2026-13-03".
fn date_or_impossible(year: u64, month: u64, day: u64) -> Option<DayExpression> {
    let month = Month::Named(
        u32::try_from(month).ok()?,
        Year::Exactly(i32::try_from(year).ok()?),
    );
    Some(DayExpression::OfMonth(u32::try_from(day).ok()?, month))
}

fn exact_date(year: u64, month: u64, day: u64) -> Option<DayExpression> {
    let (year, month, day) = (
        i32::try_from(year).ok()?,
        u32::try_from(month).ok()?,
        u32::try_from(day).ok()?,
    );
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then_some(DayExpression::OfMonth(
        day,
        Month::Named(month, Year::Exactly(year)),
    ))
}

/// Consumes the UTC offset directly after a time: "15:00+02:00", "15:00:00 -0500".
///
/// A minus starts a range instead, unless the time has seconds or follows a `T`.
pub(super) fn parse_clock_offset(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    let before = |wanted: DateTokenKind<'_>| {
        (1..=7)
            .filter(|back| cursor.peek_back(*back) == Some(wanted))
            .count()
    };
    let is_complete = 2 <= before(Sign(':')) || 1 <= before(Word("t"));
    let is_after_number = cursor.is_number_before(1);
    let is_glued = cursor.is_glued(0);
    let is_west = !cursor.consume_sign('+');
    if !is_after_number || is_west && !(is_complete && cursor.consume_sign('-')) {
        return None;
    }
    let start = cursor.position();
    let seconds = parse_offset_numbers(cursor)?;
    let is_in_full = 1 < cursor.position() - start
        || matches!(cursor.peek_back(1), Some(Number(shown)) if shown.digits == 4);
    ((is_glued || is_in_full) && cursor.ends_cleanly()).then_some(if is_west {
        -seconds
    } else {
        seconds
    })
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
            .then(|| cursor.consume_glued_number())
            .flatten()
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
