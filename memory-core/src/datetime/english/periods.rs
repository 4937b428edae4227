//! Parses weeks, months and years in English, and their ends: "by the end of next month", "in May".

use super::super::cursor::TokenCursor;
use super::super::syntax::{
    DayExpression, DayPart, DayPhrase, Month, Period, PeriodEdge, TimeOfDay, Year,
};
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
    let distance = parse_period_offset(cursor).or(if has_article { Some(0) } else { None })?;
    let is_working = cursor.consume_any_word(&["work", "working", "business"]);
    let period = match cursor.word() {
        "day" => Period::Day(Box::new(DayExpression::Shifted(i64::from(distance)))),
        "week" if is_working => Period::WorkWeek(distance),
        "workweek" => Period::WorkWeek(distance),
        "week" => Period::Week(distance),
        "quarter" => Period::Quarter(distance),
        "month" => Period::Month(Month::Away(distance)),
        "year" => Period::Year(Year::Away(distance)),
        _ => return None,
    };
    cursor.step();
    Some(period)
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
    let edge = match cursor.word() {
        "beginning" | "start" | "early" => PeriodEdge::Start,
        "middle" | "mid" => PeriodEdge::Middle,
        "end" | "late" => PeriodEdge::End,
        _ => return None,
    };
    let is_loose = matches!(cursor.word(), "mid" | "early" | "late");
    cursor.step();
    cursor.consume_glued_sign('-');
    (cursor.consume_word("of") || is_loose).then_some(())?;
    let bare = |cursor: &mut TokenCursor<'_>| match cursor.word() {
        "month" => Some(Period::Month(Month::Away(0))),
        "week" => Some(Period::Week(0)),
        "year" => Some(Period::Year(Year::Away(0))),
        "quarter" => Some(Period::Quarter(0)),
        _ => None,
    };
    let allows_bare = !is_loose || edge == PeriodEdge::Middle;
    let period = match bare(cursor).filter(|_| allows_bare) {
        Some(period) => {
            cursor.step();
            period
        }
        None => parse_period(cursor)?,
    };
    match (edge, period) {
        (edge, Period::Day(day)) => {
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
        (edge, period) => Some(DayPhrase {
            is_vague: is_loose,
            ..DayExpression::Edge(edge, period).into()
        }),
    }
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
    Some(DayPhrase::vague(DayExpression::Edge(
        PeriodEdge::Start,
        period,
    )))
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
        parse_named_offset(cursor)
            .or_else(|| cursor.attempt(parse_weekday))
            .or_else(|| {
                let date = forms.into_iter().find_map(|form| cursor.attempt(form))?;
                Some(date.into())
            })
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
        ("eow", "week end"),
        ("eom", "month end"),
        ("eoy", "year end"),
    ];
    let at = ends
        .into_iter()
        .position(|(short, long)| cursor.consume_word(short) || cursor.consume_phrase(long))?;
    let period = match at {
        0 => Period::Week(0),
        1 => Period::Month(Month::Away(0)),
        _ => Period::Year(Year::Away(0)),
    };
    Some(DayExpression::Edge(PeriodEdge::End, period).into())
}

/// Consumes a period that resolves to its first day: "in May", "next week", "since 2013".
pub(super) fn parse_vague_period(cursor: &mut TokenCursor<'_>) -> Option<DayPhrase> {
    let start = |period| {
        Some(DayPhrase::vague(DayExpression::Edge(
            PeriodEdge::Start,
            period,
        )))
    };
    if let Some(day) = cursor.attempt(numeric::parse_week) {
        return Some(DayPhrase::vague(day));
    }
    // In a story "the next day" follows another day; it is tomorrow only on its own.
    let next_day = cursor.attempt(|cursor| {
        cursor.consume_word("the");
        (cursor.consume_any_word(&["next", "following"]) && cursor.consume_word("day"))
            .then_some(())
    });
    if next_day.is_some() {
        return Some(DayPhrase::vague(DayExpression::Shifted(1)));
    }
    let beside = cursor.attempt(|cursor| {
        cursor.consume_word("the");
        cursor.consume_word("day").then_some(())?;
        let days = match cursor.word() {
            "after" => 1,
            "before" => -1,
            _ => return None,
        };
        cursor.step();
        let is_end = no_noun_follows(cursor) && cursor.word().is_empty();
        is_end.then_some(days)
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
        return match word {
            "week" => Some(Period::Week(2)),
            "month" => Some(Period::Month(Month::Away(2))),
            "quarter" => Some(Period::Quarter(2)),
            "year" => Some(Period::Year(Year::Away(2))),
            _ => None,
        };
    }
    let distance = parse_period_offset(cursor)?;
    let period = match cursor.word() {
        "week" => Period::Week(distance),
        "month" => Period::Month(Month::Away(distance)),
        "quarter" => Period::Quarter(distance),
        "year" => Period::Year(Year::Away(distance)),
        word => {
            let (month, _) = lookup_month(word)?;
            cursor.step();
            // "This may help" and "the next march is" name no month.
            let is_month = match cursor.peek(0) {
                Some(Word(next)) => {
                    !matches!(word, "may" | "march")
                        || distance != 0 && matches!(next, "at" | "for" | "on" | "to")
                }
                Some(Number(_) | Other) => false,
                None | Some(Han(_) | Sign(_)) => true,
            };
            return is_month.then_some(Period::Month(month_beside(month, distance)));
        }
    };
    cursor.step();
    Some(period)
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
        let part = lookup_day_part(cursor.word())?;
        cursor.step();
        let is_night = matches!(part, DayPart::Night | DayPart::Evening);
        (!is_last || is_night).then_some((if is_last { -1 } else { 0 }, part))
    });
    if let Some((days, part)) = this_part {
        return Some(DayPhrase {
            part: Some(part),
            ..DayExpression::Shifted(days).into()
        });
    }
    cursor.consume_any_word(&["later", "early", "earlier", "late"]);
    if cursor.consume_any_word(&["tonight", "tonite"]) {
        return Some(DayPhrase {
            part: Some(DayPart::Night),
            ..DayExpression::Shifted(0).into()
        });
    }
    let days = lookup_near_day(cursor.word())?;
    cursor.step();
    // "Yesterday week" is a week before yesterday.
    let weeks = cursor
        .attempt(parse_weeks_beyond)
        .map_or(0, |weeks| i64::from(if days < 0 { -weeks } else { weeks }));
    Some(DayExpression::Shifted(days + 7 * weeks).into())
}
