//! Finds all date and time expressions in a text.

use std::ops::Range;

use chrono::{DateTime, TimeZone};

use super::cursor::Cursor;
use super::moved::without_moved;
use super::reading::{Reading, Relation};
use super::resolve::{Moment, Of, Resolved, resolve};
use super::spoken::{Amount, Day, Part, Spoken};
use super::token::{Token, What, tokens};
use super::{chinese, english};

/// Returns the dates and times that a text mentions, in text order, relative to `now` in its time zone.
///
/// English and Chinese are supported, also mixed in one text. A recurring expression ("every Monday") resolves to its
/// next occurrence, and a period ("in June") to its first day. A text of one megabyte takes less than a second.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::when::readings;
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00+02:00").unwrap();
/// let found = readings("Anna called yesterday; 下周二下午三点 we meet.", &now);
/// assert_eq!(found[0].text, "yesterday");
/// assert_eq!(found[1].at.to_rfc3339(), "2025-06-17T15:00:00+02:00");
/// ```
pub fn readings<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Vec<Reading> {
    let small = text.to_ascii_lowercase();
    let tokens = tokens(&small);
    let zone = Of(now.timezone());
    let moment = Moment { utc: now.naive_utc(), zone: &zone };
    let placed = |heard: &Heard| resolve(&heard.spoken, &moment);
    let mut found: Vec<(Heard, Resolved)> = Vec::new();
    for heard in all(&tokens) {
        if let Some((before, at)) = found.last_mut()
            && let Some(timed) = timed(before, &heard, &tokens)
            && let Some(resolved) = placed(&timed)
        {
            (*before, *at) = (timed, resolved);
        }
        let joined = found.last().and_then(|(before, _)| joined(before, &heard, &tokens));
        let whole = joined.and_then(|joined| Some((placed(&joined)?, joined))).filter(|(at, _)| at.relation != Relation::Past);
        if let Some((resolved, joined)) = whole {
            found.pop();
            found.push((joined, resolved));
        } else if let Some(resolved) = placed(&heard) {
            found.push((heard, resolved));
        }
    }
    let mut readings = found.iter().map(|(heard, resolved)| reading(text, &tokens, heard, resolved)).collect();
    without_moved(text, &mut readings);
    readings
}

/// A parsed expression with its range of tokens.
#[derive(Debug)]
struct Heard {
    spoken: Spoken,
    pieces: Range<usize>,
}

/// Returns all expressions in text order.
fn all(tokens: &[Token<'_>]) -> Vec<Heard> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some((amount, end)) = lead(Cursor::new(tokens, at))
            && led(&mut found, amount, at, tokens)
        {
            at = end;
            continue;
        }
        let Some((spoken, end)) = expression(Cursor::new(tokens, at)) else {
            at += 1;
            continue;
        };
        found.extend(spoken.map(|spoken| {
            let around = &tokens[at.saturating_sub(FURTHEST)..tokens.len().min(end + FURTHEST)];
            let custom = spoken.clock.and_then(|_| custom(around));
            Heard { spoken: Spoken { custom, ..spoken }, pieces: at..end }
        }));
        at = end;
    }
    found
}

/// Returns the usual part of the day of the activity that the words around a time name.
fn custom(around: &[Token<'_>]) -> Option<Part> {
    let word = |token: &Token<'_>| match token.what {
        What::Word("dinner" | "supper" | "drinks" | "concert" | "theatre" | "theater" | "movie" | "nightclub") => {
            Some(Part::Evening)
        }
        What::Word("wake" | "waking" | "alarm" | "breakfast" | "sunrise") => Some(Part::Morning),
        What::Word(_) | What::Han(_) | What::Number(_) | What::Sign(_) | What::Other => None,
    };
    let pair = |pair: &[Token<'_>]| match (pair[0].what, pair[1].what) {
        (What::Han('晚'), What::Han('饭' | '餐' | '宴' | '会')) => Some(Part::Evening),
        (What::Word("get" | "getting"), What::Word("up"))
        | (What::Han('起'), What::Han('床'))
        | (What::Han('闹'), What::Han('钟' | '铃'))
        | (What::Han('叫'), What::Han('醒'))
        | (What::Han('早'), What::Han('饭' | '餐')) => Some(Part::Morning),
        _ => None,
    };
    around.iter().find_map(word).or_else(|| around.windows(2).find_map(pair))
}

/// Applies the time of the second expression to the first if both share it.
///
/// Examples are "Tuesday and Thursday at 4:30" and "Monday to Friday at 9".
fn timed(first: &Heard, second: &Heard, tokens: &[Token<'_>]) -> Option<Heard> {
    let between = tokens.get(first.pieces.end..second.pieces.start)?;
    let is_list = match between {
        [] => true,
        [joint] => matches!(
            joint.what,
            What::Word("and" | "or" | "to" | "through" | "thru")
                | What::Sign('&' | ',' | '/' | '-')
                | What::Han('和' | '或' | '到' | '至')
        ),
        [comma, joint] => comma.what == What::Sign(',') && matches!(joint.what, What::Word("and" | "or")),
        _ => false,
    };
    let is_weekday = |spoken: &Spoken| matches!(spoken.day, Some(Day::Weekday(..)));
    let is_both = is_list && is_weekday(&first.spoken) && is_weekday(&second.spoken);
    let is_open = first.spoken.clock.is_none() && first.spoken.part.is_none() && first.spoken.zone.is_none();
    let Spoken { clock, part, zone, custom, .. } = second.spoken;
    let spoken = Spoken { clock, part, zone, custom, ..first.spoken.clone() };
    (is_both && is_open && (clock.is_some() || part.is_some())).then(|| Heard { spoken, pieces: first.pieces.clone() })
}

/// Shifts the last expression by an offset that follows it: "the call is at 3pm, remind me 30 minutes before".
fn led(found: &mut [Heard], amount: Amount, at: usize, tokens: &[Token<'_>]) -> bool {
    let Some(last) = found.last_mut() else { return false };
    let between = tokens.get(last.pieces.end..at).unwrap_or_default();
    let is_near = between.len() <= FURTHEST && !between.iter().any(|token| token.what == What::Sign('\n'));
    if !is_near || last.spoken.is_vague || last.spoken.is_instant() {
        return false;
    }
    if amount.is_exact && last.spoken.clock.is_some() {
        last.spoken.ahead += amount.seconds;
    } else if !amount.is_exact {
        last.spoken.day = last.spoken.day.take().map(|day| Day::Away(amount.negated(), Box::new(day)));
    } else {
        return false;
    }
    true
}

/// Maximum distance, in tokens, between expressions that are combined.
const FURTHEST: usize = 12;

/// Joins a day and a time of the same sentence ("lunch on Friday with Priya at noon").
fn joined(first: &Heard, second: &Heard, tokens: &[Token<'_>]) -> Option<Heard> {
    let between = tokens.get(first.pieces.end..second.pieces.start).filter(|between| between.len() <= FURTHEST)?;
    let is_border = |token: &Token<'_>| matches!(token.what, What::Sign('.' | '!' | '?' | ';' | '\n' | '|'));
    if between.iter().any(is_border) {
        return None;
    }
    let is_day = |spoken: &Spoken| spoken.day.is_some() && spoken.clock.is_none() && !spoken.is_vague && !spoken.is_instant();
    let is_time = |spoken: &Spoken| spoken.day.is_none() && spoken.clock.is_some() && spoken.zone.is_none();
    let orders = [(&first.spoken, &second.spoken), (&second.spoken, &first.spoken)];
    let (day, time) = orders.into_iter().find(|(day, time)| is_day(day) && is_time(time))?;
    let spoken =
        Spoken { clock: time.clock, custom: time.custom, part: time.part.or(day.part), ahead: time.ahead, ..day.clone() };
    Some(Heard { spoken, pieces: first.pieces.start..second.pieces.end })
}

fn reading(text: &str, tokens: &[Token<'_>], heard: &Heard, resolved: &Resolved) -> Reading {
    let span = tokens[heard.pieces.start].span.start..tokens[heard.pieces.end - 1].span.end;
    Reading {
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
fn lead(mut cursor: Cursor<'_>) -> Option<(Amount, usize)> {
    let may_begin = match cursor.peek(0)? {
        What::Word(word) => english::may_begin(word),
        What::Number(_) | What::Han('提') => true,
        What::Han(_) | What::Sign(_) | What::Other => false,
    };
    let amount = cursor.attempt(english::lead).or_else(|| cursor.attempt(chinese::lead)).filter(|_| may_begin)?;
    Some((amount, cursor.at()))
}

/// Returns the expression at the cursor and the position after it.
///
/// The expression is `None` if it is recognised but cannot be resolved, such as a lunar date.
fn expression(start: Cursor<'_>) -> Option<(Option<Spoken>, usize)> {
    let in_english = |mut cursor: Cursor<'_>| english::expression(&mut cursor).map(|spoken| (Some(spoken), cursor.at()));
    let in_chinese = |mut cursor: Cursor<'_>| chinese::expression(&mut cursor).map(|spoken| (Some(spoken), cursor.at()));
    let found = match start.peek(0)? {
        What::Word(word) if english::may_begin(word) => in_english(start),
        What::Han(character) if chinese::may_begin(character) => in_chinese(start),
        What::Han('农' | '阴' | '旧') => {
            let mut cursor = start;
            chinese::lunar(&mut cursor).then(|| (None, cursor.at()))
        }
        // Tables of numbers can be long, and the only times in them are "2016 10 16" and "at 3 15".
        What::Number(number)
            if matches!(start.peek(1), Some(What::Number(_))) && number.digits != 4 && start.word_before(1) != "at" =>
        {
            None
        }
        // Both grammars accept digits; the longer match wins, English on a tie.
        What::Number(_) => match (in_english(start), in_chinese(start)) {
            (Some(english), Some(chinese)) => Some(if chinese.1 < english.1 { english } else { chinese }),
            (english, chinese) => english.or(chinese),
        },
        What::Word(_) | What::Han(_) | What::Sign(_) | What::Other => None,
    };
    found.filter(|(_, end)| start.at() < *end)
}
