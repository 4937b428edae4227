//! Finds all date and time expressions in a text, and the most likely one.

use std::cmp::Reverse;
use std::ops::Range;

use chrono::{DateTime, TimeZone};

use super::cursor::TokenCursor;
use super::duration::CalendarDuration;
use super::left_out::find_left_out;
use super::mention::{
    DateMention, DatePrecision, TimeRelation, is_rescheduled, remove_rescheduled,
};
use super::range::{self, RangeEnd};
use super::resolve::{ChronoZone, DateContext, ResolvedDate, resolve};
use super::syntax::{DateExpression, DayExpression};
use super::time_of_day::{DayPart, TimeOfDay};
use super::token::DateTokenKind::{Han, Number, Other, Sign, Word};
use super::token::{DateToken, tokenize_dates};
use super::{approximate, chinese, english, numeric};

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
    let tokens = approximate::merge_amounts(&tokenize_dates(&small));
    let found = resolve_expressions(&small, &tokens, now);
    let mut readings: Vec<_> = found
        .iter()
        .filter_map(|(heard, resolved)| Some(to_mention(text, &tokens, heard, resolved.as_ref()?)))
        .collect();
    let parts: Vec<_> = found
        .iter()
        .filter(|(_, resolved)| resolved.is_some())
        .flat_map(|(heard, _)| heard.parts())
        .map(|pieces| byte_span(&tokens, &pieces))
        .collect();
    remove_rescheduled(text, &mut readings);
    for reading in &mut readings {
        for span in find_left_out(text, &tokens, reading, &parts) {
            let words = &text[span];
            let note = format!("{words:?} is left out.");
            let assumed = reading.assumed.take().into_iter().chain([note]);
            reading.assumed = Some(assumed.collect::<Vec<_>>().join(" "));
            reading.left_out.push(words.to_owned());
        }
    }
    readings
}

/// Returns the first part of a text that has the form of a date or time, but denotes none.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::datetime::find_impossible;
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00+02:00").unwrap();
/// let why = |text: &str| find_impossible(text, &now).map(|impossible| impossible.to_string());
/// assert_eq!(why("tomorrow at 25:00").as_deref(), Some("\"25:00\" is not a time of day"));
/// assert_eq!(why("on February 30").as_deref(), Some("\"February 30\" is not a date"));
/// assert_eq!(why("tomorrow at 23:00"), None);
/// ```
pub fn find_impossible<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Option<ImpossibleTime> {
    let small = text.to_ascii_lowercase();
    let tokens = approximate::merge_amounts(&tokenize_dates(&small));
    let found = resolve_expressions(&small, &tokens, now);
    let (heard, _) = found.into_iter().find(|(_, resolved)| resolved.is_none())?;
    let part = |pieces: &Range<usize>| text[byte_span(&tokens, pieces)].to_owned();
    if let Some(pieces) = &heard.spoken.impossible {
        return Some(ImpossibleTime::Clock(part(pieces)));
    }
    let day = DateExpression {
        clock: None,
        part: None,
        end: None,
        ..heard.spoken.clone()
    };
    let zone = ChronoZone(now.timezone());
    let moment = DateContext::new(now.naive_utc(), &zone);
    let is_day = day.day.is_none() || resolve(&day, &moment).is_some();
    let text = part(&heard.pieces);
    Some(if is_day {
        ImpossibleTime::Clock(text)
    } else {
        ImpossibleTime::Date(text)
    })
}

/// A part of a text that has the form of a date or time, but denotes none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImpossibleTime {
    /// A time that no clock shows, such as "25:00".
    #[error("{0:?} is not a time of day")]
    Clock(String),
    /// A date that no calendar has, such as "February 30", or that is outside the supported years.
    #[error("{0:?} is not a date")]
    Date(String),
}

/// A parsed expression with its range of tokens.
#[derive(Debug)]
struct ParsedExpression {
    spoken: DateExpression,
    pieces: Range<usize>,
    /// The tokens between a day and its time that belong to neither.
    gap: Option<Range<usize>>,
    /// The end of a range whose start is the preceding expression.
    range_end: Option<RangeEnd>,
}

/// Returns the expressions of a text in text order; those that cannot be resolved denote no time.
fn resolve_expressions<Tz: TimeZone>(
    small: &str,
    tokens: &[DateToken<'_>],
    now: &DateTime<Tz>,
) -> Vec<(ParsedExpression, Option<ResolvedDate>)> {
    let zone = ChronoZone(now.timezone());
    let moment = DateContext::new(now.naive_utc(), &zone);
    let placed = |heard: &ParsedExpression| resolve(&heard.spoken, &moment);
    let mut found: Vec<PlacedExpression> = Vec::new();
    for mut heard in find_expressions(tokens) {
        let range = found
            .last()
            .and_then(|(before, _)| join_range(before, &heard, small, tokens))
            .map(|range| (placed(&range), range))
            .filter(|(at, range)| at.is_some() || range.spoken.impossible.is_some());
        if let Some((resolved, range)) = range {
            found.pop();
            found.push((range, resolved));
            continue;
        }
        let before = found.last().map(|(before, _)| before);
        let replaced = before.filter(|before| {
            let new = byte_span(tokens, &heard.pieces).start;
            is_rescheduled(small, &byte_span(tokens, &before.pieces), new)
        });
        if replaced.is_none() && heard.range_end.as_ref().is_some_and(|end| end.is_fragment) {
            continue;
        }
        // The new day of an appointment is in the week, month and year of the old one, and a new hour on its day.
        if let Some(mut old) = replaced.and_then(|before| before.spoken.day.clone()) {
            match &mut heard.spoken.day {
                Some(new) => range::align_days(&mut old, new),
                None if heard.spoken.clock.is_some() && heard.spoken.every.is_none() => {
                    heard.spoken.day = Some(old);
                }
                None => {}
            }
        }
        if let Some((before, at)) = found.last_mut()
            && let Some((day, shared)) = share_day(before, &heard, tokens)
        {
            (before.spoken, heard.spoken) = (day, shared);
            *at = placed(before);
        }
        // The time after a list is the time of each of its days.
        let share = |found: &mut [_], last: &mut _, rule: &ListRule| {
            share_back(found, last, rule, tokens, &placed)
        };
        share(&mut found, &mut heard, &share_month);
        let mut first = share(&mut found, &mut heard, &share_time);
        if heard.spoken.every.is_some() {
            first = first.min(share(&mut found, &mut heard, &share_interval));
        }
        // "Mon, Wed and Fri at 6 every week" recurs on all of its days.
        let is_once = |(before, _): &(ParsedExpression, _)| before.spoken.every.is_none();
        if heard.spoken.every.is_some() && first < found.len() && found[first..].iter().all(is_once)
        {
            let list = found.drain(first..).map(|(before, _)| before);
            heard = recur_on_all(list.collect(), heard);
        }
        let joined = found
            .last()
            .and_then(|(before, at)| Some((join_day_and_time(before, &heard, tokens)?, at)));
        let whole = joined.and_then(|(joined, day)| {
            let resolved = placed(&joined);
            let is_to_come = |at: &ResolvedDate| at.relation != TimeRelation::Past;
            // A time on a day that does not exist is no time on another day.
            (day.is_none() || resolved.as_ref().is_some_and(is_to_come))
                .then_some((joined, resolved))
        });
        if let Some((mut joined, resolved)) = whole {
            found.pop();
            share(&mut found, &mut joined, &share_time);
            found.push((joined, resolved));
        } else {
            let resolved = placed(&heard);
            found.push((heard, resolved));
        }
    }
    found
}

/// An expression with its resolution.
type PlacedExpression = (ParsedExpression, Option<ResolvedDate>);

/// A rule that completes two adjacent expressions of a list from each other, if it applies.
type ListRule = dyn Fn(
    &ParsedExpression,
    &ParsedExpression,
    &[DateToken<'_>],
) -> Option<(DateExpression, DateExpression)>;

/// Completes the expressions of the list that ends in `last`, from the last to the first.
///
/// Returns the index of the first one that was completed.
fn share_back(
    found: &mut [PlacedExpression],
    last: &mut ParsedExpression,
    rule: &ListRule,
    tokens: &[DateToken<'_>],
    placed: &dyn Fn(&ParsedExpression) -> Option<ResolvedDate>,
) -> usize {
    let mut first = found.len();
    while let Some(index) = first.checked_sub(1) {
        let (before, after) = found.split_at_mut(first);
        let own = &mut before[index].0;
        let next = after.first_mut().map_or(&mut *last, |(next, _)| next);
        let Some((spoken, next_spoken)) = rule(own, next, tokens) else {
            break;
        };
        let completed = ParsedExpression {
            spoken,
            pieces: own.pieces.clone(),
            gap: own.gap.clone(),
            range_end: None,
        };
        let Some(resolved) = placed(&completed) else {
            break;
        };
        next.spoken = next_spoken;
        found[index] = (completed, Some(resolved));
        first = index;
    }
    first
}

/// Gives two dates of a list the same month: "the 9th and 10th of June", 12月3日和5日.
fn share_month(
    first: &ParsedExpression,
    second: &ParsedExpression,
    tokens: &[DateToken<'_>],
) -> Option<(DateExpression, DateExpression)> {
    let between = tokens.get(first.pieces.end..second.pieces.start)?;
    let (mut one, mut other) = (first.spoken.clone(), second.spoken.clone());
    let is_single = |spoken: &DateExpression| spoken.every.is_none() && spoken.end.is_none();
    (is_list_joint(between) && is_single(&one) && is_single(&other)).then_some(())?;
    let is_shared = range::share_month(one.day.as_mut()?, other.day.as_mut()?);
    is_shared.then_some((one, other))
}

/// Accepts two days of a list that recur equally often: "on January 30 and September 30 every year".
fn share_interval(
    first: &ParsedExpression,
    second: &ParsedExpression,
    tokens: &[DateToken<'_>],
) -> Option<(DateExpression, DateExpression)> {
    let between = tokens.get(first.pieces.end..second.pieces.start)?;
    let interval = |of: &ParsedExpression| of.spoken.day.as_ref()?.natural_interval();
    let is_day = first.spoken.clock.is_none() && first.spoken.end.is_none();
    let is_shared = is_list_joint(between) && is_day && interval(first) == interval(second);
    interval(first)
        .filter(|_| is_shared)
        .map(|_| (first.spoken.clone(), second.spoken.clone()))
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
        let Some((spoken, length)) = parse_expression(TokenCursor::new(tokens, at)) else {
            // The rest of a number is no number of its own: "二十五点" is not 15:00.
            at = chinese::end_of_numeral(tokens, at).unwrap_or(at + 1);
            continue;
        };
        let end = at + length;
        let spoken = approximate::with_end(spoken, tokens, at..end);
        let range_end = range::parse_end(tokens, at, end, &spoken);
        found.push(ParsedExpression::new(spoken.clone(), at..end, tokens));
        at = end;
        if range_end.is_none() {
            for (more, pieces) in range::parse_list(tokens, at, &spoken) {
                at = pieces.end;
                found.push(ParsedExpression::new(more, pieces, tokens));
            }
        }
        if let Some((range_end, from, end)) = range_end {
            found.push(ParsedExpression {
                range_end: Some(range_end.clone()),
                ..ParsedExpression::new(range_end.spoken, from..end, tokens)
            });
            at = end;
        }
    }
    found
}

impl ParsedExpression {
    fn new(spoken: DateExpression, pieces: Range<usize>, tokens: &[DateToken<'_>]) -> Self {
        let custom = spoken.clock.and_then(|_| usual_day_part(tokens, &pieces));
        Self {
            spoken: DateExpression { custom, ..spoken },
            pieces,
            gap: None,
            range_end: None,
        }
    }

    /// Returns what two expressions mean together.
    fn joined(first: &Self, second: &Self, spoken: DateExpression) -> Self {
        let gap = first.pieces.end..second.pieces.start;
        Self {
            spoken,
            pieces: first.pieces.start..second.pieces.end,
            gap: Some(gap).filter(|gap| !gap.is_empty()),
            range_end: None,
        }
    }

    /// Returns the ranges of tokens on both sides of the gap.
    fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let (first, second) = match &self.gap {
            Some(gap) => (self.pieces.start..gap.start, Some(gap.end..self.pieces.end)),
            None => (self.pieces.clone(), None),
        };
        std::iter::once(first).chain(second)
    }
}

/// Joins the start and the end of a range, unless the text moves an appointment from one to the other.
fn join_range(
    first: &ParsedExpression,
    second: &ParsedExpression,
    small: &str,
    tokens: &[DateToken<'_>],
) -> Option<ParsedExpression> {
    let end = second.range_end.as_ref()?;
    let (start, between) = (
        byte_span(tokens, &first.pieces),
        byte_span(tokens, &second.pieces).start,
    );
    (!is_rescheduled(small, &start, between)).then_some(())?;
    Some(ParsedExpression {
        spoken: range::join(&first.spoken, end)?,
        pieces: first.pieces.start..second.pieces.end,
        gap: first.gap.clone(),
        range_end: None,
    })
}

/// Returns the usual part of the day of the activity that the nearest words around a time name.
fn usual_day_part(tokens: &[DateToken<'_>], pieces: &Range<usize>) -> Option<DayPart> {
    let around = pieces.start.saturating_sub(MAX_JOIN_DISTANCE)
        ..tokens.len().min(pieces.end + MAX_JOIN_DISTANCE);
    let nearest = around.clone().filter_map(|at| {
        let mut cursor = TokenCursor::new(&tokens[..around.end], at);
        let part =
            english::usual_day_part(&cursor).or_else(|| chinese::usual_day_part(&mut cursor))?;
        let before = pieces.start.saturating_sub(at);
        Some((before.max((at + 1).saturating_sub(pieces.end)), part))
    });
    let (_, part) = nearest.min_by_key(|(distance, _)| *distance)?;
    Some(part)
}

/// Applies the time of the second expression to the first if both share it: "Tuesday and Thursday at 4:30"; or its day: "at 8 and
/// 9 tomorrow".
fn share_time(
    first: &ParsedExpression,
    second: &ParsedExpression,
    tokens: &[DateToken<'_>],
) -> Option<(DateExpression, DateExpression)> {
    let between = tokens.get(first.pieces.end..second.pieces.start)?;
    let is_list = between.is_empty() || is_list_joint(between);
    let is_weekday =
        |spoken: &DateExpression| matches!(spoken.day, Some(DayExpression::Weekday(..)));
    let is_date = |spoken: &DateExpression| {
        matches!(spoken.day, Some(DayExpression::OfMonth(..))) && !between.is_empty()
    };
    let is_both = is_list
        && (is_weekday(&first.spoken) && is_weekday(&second.spoken)
            || is_date(&first.spoken) && is_date(&second.spoken) && first.spoken.end.is_none());
    let is_open =
        first.spoken.clock.is_none() && first.spoken.part.is_none() && first.spoken.zone.is_none();
    let last = &second.spoken;
    let is_timed = last.clock.is_some() || last.part.is_some();
    let is_hour = first.spoken.day.is_none() && first.spoken.every.is_none();
    let has_day = second.spoken.day.is_some() || second.spoken.every.is_some();
    if is_list
        && !between.is_empty()
        && is_hour
        && has_day
        && is_one_time(&first.spoken)
        && is_one_time(&second.spoken)
    {
        let (mut hour, last) = (first.spoken.clock?, last.clock?);
        if last.is_sure && !hour.is_sure && first.spoken.part.is_none() {
            let is_half = |token: &DateToken<'_>| matches!(token.what, Word(word) if english::is_half_day(word));
            let has_half = tokens[second.pieces.clone()].iter().any(is_half);
            hour = range::align_half(hour, last, has_half);
        }
        let spoken = DateExpression {
            clock: Some(hour),
            part: first.spoken.part.or(second.spoken.part),
            custom: first.spoken.custom,
            ..second.spoken.clone()
        };
        return Some((spoken, second.spoken.clone()));
    }
    (is_both && is_open && is_timed).then(|| {
        let timed = DateExpression {
            clock: last.clock,
            part: last.part,
            zone: last.zone.clone(),
            custom: last.custom,
            end: last.end.clone(),
            ..first.spoken.clone()
        };
        (timed, second.spoken.clone())
    })
}

/// Returns whether tokens only separate the parts of a list.
fn is_list_joint(between: &[DateToken<'_>]) -> bool {
    let is_word = |token: &DateToken<'_>| {
        matches!(
            token.what,
            Word("and" | "or" | "at") | Han('和' | '或' | '及')
        )
    };
    let is_sign = |token: &DateToken<'_>| matches!(token.what, Sign('&' | ',' | '/'));
    match between {
        [first, rest @ ..] => (is_word(first) || is_sign(first)) && rest.iter().all(is_word),
        [] => false,
    }
}

/// Returns two hours of a list with the day of the first, and on the same clock: "tomorrow at 8am and 9pm", "at 8 and 9pm".
fn share_day(
    first: &ParsedExpression,
    second: &ParsedExpression,
    tokens: &[DateToken<'_>],
) -> Option<(DateExpression, DateExpression)> {
    let between = tokens.get(first.pieces.end..second.pieces.start)?;
    let is_open = second.spoken.day.is_none() && second.spoken.every.is_none();
    if !is_list_joint(between)
        || !is_open
        || second.range_end.is_some()
        || !is_one_time(&first.spoken)
        || !is_one_time(&second.spoken)
    {
        return None;
    }
    let (mut day, hour) = (first.spoken.clone(), &second.spoken);
    let (earlier, mut clock) = (day.clock?, hour.clock?);
    let is_spoken_alone = between.iter().all(|token| token.what != Word("at"));
    if clock.is_sure && !earlier.is_sure && day.part.is_none() && is_spoken_alone {
        let has_half = numeric::follows_half_day(&TokenCursor::new(tokens, second.pieces.end));
        day.clock = Some(range::align_half(earlier, clock, has_half));
    } else if earlier.is_sure && !clock.is_sure && hour.part.is_none() {
        let later = |clock: &TimeOfDay| (earlier.hour, earlier.minute) < (clock.hour, clock.minute);
        let halves = clock.in_both_halves();
        clock = halves.into_iter().flatten().find(later).unwrap_or(clock);
    }
    let is_same_part = earlier.hour % 12 < clock.hour % 12;
    let shared = DateExpression {
        clock: Some(clock),
        part: hour.part.or(day.part.filter(|_| is_same_part)),
        custom: hour.custom,
        zone: hour.zone.clone().or_else(|| day.zone.clone()),
        ..day.clone()
    };
    Some((day, shared))
}

/// Returns whether an expression has an hour, and no range or offset.
fn is_one_time(spoken: &DateExpression) -> bool {
    spoken.clock.is_some() && spoken.end.is_none() && spoken.ahead == 0 && !spoken.is_instant()
}

/// Returns the recurrence on the days of a list whose last day is `last`.
fn recur_on_all(others: Vec<ParsedExpression>, last: ParsedExpression) -> ParsedExpression {
    let start = others.first().map_or(&last, |first| first).pieces.start;
    let own = last.spoken.day.clone();
    let days = others.into_iter().filter_map(|before| before.spoken.day);
    let days = days.chain(own).collect();
    ParsedExpression {
        spoken: DateExpression {
            day: Some(DayExpression::AnyOf(days)),
            ..last.spoken
        },
        pieces: start..last.pieces.end,
        gap: last.gap,
        range_end: None,
    }
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
    let is_near =
        between.len() <= MAX_JOIN_DISTANCE && !between.iter().any(|token| token.what == Sign('\n'));
    let spoken = &mut last.spoken;
    if !is_near || spoken.is_vague || spoken.is_instant() {
        return false;
    }
    if !amount.is_exact {
        let away = |day| DayExpression::Away(amount.negated(), Box::new(day));
        spoken.day = spoken.day.take().map(away);
    } else if spoken.clock.is_some() {
        spoken.ahead += amount.seconds;
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
    let is_border =
        |token: &DateToken<'_>| matches!(token.what, Sign('.' | '!' | '?' | ';' | '\n' | '|'));
    (!between.iter().any(is_border)).then_some(())?;
    let is_day = |spoken: &DateExpression| {
        (spoken.day.is_some() || spoken.every.is_some())
            && spoken.clock.is_none()
            && spoken.end.is_none()
            && !spoken.is_vague
            && !spoken.is_instant()
            && spoken.ahead == 0
    };
    let is_time = |spoken: &DateExpression| {
        spoken.day.is_none() && spoken.every.is_none() && spoken.clock.is_some()
    };
    let orders = [
        (&first.spoken, &second.spoken),
        (&second.spoken, &first.spoken),
    ];
    // "Monthly rent on the 1st".
    let recurs = |(interval, day): &(&DateExpression, &DateExpression)| {
        let is_interval =
            interval.day.is_none() && interval.clock.is_none() && interval.end.is_none();
        let recurs = |every| day.has_day(|day| day.recurs_every(every));
        is_interval && interval.every.is_some_and(recurs) && day.every.is_none() && !day.is_vague
    };
    // A date behind "until" is no start.
    if recurs(&orders[0]) && second.range_end.is_none() {
        let spoken = DateExpression {
            every: first.spoken.every,
            part: second.spoken.part.or(first.spoken.part),
            ..second.spoken.clone()
        };
        return Some(ParsedExpression::joined(first, second, spoken));
    }
    let (day, time) = orders
        .into_iter()
        .find(|(day, time)| is_day(day) && is_time(time))?;
    // "Every morning and at 8 in the evening" are two times.
    if let (Some(part), Some(other)) = (day.part, time.part)
        && part.contradicts(other)
    {
        return None;
    }
    let spoken = DateExpression {
        clock: time.clock,
        custom: time.custom,
        part: time.part.or(day.part),
        zone: time.zone.clone().or_else(|| day.zone.clone()),
        end: time.end.clone(),
        ahead: time.ahead,
        ..day.clone()
    };
    Some(ParsedExpression::joined(first, second, spoken))
}

fn byte_span(tokens: &[DateToken<'_>], pieces: &Range<usize>) -> Range<usize> {
    tokens[pieces.start].span.start..tokens[pieces.end - 1].span.end
}

fn to_mention(
    text: &str,
    tokens: &[DateToken<'_>],
    heard: &ParsedExpression,
    resolved: &ResolvedDate,
) -> DateMention {
    let ParsedExpression { spoken, pieces, .. } = heard;
    let span = byte_span(tokens, pieces);
    let mut assumed = resolved.assumed.clone();
    if !approximate::is_range(spoken)
        && let Some(unread) = approximate::find_amount(tokens, pieces)
    {
        assumed.push(format!("Of {:?}, the first number counts.", &text[unread]));
    }
    let start = spoken.from.as_ref();
    DateMention {
        text: text[span.clone()].to_owned(),
        span,
        at: resolved.at,
        kind: resolved.kind,
        relation: resolved.relation,
        end: resolved.end,
        repeats: spoken.every.is_some(),
        start: start.map(|(_, pieces)| byte_span(tokens, pieces)),
        assumed: (!assumed.is_empty()).then(|| assumed.join(" ")),
        left_out: Vec::new(),
        is_full_date: spoken.has_day(DayExpression::is_full_date),
        is_vague: spoken.is_vague,
    }
}

/// Returns an offset for the preceding expression, and the position after it.
fn parse_lead_time(mut cursor: TokenCursor<'_>) -> Option<(CalendarDuration, usize)> {
    let may_begin = match cursor.peek(0)? {
        Word(word) => english::can_start_expression(word),
        Number(_) | Han('提') => true,
        Han(_) | Sign(_) | Other => false,
    };
    let amount = cursor
        .attempt(english::parse_lead_time)
        .or_else(|| cursor.attempt(chinese::parse_lead_time))
        .filter(|_| may_begin)?;
    Some((amount, cursor.position()))
}

/// Returns the expression at the cursor and its number of tokens.
pub(super) fn parse_expression(start: TokenCursor<'_>) -> Option<(DateExpression, usize)> {
    let parse = |form: fn(&mut TokenCursor<'_>) -> Option<DateExpression>| {
        let mut cursor = start;
        form(&mut cursor).map(|spoken| (spoken, cursor.position() - start.position()))
    };
    let found = match start.peek(0)? {
        // "UTC时间明天15:00" starts with a word.
        Word(_) if matches!(start.peek(1), Some(Han('时'))) => parse(chinese::parse_expression),
        // "Do not be late tomorrow" is about tomorrow, and not about its end.
        Word("late")
            if ["be", "been", "being", "running", "too"].contains(&start.word_before(1)) =>
        {
            None
        }
        Word(word) if english::can_start_expression(word) => parse(english::parse_expression),
        Han(character) if chinese::can_start_expression(character) => {
            parse(chinese::parse_expression)
        }
        // Tables of numbers can be long, and the only times in them are "2016 10 16" and "at 3 15".
        Number(number)
            if start.is_number(1) && number.digits != 4 && start.word_before(1) != "at" =>
        {
            None
        }
        // Both grammars accept digits; the longer match wins, Chinese on a tie.
        Number(_) => [english::parse_expression, chinese::parse_expression]
            .into_iter()
            .filter_map(parse)
            .max_by_key(|(_, length)| *length),
        Word(_) | Han(_) | Sign(_) | Other => None,
    };
    found.filter(|(_, length)| 0 < *length)
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
        let is_to_come = reading.relation == TimeRelation::Future;
        let is_bare_time = is_to_come && reading.kind == DatePrecision::Time;
        let place = (is_bare_time, reading.span.start);
        (Reverse(reading.relation), reading.is_vague, place)
    })
}
