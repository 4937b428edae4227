//! Parses weekdays in English, with the week and the date that accompany them.

use chrono::Weekday;

use super::super::cursor::TokenCursor;
use super::super::duration::CalendarDuration;
use super::super::numeric::BareHour;
use super::super::period::Month;
use super::super::syntax::{DayExpression, DayPhrase, Week, WeekdayAnchor};

use super::super::{numeric, range};
use super::dates::{no_noun_follows, parse_month, parse_month_date, parse_period_offset};
use super::durations::parse_duration;
use super::lexicon::{Sense, lookup_day_part, lookup_weekday};
use super::numbers::{parse_below_hundred, parse_ordinal};
use super::recurrence::consume_list_separator;
use super::times_of_day::{can_end_number, parse_clock};

/// Consumes a weekday, with the week and the date that accompany it.
pub(super) fn parse_weekday(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    if let Some(weekday) = cursor.attempt(parse_past_weekday) {
        return Some(DayExpression::weekdays_from_today(-1, weekday).into());
    }
    let leading = cursor.attempt(parse_leading_week);
    cursor.consume_word("on");
    let before = cursor.word_before(1);
    if leading.is_none() && cursor.word_ahead(1) == "weekend" {
        cursor.consume_word("the");
    }
    if leading.is_none() && cursor.consume_phrase("weekend after next") {
        return Some(weekend(Week::Of(2)));
    }
    let word = cursor.word();
    let is_timed = || {
        let mut ahead = *cursor;
        ahead.step();
        is_hour_next(&ahead)
    };
    let is_this = leading.is_none()
        && cursor.word() == "weekend"
        && (cursor.word_before(1) == "the" || is_timed());
    if (leading.is_some() || is_this) && cursor.consume_word("weekend") {
        return Some(weekend(leading.unwrap_or(Week::This)));
    }
    let (weekday, sense) = lookup_weekday(word)?;
    let is_plural = word.ends_with("days");
    cursor.step();
    cursor.consume_point();
    if let Some(date) = cursor.attempt(|cursor| parse_weekday_date(cursor, weekday)) {
        let is_to_come = !matches!(leading, None | Some(Week::Of(..0)));
        return Some(match date {
            // "Next Monday the 16th" is near, or contradicts itself.
            DayExpression::WeekdayAndDate(weekday, date) if is_to_come => {
                let day = DayExpression::OfMonth(date, Month::Unsaid);
                day.on_weekday(weekday).into()
            }
            date => date.into(),
        });
    }
    if leading.is_none()
        && let Some(weeks) = cursor.attempt(parse_weeks_beyond)
    {
        return Some(DayExpression::weekdays_from_today(1 + weeks, weekday).into());
    }
    let trailing = match leading {
        Some(_) => None,
        None => cursor.attempt(parse_trailing_week),
    };
    let amount = cursor.attempt(|cursor| {
        cursor.consume_word("in").then_some(())?;
        parse_duration(cursor).filter(|amount| !amount.is_exact)
    });
    if let Some(amount) = amount {
        let from = Box::new(DayExpression::from_now(amount));
        return Some(DayExpression::WeekdayNear(weekday, from, WeekdayAnchor::SameWeek).into());
    }
    let is_led = [
        "on", "by", "until", "till", "before", "next", "this", "last", "coming", "since", "from",
        "due",
    ]
    .contains(&before);
    let is_sure = sense == Sense::Only
        || leading.is_some()
        || trailing.is_some()
        || is_led
        || starts_list(*cursor)
        || is_word_alone(cursor);
    (is_sure || is_time_next(cursor)).then_some(())?;
    let week = leading.or(trailing).unwrap_or(Week::Coming);
    Some(DayPhrase {
        every: is_plural.then(|| CalendarDuration::in_days(7)),
        ..DayExpression::Weekday(weekday, week).into()
    })
}

/// Consumes the "week" of "Friday week" and the "fortnight" of "tomorrow fortnight", and returns the number of weeks.
pub(super) fn parse_weeks_beyond(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    let weeks = cursor.consume_known(|word| match word {
        "week" => Some(1),
        "fortnight" => Some(2),
        _ => None,
    })?;
    (cursor.ends_cleanly() && can_end_number(cursor)).then_some(weeks)
}

/// Returns the Saturday and Sunday of a week.
fn weekend(week: Week) -> DayPhrase {
    let saturday = DayExpression::Weekday(Weekday::Sat, week);
    let sunday = DayExpression::Away(CalendarDuration::in_days(1), Box::new(saturday.clone()));
    DayPhrase {
        is_vague: false,
        ..DayPhrase::span(saturday, sunday)
    }
}

/// Consumes "past Wednesday", which is the last one before today, in any week.
fn parse_past_weekday(cursor: &mut TokenCursor<'_>) -> Option<Weekday> {
    cursor.consume_word("the");
    cursor.consume_word("past").then_some(())?;
    let (weekday, _) = cursor.consume_known(lookup_weekday)?;
    Some(weekday)
}

/// Returns whether another weekday of a list or range follows.
fn starts_list(mut cursor: TokenCursor<'_>) -> bool {
    (consume_list_separator(&mut cursor) || range::consume_joint(&mut cursor))
        && lookup_weekday(cursor.word()).is_some()
}

/// Returns whether the text consists of the previous word only.
fn is_word_alone(cursor: &TokenCursor<'_>) -> bool {
    let is_first = cursor.peek_back(2).is_none()
        || cursor.sign_before(1) == Some('.') && cursor.peek_back(3).is_none();
    is_first && cursor.is_at_end()
}

/// Returns whether a time follows, which makes even "sun" a weekday.
pub(super) fn is_time_next(cursor: &TokenCursor<'_>) -> bool {
    let mut ahead = *cursor;
    ahead.consume_sign(',');
    ahead.consume_any_word(&["at", "@"]);
    ahead.consume_sign('@');
    numeric::parse_clock(&mut ahead).is_some() || lookup_day_part(ahead.word()).is_some()
}

/// Returns whether a time follows, or "at" and a bare hour.
pub(super) fn is_hour_next(cursor: &TokenCursor<'_>) -> bool {
    let mut ahead = *cursor;
    is_time_next(cursor)
        || ahead.consume_word("at") && parse_clock(&mut ahead, BareHour::Hour).is_some()
}

fn parse_leading_week(cursor: &mut TokenCursor<'_>) -> Option<Week> {
    cursor.consume_word("the");
    if cursor.consume_word("this") {
        let is_coming = cursor.consume_any_word(&["coming", "upcoming"]);
        let is_of_week = cursor.consume_word("week");
        return Some(match (is_coming, is_of_week) {
            (true, _) => Week::Coming,
            (false, true) => Week::Of(0),
            (false, false) => Week::This,
        });
    }
    if cursor.consume_any_word(&["coming", "upcoming", "following"]) {
        return Some(Week::Coming);
    }
    let weeks = parse_period_offset(cursor)?;
    cursor.consume_word("week");
    cursor.consume_sign(',');
    Some(Week::Of(weeks))
}

fn parse_trailing_week(cursor: &mut TokenCursor<'_>) -> Option<Week> {
    cursor.consume_any_word(&["of", "in"]);
    let weeks = parse_period_offset(cursor)?;
    cursor.consume_word("week").then_some(Week::Of(weeks))
}

/// Returns whether two numbers up to 12 follow.
fn is_hour_range(mut cursor: TokenCursor<'_>) -> bool {
    let mut is_hour = || {
        let hour = cursor.consume_number();
        cursor.consume_sign('-');
        hour.is_some_and(|hour| hour.value <= 12)
    };
    is_hour() && is_hour()
}

/// Consumes the date after a weekday: "the 22nd", ", Jul 18, 2014", "5/12".
fn parse_weekday_date(cursor: &mut TokenCursor<'_>, weekday: Weekday) -> Option<DayExpression> {
    let has_comma = cursor.consume_sign(',');
    cursor.consume_word("on");
    let date = |cursor: &mut TokenCursor<'_>| {
        parse_month_date(cursor)
            .or_else(|| numeric::parse_full_date(cursor))
            .or_else(|| {
                // "Friday 10-12" are hours.
                let is_hours = cursor.peek_ahead_sign() == Some('-') && is_hour_range(*cursor);
                numeric::parse_short_date(cursor).filter(|_| !is_hours)
            })
    };
    if let Some(day) = cursor.attempt(date) {
        return Some(day.on_weekday(weekday));
    }
    // The number in "Sunday 31" is not an hour, and that in "Sunday 18:00" is one.
    let day_of_month = |cursor: &mut TokenCursor<'_>| {
        let date = cursor
            .consume_number()
            .filter(|date| (13..=31).contains(&date.value))?;
        (no_noun_follows(cursor) && cursor.ends_cleanly()).then_some(date)
    };
    if let Some(date) = cursor.attempt(day_of_month) {
        return Some(DayExpression::WeekdayAndDate(
            weekday,
            u32::try_from(date.value).ok()?,
        ));
    }
    let is_bracketed = cursor.consume_sign('(');
    let has_article = cursor.consume_word("the");
    // "On Sunday, first of all" contains no date.
    (!has_comma || has_article || cursor.word().is_empty()).then_some(())?;
    let date = parse_ordinal(cursor)
        .or_else(|| has_article.then(|| u32::try_from(parse_below_hundred(cursor)?).ok())?)?;
    if is_bracketed {
        cursor.consume_sign(')');
    }
    let of_month =
        cursor.attempt(|cursor| cursor.consume_word("of").then(|| parse_month(cursor))?);
    match of_month {
        Some(Month::Unsaid) | None => Some(DayExpression::WeekdayAndDate(weekday, date)),
        Some(month) => Some(DayExpression::OfMonth(date, month).on_weekday(weekday)),
    }
}
