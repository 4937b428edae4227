//! Parses times relative to another time or event: "this time tomorrow", "an hour before 3pm on Friday".

use super::super::chinese;
use super::super::cursor::TokenCursor;
use super::super::duration::CalendarDuration;
use super::super::period::{Month, Period, Year};
use super::super::syntax::{DateExpression, DayExpression, DayPhrase};
use super::super::time_of_day::DayPart;
use super::super::token::DateTokenKind::{Han, Number, Sign, Word};
use super::days::parse_day;
use super::durations::parse_duration;
use super::lexicon::{WORDS, lookup_day_part};
use super::parse_day_and_time;
use super::times_of_day::can_end_number;

/// Consumes "this time tomorrow" and "the same time next week".
pub(super) fn parse_same_time(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    consume_same_time(cursor).then_some(())?;
    cursor.consume_word("on");
    let named = parse_day(cursor).filter(|named| named.part.is_none() && named.clock.is_none())?;
    at_same_time(named)
}

/// Returns the current time of day on a day, or on the same day of another week, month or year.
pub(in super::super) fn at_same_time(named: DayPhrase) -> Option<DateExpression> {
    let offset = period_as_offset(&named.day).filter(|_| named.is_vague);
    let is_day = offset.is_some() || !named.is_vague;
    is_day.then(|| DateExpression {
        day: Some(offset.unwrap_or(named.day)),
        is_same_time: true,
        every: named.every,
        ..DateExpression::default()
    })
}

/// Consumes "at the same time".
pub(super) fn consume_same_time(cursor: &mut TokenCursor<'_>) -> bool {
    cursor.try_consume(|cursor| {
        cursor.consume_word("at");
        cursor.consume_any_word(&["around", "about"]);
        cursor.consume_word("the");
        cursor.consume_any_word(&["this", "same"]) && cursor.consume_word("time")
    })
}

/// Returns the offset from today to the same day of another week, month or year.
pub(in super::super) fn period_as_offset(day: &DayExpression) -> Option<DayExpression> {
    let DayExpression::Edge(_, period) = day else {
        return None;
    };
    let months = |months: i32| Some(CalendarDuration::in_months(i64::from(months)));
    let amount = match period {
        Period::Week(weeks) => Some(CalendarDuration::in_days(i64::from(*weeks) * 7)),
        Period::Month(Month::Away(away)) => months(*away),
        Period::Year(Year::Away(years)) => months(years.checked_mul(12)?),
        _ => None,
    }?;
    Some(DayExpression::from_now(amount))
}

/// Consumes "24 hours before Monday 10am", "30 minutes before my 3pm call tomorrow" and "an hour past Christmas".
pub(super) fn parse_offset_from_time(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    cursor.consume_any_word(&["about", "around", "exactly"]);
    let amount = parse_duration(cursor)
        .filter(|amount| amount.is_exact && amount.days == 0 && amount.months == 0)?;
    let is_before = cursor.consume_any_phrase(&["before", "ahead of", "prior to"]);
    (is_before || cursor.consume_any_word(&["after", "past"])).then_some(())?;
    let is_of_thing = cursor.consume_any_word(&["my", "our", "the", "his", "her", "their", "your"]);
    let spoken = parse_day_and_time(cursor).filter(|spoken| spoken.ahead == 0)?;
    let is_moment = match (&spoken.day, spoken.clock) {
        (Some(_), Some(_)) => true,
        // A holiday starts at midnight. "Two hours before Friday" may be an amount of work.
        (Some(day), None) => {
            matches!(day, DayExpression::Feast(..)) && !is_of_thing && spoken.part.is_none()
        }
        (None, Some(_)) => is_of_thing,
        (None, None) => false,
    };
    let lead = if is_before { amount } else { amount.negated() };
    is_moment.then_some(DateExpression {
        ahead: lead.seconds,
        ..spoken
    })
}

/// Consumes an offset that follows its time, as in "the call is at 3pm, remind me 30 minutes before".
pub(in super::super) fn parse_lead_time(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    let amount = parse_duration(cursor)
        .filter(|amount| amount.seconds == 0 || amount.days == 0 && amount.months == 0)?;
    let is_lead = cursor.consume_any_phrase(&WORDS.ahead);
    (is_lead && !matches!(cursor.peek(0), Some(Word(_) | Number(_) | Han(_)))).then_some(amount)
}

/// Consumes an amount directly behind a time, and adds it to the time: "+ 3 weeks", "plus 6 days".
pub(in super::super) fn parse_added_amount(
    cursor: &mut TokenCursor<'_>,
    spoken: &mut DateExpression,
) -> bool {
    let added = cursor.attempt(|cursor| {
        let is_plus = cursor.sign(0) == Some('+');
        let amount = parse_signed_amount(cursor)?;
        // Org mode has intervals in its timestamps. "Friday - 2 hours of work" has an amount of something else.
        let is_end = match cursor.peek(0) {
            Some(Sign('>' | ']')) => false,
            _ if is_plus => cursor.word() != "of",
            _ => can_end_number(cursor),
        };
        (is_end && spoken.add(amount)).then_some(())
    });
    added.is_some()
}

/// Consumes an amount with its sign. A hyphen is a sign only between blanks.
pub(in super::super) fn parse_signed_amount(
    cursor: &mut TokenCursor<'_>,
) -> Option<CalendarDuration> {
    let is_apart = !cursor.is_glued(0);
    let is_minus =
        cursor.consume_word("minus") || is_apart && cursor.consume_sign('-') && !cursor.is_glued(0);
    (is_minus || cursor.consume_word("plus") || cursor.consume_sign('+')).then_some(())?;
    // The number follows no other sign.
    let mut own = cursor.detached();
    let amount = own
        .attempt(parse_duration)
        .or_else(|| own.attempt(chinese::parse_duration))?;
    (0..own.position()).for_each(|_| cursor.step());
    Some(if is_minus { amount.negated() } else { amount })
}

/// Consumes "after dinner" and "before bed".
pub(super) fn parse_meal_time(cursor: &mut TokenCursor<'_>) -> Option<DayPart> {
    let side = cursor.consume_known(|word| {
        let is_side = matches!(word, "before" | "at" | "after");
        is_side.then_some(word)
    })?;
    let (before, at, after) = cursor.consume_known(|word| {
        Some(match word {
            "breakfast" => (7, 8, 9),
            "lunch" => (11, 12, 13),
            "dinner" | "supper" | "dinnertime" => (18, 19, 20),
            "bed" if side == "before" => (22, 22, 22),
            "bedtime" => (22, 22, 22),
            _ => return None,
        })
    })?;
    cursor.consume_word("time");
    Some(DayPart::Around(match side {
        "before" => before,
        "at" => at,
        _ => after,
    }))
}

/// Consumes a part of the day without a date or time: "remind me in the morning", "after dinner take the pills".
///
/// Such words are frequent in descriptions of habits and in stories, so they count only in a request.
pub(super) fn parse_bare_day_part(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    let is_asked =
        cursor.is_at_start() || cursor.word_before(1) == "me" && cursor.word_before(2) == "remind";
    let named = cursor.attempt(|cursor| {
        let is_in = cursor.consume_phrase("in the");
        let part = lookup_day_part(cursor.word())
            .filter(|_| is_in && matches!(cursor.word(), "morning" | "afternoon" | "evening"))?;
        cursor.step();
        is_asked.then_some(part)
    });
    let part = named.or_else(|| {
        cursor
            .attempt(parse_meal_time)
            .filter(|_| is_asked || cursor.is_at_end())
    })?;
    Some(DateExpression {
        part: Some(part),
        is_vague: true,
        ..DateExpression::default()
    })
}
