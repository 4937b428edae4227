//! Parses times of day in English.

use super::super::cursor::TokenCursor;
use super::super::numeric::BareHour;
use super::super::time_of_day::{DayPart, HalfDay, TimeOfDay};
use super::super::token::DateTokenKind::{Han, Number, Other, Sign, Word};
use super::super::zones::{NamedOffset, can_start_place, zone_of_id, zone_of_place};
use super::super::{numeric, range};
use super::durations::parse_duration;
use super::lexicon::{
    WORDS, can_follow_number, is_measure, lookup_day_part, lookup_near_day, lookup_weekday,
    lookup_zone, lookup_zone_id,
};
use super::numbers::{parse_below_hundred, parse_number};
use super::relative::parse_signed_amount;

/// Consumes a time of day.
pub(super) fn parse_clock(cursor: &mut TokenCursor<'_>, licence: BareHour) -> Option<TimeOfDay> {
    cursor.attempt(|cursor| {
        cursor.consume_any_word(&["exactly", "approximately", "about", "around", "circa"]);
        let is_range = matches!(cursor.word_before(1), "between" | "from");
        let start = is_range
            .then(|| cursor.attempt(parse_range_start))
            .flatten();
        let sure = start.or_else(|| {
            cursor.attempt_any(&[
                parse_named_time,
                parse_relative_time,
                parse_duration_from_time,
                numeric::parse_clock,
                parse_spelled_half_day,
                parse_approximate_hour,
            ])
        });
        let found = sure.or_else(|| {
            (licence == BareHour::Hour).then_some(())?;
            cursor.attempt_any(&[
                parse_half_hour,
                parse_range_start,
                numeric::parse_dotted_hour,
                parse_bare_hour,
            ])
        })?;
        cursor.try_consume(|cursor| {
            cursor.consume_glued_sign('-');
            cursor.consume_any_word(&["ish", "sharp", "approximately", "exactly"])
        });
        Some(found)
    })
}

/// Consumes "noon", "12 noon" and "midnight".
fn parse_named_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    cursor.attempt(|cursor| {
        let twelve = cursor.attempt(|cursor| parse_number(cursor).filter(|hour| *hour == 12));
        if twelve.is_none() {
            cursor.consume_word("the");
        }
        let is_noon = cursor.consume_any_word(&["noon", "midday", "noontime", "noonish"])
            || cursor.consume_any_phrase(&["high noon", "mid day"]);
        if is_noon {
            return Some(TimeOfDay::NOON);
        }
        let middle = cursor.attempt(|cursor| {
            let is_whole = matches!(cursor.word(), "midmorning" | "midafternoon");
            if !is_whole && cursor.consume_word("mid") {
                cursor.consume_glued_sign('-');
            }
            let hour = match cursor.word() {
                "midmorning" => 10,
                "midafternoon" => 14,
                "morning" if !is_whole => 10,
                "afternoon" if !is_whole => 14,
                "night" if !is_whole => 24,
                _ => return None,
            };
            let is_middle =
                is_whole || matches!(cursor.peek_back(1), Some(Word("mid") | Sign('-')));
            cursor.step();
            is_middle.then_some(TimeOfDay::unambiguous(hour, 0))
        });
        if middle.is_some() {
            return middle;
        }
        (cursor.consume_word("midnight") || cursor.consume_phrase("mid night")).then_some(())?;
        // "Midnight 12:00" is redundant.
        cursor.try_consume(|cursor| {
            numeric::parse_clock(cursor).is_some_and(|clock| {
                let is_twelve = clock.hour == 0 || clock.hour == 12 && !clock.is_sure;
                is_twelve && clock.minute == 0
            })
        });
        Some(TimeOfDay::MIDNIGHT)
    })
}

/// Consumes "half past six", "twenty minutes to five pm", "a quarter past noon".
fn parse_relative_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let is_led = ["at", "around", "about", "by", "until", "till"].contains(&cursor.word_before(1))
        || cursor.is_at_start();
    if is_led && let Some(clock) = cursor.attempt(parse_half_hour) {
        return Some(clock);
    }
    // "From ten to five" is a range.
    (cursor.word_before(1) != "from").then_some(())?;
    let is_first = follows_initial_at(cursor);
    let (minutes, is_quarter) = parse_minutes(cursor)?;
    let is_half = minutes == 30 && is_quarter;
    let forward = cursor.consume_any_word(&["past", "after"]);
    let is_of = cursor.word() == "of";
    let backward =
        !forward && cursor.consume_any_word(&["to", "till", "til", "before", "of", "until"]);
    if !forward && !backward || is_half && backward {
        return None;
    }
    let hour = cursor.attempt(|cursor| {
        let hour = parse_named_time(cursor).or_else(|| parse_hour(cursor))?;
        numeric::consume_oclock(cursor);
        hour.in_any_half(numeric::parse_half_day(cursor))
    })?;
    // "Quarter of four people" and "two to three" are ambiguous without "minutes", so no countable noun may follow.
    let is_sure = (is_quarter || is_half || is_first) && !is_of;
    if !cursor.ends_cleanly() || !is_sure && !can_end_number(cursor) {
        return None;
    }
    hour.plus_minutes(if forward { minutes } else { -minutes })
}

/// Consumes "15 minutes from 1pm", "an hour before noon", "two hours past midnight" and "an hour before 3".
fn parse_duration_from_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let amount = parse_duration(cursor)
        .filter(|amount| amount.is_exact && amount.days == 0 && amount.months == 0)?;
    let is_of_hour = matches!(cursor.word(), "after" | "past" | "before");
    let is_after = cursor.consume_any_word(&["from", "after", "past"]);
    (is_after || cursor.consume_any_word(&["before", "to", "till"])).then_some(())?;
    let from = parse_named_time(cursor)
        .or_else(|| cursor.attempt(numeric::parse_clock))
        .or_else(|| cursor.attempt(parse_spelled_half_day))
        .or_else(|| cursor.attempt(parse_bare_hour).filter(|_| is_of_hour))?;
    let minutes = i32::try_from(amount.seconds / 60)
        .ok()
        .filter(|minutes| *minutes < 24 * 60)?;
    from.plus_minutes(if is_after { minutes } else { -minutes })
}

/// Consumes "half three", which is half past three.
fn parse_half_hour(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    cursor.consume_word("half").then_some(())?;
    let hour = parse_number(cursor).filter(|hour| (1..=12).contains(hour))?;
    let clock = TimeOfDay::from_clock_face(hour, 30, 0)?;
    let half = numeric::parse_half_day(cursor);
    let is_time = half.is_some() || cursor.ends_cleanly() && can_end_number(cursor);
    is_time.then(|| clock.in_any_half(half))?
}

/// Consumes the minutes of "20 past", and returns whether they are marked as minutes by a word.
fn parse_minutes(cursor: &mut TokenCursor<'_>) -> Option<(i32, bool)> {
    let is_half = cursor.try_consume(|cursor| {
        cursor.consume_word("a");
        cursor.consume_word("half") && matches!(cursor.word(), "past" | "after")
    });
    if is_half {
        return Some((30, true));
    }
    let is_quarter = cursor.try_consume(|cursor| {
        cursor.consume_any_word(&["a", "one"]);
        cursor.consume_word("quarter")
    });
    if is_quarter {
        return Some((15, true));
    }
    cursor.starts_cleanly().then_some(())?;
    let minutes = parse_number(cursor).filter(|minutes| (1..60).contains(minutes))?;
    let is_named = cursor.consume_any_word(&["minutes", "minute", "min", "mins"]);
    // "Two to three" is a range; multiples of five such as "ten to three" are usually minutes.
    let is_past = cursor.word() == "past";
    let is_spoken = is_named
        || is_past
        || minutes % 5 == 0 && !matches!(cursor.word(), "of" | "before" | "after");
    is_spoken.then(|| Some((i32::try_from(minutes).ok()?, is_named)))?
}

/// Consumes the hour of "past eight", or a complete time such as "7pm".
fn parse_hour(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    cursor
        .attempt(numeric::parse_clock)
        .or_else(|| parse_full_hour(cursor))
}

fn parse_full_hour(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    TimeOfDay::from_hour(parse_number(cursor).filter(|hour| (1..=24).contains(hour))?)
}

/// Consumes "three o'clock", "ten fifty five p.m." and "eight in the morning", in words.
fn parse_spelled_half_day(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let clock = parse_spelled_time(cursor)?;
    let is_oclock = numeric::consume_oclock(cursor);
    match numeric::parse_half_day(cursor) {
        // "Fifteen thirty pm" is redundant.
        Some(HalfDay::After) if 12 < clock.hour => Some(clock),
        Some(half) => clock.in_half(half),
        None if is_oclock && clock.minute == 0 => Some(clock),
        None => None,
    }
}

/// Consumes "seven", "ten thirty", "twelve oh three" and "six forty-three".
fn parse_spelled_time(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let hour = parse_below_hundred(cursor).filter(|hour| (1..=24).contains(hour))?;
    let minute = cursor.attempt(|cursor| {
        cursor.consume_glued_sign('-');
        let is_single = cursor.consume_any_word(&["oh", "o", "ou", "zero"]);
        if is_single {
            cursor.consume_glued_sign('-');
        }
        let minute = parse_below_hundred(cursor)?;
        (is_single && minute < 10 || !is_single && minute < 60).then_some(minute)
    });
    if minute.is_some() {
        cursor.consume_any_word(&["minutes", "minute"]);
    }
    TimeOfDay::from_clock_face(hour, minute.unwrap_or(0), 0)
}

/// Consumes "11-ish".
fn parse_approximate_hour(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    cursor.starts_cleanly().then_some(())?;
    let hour = cursor.consume_digits(1..=2)?;
    (1..=24).contains(&hour.value).then_some(())?;
    cursor.consume_glued_sign('-');
    cursor
        .consume_glued_word("ish")
        .then(|| numeric::compact_time(hour))?
}

/// Consumes the start of "2-4", "9 to 11am" and, after "between", "9 and 5".
fn parse_range_start(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let is_between = cursor.word_before(1) == "between";
    let is_from = cursor.word_before(1) == "from";
    // "2:30", "11am" or "11", and not another range.
    let hour = |cursor: &mut TokenCursor<'_>| {
        let forms = [
            parse_named_time,
            numeric::parse_clock,
            numeric::parse_dotted_hour,
        ];
        cursor
            .attempt_any(&forms)
            .or_else(|| parse_full_hour(cursor))
    };
    cursor.starts_cleanly().then_some(())?;
    let start = hour(cursor)?;
    let mut ahead = *cursor;
    (range::consume_joint(&mut ahead) || is_between && ahead.consume_word("and")).then_some(())?;
    ahead = ahead.detached();
    let end = hour(&mut ahead)?;
    let is_whole = ahead.ends_cleanly() && can_end_number(&ahead);
    // "From 1 to 10" is a range of hours only beside a day.
    let is_dated = || !matches!(ahead.peek(0), None | Some(Sign(_)));
    if !is_whole || is_from && !end.is_sure && !is_dated() {
        return None;
    }
    let has_half = numeric::follows_half_day(&ahead);
    Some(if !start.is_sure && end.is_sure {
        range::align_half(start, end, has_half)
    } else {
        start
    })
}

/// Consumes a bare number that the preceding words make an hour.
fn parse_bare_hour(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    if let Some(clock) = cursor.attempt(parse_spelled_time) {
        return can_end_number(cursor).then_some(clock);
    }
    cursor.starts_cleanly().then_some(())?;
    let shown = cursor.consume_number()?;
    let is_first = shown.digits <= 2 && {
        let mut start = *cursor;
        start.step_back();
        follows_initial_at(&start) || follows_at_of_day(&start)
    };
    let is_approximate = cursor.consume_glued_word("ish");
    if let Some(minute) = cursor.attempt(|cursor| parse_spaced_minute(cursor, shown.digits)) {
        return TimeOfDay::from_clock_face(shown.value, minute, 0);
    }
    if shown.digits <= 2 && cursor.consume_glued_word("h") && cursor.ends_cleanly() {
        return TimeOfDay::from_hour(shown.value).map(TimeOfDay::sure);
    }
    let is_hours = shown.digits == 4 && cursor.consume_any_word(&["hours", "hrs"]);
    let is_year = shown.digits == 4
        && (1900..=2099).contains(&shown.value)
        && !is_hours
        && cursor.word_before(2) != "at";
    // After an initial "at 4", and after "Friday at 4", the following word usually names the task.
    let is_counted = || {
        matches!(cursor.peek(0), Some(Word(word)) if word.ends_with('s') || is_measure(word))
            || cursor.word() == "of"
            || is_address(cursor)
    };
    let may_end = can_end_number(cursor)
        || parse_zone(&mut cursor.clone()).is_some()
        || is_first && !cursor.word().is_empty() && !is_counted();
    let stands = (is_approximate || cursor.ends_cleanly() && may_end) && !is_year;
    stands.then(|| numeric::compact_time(shown))?
}

/// Returns whether the cursor follows an "at" at the start of the text.
fn follows_initial_at(cursor: &TokenCursor<'_>) -> bool {
    cursor.word_before(1) == "at" && cursor.peek_back(2).is_none()
}

/// Returns whether the cursor follows the name of a day and "at".
fn follows_at_of_day(cursor: &TokenCursor<'_>) -> bool {
    let day = cursor.word_before(2);
    cursor.word_before(1) == "at"
        && (lookup_weekday(day).is_some() || lookup_near_day(day).is_some())
}

/// Returns whether the name of a street follows the number of a house: "5 Elm Street".
fn is_address(cursor: &TokenCursor<'_>) -> bool {
    const STREETS: [&str; 10] = [
        "street", "st", "road", "rd", "avenue", "ave", "lane", "drive", "square", "place",
    ];
    (1..=2).any(|ahead| STREETS.contains(&cursor.word_ahead(ahead)))
}

/// Consumes the minutes of "at 3 15".
fn parse_spaced_minute(cursor: &mut TokenCursor<'_>, hour_digits: usize) -> Option<u64> {
    let is_led = hour_digits <= 2 && cursor.word_before(2) == "at" && !cursor.is_glued(0);
    let minute = cursor.consume_digits(2..=2).filter(|_| is_led)?;
    (cursor.ends_cleanly() && can_end_number(cursor)).then_some(minute.value)
}

/// Returns whether a bare number can end here, because no noun follows that it could count.
pub(in super::super) fn can_end_number(cursor: &TokenCursor<'_>) -> bool {
    match cursor.peek(0) {
        Some(Word(word)) => can_follow_number(word) || lookup_day_part(word).is_some(),
        Some(Number(_) | Other) => false,
        // "At 9 + 30 minutes".
        Some(Sign('+')) => parse_signed_amount(&mut cursor.clone()).is_some(),
        Some(Sign(sign)) => !matches!(sign, '%' | '\u{b0}' | '$' | '€' | '£' | '*' | '='),
        None | Some(Han(_)) => true,
    }
}

/// Consumes "in the morning", "this evening", "at night", or the bare name of a part of the day.
pub(super) fn parse_day_part(cursor: &mut TokenCursor<'_>, is_after_day: bool) -> Option<DayPart> {
    cursor.attempt(|cursor| {
        cursor.consume_any_phrase(&WORDS.loose_hours);
        let is_introduced = cursor.consume_any_phrase(&WORDS.day_part_openings);
        cursor.consume_any_word(&["early", "late"]);
        // Eve is also a given name.
        if is_after_day
            && cursor.word() == "eve"
            && (matches!(cursor.word_ahead(1), "to" | "at") || cursor.peek(1).is_none())
        {
            cursor.step();
            return Some(DayPart::Evening);
        }
        let part = cursor.consume_known(lookup_day_part)?;
        let is_before_time = || {
            let mut ahead = *cursor;
            let licence = if ahead.consume_word("at") {
                BareHour::Hour
            } else {
                BareHour::None
            };
            licence == BareHour::Hour && parse_clock(&mut ahead, licence).is_some()
                || numeric::parse_clock(&mut ahead).is_some()
        };
        (is_introduced || is_after_day || is_before_time()).then_some(part)
    })
}

/// Consumes the name of a time zone, optionally in brackets: "CET", "UTC+2", "Europe/Berlin", "Tokyo time".
pub(in super::super) fn parse_zone(cursor: &mut TokenCursor<'_>) -> Option<NamedOffset> {
    cursor.attempt(|cursor| {
        let brackets = [('(', ')'), ('[', ']')];
        let bracket = brackets
            .into_iter()
            .find(|(open, _)| cursor.consume_sign(*open));
        let zone = cursor
            .attempt(parse_zone_id)
            .or_else(|| cursor.attempt(parse_place_time))
            .or_else(|| cursor.attempt(parse_zone_abbreviation))?;
        let is_closed = bracket.is_none_or(|(_, close)| cursor.consume_sign(close));
        is_closed.then_some(zone)
    })
}

/// Consumes "CET", "ET" or "UTC+2".
fn parse_zone_abbreviation(cursor: &mut TokenCursor<'_>) -> Option<NamedOffset> {
    let word = cursor.word();
    cursor.step();
    if let Some(id) = lookup_zone_id(word) {
        return zone_of_id(id);
    }
    let base = lookup_zone(word)?;
    let shift = if matches!(word, "utc" | "gmt") {
        cursor.attempt(numeric::parse_utc_offset).unwrap_or(0)
    } else {
        0
    };
    Some(NamedOffset::Fixed(base + shift))
}

/// Consumes an identifier such as "Europe/Berlin".
fn parse_zone_id(cursor: &mut TokenCursor<'_>) -> Option<NamedOffset> {
    let mut id = cursor.word().to_owned();
    (cursor.peek_ahead_sign() == Some('/')).then_some(())?;
    cursor.step();
    while let Some(sign) = ['/', '_', '-'].into_iter().find(|sign| {
        id.len() < MAX_ID_LENGTH && cursor.is_glued(1) && cursor.consume_glued_sign(*sign)
    }) {
        id.push(sign);
        id.push_str(cursor.word());
        cursor.step();
    }
    zone_of_id(&id)
}

/// Consumes "Tokyo time", "New York local time" and "Eastern Standard Time".
fn parse_place_time(cursor: &mut TokenCursor<'_>) -> Option<NamedOffset> {
    can_start_place(cursor.word()).then_some(())?;
    (1..=MAX_PLACE_WORDS).find_map(|count| {
        cursor.attempt(|cursor| {
            let words: Vec<_> = (0..count).map(|ahead| cursor.word_ahead(ahead)).collect();
            (0..count).for_each(|_| cursor.step());
            cursor.consume_any_word(&["local", "standard", "daylight", "summer"]);
            // "9am Pacific" is complete.
            let is_complete = matches!(words[..], ["eastern" | "central" | "mountain" | "pacific"])
                && can_end_number(cursor);
            let is_time = cursor.consume_word("time") || is_complete;
            zone_of_place(&words.join(" ")).filter(|_| is_time)
        })
    })
}

/// Maximum length of the identifier of a zone.
const MAX_ID_LENGTH: usize = 32;

/// Maximum number of words in the name of a place.
const MAX_PLACE_WORDS: usize = 3;
