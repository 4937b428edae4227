//! Finds the words of time next to an expression that it does not include.

use std::ops::Range;

use super::token::{DateToken, DateTokenKind};
use super::{chinese, english};

/// Maximum number of tokens that are searched on each side.
const MAX_DISTANCE: usize = 12;

/// Returns the byte ranges beside `span` that are words of time, and in no expression of `others`.
///
/// Only connecting words and numbers may be between them and the expression. The spans are in text order.
pub(super) fn find_left_out(
    tokens: &[DateToken<'_>],
    span: &Range<usize>,
    others: &[Range<usize>],
) -> Vec<Range<usize>> {
    let first = tokens.partition_point(|token| token.span.end <= span.start);
    let after = tokens.partition_point(|token| token.span.start < span.end);
    let is_other = |at: usize| {
        let place = tokens[at].span.start;
        let next = others.partition_point(|span| span.end <= place);
        others.get(next).is_some_and(|span| span.start <= place)
    };
    let is_time = |at: &usize| is_time_word(tokens, *at);
    let last_of = |places: &mut dyn Iterator<Item = usize>| {
        places
            .take(MAX_DISTANCE)
            .take_while(|at| !is_other(*at) && (is_time(at) || is_connecting(&tokens[*at])))
            .filter(is_time)
            .last()
    };
    let before = last_of(&mut (0..first).rev()).map(|start| start..first);
    let behind = last_of(&mut (after..tokens.len())).map(|end| after..end + 1);
    let is_sign = |at: &usize| matches!(tokens[*at].what, DateTokenKind::Sign(_));
    before
        .into_iter()
        .chain(behind)
        .filter_map(|mut around| {
            let start = around.clone().find(|at| !is_sign(at))?;
            let end = around.rfind(|at| !is_sign(at))?;
            Some(tokens[start].span.start..tokens[end].span.end)
        })
        .collect()
}

fn is_time_word(tokens: &[DateToken<'_>], at: usize) -> bool {
    let next = tokens.get(at + 1).map(|token| token.what);
    let previous = at.checked_sub(1).map(|before| tokens[before].what);
    match (tokens[at].what, previous, next) {
        (DateTokenKind::Word(word), Some(DateTokenKind::Number(_)), _)
            if english::is_half_day(word) =>
        {
            true
        }
        (DateTokenKind::Word("every" | "each"), _, Some(DateTokenKind::Word(next))) => {
            english::is_time_word(next) || english::is_unit(next)
        }
        (DateTokenKind::Word(word), _, _) => english::is_time_word(word),
        (DateTokenKind::Han(first), _, Some(DateTokenKind::Han(second))) => {
            chinese::is_time_word(first, second)
        }
        _ => false,
    }
}

fn is_connecting(token: &DateToken<'_>) -> bool {
    match token.what {
        DateTokenKind::Number(_) => true,
        DateTokenKind::Word(word) => matches!(
            word,
            "and"
                | "or"
                | "on"
                | "at"
                | "in"
                | "of"
                | "the"
                | "from"
                | "to"
                | "until"
                | "till"
                | "through"
                | "by"
                | "except"
                | "but"
                | "not"
                | "starting"
                | "beginning"
                | "between"
                | "every"
                | "each"
                | "st"
                | "nd"
                | "rd"
                | "th"
        ),
        DateTokenKind::Sign(sign) => matches!(sign, ',' | '(' | ')' | '-' | '/' | '&' | '@' | ':'),
        DateTokenKind::Han(character) => {
            matches!(
                character,
                '和' | '或' | '到' | '至' | '的' | '在' | '从' | '除' | '了' | '每'
            ) || chinese::is_numeral(character)
        }
        DateTokenKind::Other => false,
    }
}
