//! Parses weeks, months and years in English, and their ends: "by the end of next month", "in May".

use super::super::cursor::TokenCursor;
use super::super::period::{Month, Period, PeriodEdge, Year};
use super::super::syntax::{DayExpression, DayPhrase};
use super::super::time_of_day::{DayPart, TimeOfDay};
use super::super::token::DateTokenKind::{Han, Number, Other, Sign, Word};
use super::super::{numeric, range};
use super::dates::{
    month_beside, no_noun_follows, parse_day_of_month, parse_month, parse_month_date,
    parse_period_offset,
};
use super::days::parse_nth_day;
use super::lexicon::{Sense, WORDS, lookup_day_part, lookup_month, lookup_near_day};
use super::numbers::parse_year;
use super::spans::{MAX_PARTS, parse_part, parse_quarter};
use super::weekdays::{parse_weekday, parse_weeks_beyond};

/// Consumes a period.
pub(super) fn parse_period(cursor: &mut TokenCursor<'_>) -> Option<Period> {
    cursor
        .attempt(|cursor| parse_part(cursor, MAX_PARTS))
        .or_else(|| parse_single_period(cursor))
}

/// Consumes a period that is no part of another: "the week", "May 2027", "Q1".
pub(super) fn parse_single_period(cursor: &mut TokenCursor<'_>) -> Option<Period> {
    let day = cursor.attempt(|cursor| {
        if let Some(days) = lookup_near_day(cursor.word()) {
            cursor.step();
            return Some(Period::Day(Box::new(DayExpression::Shifted(days))));
        }
        cursor.consume_word("the");
        parse_weekday(cursor).map(|named| match named.end {
            Some(last) => Period::Span(Box::new(named.day), Box::new(last)),
            None => Period::Day(Box::new(named.day)),
        })
    });
    let named_year = |cursor: &mut TokenCursor<'_>| {
        cursor.consume_phrase("the year");
        parse_year(cursor).map(|year| Period::Year(Year::Exactly(year)))
    };
    day.or_else(|| cursor.attempt(parse_relative_period))
        .or_else(|| cursor.attempt(parse_quarter))
        .or_else(|| parse_month(cursor).map(Period::Month))
        .or_else(|| cursor.attempt(named_year))
}

/// Consumes "the week", "next month" and "this year".
pub(super) fn parse_relative_period(cursor: &mut TokenCursor<'_>) -> Option<Period> {
    let has_article = cursor.consume_word("the");
    let distance = parse_period_offset(cursor).or(has_article.then_some(0))?;
    let is_working = cursor.consume_any_word(&["work", "working", "business"]);
    cursor.consume_known(|word| match word {
        "day" => Some(Period::Day(Box::new(DayExpression::Shifted(
            distance.into(),
        )))),
        "workweek" => Some(Period::WorkWeek(distance)),
        "week" if is_working => Some(Period::WorkWeek(distance)),
        word => period_at(distance, word),
    })
}

/// Returns the period with a name at a distance from the current one.
fn period_at(distance: i32, name: &str) -> Option<Period> {
    Some(match name {
        "week" => Period::Week(distance),
        "month" => Period::Month(Month::Away(distance)),
        "quarter" => Period::Quarter(distance),
        "year" => Period::Year(Year::Away(distance)),
        _ => return None,
    })
}

/// Consumes "the end of the month", "mid-March", "end of day" and "eom".
pub(super) fn parse_period_edge(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    if let Some(clock) = cursor.attempt(parse_day_edge) {
        return day_of_edge(cursor, clock);
    }
    if let Some(named) = cursor.attempt(parse_abbreviation) {
        return Some(named);
    }
    cursor.consume_word("the");
    cursor.consume_word("very");
    let is_loose = matches!(cursor.word(), "mid" | "early" | "late");
    let edge = cursor.consume_known(|word| match word {
        "beginning" | "start" | "early" => Some(PeriodEdge::Start),
        "middle" | "mid" => Some(PeriodEdge::Middle),
        "end" | "late" => Some(PeriodEdge::End),
        _ => None,
    })?;
    cursor.consume_glued_sign('-');
    (cursor.consume_word("of") || is_loose).then_some(())?;
    let allows_bare = !is_loose || edge == PeriodEdge::Middle;
    let bare = |word| period_at(0, word).filter(|_| allows_bare);
    let period = cursor
        .consume_known(bare)
        .or_else(|| parse_period(cursor))?;
    let Period::Day(day) = period else {
        return Some(DayPhrase {
            is_vague: is_loose,
            ..DayExpression::Edge(edge, period).into()
        });
    };
    let clock = match edge {
        PeriodEdge::End => TimeOfDay::LAST_SECOND,
        _ if is_loose => return None,
        PeriodEdge::Middle => TimeOfDay::NOON,
        PeriodEdge::Start => TimeOfDay::MIDNIGHT,
    };
    Some(DayPhrase {
        clock: Some(clock),
        ..(*day).into()
    })
}

/// Consumes the month or year behind a day of a month or year: "March" behind "end of month", "2026" behind "end of year".
pub(super) fn parse_period_of_day(
    cursor: &mut TokenCursor<'_>,
    day: &DayExpression,
) -> Option<DayPhrase> {
    let month = cursor.attempt(parse_month).map(Period::Month);
    let period = month
        .or_else(|| parse_year(cursor).map(|year| Period::Year(Year::Exactly(year))))
        .filter(|period| is_edge_of(day, period))?;
    Some(DayPhrase::start_of(period))
}

/// Returns whether a day is the edge, or another numbered day, of a month or year that `period` names.
fn is_edge_of(day: &DayExpression, period: &Period) -> bool {
    matches!(day, DayExpression::Edge(..) | DayExpression::Nth(..)) && day.within(period).is_some()
}

/// Returns whether a day of a month or year follows that `period` names: "end of month" behind "March,".
fn is_edge_next(mut cursor: TokenCursor<'_>, period: &Period) -> bool {
    if cursor.sign_before(1) == Some('.') {
        return false;
    }
    let _ = cursor.consume_sign(',') || cursor.consume_sign('-') || cursor.consume_sign(':');
    cursor.consume_any_word(&["at", "by", "in", "on"]);
    let edge = cursor
        .attempt(parse_period_edge)
        .or_else(|| parse_nth_day(&mut cursor));
    edge.is_some_and(|edge| is_edge_of(&edge.day, period))
}

/// Consumes the start, the middle or the end of a day, as a time: "end of day", "close of business".
pub(super) fn parse_day_edge(cursor: &mut TokenCursor<'_>) -> Option<TimeOfDay> {
    let edges: [(&[&str], TimeOfDay); 4] = [
        (
            &["start of day", "start of the day", "beginning of the day"],
            TimeOfDay::MIDNIGHT,
        ),
        (&["middle of the day"], TimeOfDay::NOON),
        (
            &["end of business", "close of business", "cob", "eob"],
            TimeOfDay::unambiguous(17, 0),
        ),
        (
            &["end of day", "end of the day", "eod"],
            TimeOfDay::LAST_SECOND,
        ),
    ];
    cursor.consume_word("the");
    cursor.consume_word("very");
    edges
        .into_iter()
        .find(|(names, _)| cursor.consume_any_phrase(names))
        .map(|(_, clock)| clock)
}

/// Consumes the day of an "end of day"; it defaults to today, unless the time is one before the end of the day.
fn day_of_edge(cursor: &mut TokenCursor<'_>, clock: TimeOfDay) -> Option<DayPhrase> {
    let day = cursor.attempt(|cursor| {
        cursor.consume_any_word(&["on", "of"]);
        let forms = [
            parse_month_date,
            numeric::parse_full_date,
            parse_day_of_month,
        ];
        let date = |cursor: &mut TokenCursor<'_>| cursor.attempt_any(&forms).map(DayPhrase::from);
        parse_named_offset(cursor)
            .or_else(|| cursor.attempt(parse_weekday))
            .or_else(|| date(cursor))
    });
    let today = || DayExpression::Shifted(0).into();
    Some(DayPhrase {
        clock: Some(clock),
        ..day.or_else(|| (12 < clock.hour).then(today))?
    })
}

/// Consumes "eow", "eom" and "month end".
fn parse_abbreviation(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let ends = [
        ("eow", "week end", "week"),
        ("eom", "month end", "month"),
        ("eoy", "year end", "year"),
    ];
    let (_, _, name) = ends
        .into_iter()
        .find(|(short, long, _)| cursor.consume_word(short) || cursor.consume_phrase(long))?;
    Some(DayExpression::Edge(PeriodEdge::End, period_at(0, name)?).into())
}

/// Consumes a period that resolves to its first day: "in May", "next week", "since 2013".
pub(super) fn parse_vague_period(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let start = |period| Some(DayPhrase::start_of(period));
    if let Some(day) = cursor.attempt(numeric::parse_week) {
        return Some(DayPhrase::vague(day));
    }
    // In a story "the next day" follows another day; it is tomorrow only on its own.
    let beside = cursor.attempt(|cursor| {
        cursor.consume_word("the");
        if cursor.consume_any_word(&["next", "following"]) {
            return cursor.consume_word("day").then_some(1);
        }
        cursor.consume_word("day").then_some(())?;
        let days = cursor.consume_known(|word| match word {
            "after" => Some(1),
            "before" => Some(-1),
            _ => None,
        })?;
        (no_noun_follows(cursor) && cursor.word().is_empty()).then_some(days)
    });
    if let Some(days) = beside {
        return Some(DayPhrase::vague(DayExpression::Shifted(days)));
    }
    let before = cursor.word_before(1);
    if let Some(period) = cursor.attempt(parse_whole_period) {
        // "By this week" is before its end.
        let is_limit = matches!(before, "by" | "until" | "till" | "til") && period.is_current();
        return if is_limit {
            Some(DayExpression::Edge(PeriodEdge::End, period).into())
        } else {
            start(period)
        };
    }
    if let Some((_, sense)) = lookup_month(cursor.word()) {
        let is_led = [
            "in", "by", "until", "before", "since", "till", "of", "during",
        ]
        .contains(&before)
            || matches!(before, "and" | "or") && lookup_month(cursor.word_before(2)).is_some();
        // "We march at the end of the month" names no month.
        let is_first = cursor.is_at_start();
        let period = parse_month(cursor)?;
        let has_year = !matches!(period, Month::Named(_, Year::Unsaid));
        let is_range_start = || {
            let mut ahead = *cursor;
            range::consume_joint(&mut ahead)
                && (lookup_month(ahead.word()).is_some() || matches!(ahead.word(), "now" | "today"))
        };
        let is_month = is_led
            || has_year
            || is_range_start()
            || cursor
                .clone()
                .consume_any_phrase(&["every year", "each year"])
            || (sense == Sense::Only || is_first || matches!(cursor.peek(0), Some(Sign(_))))
                && is_edge_next(*cursor, &Period::Month(period))
            || sense == Sense::Only && cursor.is_at_end() && cursor.peek_back(2).is_none();
        return is_month.then(|| start(Period::Month(period))).flatten();
    }
    let is_led = [
        "in", "since", "until", "by", "before", "year", "till", "during",
    ]
    .contains(&before);
    let is_between = matches!(before, "from" | "between");
    let year = parse_year(cursor).filter(|year| (1900..=2099).contains(year))?;
    let is_range_start = || {
        let mut ahead = *cursor;
        (range::consume_joint(&mut ahead) || before == "between" && ahead.consume_word("and"))
            && parse_year(&mut ahead).is_some()
    };
    let period = Period::Year(Year::Exactly(year));
    let is_year = is_led || is_between && is_range_start() || is_edge_next(*cursor, &period);
    is_year.then(|| start(period))?
}

/// Consumes "next week", "last month", "last October" and "the week after next".
fn parse_whole_period(cursor: &mut TokenCursor<'_>) -> Option<Period> {
    let after_next = cursor.attempt(|cursor| {
        cursor.consume_word("the");
        let word = cursor.word();
        cursor.step();
        cursor.consume_phrase("after next").then_some(word)
    });
    if let Some(word) = after_next {
        return period_at(2, word);
    }
    let distance = parse_period_offset(cursor)?;
    if let Some(period) = cursor.consume_known(|word| period_at(distance, word)) {
        return Some(period);
    }
    let word = cursor.word();
    let (month, _) = cursor.consume_known(lookup_month)?;
    // "This may help" and "the next march is" name no month.
    let is_month = match cursor.peek(0) {
        Some(Word(next)) => {
            !matches!(word, "may" | "march")
                || distance != 0 && matches!(next, "at" | "for" | "on" | "to")
        }
        Some(Number(_) | Other) => false,
        None | Some(Han(_) | Sign(_)) => true,
    };
    is_month.then_some(Period::Month(month_beside(month, distance)))
}

/// Consumes "today", "tomorrow", "tonight", "this morning" and "now".
pub(super) fn parse_named_offset(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    if cursor.consume_any_phrase(&WORDS.now) {
        return Some(DayExpression::Now.into());
    }
    let this_part = cursor.attempt(|cursor| {
        let is_last = cursor.consume_word("last");
        (is_last || cursor.consume_word("this")).then_some(())?;
        cursor.consume_any_word(&["early", "late"]);
        let part = cursor.consume_known(lookup_day_part)?;
        let is_night = matches!(part, DayPart::Night | DayPart::Evening);
        (!is_last || is_night).then_some((if is_last { -1 } else { 0 }, part))
    });
    if let Some((days, part)) = this_part {
        return Some(DayPhrase::in_part(DayExpression::Shifted(days), part));
    }
    cursor.consume_any_word(&["later", "early", "earlier", "late"]);
    if cursor.consume_any_word(&["tonight", "tonite"]) {
        return Some(DayPhrase::in_part(
            DayExpression::Shifted(0),
            DayPart::Night,
        ));
    }
    let days = cursor.consume_known(lookup_near_day)?;
    // "Yesterday week" is a week before yesterday.
    let weeks = cursor
        .attempt(parse_weeks_beyond)
        .map_or(0, |weeks| i64::from(if days < 0 { -weeks } else { weeks }));
    Some(DayExpression::Shifted(days + 7 * weeks).into())
}
