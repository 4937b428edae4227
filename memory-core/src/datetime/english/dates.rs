//! Parses calendar dates in English: "March 3rd", "the third of March 2015", "31/Oct/1974", "the 15th".

use super::super::cursor::TokenCursor;
use super::super::numeric::expand_year;
use super::super::period::{Month, Year};
use super::super::range;
use super::super::syntax::DayExpression;
use super::super::token::DateNumber;
use super::super::token::DateTokenKind::{Han, Number, Other, Sign, Word};
use super::lexicon::{Sense, lookup_month, lookup_unit, lookup_weekday};
use super::numbers::{parse_below_hundred, parse_ordinal, parse_year};
use super::spans::{MAX_PARTS, parse_part};
use super::times_of_day::can_end_number;

/// Consumes a day of a named month.
pub(super) fn parse_month_date(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let forms = [parse_year_first, parse_month_first, parse_day_first];
    let day = forms.into_iter().find_map(|form| cursor.attempt(form))?;
    // A weekday in brackets repeats the information.
    let weekday = cursor.attempt(|cursor| {
        let opened = cursor.consume_sign('(');
        let (weekday, _) = lookup_weekday(cursor.word()).filter(|_| opened)?;
        cursor.step();
        cursor.consume_sign(')').then_some(weekday)
    });
    Some(weekday.map_or(day.clone(), |weekday| day.on_weekday(weekday)))
}

/// Consumes "2019/aug/01".
fn parse_year_first(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let year = cursor.consume_digits(4..=4)?;
    let separator = cursor.consume_any_glued_sign(&['/', '-', '.'])?;
    let (month, _) = cursor.consume_known(lookup_month)?;
    cursor.consume_glued_sign(separator).then_some(())?;
    exact_date(year, month, cursor.consume_glued_digits(1..=2)?)
}

fn exact_date(year: DateNumber, month: u32, day: DateNumber) -> Option<DayExpression> {
    let year = Year::Exactly(i32::try_from(year.value).ok()?);
    day_of_named_month(u32::try_from(day.value).ok()?, month, year, false)
}

/// Consumes "October 14, 2017", "Oct.23", "Jan-1" and "march the third".
fn parse_month_first(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let (month, sense) = cursor.consume_known(lookup_month)?;
    let is_joined = consume_date_separator(cursor) || cursor.consume_sign('.');
    let has_article = cursor.consume_word("the");
    if let Some(day) =
        cursor.attempt(|cursor| is_joined.then(|| parse_year_and_day(cursor, month))?)
    {
        return Some(day);
    }
    let (day, mut is_ordinal) = parse_day_number(cursor)?;
    is_ordinal |= consume_other_ending(cursor);
    let year = parse_following_year(cursor, is_joined);
    let is_plain = year == Year::Unsaid && !is_ordinal;
    if is_plain && has_article
        || is_plain && sense == Sense::AmongOthers && !can_end_date(cursor)
        || is_plain && is_counted(cursor) && !starts_range(cursor, day, month)
    {
        return None;
    }
    day_of_named_month(day, month, year, is_ordinal)
}

/// Consumes the rest of "September-2020-23" after the month.
fn parse_year_and_day(cursor: &mut TokenCursor<'_>, month: u32) -> Option<DayExpression> {
    let year = cursor.consume_glued_digits(4..=4)?;
    consume_date_separator(cursor).then_some(())?;
    exact_date(year, month, cursor.consume_glued_digits(1..=2)?)
}

/// Consumes "3 March", "the third of March", "31/Oct/1974" and "fifteen August".
fn parse_day_first(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let is_clean = cursor.starts_cleanly();
    let is_between = cursor.word_before(1) == "between";
    cursor.consume_word("the");
    let (day, mut is_ordinal) = parse_day_number(cursor).filter(|_| is_clean)?;
    is_ordinal |= consume_other_ending(cursor);
    if is_glued_point_before_month(cursor) {
        cursor.step();
    }
    if let Some(month) = month_of_last_day(*cursor, day, is_between) {
        return Some(DayExpression::OfMonth(day, month));
    }
    cursor.consume_word("day");
    let has_of = cursor.consume_word("of");
    let is_joined = !has_of && consume_date_separator(cursor);
    // "23-2020-September" has the year in the middle.
    let middle = cursor.attempt(|cursor| {
        let year = cursor.consume_glued_digits(4..=4).filter(|_| is_joined)?;
        consume_date_separator(cursor).then(|| i32::try_from(year.value).ok())?
    });
    let (month, sense) = cursor.consume_known(lookup_month)?;
    cursor.consume_glued_sign('.');
    let year = middle.map_or_else(|| parse_following_year(cursor, is_joined), Year::Exactly);
    let is_said = is_ordinal || has_of || year != Year::Unsaid;
    (is_said || sense != Sense::AmongOthers || can_end_date(cursor)).then_some(())?;
    day_of_named_month(day, month, year, is_ordinal)
}

/// Returns the month of "10-12 December" and "9, 10 and 11 June" after the first day.
fn month_of_last_day(mut cursor: TokenCursor<'_>, first: u32, is_between: bool) -> Option<Month> {
    let is_range = range::consume_joint(&mut cursor);
    let has_comma = !is_range && cursor.consume_sign(',');
    let is_last = is_range || cursor.consume_any_word(&["and", "or"]) || cursor.consume_sign('&');
    cursor.consume_word("the");
    let (day, _) = parse_day_number(&mut cursor)
        .filter(|(day, _)| (is_last || has_comma) && first < *day && *day <= 31)?;
    if !is_range
        && !is_between
        && let Some(month) = month_of_last_day(cursor, day, false)
    {
        return Some(month);
    }
    is_last.then_some(())?;
    let has_of = cursor.consume_word("of");
    let (month, sense) = cursor.consume_known(lookup_month)?;
    let year = parse_following_year(&mut cursor, false);
    let is_month = sense == Sense::Only || has_of || year != Year::Unsaid || can_end_date(&cursor);
    is_month.then_some(Month::Named(month, year))
}

/// Returns whether "-12" follows a day.
fn starts_range(cursor: &TokenCursor<'_>, day: u32, month: u32) -> bool {
    let day = DayExpression::OfMonth(day, Month::Named(month, Year::Unsaid));
    range::follows(cursor, &day.into())
}

/// Returns whether a day and its month follow, such as "22nd of August".
pub(in super::super) fn starts_with_day_of_month(mut cursor: TokenCursor<'_>) -> bool {
    cursor.consume_word("the");
    let has_day = parse_day_number(&mut cursor).is_some();
    cursor.consume_word("of");
    has_day && lookup_month(cursor.word()).is_some()
}

/// Returns whether "to the 12th" follows.
fn is_range_next(mut cursor: TokenCursor<'_>) -> bool {
    range::consume_joint(&mut cursor) && {
        cursor.consume_word("the");
        parse_ordinal(&mut cursor).is_some()
    }
}

fn consume_date_separator(cursor: &mut TokenCursor<'_>) -> bool {
    cursor.is_glued(1) && (cursor.consume_glued_sign('-') || cursor.consume_glued_sign('/'))
}

/// Returns the day of a month; an ordinal that no month reaches, such as "32nd", denotes no day.
fn day_of_named_month(day: u32, month: u32, year: Year, is_ordinal: bool) -> Option<DayExpression> {
    ((1..=31).contains(&day) || is_ordinal)
        .then_some(DayExpression::OfMonth(day, Month::Named(month, year)))
}

/// Returns whether a date can end here, for a month name that is also another word.
fn can_end_date(cursor: &TokenCursor<'_>) -> bool {
    can_end_number(cursor) || cursor.is_at_end() || cursor.is_number(0)
}

/// Returns whether the number counts something, as in "July 4 weeks" and "March 20%".
fn is_counted(cursor: &TokenCursor<'_>) -> bool {
    !cursor.ends_cleanly()
        || lookup_unit(cursor.word()).is_some() && !matches!(cursor.word(), "night" | "day")
}

/// Consumes the number of a day, and returns whether it is an ordinal.
fn parse_day_number(cursor: &mut TokenCursor<'_>) -> Option<(u32, bool)> {
    if let Some(day) = parse_ordinal(cursor) {
        return Some((day, true));
    }
    let day = cursor.attempt(|cursor| {
        cursor
            .consume_digits(1..=2)
            .map(|day| day.value)
            .or_else(|| parse_below_hundred(cursor))
    })?;
    let is_minute_next = cursor.is_glued(1) && cursor.is_number(1);
    let is_clock = cursor.is_glued(0)
        && match cursor.peek(0) {
            Some(Sign(':')) => is_minute_next,
            what => matches!(what, Some(Word("am" | "pm" | "h"))),
        };
    (!is_clock).then_some((u32::try_from(day).ok()?, false))
}

/// Consumes an ending beside a month that no English ordinal has: one with a wrong letter ("31sh", "3td") or the French "1er".
fn consume_other_ending(cursor: &mut TokenCursor<'_>) -> bool {
    let word = cursor.word();
    let is_one_off = |ending: &str| strsim::hamming(ending, word) == Ok(1);
    // "3ns", "5rs" and "10ft" are amounts.
    let is_ending = word == "er"
        || word.bytes().all(|letter| b"sndrth".contains(&letter))
            && !matches!(word, "ns" | "rs" | "hd")
            && ["st", "nd", "rd", "th"]
                .iter()
                .any(|ending| is_one_off(ending));
    let is_consumed = cursor.is_glued(0) && is_ending;
    if is_consumed {
        cursor.step();
    }
    is_consumed
}

/// Returns whether the point of a German ordinal is next: "5. Februar".
fn is_glued_point_before_month(cursor: &TokenCursor<'_>) -> bool {
    cursor.is_glued(0)
        && cursor.sign(0) == Some('.')
        && lookup_month(cursor.word_ahead(1)).is_some()
}

/// Consumes the year that follows a day and month, if there is one.
fn parse_following_year(cursor: &mut TokenCursor<'_>, is_joined: bool) -> Year {
    let in_two_digits = |cursor: &mut TokenCursor<'_>| {
        cursor.consume_sign(',');
        let year = cursor.consume_digits(2..=2)?;
        (cursor.is_at_end() && cursor.word_before(2) != "at")
            .then(|| i32::try_from(expand_year(year.value)).ok())?
    };
    let short = |cursor: &mut TokenCursor<'_>| {
        let is_of = cursor.consume_word("of");
        cursor.consume_sign(',');
        let is_marked = is_of
            || cursor.consume_sign('\'')
            || cursor.consume_sign('\u{2019}')
            || is_joined && consume_date_separator(cursor);
        let is_near = is_of || cursor.is_glued(0);
        let year = cursor
            .consume_number()
            .filter(|year| is_marked && is_near && year.digits == 2 && cursor.ends_cleanly())?;
        i32::try_from(expand_year(year.value)).ok()
    };
    let whole = |cursor: &mut TokenCursor<'_>| {
        if !(is_joined && consume_date_separator(cursor)) {
            cursor.consume_sign(',');
            cursor.consume_any_word(&["of", "in"]);
        }
        parse_year(cursor)
    };
    let away = |cursor: &mut TokenCursor<'_>| {
        cursor.consume_sign(',');
        cursor.consume_any_word(&["of", "in"]);
        parse_relative_year(cursor)
    };
    if let Some(years) = cursor.attempt(away) {
        return Year::Away(years);
    }
    let year = cursor
        .attempt(short)
        .or_else(|| cursor.attempt(whole))
        .or_else(|| cursor.attempt(in_two_digits));
    year.map_or(Year::Unsaid, Year::Exactly)
}

/// Consumes "next year", "this year" or "last year".
pub(super) fn parse_relative_year(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    cursor.attempt(|cursor| {
        cursor.consume_word("the");
        let years = parse_period_offset(cursor)?;
        cursor.consume_word("year").then_some(years)
    })
}

/// Consumes "next", "this" or "last", and returns the offset.
pub(super) fn parse_period_offset(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    cursor.consume_word("the");
    let distance = cursor.consume_known(|word| match word {
        "next" | "following" | "coming" | "upcoming" => Some(1),
        "this" | "current" => Some(0),
        "last" | "previous" | "past" => Some(-1),
        _ => None,
    })?;
    cursor.consume_any_word(&["coming", "current"]);
    Some(distance)
}

/// Returns the month that "last May" (-1), "this May" (0) or "next May" (1) names.
pub(super) fn month_beside(month: u32, side: i32) -> Month {
    let year = if side == 0 {
        Year::Away(0)
    } else {
        Year::Beside(side)
    };
    Month::Named(month, year)
}

/// Consumes a month, with or without its year: "May 2014", "next month", "the month".
pub(in super::super) fn parse_month(cursor: &mut TokenCursor<'_>) -> Option<Month> {
    cursor.attempt(|cursor| {
        if let Some((month, _)) = cursor.consume_known(lookup_month) {
            cursor.consume_glued_sign('.');
            return Some(Month::Named(month, parse_following_year(cursor, false)));
        }
        let beside = cursor.attempt(|cursor| {
            let side = parse_period_offset(cursor)?;
            if cursor.consume_word("month") {
                return Some(Month::Away(side));
            }
            let (month, _) = cursor.consume_known(lookup_month)?;
            Some(month_beside(month, side))
        });
        beside.or_else(|| {
            cursor.consume_any_word(&["the", "every", "each"]);
            cursor.consume_word("month").then_some(Month::Unsaid)
        })
    })
}

/// Consumes "the 15th", "20th of next month", "20 of this month" and, after "on", "15".
pub(super) fn parse_day_of_month(cursor: &mut TokenCursor<'_>) -> Option<DayExpression> {
    let before = cursor.word_before(1);
    let is_alone = cursor.is_at_start();
    cursor.starts_cleanly().then_some(())?;
    let has_article = cursor.consume_word("the");
    let in_words = !cursor.word().is_empty();
    let (day, is_ordinal) = parse_day_number(cursor).filter(|(day, _)| (1..=31).contains(day))?;
    let of = cursor.attempt(|cursor| {
        cursor.consume_word("day");
        (cursor.consume_any_word(&["of", "in"]) || matches!(cursor.word(), "next" | "this"))
            .then(|| parse_month(cursor))?
    });
    if let Some(month) = of {
        return Some(DayExpression::OfMonth(day, month));
    }
    let of_part = cursor.attempt(|cursor| {
        let is_of = cursor.consume_word("of");
        let part = parse_part(cursor, MAX_PARTS).filter(|_| is_of)?;
        DayExpression::OfMonth(day, Month::Unsaid).within(&part)
    });
    if of_part.is_some() {
        return of_part;
    }
    let is_led = [
        "on", "by", "before", "until", "till", "after", "since", "from", "due", "for", "at",
    ]
    .contains(&before);
    let is_day = match (is_ordinal, has_article) {
        // Words such as "the second" and "the first" refer to things more often than to days.
        (true, true) if in_words => is_led && before != "at" && no_noun_follows(cursor),
        (true, true) if no_noun_follows(cursor) => true,
        (true, _) => (is_led || is_alone) && can_end_date(cursor),
        (false, false) => {
            before == "on" && !in_words && cursor.ends_cleanly() && can_end_number(cursor)
        }
        (false, true) => {
            is_led
                && (in_words || !matches!(before, "from" | "after" | "since"))
                && no_noun_follows(cursor)
                && before != "at"
        }
    };
    (is_day || is_ordinal && !in_words && is_range_next(*cursor))
        .then_some(DayExpression::OfMonth(day, Month::Unsaid))
}

/// Returns whether no noun follows that the number could refer to.
pub(super) fn no_noun_follows(cursor: &TokenCursor<'_>) -> bool {
    match cursor.peek(0) {
        None | Some(Han(_)) => true,
        Some(Word(word)) => [
            "at", "and", "or", "please", "i", "we", "before", "after", "because",
        ]
        .contains(&word),
        Some(Sign(sign)) => sign != '-',
        Some(Number(_) | Other) => false,
    }
}
