//! The English grammar.

mod dates;
mod days;
mod durations;
mod holiday_names;
mod lexicon;
mod numbers;
mod periods;
mod recurrence;
mod relative;
mod spans;
mod times_of_day;
mod weekdays;

use std::ops::Range;

use super::cursor::TokenCursor;
use super::duration::CalendarDuration;
use super::numeric::BareHour;
use super::period::{Month, Period, PeriodEdge, Year};
use super::syntax::{DateExpression, DayExpression, DayPhrase, RecurrencePhrase, Week};
use super::time_of_day::{DayPart, TimeOfDay};
use super::token::DateTokenKind::{Sign, Word};
use super::zones::NamedOffset;
use super::{numeric, range};
use days::parse_day;
use durations::{parse_duration, parse_lone_duration};
use lexicon::{WORDS, lookup_frequency};
use recurrence::{
    parse_month_of_each, parse_months, parse_more_days, parse_ordinal_days, parse_recurrence,
    parse_weekdays,
};
use relative::{
    consume_same_time, parse_bare_day_part, parse_meal_time, parse_offset_from_time,
    parse_same_time,
};
use times_of_day::{parse_clock, parse_day_part};

pub(super) use dates::{parse_month, starts_with_day_of_month};
pub(super) use days::parse_listed_date;
pub(super) use lexicon::{
    can_start_expression, is_connecting, is_half_day, is_measure, is_time_word, is_unit,
    usual_day_part,
};
pub(crate) use lexicon::{lookup_month, lookup_weekday};
pub(super) use numbers::{is_numeral, parse_below_hundred, parse_year};
pub(super) use recurrence::consume_list_separator;
pub(super) use relative::{
    at_same_time, parse_added_amount, parse_lead_time, parse_signed_amount, period_as_offset,
};
pub(super) use times_of_day::{can_end_number, parse_zone};

/// Consumes one expression: a day, a time, or both in any order, with a part of the day and a time zone.
pub(super) fn parse_expression(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    cursor.attempt_any(&[
        parse_lone_offset,
        parse_offset_from_time,
        parse_same_time,
        parse_day_and_time,
        parse_bare_day_part,
    ])
}

/// Consumes a compact duration that is the whole text, such as "1h30m".
fn parse_lone_offset(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    let amount = parse_lone_duration(cursor)?;
    Some(DateExpression::from(DayExpression::from_now(amount)))
}

fn parse_day_and_time(cursor: &mut TokenCursor<'_>) -> Option<DateExpression> {
    cursor.attempt(|cursor| {
        let mut spoken = DateExpression::default();
        let first_day = cursor.attempt(parse_first_day_ahead);
        // Each component at most once, and a period with the day in it.
        for _ in 0..MAX_COMPONENTS {
            if range::follows(cursor, &spoken) || !parse_next_component(cursor, &mut spoken) {
                break;
            }
        }
        let is_current_period = spoken.is_vague
            && matches!(
                &spoken.day,
                Some(DayExpression::Edge(PeriodEdge::Start, period)) if period.is_current()
            );
        spoken.is_vague &= spoken.every.is_none();
        if first_day.is_some() {
            (spoken.every.is_some() && spoken.from.is_none()).then_some(())?;
            spoken.from = first_day;
        }
        let is_named = spoken.day.is_some() || spoken.clock.is_some();
        let is_expression = is_named || spoken.every.is_some() || spoken.impossible.is_some();
        (is_expression && !is_current_period).then_some(spoken)
    })
}

/// Maximum number of components of an expression.
const MAX_COMPONENTS: usize = 7;

/// Consumes the next component with the words that connect it.
fn parse_next_component(cursor: &mut TokenCursor<'_>, spoken: &mut DateExpression) -> bool {
    let start = *cursor;
    if is_empty(spoken) {
        return parse_component(cursor, spoken);
    }
    if numeric::consume_timestamp_end(cursor, spoken) || parse_added_amount(cursor, spoken) {
        return true;
    }
    if let Some(length) = cursor.attempt(|cursor| parse_length(cursor, spoken)) {
        spoken.end = Some(Box::new(DateExpression {
            ahead: -length.seconds,
            ..DateExpression::default()
        }));
        return true;
    }
    if let Some(from) = cursor.attempt(|cursor| parse_recurrence_start(cursor, spoken)) {
        spoken.from = Some((from, start.position()..cursor.position()));
        return true;
    }
    let has_comma = cursor.consume_sign(',');
    let is_separated = cursor.consume_sign('-') || cursor.consume_sign(':') || has_comma;
    let after_sign = *cursor;
    consume_connector(cursor);
    if parse_component(cursor, spoken) {
        return true;
    }
    *cursor = after_sign;
    if parse_component(cursor, spoken) || parse_second_day(cursor, spoken, is_separated) {
        return true;
    }
    *cursor = start;
    false
}

/// Consumes how long an event lasts: "for 30 minutes" behind its hour.
fn parse_length(cursor: &mut TokenCursor<'_>, spoken: &DateExpression) -> Option<CalendarDuration> {
    let is_open = spoken.clock.is_some() && spoken.end.is_none();
    cursor.consume_sign(',');
    let is_length = is_open && cursor.consume_any_word(&["for", "lasting"]);
    let length = parse_duration(cursor)?;
    // "For 30 minutes before the meeting" and "for 5 minute eggs" are no lengths.
    let is_lead = matches!(cursor.word(), "before" | "after" | "prior" | "ago");
    let is_singular = ["minute", "hour", "second", "min", "hr"].contains(&cursor.word_before(1));
    let is_adjective = is_singular && length.seconds != 60 && length.seconds != 3600;
    let is_exact = length.is_exact && length.days == 0 && 0 < length.seconds;
    (is_length && is_exact && !is_lead && !is_adjective).then_some(length)
}

/// The words before the first day of a recurrence.
const START: [&str; 2] = ["starting", "beginning"];

/// Consumes the first day of a recurrence: "starting July 12" behind "every Saturday".
fn parse_recurrence_start(
    cursor: &mut TokenCursor<'_>,
    spoken: &DateExpression,
) -> Option<DayExpression> {
    cursor.consume_sign(',');
    let is_open = spoken.every.is_some() && spoken.from.is_none();
    let is_from = cursor.word() == "from";
    let is_start = is_open && (cursor.consume_any_word(&START) || cursor.consume_word("from"));
    cursor.consume_any_word(&["on", "from", "in"]);
    is_start.then_some(())?;
    let first_of_year = |cursor: &mut TokenCursor<'_>| {
        let year = Period::Year(Year::Exactly(parse_year(cursor)?));
        Some(DayExpression::Edge(PeriodEdge::Start, year).into())
    };
    let DayPhrase { day, clock, .. } = parse_day(cursor).or_else(|| first_of_year(cursor))?;
    // A date with its year is itself the day of an interval without one.
    let is_bound = spoken.day.is_some() || !day.is_exact();
    let mut ahead = *cursor;
    let is_range = is_from && range::consume_joint(&mut ahead) && parse_day(&mut ahead).is_some();
    (is_bound && (!is_range || spoken.day.is_some()) && clock.is_none()).then_some(day)
}

/// Consumes the first day of the recurrence that follows: "starting July 12" before "every Saturday".
fn parse_first_day_ahead(cursor: &mut TokenCursor<'_>) -> Option<(DayExpression, Range<usize>)> {
    let start = cursor.position();
    cursor.consume_any_word(&START).then_some(())?;
    cursor.consume_any_word(&["on", "from", "in"]);
    let named = parse_day(cursor).filter(|named| named.clock.is_none())?;
    let end = cursor.position();
    cursor.consume_sign(',');
    Some((named.day, start..end))
}

fn is_empty(spoken: &DateExpression) -> bool {
    spoken.day.is_none()
        && spoken.clock.is_none()
        && spoken.part.is_none()
        && spoken.every.is_none()
        && spoken.zone.is_none()
}

/// Consumes a day that another day of the expression completes: "the 3rd" after "next month", a weekday after a date.
fn parse_second_day(
    cursor: &mut TokenCursor<'_>,
    spoken: &mut DateExpression,
    is_separated: bool,
) -> bool {
    let Some(first) = spoken.day.clone() else {
        return false;
    };
    let first = DayPhrase {
        is_vague: spoken.is_vague,
        ..first.into()
    };
    let combined = cursor.attempt(|cursor| {
        let is_bracketed = cursor.consume_sign('(');
        // "Tomorrow Thursday at 8".
        let is_beside = matches!(first.day, DayExpression::Shifted(_))
            && lexicon::lookup_weekday(cursor.word()).is_some();
        cursor.consume_any_word(&["on", "in", "of", "from", "at", "by"]);
        let weekday = lexicon::lookup_weekday(cursor.word());
        let is_weekday = weekday.is_some();
        let named = parse_day(cursor).or_else(|| {
            if let Some(period) = periods::parse_period_of_day(cursor, &first.day) {
                return Some(period);
            }
            let (weekday, _) =
                weekday.filter(|_| is_bracketed || is_beside || first.day.is_exact())?;
            cursor.step();
            Some(DayExpression::Weekday(weekday, Week::Coming).into())
        })?;
        let is_date = matches!(
            first.day,
            DayExpression::OfMonth(..) | DayExpression::EitherWay(..)
        );
        let is_joined =
            !is_weekday || first.is_vague || is_separated || is_bracketed || is_beside || is_date;
        if is_bracketed && !cursor.consume_sign(')') || !is_joined {
            return None;
        }
        first.combine(&named)
    });
    let Some(combined) = combined else {
        return false;
    };
    spoken.set_day(combined);
    true
}

fn parse_component(cursor: &mut TokenCursor<'_>, spoken: &mut DateExpression) -> bool {
    if spoken.clock.is_none()
        && let Some(clock) = parse_hour_before_day(cursor, spoken)
    {
        spoken.clock = Some(clock);
        return true;
    }
    if spoken.every.is_none()
        && let Some(recurrence) = cursor.attempt(|cursor| parse_recurrence_beside(cursor, spoken))
    {
        spoken.every = Some(recurrence.every);
        spoken.day = recurrence.day.or(spoken.day.take());
        spoken.part = spoken.part.or(recurrence.part);
        // A day of "every June" can follow.
        spoken.is_vague |= spoken.has_day(DayExpression::is_whole_month);
        return true;
    }
    if let Some(recurrence) = cursor.attempt(|cursor| parse_recurring_days(cursor, spoken)) {
        spoken.every = Some(recurrence.every);
        spoken.day = recurrence.day;
        spoken.is_vague |= spoken.has_day(DayExpression::is_whole_month);
        return true;
    }
    if spoken.day.is_none() {
        let start = cursor.position();
        let named = cursor.attempt(|cursor| {
            let named = parse_day(cursor)?;
            let fits = |every| named.day.recurs_every(every);
            spoken.every.is_none_or(fits).then_some(named)
        });
        if let Some(mut named) = named {
            if named.every.is_some() || spoken.every.is_some() {
                named.day = parse_more_days(cursor, named.day);
            }
            // "The last day of every month" recurs as often as its period.
            let is_each = (1..=cursor.position() - start)
                .any(|back| matches!(cursor.word_before(back), "every" | "each"));
            let natural = || named.day.natural_interval().filter(|_| is_each);
            spoken.every = spoken.every.or(named.every).or_else(natural);
            spoken.clock = spoken.clock.or(named.clock);
            named.is_vague |= spoken.is_vague;
            let end = spoken.end.take();
            spoken.set_day(named);
            spoken.end = spoken.end.take().or(end);
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
    // "Friday, at the end of the day".
    let is_beside_day = (spoken.day.is_some() && !spoken.is_vague) || spoken.every.is_some();
    if spoken.clock.is_none()
        && is_beside_day
        && !spoken.is_instant()
        && let Some(clock) = cursor.attempt(periods::parse_day_edge)
    {
        spoken.clock = Some(clock);
        return true;
    }
    if spoken.clock.is_none() && !spoken.is_instant() && spoken.impossible.is_none() {
        let licence = bare_hour_rule(cursor, spoken);
        if let Some(clock) = cursor.attempt(|cursor| parse_clock(cursor, licence)) {
            spoken.clock = Some(clock);
            parse_clock_offset(cursor, spoken);
            if parse_trailing_year(cursor, spoken) {
                parse_clock_offset(cursor, spoken);
            }
            return true;
        }
        let start = cursor.position();
        if numeric::consume_impossible_clock(cursor) {
            spoken.impossible = Some(start..cursor.position());
            return true;
        }
    }
    // Midnight is the start of a day: "12:00 midnight" is 0:00, and "one o'clock midnight" is an hour later.
    if let Some(clock) = spoken.clock.filter(|clock| !clock.is_sure)
        && matches!(spoken.part, None | Some(DayPart::Night))
        && cursor.consume_word("midnight")
    {
        let is_early = clock.hour == 12 || clock.hour < 5;
        let part = if is_early {
            DayPart::SmallHours
        } else {
            DayPart::Night
        };
        spoken.part = spoken.part.or(Some(part));
        return true;
    }
    // "7am, noon and 6pm" are three times.
    let is_next_time = spoken
        .clock
        .is_some_and(|clock| clock.is_sure && clock.hour != 12)
        && matches!(cursor.word(), "noon" | "midday");
    if spoken.part.is_none() && !spoken.is_instant() && !is_next_time {
        let is_after_day = spoken.day.is_some() || spoken.clock.is_some() || spoken.every.is_some();
        if let Some(part) = cursor
            .attempt(|cursor| parse_day_part(cursor, is_after_day))
            .or_else(|| cursor.attempt(parse_meal_time))
        {
            spoken.part = Some(part);
            return true;
        }
    }
    // A name in brackets repeats the offset before it, as in RFC 9557.
    if spoken.zone.is_some() && cursor.sign(0) == Some('[') && cursor.attempt(parse_zone).is_some()
    {
        return true;
    }
    if spoken.zone.is_none() {
        spoken.zone = cursor.attempt(|cursor| {
            let zone = parse_zone(cursor)?;
            let is_beside_clock = spoken.clock.is_some() || {
                let mut ahead = *cursor;
                ahead.consume_sign(',');
                ahead.attempt(parse_day);
                weekdays::is_hour_next(&ahead) || parse_clock(&mut ahead, BareHour::None).is_some()
            };
            is_beside_clock.then_some(zone)
        });
        if spoken.zone.is_some() && spoken.clock.is_some() {
            parse_trailing_year(cursor, spoken);
        }
        return spoken.zone.is_some();
    }
    false
}

/// Consumes the UTC offset directly after a time.
fn parse_clock_offset(cursor: &mut TokenCursor<'_>, spoken: &mut DateExpression) {
    if let Some(seconds) = cursor.attempt(numeric::parse_clock_offset) {
        spoken.zone = Some(NamedOffset::Fixed(seconds));
    }
}

/// Consumes a recurrence that suits the day and time before it.
fn parse_recurrence_beside(
    cursor: &mut TokenCursor<'_>,
    spoken: &DateExpression,
) -> Option<RecurrencePhrase> {
    // "Daily" and "once a day" are recurrences only beside a day or time.
    let is_frequency = lookup_frequency(cursor.word()).is_some();
    let needs_time = is_frequency || cursor.word() == "once";
    let before = cursor.peek_back(1);
    let recurrence = parse_recurrence(cursor)?;
    // "Drink water hourly" and "remind me weekly to call" have an adverb, and "the daily" has none.
    let ends_clause = matches!(cursor.peek(0), None | Some(Sign('.' | '!' | ';' | '\n')));
    let is_adverb = is_frequency
        && ends_clause
        && match before {
            Some(Word(word)) => {
                let is_time = lexicon::is_time_word(word) || lexicon::is_half_day(word);
                !is_time && !matches!(word, "the" | "a" | "an" | "is" | "and")
            }
            what => what.is_none(),
        }
        || is_frequency && before == Some(Word("me"))
        || is_frequency && {
            let mut ahead = *cursor;
            ahead.consume_sign(',');
            let is_start = ahead.consume_any_word(&START);
            ahead.consume_any_word(&["on", "from", "in"]);
            is_start && parse_day(&mut ahead).is_some()
        }
        || is_frequency
            && matches!(before, None | Some(Sign('\n')))
            && !names_other_day(*cursor, recurrence.every);
    let is_beside = || spoken.day.is_some() || spoken.clock.is_some();
    let is_time_next = || {
        let mut ahead = *cursor;
        let is_led = ahead.consume_any_word(&["at", "on", "until", "till"]);
        is_led
            && (parse_clock(&mut ahead, BareHour::Hour).is_some()
                || parse_day(&mut cursor.clone()).is_some()
                || parse_day(&mut ahead).is_some())
            || ahead.consume_word("in") && parse_months(&mut ahead).is_some()
    };
    let fits = match &spoken.day {
        Some(day) => {
            let is_within = !is_frequency && day.recurs_within(recurrence.every);
            recurrence.day.is_none() && (day.recurs_every(recurrence.every) || is_within)
        }
        None => spoken.clock.is_none() || !recurrence.every.is_exact,
    };
    let is_definite = !spoken.is_vague || spoken.has_day(DayExpression::is_whole_month);
    (fits && is_definite && (!needs_time || is_adverb || is_beside() || is_time_next()))
        .then_some(recurrence)
}

/// Returns whether a day that does not recur at `every` follows in the same line, near enough to be the one that the text is about.
fn names_other_day(mut cursor: TokenCursor<'_>, every: CalendarDuration) -> bool {
    (0..MAX_ADVERB_DISTANCE).any(|_| {
        let is_over = matches!(cursor.peek(0), None | Some(Sign('\n')));
        let day = parse_day(&mut cursor.clone()).filter(|_| !is_over);
        if !is_over {
            cursor.step();
        }
        day.is_some_and(|named| {
            let is_single = named.is_vague || matches!(named.day, DayExpression::Shifted(_));
            is_single || !named.day.recurs_every(every)
        })
    })
}

/// Returns whether a date follows the weekday before the cursor.
fn is_date_next(cursor: &TokenCursor<'_>) -> bool {
    let mut ahead = *cursor;
    ahead.consume_sign(',');
    parse_day(&mut ahead).is_some_and(|named| matches!(named.day, DayExpression::OfMonth(..)))
}

/// Maximum number of tokens between an adverb of frequency at the start of a text and the day of the text.
const MAX_ADVERB_DISTANCE: usize = 24;

/// Consumes the days of a recurrence whose interval precedes: "from Monday to Friday" after "every day".
fn parse_recurring_days(
    cursor: &mut TokenCursor<'_>,
    spoken: &DateExpression,
) -> Option<RecurrencePhrase> {
    let every = spoken.every.filter(|_| spoken.day.is_none())?;
    let months = cursor.attempt(|cursor| {
        let is_yearly = 0 < every.months && every.months % 12 == 0;
        (is_yearly && cursor.consume_word("in")).then(|| parse_months(cursor))?
    });
    let recurrence = |every, day| RecurrencePhrase {
        every,
        day: Some(day),
        part: None,
    };
    if let Some(months) = months {
        return Some(recurrence(every, months));
    }
    let is_led = cursor.consume_any_word(&["on", "from"]);
    cursor.consume_word("the");
    let days = if every == CalendarDuration::in_days(1) {
        parse_weekdays(cursor).filter(|days| matches!(days, DayExpression::AnyOf(_)))
    } else if 0 < every.months {
        let days = cursor.attempt(parse_ordinal_days);
        cursor.attempt(parse_month_of_each);
        days.or_else(|| {
            parse_weekdays(cursor)
                .filter(|days| is_led && days.recurs_within(every) && !is_date_next(cursor))
        })
    } else {
        None
    }?;
    if days.recurs_within(every) {
        return Some(recurrence(every, days));
    }
    let natural = days.natural_interval()?;
    let every = if every.months == 0 { natural } else { every };
    days.recurs_every(every).then(|| recurrence(every, days))
}

/// Consumes the year of "Wed Oct 26 15:50:06 2016".
fn parse_trailing_year(cursor: &mut TokenCursor<'_>, spoken: &mut DateExpression) -> bool {
    let mut day = spoken.day.as_mut();
    if let Some(DayExpression::Confirmed(_, confirmed)) = day {
        day = Some(confirmed);
    }
    if let Some(DayExpression::OfMonth(_, Month::Named(_, said @ Year::Unsaid))) = day
        && cursor.is_number(0)
        && let Some(year) = numbers::parse_year(cursor)
    {
        *said = Year::Exactly(year);
        return true;
    }
    false
}

/// Consumes the hour of "9 tomorrow" and "8 this evening", which only the following words identify as an hour.
fn parse_hour_before_day(
    cursor: &mut TokenCursor<'_>,
    spoken: &DateExpression,
) -> Option<TimeOfDay> {
    spoken.day.is_none().then_some(())?;
    let before_day = |cursor: &mut TokenCursor<'_>| {
        let is_dotted = cursor.peek_ahead_sign() == Some('.');
        let is_decimal = is_dotted && !numeric::stands_alone(cursor);
        let hour = parse_clock(cursor, BareHour::Hour)?;
        let mut ahead = *cursor;
        // "10-12 on Friday".
        let is_range = ahead.try_consume(|ahead| {
            let is_range = range::consume_joint(ahead) && ahead.consume_number().is_some();
            ahead.attempt(|ahead| {
                ahead.consume_any_glued_sign(&['.', ':'])?;
                ahead.consume_glued_number()
            });
            is_range
        });
        let is_month = lexicon::lookup_month(ahead.word()).is_some();
        if (is_range || is_dotted) && !is_decimal && !is_month && ahead.attempt(parse_day).is_some()
        {
            return Some(hour);
        }
        ahead.consume_sign(',');
        // "Task 3 tomorrow at 5pm" has another hour.
        let has_own_hour = |mut behind: TokenCursor<'_>| {
            behind.step();
            behind.consume_sign(',');
            let rule = if behind.consume_word("at") {
                BareHour::Hour
            } else {
                BareHour::None
            };
            parse_clock(&mut behind.clone(), rule).is_some()
                || numeric::consume_impossible_clock(&mut behind)
        };
        let is_part_next = (ahead.consume_any_phrase(&["in the", "at"])
            || !is_decimal && ahead.consume_word("this"))
            && lexicon::lookup_day_part(ahead.word()).is_some_and(|part| part != DayPart::Noon);
        let is_night_next = ahead.consume_any_word(&["tonight", "tonite"]);
        let is_day_next = is_night_next
            || ["tomorrow", "tonight", "today", "tonite", "tmrw", "tmr"].contains(&cursor.word());
        let behind = if is_part_next { ahead } else { *cursor };
        (!has_own_hour(behind)).then_some(())?;
        (is_part_next || is_day_next && !is_decimal).then_some(hour)
    };
    // "8.30, 9 and 9.15 tomorrow".
    let in_list = |cursor: &mut TokenCursor<'_>| {
        let is_decimal = cursor.peek_ahead_sign() == Some('.') && !numeric::stands_alone(cursor);
        let hour = parse_clock(cursor, BareHour::Hour).filter(|_| !is_decimal)?;
        let mut ahead = *cursor;
        for _ in 0..MAX_COMPONENTS {
            let has_comma = ahead.consume_sign(',');
            let is_list =
                ahead.consume_any_word(&["and", "or"]) || has_comma || ahead.consume_sign('&');
            if is_list && ahead.attempt(before_day).is_some() {
                return Some(hour);
            }
            parse_clock(&mut ahead, BareHour::Hour).filter(|_| is_list)?;
        }
        None
    };
    cursor
        .attempt(before_day)
        .or_else(|| cursor.attempt(in_list))
}

/// Returns whether the preceding words allow a bare number to be an hour.
fn bare_hour_rule(cursor: &TokenCursor<'_>, spoken: &DateExpression) -> BareHour {
    const LEADS: [&str; 9] = [
        "at", "around", "about", "by", "until", "till", "after", "before", "between",
    ];
    let before = cursor.word_before(1);
    let is_booked = || {
        let booked = ["alarm", "scheduled", "booked", "reservation", "set"];
        before == "for" && booked.contains(&cursor.word_before(2))
    };
    let is_led = LEADS.contains(&before)
        || matches!(cursor.sign_before(1), Some('@' | '~'))
        || matches!(before, "for" | "to" | "it") && !cursor.word().is_empty()
        || is_booked();
    let is_in_words_alone = cursor.is_at_start() && !cursor.word().is_empty() && {
        let mut ahead = *cursor;
        parse_clock(&mut ahead, BareHour::Hour).is_some_and(|clock| clock.minute != 0)
            && ahead.is_at_end()
    };
    let is_after_day = spoken.day.is_some() || spoken.part.is_some() || spoken.every.is_some();
    if is_led || is_after_day || is_in_words_alone {
        BareHour::Hour
    } else {
        BareHour::None
    }
}

/// Consumes the words between a day and its time.
fn consume_connector(cursor: &mut TokenCursor<'_>) {
    cursor.consume_any_phrase(&WORDS.connectors);
    cursor.consume_sign('@');
}
