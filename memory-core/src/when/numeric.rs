//! Parses times and dates in digits, which both languages write alike: 15:30, 3pm, 2020-07-01.

use super::cursor::Cursor;
use super::spoken::{Clock, Day, Half, Month, Year};
use super::token::{Number, What};

/// Consumes an unambiguous time: "15:30", "3pm", "8:00:25 am", "11h45", "330 p.m."
pub(super) fn clock(cursor: &mut Cursor<'_>) -> Option<Clock> {
    if !cursor.starts_cleanly() || is_ratio(cursor) {
        return None;
    }
    [with_colons, with_h, with_point, with_half, of_range].into_iter().find_map(|form| cursor.attempt(form))
}

fn is_ratio(cursor: &Cursor<'_>) -> bool {
    let is_named = |word: &str| matches!(word, "ratio" | "score" | "scored" | "odds" | "scale" | "won" | "lost" | "aspect");
    let is_compared =
        matches!((cursor.before(2), cursor.before(1)), (Some(What::Han('比')), Some(What::Han('分' | '例' | '率'))));
    is_named(cursor.word_before(1)) || is_compared || (cursor.word_before(1) == "is" && is_named(cursor.word_before(2)))
}

/// Consumes "15:30" or "8:00:25", with an optional "am" or "pm".
fn with_colons(cursor: &mut Cursor<'_>) -> Option<Clock> {
    let hour = cursor.eat_digits().filter(|hour| hour.digits <= 2)?;
    let minute = after_colon(cursor)?;
    let second = cursor.attempt(after_colon);
    // The fraction of a second is consumed and ignored.
    if second.is_some() {
        cursor.attempt(|cursor| cursor.eat_glued_sign('.').then(|| cursor.eat_glued_digits()).flatten());
    }
    let clock = Clock::shown(hour.value, minute.value, second.map_or(0, |second| second.value))?;
    let clock = if hour.digits == 2 && hour.value < 10 { Clock { is_sure: true, ..clock } } else { clock };
    if let Some(half) = half(cursor) {
        return Clock { is_sure: false, ..clock }.in_half(half);
    }
    let is_approximate = cursor.attempt(|cursor| cursor.eat("ish").then_some(())).is_some();
    (is_approximate || cursor.ends_cleanly() || is_zone_next(cursor)).then_some(clock)
}

fn after_colon(cursor: &mut Cursor<'_>) -> Option<Number> {
    if !cursor.eat_glued_sign(':') {
        return None;
    }
    cursor.eat_glued_digits().filter(|number| number.digits == 2)
}

/// Returns whether the `Z` or the offset of an RFC 3339 time follows.
fn is_zone_next(cursor: &Cursor<'_>) -> bool {
    cursor.word() == "z" || matches!(cursor.peek(0), Some(What::Sign('+' | '-')))
}

/// Consumes "11h45" or "16h". A bare "16h" without context is as often a duration, and is rejected.
fn with_h(cursor: &mut Cursor<'_>) -> Option<Clock> {
    let may_be_bare = may_take_hour(cursor);
    let hour = cursor.eat_digits().filter(|hour| hour.digits <= 2)?;
    if !cursor.is_glued(0) || !cursor.eat("h") {
        return None;
    }
    let minute = cursor.eat_glued_digits();
    if minute.is_none() && !may_be_bare || minute.is_some_and(|minute| minute.digits != 2) || !cursor.ends_cleanly() {
        return None;
    }
    let clock = Clock::shown(hour.value, minute.map_or(0, |minute| minute.value), 0)?;
    Some(Clock { is_sure: true, ..clock })
}

/// Returns whether the preceding word allows a bare hour, such as "at" or the name of a day.
fn may_take_hour(cursor: &Cursor<'_>) -> bool {
    let word = cursor.word_before(1);
    matches!(word, "at" | "around" | "today" | "tomorrow" | "tonight") || word.ends_with("day")
}

/// Consumes "3.30pm", and after "at" also "3.30".
fn with_point(cursor: &mut Cursor<'_>) -> Option<Clock> {
    let is_after_at = cursor.word_before(1) == "at";
    let hour = cursor.eat_digits().filter(|hour| hour.digits <= 2)?;
    if !cursor.eat_glued_sign('.') {
        return None;
    }
    let minute = cursor.eat_glued_digits().filter(|minute| minute.digits == 2)?;
    let clock = Clock::shown(hour.value, minute.value, 0)?;
    if let Some(half) = half(cursor) {
        return Clock { is_sure: false, ..clock }.in_half(half);
    }
    let is_plain =
        is_after_at && minute.value % 5 == 0 && cursor.ends_cleanly() && !matches!(cursor.peek(0), Some(What::Word(_)));
    is_plain.then_some(clock)
}

/// Consumes "3pm", "3 o'clock", "330 p.m." and "3ish pm".
fn with_half(cursor: &mut Cursor<'_>) -> Option<Clock> {
    let shown = cursor.eat_digits()?;
    let is_approximate = cursor.is_glued(0) && cursor.eat("ish");
    if cursor.eat_phrase("o clock") || oclock(cursor) {
        let clock = Clock::shown(shown.value, 0, 0)?;
        return half(cursor).map_or(Some(clock), |half| clock.in_half(half));
    }
    let clock = compact(shown)?;
    let half = half(cursor).or_else(|| cursor.eat_phrase("in the am").then_some(Half::Before))?;
    let is_whole = is_approximate || shown.digits <= 2 || shown.digits <= 4;
    if is_whole { Clock { is_sure: false, ..clock }.in_half(half) } else { None }
}

/// Consumes "4-5pm", where "pm" applies to both ends, and returns the start of the range.
fn of_range(cursor: &mut Cursor<'_>) -> Option<Clock> {
    let hour = cursor.eat_digits().filter(|hour| hour.digits <= 2)?;
    if !cursor.eat_sign('-') {
        return None;
    }
    let end = cursor.eat_digits().filter(|end| end.digits <= 2 && hour.value < end.value)?;
    cursor.attempt(after_colon);
    let half = half(cursor)?;
    // "11-12pm" starts in the morning.
    let is_before_noon = end.value == 12 && half == Half::After;
    Clock::shown(hour.value, 0, 0)?.in_half(if is_before_noon { Half::Before } else { half })
}

/// Consumes "o'clock".
pub(super) fn oclock(cursor: &mut Cursor<'_>) -> bool {
    let eaten = cursor.attempt(|cursor| {
        if cursor.eat("oclock") {
            return Some(());
        }
        let is_apart = cursor.eat("o") && (cursor.eat_sign('\'') || cursor.eat_sign('\u{2019}')) && cursor.eat("clock");
        is_apart.then_some(())
    });
    eaten.is_some()
}

/// Returns the time for a number such as "3", "330" or "1140".
pub(super) fn compact(shown: Number) -> Option<Clock> {
    match shown.digits {
        1 | 2 => Clock::shown(shown.value, 0, 0),
        3 | 4 => Clock::shown(shown.value / 100, shown.value % 100, 0),
        _ => None,
    }
}

/// Consumes "am", "p.m.", "p . m ." or, directly after a number, "p".
pub(super) fn half(cursor: &mut Cursor<'_>) -> Option<Half> {
    cursor.attempt(|cursor| {
        let is_glued = cursor.is_glued(0);
        let word = cursor.word();
        let half = match word {
            "am" | "a" => Half::Before,
            "pm" | "p" => Half::After,
            _ => return None,
        };
        cursor.step();
        if word.len() == 1 {
            let full = cursor.attempt(|cursor| {
                cursor.eat_sign('.');
                cursor.eat("m").then(|| cursor.eat_sign('.'))
            });
            let is_short = (is_glued || word == "p" && cursor.word().is_empty()) && cursor.ends_cleanly();
            return (full.is_some() || is_short).then_some(half);
        }
        cursor.eat_glued_sign('.');
        Some(half)
    })
}

/// Consumes an unambiguous date: year, month and day in any common order.
pub(super) fn full_date(cursor: &mut Cursor<'_>) -> Option<Day> {
    [year_first, year_last].into_iter().find_map(|form| cursor.attempt(form))
}

/// Consumes a date that starts with the year. Such dates are also recognised within file names.
fn year_first(cursor: &mut Cursor<'_>) -> Option<Day> {
    if let Some(day) = cursor.attempt(run_together).or_else(|| cursor.attempt(year_month_day)) {
        return Some(day);
    }
    let is_inside =
        matches!((cursor.before(2), cursor.before(1)), (Some(What::Number(_)), Some(What::Sign('-' | '.' | '/' | ':'))));
    if is_inside && cursor.is_glued(0) {
        return None;
    }
    let year = cursor.eat_digits().filter(|year| year.digits == 4)?;
    let separator = separator(cursor)?;
    let month = cursor.eat_glued_digits().filter(|month| month.digits <= 2)?;
    if !cursor.eat_glued_sign(separator) {
        return None;
    }
    let day = cursor.eat_glued_digits().filter(|day| day.digits <= 2)?;
    let goes_on =
        cursor.is_glued(0) && cursor.peek(0) == Some(What::Sign(separator)) && separator == '.' && !cursor.ends_cleanly();
    if goes_on {
        return None;
    }
    // The `T` between date and time in RFC 3339.
    cursor.attempt(|cursor| {
        let is_moment = cursor.is_glued(0) && cursor.eat("t") && matches!(cursor.peek(0), Some(What::Number(_)));
        is_moment.then_some(())
    });
    date(year.value, month.value, day.value)
}

/// Consumes "20170302".
fn run_together(cursor: &mut Cursor<'_>) -> Option<Day> {
    let is_apart = !cursor.is_glued(0) || matches!(cursor.before(1), Some(What::Sign('-' | '_' | '/' | '(')));
    let shown = cursor.eat_digits().filter(|shown| is_apart && shown.digits == 8)?;
    let is_of_our_time = (1970..2100).contains(&(shown.value / 10_000));
    let goes_on = cursor.is_glued(0) && matches!(cursor.peek(0), Some(What::Number(_) | What::Other));
    if is_of_our_time && !goes_on { date(shown.value / 10_000, shown.value / 100 % 100, shown.value % 100) } else { None }
}

/// Consumes "2016 10 16".
fn year_month_day(cursor: &mut Cursor<'_>) -> Option<Day> {
    let is_clean = cursor.starts_cleanly();
    let year = cursor.eat_digits().filter(|year| year.digits == 4 && (1900..2100).contains(&year.value))?;
    let month = cursor.eat_digits().filter(|month| month.digits == 2)?;
    let day = cursor.eat_digits().filter(|day| day.digits == 2)?;
    let is_alone = is_clean && cursor.ends_cleanly() && !matches!(cursor.peek(0), Some(What::Number(_)));
    if is_alone { date(year.value, month.value, day.value) } else { None }
}

/// Consumes "10/31/1974", "31.10.1974" and "10-31-74".
///
/// The month is first, unless it is out of range or the separator is a point.
fn year_last(cursor: &mut Cursor<'_>) -> Option<Day> {
    if !cursor.starts_cleanly() {
        return None;
    }
    let first = cursor.eat_digits().filter(|first| first.digits <= 2)?;
    let separator = separator(cursor)?;
    let second = cursor.eat_glued_digits().filter(|second| second.digits <= 2)?;
    if !cursor.eat_glued_sign(separator) {
        return None;
    }
    let year = cursor.eat_glued_digits().filter(|year| year.digits == 4 || year.digits == 2 && separator != '.')?;
    if !cursor.ends_cleanly() {
        return None;
    }
    let year = if year.digits == 2 { full_year(year.value) } else { year.value };
    let (month, day) = month_and_day(first, second, separator == '.')?;
    let read = date(year, month, day)?;
    if separator == '.' { Some(read) } else { either_way(read, first, second, |month, day| date(year, month, day)) }
}

/// Returns a date together with the reading that swaps day and month, if both are valid.
fn either_way(read: Day, first: Number, second: Number, date: impl Fn(u64, u64) -> Option<Day>) -> Option<Day> {
    let is_open = first.value <= 12 && second.value <= 12 && first.value != second.value;
    if is_open { Some(Day::EitherWay(Box::new(read), Box::new(date(second.value, first.value)?))) } else { Some(read) }
}

/// Expands a two-digit year: up to 50 to this century, otherwise to the previous one.
pub(super) fn full_year(short: u64) -> u64 {
    if short <= 50 { 2000 + short } else { 1900 + short }
}

/// Consumes "4/25" or "2-15". The caller checks that the context makes it a date.
pub(super) fn short_date(cursor: &mut Cursor<'_>) -> Option<Day> {
    cursor.attempt(|cursor| {
        if !cursor.starts_cleanly() {
            return None;
        }
        let first = cursor.eat_digits().filter(|first| first.digits <= 2)?;
        separator(cursor).filter(|separator| *separator != '.')?;
        let second = cursor.eat_glued_digits().filter(|second| second.digits <= 2)?;
        let (month, day) = month_and_day(first, second, false)?;
        let year = cursor.attempt(|cursor| {
            let year = cursor.eat_sign(',').then(|| cursor.eat_digits()).flatten().filter(|year| year.digits == 4)?;
            cursor.ends_cleanly().then(|| i32::try_from(year.value).ok()).flatten()
        });
        if !cursor.ends_cleanly() {
            return None;
        }
        let year = year.map_or(Year::Unsaid, Year::Exactly);
        let date =
            |month: u64, day: u64| Some(Day::OfMonth(u32::try_from(day).ok()?, Month::Named(u32::try_from(month).ok()?, year)));
        either_way(date(month, day)?, first, second, date)
    })
}

/// Consumes "5.12", which is a date only after "on" and at the end of a clause.
pub(super) fn dotted_date(cursor: &mut Cursor<'_>) -> Option<Day> {
    if cursor.word_before(1) != "on" || !cursor.starts_cleanly() {
        return None;
    }
    let first = cursor.eat_digits().filter(|first| first.digits <= 2)?;
    if !cursor.eat_glued_sign('.') {
        return None;
    }
    let second = cursor.eat_glued_digits().filter(|second| second.digits <= 2)?;
    // "18.03. at 8" has a point after the month as well.
    let has_point = cursor.attempt(|cursor| (cursor.eat_glued_sign('.') && cursor.peek(0).is_some()).then_some(())).is_some();
    let is_time_next = matches!(cursor.peek(0), Some(What::Word("at" | "um")));
    let is_last = cursor.ends_cleanly() && (is_time_next || !matches!(cursor.peek(0), Some(What::Word(_) | What::Number(_))));
    let (month, day) = month_and_day(first, second, has_point).filter(|_| is_last)?;
    let date = |month: u64, day: u64| {
        Some(Day::OfMonth(u32::try_from(day).ok()?, Month::Named(u32::try_from(month).ok()?, Year::Unsaid)))
    };
    if has_point { date(month, day) } else { either_way(date(month, day)?, first, second, date) }
}

/// Consumes "12-11-10" with the year first, as in Chinese.
pub(super) fn short_year_first(cursor: &mut Cursor<'_>) -> Option<Day> {
    if !cursor.starts_cleanly() {
        return None;
    }
    let year = cursor.eat_digits().filter(|year| year.digits == 2)?;
    let separator = separator(cursor)?;
    let month = cursor.eat_glued_digits().filter(|month| month.digits <= 2)?;
    let day = cursor.eat_glued_sign(separator).then(|| cursor.eat_glued_digits()).flatten().filter(|day| day.digits <= 2)?;
    if cursor.ends_cleanly() { date(full_year(year.value), month.value, day.value) } else { None }
}

fn month_and_day(first: Number, second: Number, day_first: bool) -> Option<(u64, u64)> {
    let is_day_first = if day_first { second.value <= 12 } else { 12 < first.value };
    let (month, day) = if is_day_first { (second.value, first.value) } else { (first.value, second.value) };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((month, day))
}

fn separator(cursor: &mut Cursor<'_>) -> Option<char> {
    ['-', '/', '.'].into_iter().find(|separator| cursor.eat_glued_sign(*separator))
}

fn date(year: u64, month: u64, day: u64) -> Option<Day> {
    let (year, month, day) = (i32::try_from(year).ok()?, u32::try_from(month).ok()?, u32::try_from(day).ok()?);
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then_some(Day::OfMonth(day, Month::Named(month, Year::Exactly(year))))
}
