//! Approximate amounts of time: "2-3 days", "a week or two", 两三天.

use std::ops::Range;

use super::cursor::TokenCursor;
use super::duration::CalendarDuration;
use super::syntax::{DateExpression, DayExpression};
use super::token::DateTokenKind::{Han, Number, Sign, Word};
use super::token::{DateNumber, DateToken};
use super::{chinese, english, find};

/// Maximum number of an approximate amount.
const MAX_NUMBER: u64 = 60;

/// Maximum number of tokens around an expression that decide how it is read.
const MAX_CONTEXT: usize = 12;

/// Replaces the numbers of each approximate amount by one number with an upper limit.
pub(super) fn merge_amounts<'t>(tokens: &[DateToken<'t>]) -> Vec<DateToken<'t>> {
    let mut merged: Vec<DateToken<'_>> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let mut cursor = TokenCursor::new(tokens, at);
        let amount = cursor
            .attempt(parse_numbers)
            .or_else(|| cursor.attempt(parse_one_or_two));
        let Some((low, high)) = amount else {
            merged.push(tokens[at].clone());
            at += 1;
            continue;
        };
        let end = cursor.position();
        let number = DateNumber {
            value: low,
            digits: low.to_string().len(),
            upper: Some(high),
        };
        let ends_in_unit = matches!(tokens[at + 1].what, Word(word) if english::is_unit(word));
        let last = if ends_in_unit { at } else { end - 1 };
        merged.push(DateToken {
            what: Number(number),
            span: tokens[at].span.start..tokens[last].span.end,
            gap: tokens[at].gap,
        });
        if ends_in_unit {
            merged.push(DateToken {
                span: tokens[at + 1].span.start..tokens[end - 1].span.end,
                ..tokens[at + 1].clone()
            });
        }
        at = end;
    }
    merged
}

/// Consumes two numbers before a unit: "2-3" days, "two or three" weeks, 两三 or 十七八 before 天.
fn parse_numbers(cursor: &mut TokenCursor<'_>) -> Option<(u64, u64)> {
    let before = cursor.peek_back(1);
    // "Friday at 2 or 3", "June 2 to 3" and 周三四 name an hour, a date and weekdays.
    let is_inside = match before {
        Some(Number(_)) => true,
        Some(Sign(_)) => cursor.is_glued(0),
        Some(Word(word)) => word == "at" || english::lookup_month(word).is_some(),
        Some(Han(character)) => chinese::is_numeral(character) || "第周期拜初".contains(character),
        _ => false,
    };
    let numbers = cursor
        .attempt(chinese::parse_adjacent_digits)
        .or_else(|| {
            let low = parse_number(cursor)?;
            let is_joined = cursor.consume_any_word(&["to", "or"])
                || cursor.consume_any_han(&["到", "至", "或"])
                || cursor.consume_sign('-')
                || cursor.consume_sign('~');
            let high = parse_number(cursor)?;
            is_joined.then_some((low, high))
        })
        .filter(|(low, high)| !is_inside && 0 < *low && low < high && *high <= MAX_NUMBER)?;
    let is_amount = english::is_unit(cursor.word()) || chinese::is_unit_next(cursor, before);
    is_amount.then_some(numbers)
}

/// Consumes "a day or two".
fn parse_one_or_two(cursor: &mut TokenCursor<'_>) -> Option<(u64, u64)> {
    let is_one = cursor.consume_any_word(&["a", "an", "one"]) || parse_number(cursor) == Some(1);
    let is_unit = english::is_unit(cursor.word());
    cursor.step();
    let is_joined = is_one && is_unit && cursor.consume_word("or");
    let high = parse_number(cursor).filter(|high| is_joined && matches!(high, 2 | 3))?;
    let is_longer =
        cursor.is_glued(0) && matches!(cursor.peek(0), Some(Number(_) | Sign(':' | '-' | '/')));
    let is_other = is_longer
        || english::is_unit(cursor.word())
        || english::is_half_day(cursor.word())
        || english::lookup_month(cursor.word()).is_some();
    (!is_other).then_some((1, high))
}

fn parse_number(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    cursor
        .attempt(|cursor| Some(cursor.consume_number()?.value))
        .or_else(|| cursor.attempt(english::parse_below_hundred))
        .or_else(|| cursor.attempt(chinese::parse_number))
}

/// Returns the expression at `pieces` as a range if its amount of time is approximate: "in 2-3 days".
pub(super) fn with_end(
    spoken: DateExpression,
    tokens: &[DateToken<'_>],
    pieces: Range<usize>,
) -> DateExpression {
    let is_open = spoken.every.is_none() && spoken.end.is_none();
    let away = |spoken: &DateExpression| match spoken.day {
        Some(DayExpression::Away(amount, _)) => Some(amount),
        _ => None,
    };
    let Some(amount) = away(&spoken).filter(|_| is_open) else {
        return spoken;
    };
    if find_amount(tokens, &pieces).is_none() {
        return spoken;
    }
    let start = pieces.start.saturating_sub(MAX_CONTEXT);
    let mut around = tokens[start..tokens.len().min(pieces.end + MAX_CONTEXT)].to_vec();
    for token in &mut around {
        if let Number(number) = &mut token.what
            && let Some(upper) = number.upper
        {
            number.value = upper;
        }
    }
    let cursor = TokenCursor::new(&around, pieces.start - start);
    let Some((other, _)) =
        find::parse_expression(cursor).filter(|(other, _)| away(other).is_some())
    else {
        return spoken;
    };
    let is_past =
        |amount: CalendarDuration| amount.months < 0 || amount.days < 0 || amount.seconds < 0;
    let (first, last) = if is_past(amount) {
        (other, spoken)
    } else {
        (spoken, other)
    };
    DateExpression {
        end: Some(Box::new(last)),
        ..first
    }
}

/// Returns whether an expression is a range because its amount is approximate.
pub(super) fn is_range(spoken: &DateExpression) -> bool {
    let is_away = |spoken: &DateExpression| matches!(spoken.day, Some(DayExpression::Away(..)));
    is_away(spoken) && spoken.end.as_deref().is_some_and(is_away)
}

/// Returns the place of the first approximate amount in the text.
pub(super) fn find_amount(tokens: &[DateToken<'_>], pieces: &Range<usize>) -> Option<Range<usize>> {
    let is_approximate =
        |token: &&DateToken<'_>| matches!(token.what, Number(number) if number.upper.is_some());
    tokens[pieces.clone()]
        .iter()
        .find(is_approximate)
        .map(|token| token.span.clone())
}
