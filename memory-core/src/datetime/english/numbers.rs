//! Parses English numerals.

use std::ops::RangeInclusive;

use super::super::cursor::TokenCursor;
use super::lexicon::WORDS;

/// Returns the value of a cardinal in one word that is within `range`.
fn cardinal(word: &str, range: RangeInclusive<u64>) -> Option<u64> {
    let value = WORDS.cardinals.get(word).copied();
    value.filter(|value| range.contains(value))
}

/// Returns the value of an ordinal in one word.
fn ordinal(word: &str) -> Option<u32> {
    WORDS.ordinals.get(word).copied()
}

pub(in super::super) fn is_numeral(word: &str) -> bool {
    WORDS.cardinals.contains_key(word) || ordinal(word).is_some()
}

/// Consumes a number from 1 to 99 in words.
pub(in super::super) fn parse_below_hundred(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    let word = cursor.word();
    if let Some(number) = cardinal(word, 1..=19) {
        cursor.step();
        return Some(number);
    }
    let tens = cardinal(word, 20..=90)?;
    cursor.step();
    let unit = cursor.attempt(|cursor| {
        cursor.consume_glued_sign('-');
        let unit = cardinal(cursor.word(), 1..=9)?;
        cursor.step();
        Some(unit)
    });
    Some(tens + unit.unwrap_or(0))
}

/// Consumes a number in words, below one million.
pub(super) fn parse_cardinal(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    cursor.attempt(|cursor| {
        let mut total = 0;
        let is_round = |word| matches!(word, "hundred" | "thousand");
        if is_round(cursor.word_ahead(1)) {
            cursor.consume_word("a");
        }
        let mut group = if is_round(cursor.word()) {
            1
        } else {
            parse_below_hundred(cursor)?
        };
        if cursor.consume_word("hundred") {
            group = group * 100 + parse_remainder(cursor);
        }
        if cursor.consume_word("thousand") {
            total = group * 1000;
            group = cursor
                .attempt(parse_hundreds)
                .unwrap_or_else(|| parse_remainder(cursor));
        }
        Some(total + group)
    })
}

fn parse_hundreds(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    let hundreds = parse_below_hundred(cursor)?;
    cursor.consume_word("hundred").then_some(())?;
    Some(hundreds * 100 + parse_remainder(cursor))
}

/// Consumes the rest after a hundred or thousand: "and five", "five", or nothing.
fn parse_remainder(cursor: &mut TokenCursor<'_>) -> u64 {
    let small = cursor.attempt(|cursor| {
        cursor.consume_word("and");
        parse_below_hundred(cursor)
    });
    small.unwrap_or(0)
}

/// Consumes a number in digits or words.
pub(super) fn parse_number(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    cursor
        .consume_number()
        .map(|number| number.value)
        .or_else(|| parse_cardinal(cursor))
}

/// Consumes "3rd", "third" or "twenty-third".
pub(super) fn parse_ordinal(cursor: &mut TokenCursor<'_>) -> Option<u32> {
    cursor.attempt(|cursor| {
        if let Some(number) = cursor.consume_number() {
            let has_ending =
                cursor.is_glued(0) && cursor.consume_any_word(&["st", "nd", "rd", "th"]);
            return (has_ending && number.digits <= 2)
                .then(|| u32::try_from(number.value).ok())
                .flatten();
        }
        let word = cursor.word();
        if let Some(number) = ordinal(word) {
            cursor.step();
            return Some(number);
        }
        let tens = u32::try_from(cardinal(word, 20..=90)?).ok()?;
        cursor.step();
        cursor.consume_glued_sign('-');
        let unit = ordinal(cursor.word()).filter(|unit| *unit < 10)?;
        cursor.step();
        Some(tens + unit)
    })
}

/// Consumes the number of a year, in four digits or in words ("nineteen eighty six").
pub(in super::super) fn parse_year(cursor: &mut TokenCursor<'_>) -> Option<i32> {
    cursor.attempt(|cursor| {
        if let Some(number) = cursor.consume_number() {
            let is_year = number.digits == 4
                && (1000..=9999).contains(&number.value)
                && !is_clock_next(cursor);
            return (is_year && cursor.ends_cleanly())
                .then(|| i32::try_from(number.value).ok())
                .flatten();
        }
        let year = cursor
            .attempt(parse_thousands_year)
            .or_else(|| cursor.attempt(parse_century_year))?;
        i32::try_from(year)
            .ok()
            .filter(|year| (1000..=2999).contains(year))
    })
}

/// Returns whether a clock time such as "2015:10" continues here.
fn is_clock_next(cursor: &TokenCursor<'_>) -> bool {
    cursor.is_glued(0) && cursor.sign(0) == Some(':') && cursor.is_number(1)
}

fn parse_thousands_year(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    let thousands = parse_below_hundred(cursor)?;
    cursor.consume_word("thousand").then_some(())?;
    Some(thousands * 1000 + parse_remainder(cursor))
}

fn parse_century_year(cursor: &mut TokenCursor<'_>) -> Option<u64> {
    let century = parse_below_hundred(cursor).filter(|century| (10..=29).contains(century))?;
    if cursor.consume_word("hundred") {
        return Some(century * 100 + parse_remainder(cursor));
    }
    let is_single = cursor.consume_any_word(&["oh", "o"]);
    let of_century = parse_below_hundred(cursor)?;
    let fits = if is_single {
        of_century < 10
    } else {
        10 <= of_century
    };
    fits.then_some(century * 100 + of_century)
}
