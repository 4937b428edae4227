//! Parses spans of days in English: "the first week of July", "the week of July 7", "the last 3 days".

use chrono::Weekday;

use super::super::cursor::TokenCursor;
use super::super::duration::{CalendarDuration, Quantity};
use super::super::period::{Period, Year};
use super::super::syntax::{CountedDays, DayExpression, DayPhrase, WeekdayAnchor};
use super::days::parse_day;
use super::durations::{parse_duration, parse_unit};
use super::numbers::parse_year;
use super::periods::{parse_period, parse_relative_period, parse_single_period};
use super::recurrence::parse_nth;

/// Consumes a span of days.
pub(super) fn parse_span(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    cursor.attempt_any(&[
        parse_part_of_period,
        |cursor| parse_quarter(cursor).map(DayPhrase::whole),
        parse_week_of_day,
        parse_span_beside_now,
    ])
}

/// Consumes "the first week of July", "the second half of the month" and "the last weekend of August".
fn parse_part_of_period(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    if let Some(part) = cursor.attempt(|cursor| parse_part(cursor, MAX_PARTS)) {
        return Some(DayPhrase::whole(part));
    }
    cursor.consume_word("the");
    let nth = parse_nth(cursor)?;
    let is_weekend = cursor.consume_word("weekend");
    let is_part = is_weekend || cursor.consume_word("half");
    (is_part && cursor.consume_any_word(&["of", "in"])).then_some(())?;
    match parse_period(cursor)? {
        Period::Day(_) | Period::Span(..) | Period::Week(_) | Period::WorkWeek(_) => None,
        period if is_weekend => {
            let saturday = DayExpression::Nth(nth, CountedDays::Weekdays(Weekday::Sat), period);
            let day = CalendarDuration::in_days(1);
            let sunday = DayExpression::Away(day, Box::new(saturday.clone()));
            Some(DayPhrase::span(saturday, sunday))
        }
        period @ Period::Month(_) => match nth {
            1 => Some(DayPhrase::days_of(1, 15, &period)),
            2 | -1 => Some(DayPhrase::days_of(16, -1, &period)),
            _ => None,
        },
        _ => None,
    }
}

/// Maximum nesting depth of "the first week of the last month of …".
pub(super) const MAX_PARTS: u32 = 2;

/// Consumes months or weeks of a longer period: "the last two weeks of August", "the second half of 2027".
pub(super) fn parse_part(cursor: &mut TokenCursor<'_>, depth: u32) -> Option<Period> {
    cursor.consume_word("the");
    let nth = parse_nth(cursor)?;
    let is_half = cursor.consume_word("half");
    let length = if is_half {
        CalendarDuration::in_months(6)
    } else {
        let named = cursor.attempt(parse_duration);
        named.or_else(|| cursor.attempt(parse_singular_unit))?
    };
    let is_part = cursor.consume_any_word(&["of", "in"]);
    let nested = cursor.attempt(|cursor| parse_part(cursor, depth.checked_sub(1)?));
    let period = nested.or_else(|| parse_single_period(cursor))?;
    let is_part = is_part && (!is_half || matches!(period, Period::Year(_)));
    is_part.then(|| Period::nth_part(nth, length, period))?
}

/// Consumes "Q3 2026", "2026-Q3" and, after "in", "Q3".
pub(super) fn parse_quarter(cursor: &mut TokenCursor<'_>) -> Option<Period> {
    let is_led = [
        "in", "by", "until", "till", "before", "since", "during", "of",
    ]
    .contains(&cursor.word_before(1));
    let year_before = cursor.attempt(|cursor| {
        let year = cursor.consume_digits(4..=4)?;
        let year = i32::try_from(year.value).ok()?;
        cursor.consume_sign('-');
        (cursor.word() == "q").then_some(year)
    });
    cursor.consume_word("q").then_some(())?;
    let quarter = cursor.consume_glued_digits(1..=1)?;
    let year_behind = cursor.attempt(|cursor| {
        cursor.consume_any_word(&["of", "in"]);
        let named = cursor.attempt(parse_year).map(Year::Exactly);
        named.or_else(|| match parse_relative_period(cursor)? {
            Period::Year(year) => Some(year),
            _ => None,
        })
    });
    let year = year_before.map(Year::Exactly).or(year_behind);
    let year = year.or(Some(Year::Unsaid).filter(|_| is_led))?;
    let quarter = i32::try_from(quarter.value).ok()?;
    Period::nth_part(quarter, CalendarDuration::in_months(3), Period::Year(year))
}

/// Consumes "the week of July 7" and "the week starting July 7".
fn parse_week_of_day(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    cursor.consume_word("the");
    cursor.consume_word("week").then_some(())?;
    let is_start = cursor.consume_any_word(&["starting", "beginning", "from"]);
    (is_start || cursor.consume_word("of")).then_some(())?;
    let named = parse_day(cursor).filter(|named| !named.is_vague && named.clock.is_none())?;
    let day = Box::new(named.day);
    Some(if is_start {
        let week = CalendarDuration::in_days(6);
        DayPhrase::span((*day).clone(), DayExpression::Away(week, day))
    } else {
        let near =
            |weekday| DayExpression::WeekdayNear(weekday, day.clone(), WeekdayAnchor::SameWeek);
        DayPhrase::span(near(Weekday::Mon), near(Weekday::Sun))
    })
}

/// Consumes "the last 3 days", "the past week" and, after "in", "the last month", which end today or now, and "the next 3 days",
/// which start then.
fn parse_span_beside_now(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let before = cursor.word_before(1);
    let is_led = matches!(before, "in" | "within" | "over" | "during");
    let has_article = cursor.consume_any_word(&["the", "these"]);
    // In "it is past 3 days" and "ten past 5", the word is a preposition.
    let is_preposition = cursor.word() == "past"
        && !has_article
        && !is_led
        && cursor.position() != 0
        && !matches!(before, "for" | "from" | "of" | "since");
    (!is_preposition).then_some(())?;
    let is_past = has_article && is_led || cursor.word() == "past";
    let is_to_come = cursor.consume_any_word(&["next", "coming", "upcoming"]);
    (is_to_come || cursor.consume_any_word(&["last", "past", "previous"])).then_some(())?;
    let amount = cursor
        .attempt(parse_duration)
        .or_else(|| cursor.attempt(parse_singular_unit).filter(|_| is_past))?;
    // "The last 2 minutes of the match" are in the match.
    (cursor.word() != "of").then(|| DayPhrase::beside_now(amount, is_to_come))
}

/// Consumes a unit in the singular: "The coming days" have no number.
fn parse_singular_unit(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    parse_one_unit(cursor).filter(|_| !cursor.word_before(1).ends_with('s'))
}

/// Consumes a unit, which stands for one of it.
pub(super) fn parse_one_unit(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    let (unit, each) = parse_unit(cursor)?;
    unit.duration(Quantity::whole(each)?)
}
