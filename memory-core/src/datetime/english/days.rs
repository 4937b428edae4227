//! Parses all day expressions in English.

use super::super::cursor::TokenCursor;
use super::super::duration::{CalendarDuration, Quantity};
use super::super::period::{Month, Period, Year};
use super::super::syntax::{CountedDays, DayExpression, DayPhrase, WeekdayAnchor};
use super::super::{numeric, range};
use super::dates::{
    parse_day_of_month, parse_month_date, parse_period_offset, parse_relative_year,
};
use super::durations::{count, parse_duration, parse_unit};
use super::holiday_names::parse_holiday;
use super::lexicon::{
    Sense, WORDS, lookup_day_part, lookup_month, lookup_near_day, lookup_weekday,
};
use super::numbers::{parse_ordinal, parse_year};
use super::periods::{parse_named_offset, parse_period, parse_period_edge, parse_vague_period};
use super::recurrence::{consume_list_separator, parse_counted_days, parse_nth};
use super::spans::parse_span;
use super::times_of_day::can_end_number;
use super::weekdays::{is_hour_next, is_time_next, parse_weekday};

/// Maximum nesting depth of "the day after the day after …".
const MAX_DEPTH: u32 = 3;

/// Consumes a day expression.
pub(super) fn parse_day(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    parse_nested_day(cursor, MAX_DEPTH)
}

fn parse_nested_day(cursor: &mut TokenCursor<'_>, depth: u32) -> Option<DayPhrase> {
    let depth = depth.checked_sub(1)?;
    let forms: [fn(&mut TokenCursor<'_>, u32) -> Option<DayPhrase>; 14] = [
        parse_adjacent_day_part,
        parse_relative_day,
        |cursor, _| parse_named_offset(cursor),
        parse_closest_weekday,
        |cursor, _| parse_nth_day(cursor),
        |cursor, _| parse_span(cursor),
        |cursor, _| parse_period_edge(cursor),
        |cursor, _| parse_weekday(cursor),
        |cursor, _| parse_month_date(cursor).map(DayPhrase::from),
        |cursor, _| numeric::parse_full_date(cursor).map(DayPhrase::from),
        |cursor, _| parse_contextual_date(cursor),
        |cursor, _| parse_holiday_day(cursor),
        |cursor, _| parse_day_of_month(cursor).map(DayPhrase::from),
        |cursor, _| parse_vague_period(cursor),
    ];
    forms
        .into_iter()
        .find_map(|form| cursor.attempt(|cursor| form(cursor, depth)))
}

/// Consumes an offset from now or from another day.
fn parse_relative_day(cursor: &mut TokenCursor<'_>, depth: u32) -> Option<DayPhrase> {
    let forms = [
        parse_future_offset,
        parse_offset_from_day,
        parse_weekday_offset,
    ];
    let (day, by_month) = forms
        .into_iter()
        .find_map(|form| cursor.attempt(|cursor| form(cursor, depth)))?;
    // "In 3 days on Friday" is redundant; the weekday takes precedence.
    let weekday = cursor.attempt(|cursor| {
        cursor.consume_word("on");
        let (weekday, sense) = cursor.consume_known(lookup_weekday)?;
        (sense == Sense::Only).then_some(weekday)
    });
    let near = if by_month {
        WeekdayAnchor::FromThere
    } else {
        WeekdayAnchor::SameWeek
    };
    Some(DayPhrase::from(weekday.map_or(day.clone(), |weekday| {
        DayExpression::WeekdayNear(weekday, Box::new(day), near)
    })))
}

/// Consumes "the night before the 1st", "the morning after" a holiday and "the evening of the 3rd".
fn parse_adjacent_day_part(cursor: &mut TokenCursor<'_>, depth: u32) -> Option<DayPhrase> {
    cursor.consume_word("the");
    let is_single = matches!(cursor.word(), "morning" | "afternoon" | "evening" | "night");
    let part = cursor
        .consume_known(lookup_day_part)
        .filter(|_| is_single)?;
    let days = cursor.consume_known(|word| match word {
        "before" => Some(-1),
        "after" => Some(1),
        "of" => Some(0),
        _ => None,
    })?;
    let named =
        parse_nested_day(cursor, depth).filter(|named| !named.is_vague && named.clock.is_none())?;
    let day = if days == 0 {
        named.day
    } else {
        DayExpression::Away(CalendarDuration::in_days(days), Box::new(named.day))
    };
    Some(DayPhrase::in_part(day, part))
}

/// Consumes "in two weeks", "in the next two weeks" and "within 5 days", which name the last moment.
fn parse_future_offset(cursor: &mut TokenCursor<'_>, _: u32) -> Option<(DayExpression, bool)> {
    let is_ahead = cursor.consume_any_word(&["in", "within", "after"]);
    let counts = matches!(cursor.word_before(2), "once" | "twice");
    (is_ahead && !counts).then_some(())?;
    cursor.consume_any_phrase(&["the next", "the coming"]);
    cursor.consume_any_phrase(&WORDS.limits);
    cursor.consume_any_word(&WORDS.about);
    let amount = parse_duration(cursor)?;
    cursor.consume_any_phrase(&["from now", "from today", "time"]);
    // "In three years of service" is not an offset.
    let is_measure = cursor.word() == "of" || cursor.word() == "ago";
    (!is_measure).then_some((DayExpression::from_now(amount), amount.months != 0))
}

/// Consumes "3 days ago", "a week from Friday" and "the day after tomorrow".
fn parse_offset_from_day(
    cursor: &mut TokenCursor<'_>,
    depth: u32,
) -> Option<(DayExpression, bool)> {
    let has_article = cursor.consume_word("the");
    let amount = match cursor.attempt(parse_duration) {
        Some(amount) if !has_article => amount,
        _ => {
            // "The third day after Tuesday".
            let nth = cursor.attempt(|cursor| {
                let nth = parse_nth(cursor)?;
                parse_unit(&mut cursor.clone()).map(|_| nth)
            });
            let nth = nth.unwrap_or(1);
            let (unit, each) = parse_unit(cursor)?;
            let each = each.checked_mul(u64::try_from(nth).ok()?)?;
            let is_before_day = matches!(
                cursor.word(),
                "after" | "before" | "from" | "following" | "preceding"
            );
            unit.duration(Quantity::whole(each)?)
                .filter(|_| is_before_day)?
        }
    };
    let by_month = amount.months != 0;
    if cursor.consume_any_word(&["ago", "earlier", "previously"])
        || cursor.consume_phrase("back") && can_end_number(cursor)
    {
        // "A week ago yesterday".
        let near = lookup_near_day(cursor.word()).filter(|_| !amount.is_exact);
        if near.is_some() {
            cursor.step();
        }
        let from = Box::new(DayExpression::Shifted(near.unwrap_or(0)));
        return Some((DayExpression::Away(amount.negated(), from), by_month));
    }
    if cursor.consume_any_phrase(&WORDS.from_now) {
        return Some((DayExpression::from_now(amount), by_month));
    }
    // "A week tomorrow" and "two weeks Friday" are to come, and "a week yesterday" is past.
    let is_weeks = amount.days != 0 && amount.days % 7 == 0 && !has_article;
    let near = lookup_near_day(cursor.word());
    let is_day_next = near.is_some()
        || lookup_weekday(cursor.word()).is_some_and(|(_, sense)| sense == Sense::Only);
    let is_after = cursor.consume_any_word(&["from", "after", "following"])
        || is_weeks && (is_day_next || cursor.consume_word("on"));
    (is_after || cursor.consume_any_phrase(&["before", "prior to", "preceding", "ahead of"]))
        .then_some(())?;
    // Hours are relative to a time, not to a day.
    let named =
        parse_nested_day(cursor, depth).filter(|named| !named.is_vague && !amount.is_exact)?;
    let is_to_come = is_after && near.is_none_or(|days| 0 <= days);
    let amount = if is_to_come { amount } else { amount.negated() };
    Some((DayExpression::Away(amount, Box::new(named.day)), false))
}

/// Consumes "the second Monday of May", "last day of October 2015" and "fifth last day of May".
pub(super) fn parse_nth_day(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    cursor.consume_word("the");
    let nth = parse_nth(cursor)?;
    let counted = parse_counted_days(cursor)?;
    if !cursor.consume_any_word(&["of", "in"]) {
        // "Last Monday June 2" has a date.
        let is_own = lookup_month(cursor.word()).is_some()
            && parse_month_date(&mut cursor.clone()).is_none()
            || matches!(cursor.word(), "next" | "this");
        let is_of_this =
            matches!(counted, CountedDays::Weekdays(_)) && 0 < nth && can_end_number(cursor);
        if !is_own {
            return is_of_this
                .then(|| DayExpression::Nth(nth, counted, Period::Month(Month::Unsaid)).into());
        }
    }
    let months = |cursor: &mut TokenCursor<'_>| {
        let amount = parse_duration(cursor)?;
        let is_whole = amount == CalendarDuration::in_months(amount.months);
        let months = i32::try_from(amount.months).ok().filter(|_| is_whole)?;
        Some(Period::Month(Month::Away(months)))
    };
    let is_in = cursor.word_before(1) == "in";
    let away = if is_in { cursor.attempt(months) } else { None };
    let period = away.or_else(|| parse_period(cursor))?;
    Some(DayExpression::Nth(nth, counted, period).into())
}

/// Consumes "next 6th of April", "last June 5", and dates such as "4/25" if the preceding words indicate a date.
fn parse_contextual_date(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let side = cursor
        .attempt(|cursor| parse_period_offset(cursor).filter(|_| cursor.word_before(1) != "past"));
    if let Some(side) = side {
        let mut day = parse_month_date(cursor)
            .or_else(|| numeric::parse_short_date(cursor).filter(|_| can_end_number(cursor)))?;
        if let Some(Month::Named(_, year @ Year::Unsaid)) = range::month_of(&mut day)
            && side < 0
        {
            *year = Year::Beside(-1);
        }
        return Some(day.into());
    }
    let before = cursor.word_before(1);
    let is_after_each = matches!(before, "every" | "each");
    if (before == "on" || is_after_each)
        && let Some(day) = cursor.attempt(numeric::parse_dotted_date)
    {
        return Some(day.into());
    }
    let is_led = [
        "on", "by", "before", "until", "till", "due", "since", "from", "date", "dated", "for",
    ]
    .contains(&before)
        || is_after_each;
    let is_first = cursor.is_at_start();
    let first = cursor.clone().consume_number();
    let day = numeric::parse_short_date(cursor)?;
    let is_alone = is_first && (cursor.is_at_end() || is_time_next(cursor));
    // "22/04" at the end of a sentence is almost always a date.
    let is_long = first.is_some_and(|first| first.digits == 2 && 12 < first.value)
        || matches!(before, "at" | "in");
    let is_plain = (is_long || day.is_exact()) && cursor.word().is_empty();
    // "1/30 and 9/30 every year".
    let mut ahead = *cursor;
    let listed = |cursor: &mut TokenCursor<'_>| {
        consume_list_separator(cursor).then(|| numeric::parse_short_date(cursor))?
    };
    while ahead.attempt(listed).is_some() {}
    let is_yearly_next = ahead.consume_any_phrase(&["every year", "each year"])
        || matches!(ahead.word(), "yearly" | "annually");
    ((is_led || is_plain) && can_end_number(cursor)
        || is_alone
        || is_yearly_next
        || is_hour_next(cursor))
    .then(|| day.into())
}

/// Consumes "9/30" and "30.9." behind another date of a list.
pub(in super::super) fn parse_listed_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    cursor.attempt(|cursor| {
        let day = numeric::parse_short_date(cursor)
            .or_else(|| cursor.attempt(numeric::parse_dotted_date))?;
        can_end_number(cursor).then_some(day)
    })
}

/// Consumes a holiday, with an optional year or offset.
fn parse_holiday_day(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let leading = cursor.attempt(parse_period_offset);
    cursor.consume_word("the");
    let feast = parse_holiday(cursor)?;
    let from = cursor.attempt(|cursor| {
        let is_ahead = cursor.consume_word("in");
        let amount = parse_duration(cursor).filter(|amount| !amount.is_exact)?;
        (is_ahead || cursor.consume_any_phrase(&["from now", "hence", "from today"]))
            .then(|| DayExpression::from_now(amount))
    });
    if let Some(from) = from {
        return Some(DayExpression::FeastFrom(feast, Box::new(from)).into());
    }
    let said = cursor.attempt(|cursor| {
        cursor.consume_sign(',');
        cursor.consume_any_word(&["of", "in"]);
        parse_relative_year(cursor)
            .map(Year::Away)
            .or_else(|| parse_year(cursor).map(Year::Exactly))
    });
    if leading == Some(-1) && said.is_none() {
        return Some(DayExpression::last_feast(feast).into());
    }
    Some(DayExpression::Feast(feast, said.unwrap_or(Year::Unsaid)).into())
}

/// Consumes "the second closest Monday to October 5th".
fn parse_closest_weekday(cursor: &mut TokenCursor<'_>, depth: u32) -> Option<DayPhrase> {
    cursor.consume_word("the");
    let nth = cursor.attempt(parse_ordinal).unwrap_or(1);
    let is_closest = cursor.consume_any_word(&["closest", "nearest"]);
    is_closest.then_some(())?;
    let (weekday, _) = cursor.consume_known(lookup_weekday)?;
    cursor.consume_word("to").then_some(())?;
    let named = parse_nested_day(cursor, depth).filter(|named| !named.is_vague)?;
    Some(DayExpression::Closest(i32::try_from(nth).ok()?, weekday, Box::new(named.day)).into())
}

/// Consumes "4 Tuesdays from now", "Friday ago", "the Friday after Thanksgiving" and "third Tuesday after Christmas".
fn parse_weekday_offset(cursor: &mut TokenCursor<'_>, depth: u32) -> Option<(DayExpression, bool)> {
    let has_article = cursor.consume_word("the");
    let count = cursor.attempt(|cursor| {
        parse_ordinal(cursor)
            .and_then(|nth| i32::try_from(nth).ok())
            .or_else(|| count(cursor))
    });
    let (weekday, _) = cursor.consume_known(lookup_weekday)?;
    let is_alone = !has_article && count.is_none();
    let is_complete =
        cursor.word() == "ago" || cursor.word() == "after" && cursor.word_ahead(1) == "next";
    (!is_alone || is_complete).then_some(())?;
    let count = count.unwrap_or(1);
    if cursor.consume_any_phrase(&["from now", "from today", "hence", "later"]) {
        return Some((DayExpression::weekdays_from_today(count, weekday), false));
    }
    if cursor.consume_word("ago") {
        return Some((DayExpression::weekdays_from_today(-count, weekday), false));
    }
    let is_after = cursor.consume_any_word(&["after", "following", "from"]);
    (is_after || cursor.consume_any_word(&["before", "preceding"])).then_some(())?;
    if is_after && cursor.consume_word("next") && can_end_number(cursor) {
        return Some((DayExpression::weekdays_from_today(2, weekday), false));
    }
    let named = parse_nested_day(cursor, depth).filter(|named| !named.is_vague)?;
    let count = if is_after { count } else { -count };
    let day = DayExpression::WeekdaysAway(count, weekday, Box::new(named.day));
    Some((day, false))
}
