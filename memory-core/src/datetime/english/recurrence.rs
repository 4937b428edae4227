//! Parses recurrences in English: "every other Friday", "every first Monday", "the 15th of each month", "daily".

use chrono::Weekday;

use super::super::cursor::TokenCursor;
use super::super::duration::{CalendarDuration, Quantity, TimeUnit};
use super::super::period::{Month, Period, PeriodEdge, Year};
use super::super::range;
use super::super::syntax::{CountedDays, DayExpression, DayPhrase, RecurrencePhrase, Week};

use super::dates::no_noun_follows;
use super::days::{parse_day, parse_listed_date};
use super::durations::{parse_duration, parse_unit};
use super::lexicon::{lookup_day_part, lookup_frequency, lookup_month, lookup_weekday};
use super::numbers::{is_numeral, parse_ordinal};
use super::periods::parse_period;
use super::spans::parse_one_unit;
use super::weekdays::is_hour_next;

const EACH: [&str; 2] = ["every", "each"];

/// Maximum length of a list of days.
const MAX_LIST: usize = 12;

/// Consumes a recurrence.
pub(super) fn parse_recurrence(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    if let Some(every) = cursor.consume_known(lookup_frequency) {
        return Some(RecurrencePhrase::interval(every));
    }
    if let Some(plural) = cursor.attempt(parse_plural_days) {
        return Some(plural);
    }
    if cursor.consume_word("once") {
        let is_each = cursor.consume_any_word(&["a", "every", "per"]);
        is_each.then_some(())?;
        return parse_one_unit(cursor).map(RecurrencePhrase::interval);
    }
    if !cursor.consume_any_word(&EACH) {
        return cursor.attempt(parse_days_of_each_month);
    }
    // "Every! 45 days" counts from the completion in other programs.
    cursor.consume_glued_sign('!');
    cursor.consume_word("single");
    cursor
        .attempt_any(&[
            parse_each_day_part,
            parse_each_working_day,
            parse_alternate_day,
            |cursor| parse_interval(cursor).map(RecurrencePhrase::interval),
            parse_each_day,
        ])
        .filter(|recurrence| !recurrence.every.is_zero())
}

/// Consumes "on weekdays", "business days at 9", "Tuesday evenings" and "Mon-Fri 08:00".
fn parse_plural_days(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    let before = cursor.word_before(1);
    let is_counted = cursor.is_number_before(1)
        || is_numeral(before)
        || matches!(before, "few" | "several" | "of");
    let is_range_end = matches!(before, "from" | "between" | "until");
    let is_led = cursor.consume_word("on");
    let start = cursor.position();
    let is_work = cursor.consume_any_word(&["business", "working", "work", "week"]);
    let is_timed = || {
        let mut ahead = *cursor;
        ahead.step();
        is_hour_next(&ahead)
    };
    let is_weekend_day = cursor.word() == "weekend" && cursor.word_ahead(1) == "day";
    let (days, is_plural) = match cursor.word() {
        "weekdays" | "workdays" => (Some(DayExpression::working_days()), true),
        "days" if is_work => (Some(DayExpression::working_days()), is_led || is_timed()),
        "weekday" | "workday" => (Some(DayExpression::working_days()), is_timed()),
        "day" if is_work => (Some(DayExpression::working_days()), false),
        "weekends" => (Some(both_days()), true),
        "weekend" if is_weekend_day => (Some(both_days()), false),
        "weekend" => (
            Some(DayExpression::Weekday(Weekday::Sat, Week::Coming)),
            false,
        ),
        _ => (None, false),
    };
    let days = if days.is_some() {
        (0..=usize::from(is_weekend_day)).for_each(|_| cursor.step());
        days
    } else {
        cursor.attempt(parse_weekdays)
    };
    let is_range = (1..cursor.position() - start).any(|back| cursor.sign_before(back) == Some('-'));
    let is_schedule = is_range && !is_range_end && is_hour_next(cursor);
    let part = lookup_day_part(cursor.word()).filter(|_| cursor.word().ends_with('s'));
    if part.is_some() {
        cursor.step();
    }
    let named = match days {
        Some(days) => RecurrencePhrase::on(days, 1),
        // "Evenings at 9".
        None => Some(RecurrencePhrase::daily(None))
            .filter(|_| !is_work && part.is_some() && is_hour_next(cursor)),
    };
    let recurs = !is_counted && (is_plural || is_schedule || part.is_some());
    Some(RecurrencePhrase { part, ..named? }).filter(|_| recurs)
}

/// Consumes "every morning".
fn parse_each_day_part(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    let part = cursor.consume_known(lookup_day_part)?;
    Some(RecurrencePhrase::daily(Some(part)))
}

/// Consumes "every weekday".
fn parse_each_working_day(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    let is_working = cursor.consume_any_word(&["weekday", "workday"])
        || cursor.consume_any_phrase(&["working day", "business day", "work day", "week day"]);
    is_working.then(|| RecurrencePhrase::on(DayExpression::working_days(), 1))?
}

/// Consumes "every other Friday" and "every second Thursday", which are every two weeks, and "every other June".
fn parse_alternate_day(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    let is_alternate = cursor.consume_any_word(&["other", "second", "alternate"]);
    is_alternate.then_some(())?;
    let days = parse_weekdays(cursor).or_else(|| parse_months(cursor))?;
    // "Every second Monday of the month" counts within the month.
    (!matches!(cursor.word(), "of" | "in")).then_some(())?;
    RecurrencePhrase::on(days, 2)
}

/// Consumes the interval of a recurrence: "3 days", "other week", "third month", "few hours", "hour".
fn parse_interval(cursor: &mut TokenCursor<'_>) -> Option<CalendarDuration> {
    let count = if cursor.consume_any_word(&["other", "alternate"]) {
        Some(2)
    } else {
        cursor.attempt(parse_ordinal).map(u64::from)
    };
    let Some(count) = count else {
        return cursor.attempt(parse_duration).or_else(|| {
            let (unit, each) = parse_unit(cursor).filter(|(unit, _)| *unit != TimeUnit::Second)?;
            unit.duration(Quantity::whole(each)?)
        });
    };
    let (unit, each) = parse_unit(cursor)?;
    // "Every last day of the month" and "every first day of the year" are days of a period.
    (cursor.word() != "of").then_some(())?;
    unit.duration(Quantity::whole(count.checked_mul(each)?)?)
}

/// Consumes "every Monday and Thursday", "every first Monday", "every 15th" and "every December 10".
fn parse_each_day(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    if let Some(days) = cursor.attempt(parse_ordinal_days) {
        cursor.attempt(parse_month_of_each);
        return RecurrencePhrase::on(days, 1);
    }
    if let Some(days) = cursor
        .attempt(parse_weekdays)
        .or_else(|| cursor.attempt(parse_months))
    {
        return RecurrencePhrase::on(days, 1);
    }
    let is_definite = |named: &DayPhrase| !named.is_vague || named.end.is_some();
    let named = parse_day(cursor).filter(|named| is_definite(named) && named.clock.is_none())?;
    let days = parse_more_days(cursor, named.day);
    Some(RecurrencePhrase {
        part: named.part,
        ..RecurrencePhrase::on(days, 1)?
    })
}

/// Consumes "the first and third Monday of every month" and "the 15th of each month".
fn parse_days_of_each_month(cursor: &mut TokenCursor<'_>) -> Option<RecurrencePhrase> {
    cursor.consume_word("on");
    cursor.consume_word("the");
    let days = parse_ordinal_days(cursor)?;
    let month = cursor.position();
    parse_month_of_each(cursor)?;
    // "Of the month" alone names a single day.
    let recurs = (month..cursor.position())
        .any(|at| EACH.contains(&cursor.word_before(cursor.position() - at)));
    recurs.then(|| RecurrencePhrase::on(days, 1))?
}

/// Consumes "of the month", "of every month" or "each month".
pub(super) fn parse_month_of_each(cursor: &mut TokenCursor<'_>) -> Option<()> {
    let is_of = cursor.consume_any_word(&["of", "in"]);
    let is_each = cursor.consume_any_word(&EACH) || is_of && cursor.consume_any_word(&["the", "a"]);
    (is_each && cursor.consume_word("month")).then_some(())
}

/// Consumes "first and third Monday", "last working day" or "1st and 15th", as days of any month.
pub(super) fn parse_ordinal_days(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let in_digits = cursor.is_number(0);
    let mut numbers = vec![parse_nth(cursor)?];
    while let Some(next) = cursor.attempt(|cursor| {
        let has_more = numbers.len() < MAX_LIST && consume_list_separator(cursor);
        has_more.then_some(())?;
        cursor.consume_word("the");
        parse_nth(cursor)
    }) {
        numbers.push(next);
    }
    let counted = cursor.attempt(parse_counted_days);
    let month = || Period::Month(Month::Unsaid);
    let days: Option<Vec<_>> = numbers
        .into_iter()
        .map(|nth| match counted {
            Some(counted) => Some(DayExpression::Nth(nth, counted, month())),
            None => u32::try_from(nth)
                .ok()
                .filter(|day| (in_digits || cursor.word() == "of") && (1..=31).contains(day))
                .map(|day| DayExpression::OfMonth(day, Month::Unsaid)),
        })
        .collect();
    // "Every 4th of July" names the month.
    let is_of_named = counted.is_none() && {
        let mut ahead = *cursor;
        ahead.consume_word("of");
        lookup_month(ahead.word()).is_some()
    };
    let is_of_period = counted.is_some() && {
        let mut ahead = *cursor;
        ahead.consume_any_word(&["of", "in"])
            && parse_period(&mut ahead).is_some_and(|period| {
                !matches!(period, Period::Month(Month::Unsaid | Month::Away(0)))
            })
    };
    (!is_of_named && !is_of_period).then_some(())?;
    days.map(DayExpression::one_or_any)
}

/// Consumes "first", "3rd", "last" or "second to last"; a negative number counts from the end.
pub(super) fn parse_nth(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    if cursor.consume_word("last") {
        return Some(-1);
    }
    let nth = i32::try_from(parse_ordinal(cursor)?).ok()?;
    let from_end =
        cursor.consume_word("last") || cursor.consume_any_phrase(&["to last", "to the last"]);
    Some(if from_end { -nth } else { nth })
}

/// Consumes the days that an ordinal counts: "Monday", "working day", "day".
pub(super) fn parse_counted_days(cursor: &mut TokenCursor<'_>) -> Option<CountedDays> {
    let is_working = cursor.consume_any_word(&["working", "business", "work"]);
    let counted = match cursor.word() {
        "day" if is_working => CountedDays::WorkingDays,
        "workday" | "weekday" => CountedDays::WorkingDays,
        "day" => CountedDays::Days,
        word => CountedDays::Weekdays(lookup_weekday(word)?.0),
    };
    cursor.step();
    Some(counted)
}

/// Consumes "Monday and Thursday" or "Monday to Friday".
pub(super) fn parse_weekdays(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let first = parse_weekday(cursor)?;
    Some(parse_more_days(cursor, first))
}

/// Consumes "June" and "January and July", of which the first days are meant.
pub(super) fn parse_months(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let mut months = vec![parse_whole_month(cursor)?];
    while let Some(next) = cursor.attempt(|cursor| {
        let has_more = months.len() < MAX_LIST && consume_list_separator(cursor);
        cursor.consume_any_word(&EACH);
        parse_whole_month(cursor).filter(|_| has_more)
    }) {
        months.push(next);
    }
    Some(DayExpression::one_or_any(months))
}

/// Consumes a month without a date.
fn parse_whole_month(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let word = cursor.word();
    let (month, _) = cursor.consume_known(lookup_month)?;
    cursor.consume_point();
    let mut ahead = *cursor;
    ahead.consume_word("the");
    let has_date = parse_ordinal(&mut ahead).is_some() || cursor.is_number(0);
    // "Each may choose" names no month.
    let is_verb = matches!(word, "may" | "march") && !no_noun_follows(cursor);
    let month = Period::Month(Month::Named(month, Year::Unsaid));
    (is_hour_next(cursor) || !has_date && !is_verb)
        .then_some(DayExpression::Edge(PeriodEdge::Start, month))
}

/// Returns Saturday and Sunday.
fn both_days() -> DayExpression {
    DayExpression::weekdays_between(Weekday::Sat, Weekday::Sun)
}

/// Consumes a weekday without a date, or the weekend.
fn parse_weekday(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let weekday = cursor.consume_known(|word| match word {
        "weekend" => Some(Weekday::Sat),
        word => Some(lookup_weekday(word)?.0),
    })?;
    cursor.consume_glued_sign('.');
    // "Every Friday the 13th" needs both.
    let mut ahead = *cursor;
    ahead.consume_word("the");
    parse_ordinal(&mut ahead).is_none().then_some(())?;
    Some(DayExpression::Weekday(weekday, Week::Coming))
}

/// Consumes the other days of a list that starts with `first`, or of a range of weekdays.
pub(super) fn parse_more_days(cursor: &mut TokenCursor<'_>, first: DayExpression) -> DayExpression {
    let DayExpression::Weekday(mut last, _) = first else {
        return parse_more_dates(cursor, first);
    };
    let mut days = vec![first];
    while let Some((is_range, day)) = cursor.attempt(|cursor| {
        let is_range =
            cursor.consume_any_word(&["to", "through", "thru"]) || cursor.consume_sign('-');
        if MAX_LIST <= days.len() || !is_range && !consume_list_separator(cursor) {
            return None;
        }
        cursor.consume_any_word(&["on", "every", "each"]);
        parse_weekday(cursor).map(|day| (is_range, day))
    }) {
        let DayExpression::Weekday(weekday, _) = day else {
            break;
        };
        match DayExpression::weekdays_between(last, weekday) {
            DayExpression::AnyOf(between) if is_range => days.extend(between.into_iter().skip(1)),
            _ => days.push(day),
        }
        last = weekday;
    }
    DayExpression::one_or_any(days)
}

/// Consumes the other dates of a list that recur as often as `first`: "January 30 and September 30", "1/30, 4/30 and 9/30".
fn parse_more_dates(cursor: &mut TokenCursor<'_>, first: DayExpression) -> DayExpression {
    let every = first.natural_interval();
    let mut days = vec![first];
    while let Some(day) = cursor.attempt(|cursor| {
        let has_more = every.is_some() && days.len() < MAX_LIST && consume_list_separator(cursor);
        let mut last = days.last().filter(|_| has_more)?.clone();
        cursor.consume_any_word(&["on", "every", "each"]);
        let mut day = cursor
            .attempt(|cursor| parse_day(cursor).filter(|named| named.clock.is_none()))
            .map(|named| named.day)
            .or_else(|| parse_listed_date(cursor))
            .or_else(|| {
                let day = parse_ordinal(cursor)?;
                Some(DayExpression::OfMonth(day, Month::Unsaid))
            })?;
        range::share_month(&mut last, &mut day);
        (day.natural_interval() == every).then_some(day)
    }) {
        days.push(day);
    }
    DayExpression::one_or_any(days)
}

/// Consumes "and", a comma, or both.
pub(in super::super) fn consume_list_separator(cursor: &mut TokenCursor<'_>) -> bool {
    let is_comma = cursor.consume_sign(',');
    cursor.consume_any_word(&["and", "or"])
        || is_comma
        || cursor.consume_sign('&')
        || cursor.consume_sign('/')
        || cursor.consume_sign('+')
}
