//! Finds all date and time expressions in a text, and the most likely one.

use std::cmp::Reverse;
use std::ops::Range;

use chrono::{DateTime, TimeZone};

use super::cursor::TokenCursor;
use super::mention::{DateMention, DatePrecision, TimeRelation, remove_rescheduled};
use super::resolve::{ChronoZone, DateContext, ResolvedDate, resolve};
use super::syntax::{CalendarDuration, DateExpression, DayExpression, DayPart};
use super::token::{DateToken, DateTokenKind, tokenize_dates};
use super::{chinese, english};

/// Returns the dates and times that a text mentions, in text order, relative to `now` in its time zone.
///
/// English and Chinese are supported, also mixed in one text. A recurring expression ("every Monday") resolves to its
/// next occurrence, and a period ("in June") to its first day. A text of one megabyte takes less than a second.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::datetime::find_dates;
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00+02:00").unwrap();
/// let found = find_dates("Anna called yesterday; 下周二下午三点 we meet.", &now);
/// assert_eq!(found[0].text, "yesterday");
/// assert_eq!(found[1].at.to_rfc3339(), "2025-06-17T15:00:00+02:00");
/// ```
pub fn find_dates<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Vec<DateMention> {
    let small = text.to_ascii_lowercase();
    let tokens = tokenize_dates(&small);
    let zone = ChronoZone(now.timezone());
    let moment = DateContext {
        utc: now.naive_utc(),
        zone: &zone,
    };
    let placed = |heard: &ParsedExpression| resolve(&heard.spoken, &moment);
    let mut found: Vec<(ParsedExpression, ResolvedDate)> = Vec::new();
    for heard in find_expressions(&tokens) {
        if let Some((before, at)) = found.last_mut()
            && let Some(timed) = share_time(before, &heard, &tokens)
            && let Some(resolved) = placed(&timed)
        {
            (*before, *at) = (timed, resolved);
        }
        let joined = found
            .last()
            .and_then(|(before, _)| join_day_and_time(before, &heard, &tokens));
        let whole = joined
            .and_then(|joined| Some((placed(&joined)?, joined)))
            .filter(|(at, _)| at.relation != TimeRelation::Past);
        if let Some((resolved, joined)) = whole {
            found.pop();
            found.push((joined, resolved));
        } else if let Some(resolved) = placed(&heard) {
            found.push((heard, resolved));
        }
    }
    let mut readings = found
        .iter()
        .map(|(heard, resolved)| to_mention(text, &tokens, heard, resolved))
        .collect();
    remove_rescheduled(text, &mut readings);
    readings
}

/// A parsed expression with its range of tokens.
#[derive(Debug)]
struct ParsedExpression {
    spoken: DateExpression,
    pieces: Range<usize>,
}

/// Returns all expressions in text order.
fn find_expressions(tokens: &[DateToken<'_>]) -> Vec<ParsedExpression> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some((amount, end)) = parse_lead_time(TokenCursor::new(tokens, at))
            && apply_lead_time(&mut found, amount, at, tokens)
        {
            at = end;
            continue;
        }
        let Some((spoken, end)) = parse_expression(TokenCursor::new(tokens, at)) else {
            at += 1;
            continue;
        };
        found.extend(spoken.map(|spoken| {
            let around = &tokens
                [at.saturating_sub(MAX_JOIN_DISTANCE)..tokens.len().min(end + MAX_JOIN_DISTANCE)];
            let custom = spoken.clock.and_then(|_| usual_day_part(around));
            ParsedExpression {
                spoken: DateExpression { custom, ..spoken },
                pieces: at..end,
            }
        }));
        at = end;
    }
    found
}

/// Returns the usual part of the day of the activity that the words around a time name.
fn usual_day_part(around: &[DateToken<'_>]) -> Option<DayPart> {
    let word = |token: &DateToken<'_>| match token.what {
        DateTokenKind::Word(
            "dinner" | "supper" | "drinks" | "concert" | "theatre" | "theater" | "movie"
            | "nightclub",
        ) => Some(DayPart::Evening),
        DateTokenKind::Word("wake" | "waking" | "alarm" | "breakfast" | "sunrise") => {
            Some(DayPart::Morning)
        }
        DateTokenKind::Word(_)
        | DateTokenKind::Han(_)
        | DateTokenKind::Number(_)
        | DateTokenKind::Sign(_)
        | DateTokenKind::Other => None,
    };
    let pair = |pair: &[DateToken<'_>]| match (pair[0].what, pair[1].what) {
        (DateTokenKind::Han('晚'), DateTokenKind::Han('饭' | '餐' | '宴' | '会')) => {
            Some(DayPart::Evening)
        }
        (DateTokenKind::Word("get" | "getting"), DateTokenKind::Word("up"))
        | (DateTokenKind::Han('起'), DateTokenKind::Han('床'))
        | (DateTokenKind::Han('闹'), DateTokenKind::Han('钟' | '铃'))
        | (DateTokenKind::Han('叫'), DateTokenKind::Han('醒'))
        | (DateTokenKind::Han('早'), DateTokenKind::Han('饭' | '餐')) => Some(DayPart::Morning),
        _ => None,
    };
    around
        .iter()
        .find_map(word)
        .or_else(|| around.windows(2).find_map(pair))
}

/// Applies the time of the second expression to the first if both share it.
///
/// Examples are "Tuesday and Thursday at 4:30" and "Monday to Friday at 9".
fn share_time(
    first: &ParsedExpression,
    second: &ParsedExpression,
    tokens: &[DateToken<'_>],
) -> Option<ParsedExpression> {
    let between = tokens.get(first.pieces.end..second.pieces.start)?;
    let is_list = match between {
        [] => true,
        [joint] => matches!(
            joint.what,
            DateTokenKind::Word("and" | "or" | "to" | "through" | "thru")
                | DateTokenKind::Sign('&' | ',' | '/' | '-')
                | DateTokenKind::Han('和' | '或' | '到' | '至')
        ),
        [comma, joint] => {
            comma.what == DateTokenKind::Sign(',')
                && matches!(joint.what, DateTokenKind::Word("and" | "or"))
        }
        _ => false,
    };
    let is_weekday =
        |spoken: &DateExpression| matches!(spoken.day, Some(DayExpression::Weekday(..)));
    let is_both = is_list && is_weekday(&first.spoken) && is_weekday(&second.spoken);
    let is_open =
        first.spoken.clock.is_none() && first.spoken.part.is_none() && first.spoken.zone.is_none();
    let DateExpression {
        clock,
        part,
        zone,
        custom,
        ..
    } = second.spoken;
    let spoken = DateExpression {
        clock,
        part,
        zone,
        custom,
        ..first.spoken.clone()
    };
    (is_both && is_open && (clock.is_some() || part.is_some())).then(|| ParsedExpression {
        spoken,
        pieces: first.pieces.clone(),
    })
}

/// Shifts the last expression by an offset that follows it: "the call is at 3pm, remind me 30 minutes before".
fn apply_lead_time(
    found: &mut [ParsedExpression],
    amount: CalendarDuration,
    at: usize,
    tokens: &[DateToken<'_>],
) -> bool {
    let Some(last) = found.last_mut() else {
        return false;
    };
    let between = tokens.get(last.pieces.end..at).unwrap_or_default();
    let is_near = between.len() <= MAX_JOIN_DISTANCE
        && !between
            .iter()
            .any(|token| token.what == DateTokenKind::Sign('\n'));
    if !is_near || last.spoken.is_vague || last.spoken.is_instant() {
        return false;
    }
    if amount.is_exact && last.spoken.clock.is_some() {
        last.spoken.ahead += amount.seconds;
    } else if !amount.is_exact {
        last.spoken.day = last
            .spoken
            .day
            .take()
            .map(|day| DayExpression::Away(amount.negated(), Box::new(day)));
    } else {
        return false;
    }
    true
}

/// Maximum distance, in tokens, between expressions that are combined.
const MAX_JOIN_DISTANCE: usize = 12;

/// Joins a day and a time of the same sentence ("lunch on Friday with Priya at noon").
fn join_day_and_time(
    first: &ParsedExpression,
    second: &ParsedExpression,
    tokens: &[DateToken<'_>],
) -> Option<ParsedExpression> {
    let between = tokens
        .get(first.pieces.end..second.pieces.start)
        .filter(|between| between.len() <= MAX_JOIN_DISTANCE)?;
    let is_border = |token: &DateToken<'_>| {
        matches!(
            token.what,
            DateTokenKind::Sign('.' | '!' | '?' | ';' | '\n' | '|')
        )
    };
    if between.iter().any(is_border) {
        return None;
    }
    let is_day = |spoken: &DateExpression| {
        spoken.day.is_some() && spoken.clock.is_none() && !spoken.is_vague && !spoken.is_instant()
    };
    let is_time = |spoken: &DateExpression| {
        spoken.day.is_none() && spoken.clock.is_some() && spoken.zone.is_none()
    };
    let orders = [
        (&first.spoken, &second.spoken),
        (&second.spoken, &first.spoken),
    ];
    let (day, time) = orders
        .into_iter()
        .find(|(day, time)| is_day(day) && is_time(time))?;
    let spoken = DateExpression {
        clock: time.clock,
        custom: time.custom,
        part: time.part.or(day.part),
        ahead: time.ahead,
        ..day.clone()
    };
    Some(ParsedExpression {
        spoken,
        pieces: first.pieces.start..second.pieces.end,
    })
}

fn to_mention(
    text: &str,
    tokens: &[DateToken<'_>],
    heard: &ParsedExpression,
    resolved: &ResolvedDate,
) -> DateMention {
    let span = tokens[heard.pieces.start].span.start..tokens[heard.pieces.end - 1].span.end;
    DateMention {
        text: text[span.clone()].to_owned(),
        span,
        at: resolved.at,
        kind: resolved.kind,
        relation: resolved.relation,
        repeats: heard.spoken.repeats,
        assumed: (!resolved.assumed.is_empty()).then(|| resolved.assumed.join(" ")),
        is_vague: heard.spoken.is_vague,
    }
}

/// Returns an offset for the preceding expression, and the position after it.
fn parse_lead_time(mut cursor: TokenCursor<'_>) -> Option<(CalendarDuration, usize)> {
    let may_begin = match cursor.peek(0)? {
        DateTokenKind::Word(word) => english::can_start_expression(word),
        DateTokenKind::Number(_) | DateTokenKind::Han('提') => true,
        DateTokenKind::Han(_) | DateTokenKind::Sign(_) | DateTokenKind::Other => false,
    };
    let amount = cursor
        .attempt(english::parse_lead_time)
        .or_else(|| cursor.attempt(chinese::parse_lead_time))
        .filter(|_| may_begin)?;
    Some((amount, cursor.position()))
}

/// Returns the expression at the cursor and the position after it.
///
/// The expression is `None` if it is recognised but cannot be resolved, such as a lunar date.
fn parse_expression(start: TokenCursor<'_>) -> Option<(Option<DateExpression>, usize)> {
    let in_english = |mut cursor: TokenCursor<'_>| {
        english::parse_expression(&mut cursor).map(|spoken| (Some(spoken), cursor.position()))
    };
    let in_chinese = |mut cursor: TokenCursor<'_>| {
        chinese::parse_expression(&mut cursor).map(|spoken| (Some(spoken), cursor.position()))
    };
    let found = match start.peek(0)? {
        DateTokenKind::Word(word) if english::can_start_expression(word) => in_english(start),
        DateTokenKind::Han(character) if chinese::can_start_expression(character) => {
            in_chinese(start)
        }
        DateTokenKind::Han('农' | '阴' | '旧') => {
            let mut cursor = start;
            chinese::skip_lunar_date(&mut cursor).then(|| (None, cursor.position()))
        }
        // Tables of numbers can be long, and the only times in them are "2016 10 16" and "at 3 15".
        DateTokenKind::Number(number)
            if matches!(start.peek(1), Some(DateTokenKind::Number(_)))
                && number.digits != 4
                && start.word_before(1) != "at" =>
        {
            None
        }
        // Both grammars accept digits; the longer match wins, English on a tie.
        DateTokenKind::Number(_) => match (in_english(start), in_chinese(start)) {
            (Some(english), Some(chinese)) => Some(if chinese.1 < english.1 {
                english
            } else {
                chinese
            }),
            (english, chinese) => english.or(chinese),
        },
        DateTokenKind::Word(_)
        | DateTokenKind::Han(_)
        | DateTokenKind::Sign(_)
        | DateTokenKind::Other => None,
    };
    found.filter(|(_, end)| start.position() < *end)
}

/// Returns the most likely date that a text refers to, relative to `now` in its time zone.
///
/// Future dates precede the present, which precedes past ones; a single day or time precedes a whole period; a day
/// precedes a time without a day; otherwise the first in the text is returned.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::datetime::{DatePrecision, TimeRelation, find_date};
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00+02:00").unwrap();
/// let reading = find_date("remind me to call Anna tomorrow at 3pm", &now).unwrap();
/// assert_eq!(reading.text, "tomorrow at 3pm");
/// assert_eq!((reading.kind, reading.relation), (DatePrecision::DateTime, TimeRelation::Future));
/// assert_eq!(find_date("Anna likes tea", &now), None);
/// ```
pub fn find_date<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Option<DateMention> {
    find_dates(text, now).into_iter().min_by_key(|reading| {
        (
            Reverse(reading.relation),
            reading.is_vague,
            mention_rank(reading),
        )
    })
}

fn mention_rank(reading: &DateMention) -> (u8, usize) {
    let rank = match (reading.relation, reading.kind) {
        (TimeRelation::Future, DatePrecision::Time) => 1,
        (TimeRelation::Future | TimeRelation::Present | TimeRelation::Past, _) => 0,
    };
    (rank, reading.span.start)
}
