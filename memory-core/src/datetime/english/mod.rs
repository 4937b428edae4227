//! The English grammar.

mod dates;
mod days;
mod durations;
mod holiday_names;
mod lexicon;
mod numbers;
mod periods;
mod relative;
mod times_of_day;
mod weekdays;

use super::cursor::TokenCursor;
use super::syntax::{DateExpression, DayExpression, DayPart, Month, TimeOfDay, Year};
use super::token::DateTokenKind;
use days::{EnglishDay, day};
use relative::{around_meal, before_time, consume_same_time, part_alone, same_time};
use times_of_day::{EnglishBareHour, clock, part_of_day, shift, zone_named};

pub(super) use lexicon::may_begin;
pub(super) use relative::{lead, period_as_offset};

/// Consumes one expression: a day, a time, or both in any order, with a part of the day and a time zone.
pub(super) fn expression(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    [before_time, same_time, within, part_alone].into_iter().find_map(|form| cursor.attempt(form))
}

fn within(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    cursor.attempt(|cursor| {
        let mut spoken = DateExpression::default();
        let mut end = None;
        // A day, a time, a part of the day and a time zone, at most one each.
        for _ in 0..5 {
            if end.is_some() {
                consume_connector(cursor);
            }
            if !parse_component(cursor, &mut spoken) {
                break;
            }
            end = Some(*cursor);
        }
        *cursor = end?;
        let is_named = spoken.day.is_some() || spoken.clock.is_some();
        is_named.then_some(spoken)
    })
}

fn parse_component(cursor: &mut TokenCursor<'_>, spoken: &mut DateExpression) -> bool {
    if spoken.clock.is_none()
        && let Some(clock) = parse_hour_before_day(cursor, spoken)
    {
        spoken.clock = Some(clock);
        return true;
    }
    if spoken.day.is_none() {
        if let Some(EnglishDay { day, part, clock, repeats, is_vague }) = cursor.attempt(day) {
            // An offset in hours accepts no other time.
            spoken.day = Some(day);
            spoken.part = spoken.part.or(part);
            spoken.clock = spoken.clock.or(clock);
            spoken.repeats |= repeats;
            spoken.is_vague |= is_vague;
            return true;
        }
        if consume_daily(cursor) {
            spoken.day = Some(DayExpression::Shifted(0));
            spoken.part = lexicon::part(cursor.word_before(1));
            spoken.repeats = true;
            return true;
        }
    }
    if spoken.clock.is_none() && spoken.part.is_none() && cursor.consume_phrase("first thing") {
        spoken.part = Some(DayPart::Morning);
        return true;
    }
    if spoken.day.is_some() && spoken.clock.is_none() && !spoken.is_instant() && consume_same_time(cursor) {
        spoken.is_same_time = true;
        return true;
    }
    if spoken.clock.is_none() && !spoken.is_instant() {
        let licence = licence(cursor, spoken);
        let is_dated = matches!(cursor.before(1), Some(DateTokenKind::Word("t")));
        if let Some(clock) = cursor.attempt(|cursor| clock(cursor, licence)) {
            spoken.clock = Some(clock);
            let shift = if is_dated { cursor.attempt(shift) } else { None };
            spoken.zone = shift.or_else(|| zone_named(cursor));
            parse_trailing_year(cursor, spoken);
            return true;
        }
    }
    // "One o'clock midnight" is in the night.
    if spoken.clock.is_some_and(|clock| !clock.is_sure) && spoken.part.is_none() && cursor.eat("midnight") {
        spoken.part = Some(DayPart::Night);
        return true;
    }
    if spoken.part.is_none() && !spoken.is_instant() {
        let is_after_day = spoken.day.is_some() || spoken.clock.is_some();
        if let Some(part) = cursor.attempt(|cursor| part_of_day(cursor, is_after_day)).or_else(|| cursor.attempt(around_meal)) {
            spoken.part = Some(part);
            return true;
        }
    }
    if spoken.zone.is_none() && spoken.clock.is_some() {
        spoken.zone = zone_named(cursor);
        return spoken.zone.is_some();
    }
    false
}

/// Consumes the year of "Wed Oct 26 15:50:06 2016".
fn parse_trailing_year(cursor: &mut TokenCursor<'_>, spoken: &mut DateExpression) {
    let mut day = spoken.day.as_mut();
    if let Some(DayExpression::Confirmed(_, confirmed)) = day {
        day = Some(confirmed);
    }
    if let Some(DayExpression::OfMonth(_, Month::Named(_, said @ Year::Unsaid))) = day
        && matches!(cursor.peek(0), Some(DateTokenKind::Number(_)))
        && let Some(year) = numbers::year(cursor)
    {
        *said = Year::Exactly(year);
    }
}

/// Consumes "every morning" and "every day".
fn consume_daily(cursor: &mut TokenCursor<'_>) -> bool {
    let eaten = cursor.attempt(|cursor| {
        let is_each = cursor.consume_any_word(&["every", "each"]);
        let is_daily = is_each && (cursor.word() == "day" || lexicon::part(cursor.word()).is_some());
        cursor.step();
        is_daily.then_some(())
    });
    eaten.is_some()
}

/// Consumes the hour of "9 tomorrow" and "8 this evening", which only the following words identify as an hour.
fn parse_hour_before_day(cursor: &mut TokenCursor<'_>, spoken: &DateExpression) -> Option<TimeOfDay> {
    if spoken.day.is_some() {
        return None;
    }
    cursor.attempt(|cursor| {
        let hour = clock(cursor, EnglishBareHour::Hour)?;
        let mut ahead = *cursor;
        ahead.consume_sign(',');
        let is_part_next = ahead.consume_any_phrase(&["in the", "this", "at"]) && lexicon::part(ahead.word()).is_some();
        let is_night_next = ahead.consume_any_word(&["tonight", "tonite"]);
        let is_day_next = is_night_next || matches!(cursor.word(), "tomorrow" | "tonight" | "today" | "tonite" | "tmrw" | "tmr");
        (is_part_next || is_day_next).then_some(hour)
    })
}

/// Returns whether the preceding words allow a bare number to be an hour.
fn licence(cursor: &TokenCursor<'_>, spoken: &DateExpression) -> EnglishBareHour {
    let is_led = match cursor.before(1) {
        Some(
            DateTokenKind::Word("at" | "around" | "about" | "by" | "until" | "till" | "after" | "before" | "between")
            | DateTokenKind::Sign('@' | '~'),
        ) => true,
        Some(DateTokenKind::Word("for"))
            if matches!(cursor.word_before(2), "alarm" | "scheduled" | "booked" | "reservation" | "set") =>
        {
            true
        }
        Some(DateTokenKind::Word("for" | "to" | "it")) => matches!(cursor.peek(0), Some(DateTokenKind::Word(_))),
        Some(
            DateTokenKind::Word(_)
            | DateTokenKind::Sign(_)
            | DateTokenKind::Number(_)
            | DateTokenKind::Han(_)
            | DateTokenKind::Other,
        )
        | None => false,
    };
    let is_in_words_alone = cursor.is_at_start() && matches!(cursor.peek(0), Some(DateTokenKind::Word(_))) && {
        let mut ahead = *cursor;
        clock(&mut ahead, EnglishBareHour::Hour).is_some_and(|clock| clock.minute != 0) && ahead.is_at_end()
    };
    let is_after_day = spoken.day.is_some() || spoken.part.is_some();
    if is_led || is_after_day || is_in_words_alone { EnglishBareHour::Hour } else { EnglishBareHour::None }
}

/// Consumes the separators between a day and its time.
fn consume_connector(cursor: &mut TokenCursor<'_>) {
    cursor.consume_sign(',');
    cursor.consume_sign('-');
    cursor.consume_any_phrase(&[
        "at about",
        "at around",
        "at",
        "around",
        "about",
        "by",
        "on",
        "from",
        "for",
        "before",
        "between",
        "the",
    ]);
    cursor.consume_sign('@');
}
