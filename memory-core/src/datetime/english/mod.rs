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
use days::parse_day;
use relative::{
    consume_same_time, parse_bare_day_part, parse_meal_time, parse_offset_from_time,
    parse_same_time,
};
use times_of_day::{EnglishBareHour, parse_clock, parse_day_part, parse_utc_offset, parse_zone};
use weekdays::EnglishDay;

pub(super) use lexicon::can_start_expression;
pub(crate) use lexicon::{lookup_month, lookup_weekday};
pub(super) use relative::{parse_lead_time, period_as_offset};

/// Consumes one expression: a day, a time, or both in any order, with a part of the day and a time zone.
pub(super) fn parse_expression(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    [
        parse_offset_from_time,
        parse_same_time,
        parse_day_and_time,
        parse_bare_day_part,
    ]
    .into_iter()
    .find_map(|form| cursor.attempt(form))
}

fn parse_day_and_time(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
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
        if let Some(EnglishDay {
            day,
            part,
            clock,
            repeats,
            is_vague,
        }) = cursor.attempt(parse_day)
        {
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
            spoken.part = lexicon::lookup_day_part(cursor.word_before(1));
            spoken.repeats = true;
            return true;
        }
    }
    if spoken.clock.is_none() && spoken.part.is_none() && cursor.consume_phrase("first thing") {
        spoken.part = Some(DayPart::Morning);
        return true;
    }
    if spoken.day.is_some()
        && spoken.clock.is_none()
        && !spoken.is_instant()
        && consume_same_time(cursor)
    {
        spoken.is_same_time = true;
        return true;
    }
    if spoken.clock.is_none() && !spoken.is_instant() {
        let licence = bare_hour_rule(cursor, spoken);
        let is_dated = matches!(cursor.peek_back(1), Some(DateTokenKind::Word("t")));
        if let Some(clock) = cursor.attempt(|cursor| parse_clock(cursor, licence)) {
            spoken.clock = Some(clock);
            let shift = if is_dated {
                cursor.attempt(parse_utc_offset)
            } else {
                None
            };
            spoken.zone = shift.or_else(|| parse_zone(cursor));
            parse_trailing_year(cursor, spoken);
            return true;
        }
    }
    // "One o'clock midnight" is in the night.
    if spoken.clock.is_some_and(|clock| !clock.is_sure)
        && spoken.part.is_none()
        && cursor.consume_word("midnight")
    {
        spoken.part = Some(DayPart::Night);
        return true;
    }
    if spoken.part.is_none() && !spoken.is_instant() {
        let is_after_day = spoken.day.is_some() || spoken.clock.is_some();
        if let Some(part) = cursor
            .attempt(|cursor| parse_day_part(cursor, is_after_day))
            .or_else(|| cursor.attempt(parse_meal_time))
        {
            spoken.part = Some(part);
            return true;
        }
    }
    if spoken.zone.is_none() && spoken.clock.is_some() {
        spoken.zone = parse_zone(cursor);
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
        && let Some(year) = numbers::parse_year(cursor)
    {
        *said = Year::Exactly(year);
    }
}

/// Consumes "every morning" and "every day".
fn consume_daily(cursor: &mut TokenCursor<'_>) -> bool {
    let eaten = cursor.attempt(|cursor| {
        let is_each = cursor.consume_any_word(&["every", "each"]);
        let is_daily = is_each
            && (cursor.word() == "day" || lexicon::lookup_day_part(cursor.word()).is_some());
        cursor.step();
        is_daily.then_some(())
    });
    eaten.is_some()
}

/// Consumes the hour of "9 tomorrow" and "8 this evening", which only the following words identify as an hour.
fn parse_hour_before_day(
    cursor: &mut TokenCursor<'_>,
    spoken: &DateExpression,
) -> Option<TimeOfDay> {
    if spoken.day.is_some() {
        return None;
    }
    cursor.attempt(|cursor| {
        let hour = parse_clock(cursor, EnglishBareHour::Hour)?;
        let mut ahead = *cursor;
        ahead.consume_sign(',');
        let is_part_next = ahead.consume_any_phrase(&["in the", "this", "at"])
            && lexicon::lookup_day_part(ahead.word()).is_some();
        let is_night_next = ahead.consume_any_word(&["tonight", "tonite"]);
        let is_day_next = is_night_next
            || matches!(
                cursor.word(),
                "tomorrow" | "tonight" | "today" | "tonite" | "tmrw" | "tmr"
            );
        (is_part_next || is_day_next).then_some(hour)
    })
}

/// Returns whether the preceding words allow a bare number to be an hour.
fn bare_hour_rule(cursor: &TokenCursor<'_>, spoken: &DateExpression) -> EnglishBareHour {
    let is_led = match cursor.peek_back(1) {
        Some(
            DateTokenKind::Word(
                "at" | "around" | "about" | "by" | "until" | "till" | "after" | "before"
                | "between",
            )
            | DateTokenKind::Sign('@' | '~'),
        ) => true,
        Some(DateTokenKind::Word("for"))
            if matches!(
                cursor.word_before(2),
                "alarm" | "scheduled" | "booked" | "reservation" | "set"
            ) =>
        {
            true
        }
        Some(DateTokenKind::Word("for" | "to" | "it")) => {
            matches!(cursor.peek(0), Some(DateTokenKind::Word(_)))
        }
        Some(
            DateTokenKind::Word(_)
            | DateTokenKind::Sign(_)
            | DateTokenKind::Number(_)
            | DateTokenKind::Han(_)
            | DateTokenKind::Other,
        )
        | None => false,
    };
    let is_in_words_alone =
        cursor.is_at_start() && matches!(cursor.peek(0), Some(DateTokenKind::Word(_))) && {
            let mut ahead = *cursor;
            parse_clock(&mut ahead, EnglishBareHour::Hour).is_some_and(|clock| clock.minute != 0)
                && ahead.is_at_end()
        };
    let is_after_day = spoken.day.is_some() || spoken.part.is_some();
    if is_led || is_after_day || is_in_words_alone {
        EnglishBareHour::Hour
    } else {
        EnglishBareHour::None
    }
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
