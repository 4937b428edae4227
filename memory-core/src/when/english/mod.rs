//! The English grammar.

mod amounts;
mod beside;
mod clocks;
mod dates;
mod days;
mod feasts;
mod lexicon;
mod numbers;
mod periods;
mod weekdays;

use super::cursor::Cursor;
use super::spoken::{Clock, Day, Month, Part, Spoken, Year};
use super::token::What;
use beside::{around_meal, before_time, part_alone, said_again, same_time};
use clocks::{Licence, clock, part_of_day, shift, zone_named};
use days::{Named, day};

pub(super) use beside::{as_distance, lead};
pub(super) use lexicon::may_begin;

/// Consumes one expression: a day, a time, or both in any order, with a part of the day and a time zone.
pub(super) fn expression(cursor: &mut Cursor<'_>) -> Option<Spoken> {
    [before_time, same_time, within, part_alone].into_iter().find_map(|form| cursor.attempt(form))
}

fn within(cursor: &mut Cursor<'_>) -> Option<Spoken> {
    cursor.attempt(|cursor| {
        let mut spoken = Spoken::default();
        let mut end = None;
        // A day, a time, a part of the day and a time zone, at most one each.
        for _ in 0..5 {
            if end.is_some() {
                eat_joint(cursor);
            }
            if !piece(cursor, &mut spoken) {
                break;
            }
            end = Some(*cursor);
        }
        *cursor = end?;
        let is_named = spoken.day.is_some() || spoken.clock.is_some();
        is_named.then_some(spoken)
    })
}

fn piece(cursor: &mut Cursor<'_>, spoken: &mut Spoken) -> bool {
    if spoken.clock.is_none()
        && let Some(clock) = hour_before_day(cursor, spoken)
    {
        spoken.clock = Some(clock);
        return true;
    }
    if spoken.day.is_none() {
        if let Some(Named { day, part, clock, repeats, is_vague }) = cursor.attempt(day) {
            // An offset in hours accepts no other time.
            spoken.day = Some(day);
            spoken.part = spoken.part.or(part);
            spoken.clock = spoken.clock.or(clock);
            spoken.repeats |= repeats;
            spoken.is_vague |= is_vague;
            return true;
        }
        if daily(cursor) {
            spoken.day = Some(Day::Shifted(0));
            spoken.part = lexicon::part(cursor.word_before(1));
            spoken.repeats = true;
            return true;
        }
    }
    if spoken.clock.is_none() && spoken.part.is_none() && cursor.eat_phrase("first thing") {
        spoken.part = Some(Part::Morning);
        return true;
    }
    if spoken.day.is_some() && spoken.clock.is_none() && !spoken.is_instant() && said_again(cursor) {
        spoken.is_same_time = true;
        return true;
    }
    if spoken.clock.is_none() && !spoken.is_instant() {
        let licence = licence(cursor, spoken);
        let is_dated = matches!(cursor.before(1), Some(What::Word("t")));
        if let Some(clock) = cursor.attempt(|cursor| clock(cursor, licence)) {
            spoken.clock = Some(clock);
            let shift = if is_dated { cursor.attempt(shift) } else { None };
            spoken.zone = shift.or_else(|| zone_named(cursor));
            year_behind(cursor, spoken);
            return true;
        }
    }
    // "One o'clock midnight" is in the night.
    if spoken.clock.is_some_and(|clock| !clock.is_sure) && spoken.part.is_none() && cursor.eat("midnight") {
        spoken.part = Some(Part::Night);
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
fn year_behind(cursor: &mut Cursor<'_>, spoken: &mut Spoken) {
    let mut day = spoken.day.as_mut();
    if let Some(Day::Confirmed(_, confirmed)) = day {
        day = Some(confirmed);
    }
    if let Some(Day::OfMonth(_, Month::Named(_, said @ Year::Unsaid))) = day
        && matches!(cursor.peek(0), Some(What::Number(_)))
        && let Some(year) = numbers::year(cursor)
    {
        *said = Year::Exactly(year);
    }
}

/// Consumes "every morning" and "every day".
fn daily(cursor: &mut Cursor<'_>) -> bool {
    let eaten = cursor.attempt(|cursor| {
        let is_each = cursor.eat_any(&["every", "each"]);
        let is_daily = is_each && (cursor.word() == "day" || lexicon::part(cursor.word()).is_some());
        cursor.step();
        is_daily.then_some(())
    });
    eaten.is_some()
}

/// Consumes the hour of "9 tomorrow" and "8 this evening", which only the following words identify as an hour.
fn hour_before_day(cursor: &mut Cursor<'_>, spoken: &Spoken) -> Option<Clock> {
    if spoken.day.is_some() {
        return None;
    }
    cursor.attempt(|cursor| {
        let hour = clock(cursor, Licence::Hour)?;
        let mut ahead = *cursor;
        ahead.eat_sign(',');
        let is_part_next = ahead.eat_any_phrase(&["in the", "this", "at"]) && lexicon::part(ahead.word()).is_some();
        let is_night_next = ahead.eat_any(&["tonight", "tonite"]);
        let is_day_next = is_night_next || matches!(cursor.word(), "tomorrow" | "tonight" | "today" | "tonite" | "tmrw" | "tmr");
        (is_part_next || is_day_next).then_some(hour)
    })
}

/// Returns whether the preceding words allow a bare number to be an hour.
fn licence(cursor: &Cursor<'_>, spoken: &Spoken) -> Licence {
    let is_led = match cursor.before(1) {
        Some(
            What::Word("at" | "around" | "about" | "by" | "until" | "till" | "after" | "before" | "between")
            | What::Sign('@' | '~'),
        ) => true,
        Some(What::Word("for")) if matches!(cursor.word_before(2), "alarm" | "scheduled" | "booked" | "reservation" | "set") => {
            true
        }
        Some(What::Word("for" | "to" | "it")) => matches!(cursor.peek(0), Some(What::Word(_))),
        Some(What::Word(_) | What::Sign(_) | What::Number(_) | What::Han(_) | What::Other) | None => false,
    };
    let is_in_words_alone = cursor.is_at_start() && matches!(cursor.peek(0), Some(What::Word(_))) && {
        let mut ahead = *cursor;
        clock(&mut ahead, Licence::Hour).is_some_and(|clock| clock.minute != 0) && ahead.is_at_end()
    };
    let is_after_day = spoken.day.is_some() || spoken.part.is_some();
    if is_led || is_after_day || is_in_words_alone { Licence::Hour } else { Licence::None }
}

/// Consumes the separators between a day and its time.
fn eat_joint(cursor: &mut Cursor<'_>) {
    cursor.eat_sign(',');
    cursor.eat_sign('-');
    cursor.eat_any_phrase(&[
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
    cursor.eat_sign('@');
}
