//! Parses Chinese numerals, in characters or digits.

use std::ops::RangeInclusive;

use super::super::cursor::TokenCursor;
use super::super::numeric::expand_year;
use super::super::token::DateToken;
use super::super::token::DateTokenKind::Han;

/// Maximum length of a number in a date or time, in characters.
const MAX_CHARACTERS: usize = 10;

/// Returns the digit that a character denotes.
pub(crate) fn digit_value(character: char) -> Option<u64> {
    if character == '两' {
        return Some(2);
    }
    let mut digits = "零一二三四五六七八九".chars().zip(0..);
    digits.find_map(|(digit, value)| (digit == character).then_some(value))
}

pub(in super::super) fn is_numeral(character: char) -> bool {
    digit_value(character).is_some() || matches!(character, '十' | '廿' | '卅' | '百' | '千')
}

/// Returns the position after the numeral in characters at `at`, if there is one.
pub(in super::super) fn end_of_numeral(tokens: &[DateToken<'_>], at: usize) -> Option<usize> {
    let length = tokens[at..]
        .iter()
        .take_while(|token| matches!(token.what, Han(character) if is_numeral(character)))
        .count();
    (0 < length).then_some(at + length)
}

/// Consumes a number in digits or characters.
pub(in super::super) fn parse_number<N: TryFrom<u64>>(cursor: &mut TokenCursor<'_>) -> Option<N> {
    cursor.attempt(|cursor| {
        let value = match cursor.consume_number() {
            Some(number) => number.value,
            None => parse_han_number(cursor)?,
        };
        N::try_from(value).ok()
    })
}

/// Consumes a number in digits or characters that is within `range`.
pub(in super::super) fn parse_number_in<N: TryFrom<u64> + PartialOrd>(
    cursor: &mut TokenCursor<'_>,
    range: RangeInclusive<N>,
) -> Option<N> {
    cursor.attempt(|cursor| parse_number(cursor).filter(|number| range.contains(number)))
}

/// Consumes "二十三", "廿三", "一百二十" or, digit by digit, "二零一五".
fn parse_han_number(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    let mut total = 0;
    let mut pending = None;
    let mut in_row = 0_u64;
    let mut row = 0_u64;
    let mut length = 0;
    let mut has_unit = false;
    while let Some(character) = cursor.peek_han(0).filter(|_| length < MAX_CHARACTERS) {
        if let Some(digit) = digit_value(character) {
            in_row += 1;
            row = row * 10 + digit;
            pending = Some(digit);
        } else {
            let unit = match character {
                '十' | '廿' | '卅' => 10,
                '百' => 100,
                '千' => 1000,
                _ => break,
            };
            (in_row <= 1 || (in_row == 2 && has_unit)).then_some(())?;
            let count = match character {
                '廿' => 2,
                '卅' => 3,
                _ => pending.unwrap_or(1),
            };
            total += count * unit;
            (pending, in_row, row, has_unit) = (None, 0, 0, true);
        }
        length += 1;
        cursor.step();
    }
    (length != 0).then_some(())?;
    Some(if has_unit {
        total + pending.unwrap_or(0)
    } else {
        row
    })
}

/// Consumes two digits that follow each other, also after tens: 两三, 十七八, 三五.
pub(in super::super) fn parse_adjacent_digits(cursor: &mut TokenCursor<'_>) -> Option<(u64, u64)> {
    let tens = cursor.attempt(|cursor| {
        let tens = cursor.peek_han(0).and_then(digit_value);
        if tens.is_some() {
            cursor.step();
        }
        cursor.consume_han("十").then(|| tens.unwrap_or(1) * 10)
    });
    let mut digit = || {
        let digit = digit_value(cursor.peek_han(0)?)?;
        cursor.step();
        Some(tens.unwrap_or(0) + digit)
    };
    let (low, high) = (digit()?, digit()?);
    (high <= low + 2).then_some((low, high))
}

/// Consumes the number of a year: four digits, or two before 年.
pub(super) fn parse_year(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    cursor.attempt(|cursor| {
        let is_clean = cursor.starts_cleanly();
        let start = cursor.position();
        let (year, digits) = match cursor.consume_number() {
            Some(number) => (number.value, number.digits),
            None => (parse_han_number(cursor)?, cursor.position() - start),
        };
        let year = match digits {
            4 if (1000..=9999).contains(&year) => year,
            2 if year < 100 && !cursor.is_han_before(1, "十") => expand_year(year),
            _ => return None,
        };
        // Four digits before 年 are a year also behind a full stop: "all.2025年".
        ((is_clean || digits == 4) && cursor.consume_han("年")).then(|| i32::try_from(year).ok())?
    })
}
