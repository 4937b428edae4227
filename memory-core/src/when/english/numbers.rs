//! Parses English numerals.

use super::super::cursor::Cursor;
use super::super::token::What;

fn unit_of(word: &str) -> Option<u64> {
    Some(match word {
        "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        _ => return None,
    })
}

fn teen_of(word: &str) -> Option<u64> {
    Some(match word {
        "ten" => 10,
        "eleven" => 11,
        "twelve" => 12,
        "thirteen" => 13,
        "fourteen" => 14,
        "fifteen" => 15,
        "sixteen" => 16,
        "seventeen" => 17,
        "eighteen" => 18,
        "nineteen" => 19,
        _ => return None,
    })
}

fn tens_of(word: &str) -> Option<u64> {
    Some(match word {
        "twenty" => 20,
        "thirty" => 30,
        "forty" | "fourty" => 40,
        "fifty" => 50,
        "sixty" => 60,
        "seventy" => 70,
        "eighty" => 80,
        "ninety" => 90,
        _ => return None,
    })
}

fn ordinal_unit(word: &str) -> Option<u32> {
    Some(match word {
        "first" => 1,
        "second" => 2,
        "third" => 3,
        "fourth" => 4,
        "fifth" => 5,
        "sixth" => 6,
        "seventh" => 7,
        "eighth" => 8,
        "ninth" => 9,
        _ => return None,
    })
}

fn ordinal_of(word: &str) -> Option<u32> {
    ordinal_unit(word).or_else(|| {
        Some(match word {
            "tenth" => 10,
            "eleventh" => 11,
            "twelfth" => 12,
            "thirteenth" => 13,
            "fourteenth" => 14,
            "fifteenth" => 15,
            "sixteenth" => 16,
            "seventeenth" => 17,
            "eighteenth" => 18,
            "nineteenth" => 19,
            "twentieth" => 20,
            "thirtieth" => 30,
            _ => return None,
        })
    })
}

pub(super) fn is_numeral(word: &str) -> bool {
    unit_of(word).is_some() || teen_of(word).is_some() || tens_of(word).is_some() || ordinal_of(word).is_some()
}

/// Consumes a number from 1 to 99 in words.
pub(super) fn small(cursor: &mut Cursor<'_>) -> Option<u64> {
    let word = cursor.word();
    if let Some(number) = unit_of(word).or_else(|| teen_of(word)) {
        cursor.step();
        return Some(number);
    }
    let tens = tens_of(word)?;
    cursor.step();
    let unit = cursor.attempt(|cursor| {
        cursor.eat_glued_sign('-');
        let unit = unit_of(cursor.word())?;
        cursor.step();
        Some(unit)
    });
    Some(tens + unit.unwrap_or(0))
}

/// Consumes a number in words, below one million.
pub(super) fn cardinal(cursor: &mut Cursor<'_>) -> Option<u64> {
    cursor.attempt(|cursor| {
        let mut total = 0;
        let mut group = if matches!(cursor.word(), "hundred" | "thousand") { 1 } else { small(cursor)? };
        if cursor.eat("hundred") {
            group = group * 100 + rest(cursor);
        }
        if cursor.eat("thousand") {
            total = group * 1000;
            group = cursor.attempt(small_and_hundred).unwrap_or_else(|| rest(cursor));
        }
        Some(total + group)
    })
}

fn small_and_hundred(cursor: &mut Cursor<'_>) -> Option<u64> {
    let hundreds = small(cursor)?;
    if !cursor.eat("hundred") {
        return None;
    }
    Some(hundreds * 100 + rest(cursor))
}

/// Consumes the rest after a hundred or thousand: "and five", "five", or nothing.
fn rest(cursor: &mut Cursor<'_>) -> u64 {
    let small = cursor.attempt(|cursor| {
        cursor.eat("and");
        small(cursor)
    });
    small.unwrap_or(0)
}

/// Consumes a number in digits or words.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Option<u64> {
    cursor.eat_digits().map(|number| number.value).or_else(|| cardinal(cursor))
}

/// Consumes "3rd", "third" or "twenty-third".
pub(super) fn ordinal(cursor: &mut Cursor<'_>) -> Option<u32> {
    cursor.attempt(|cursor| {
        if let Some(number) = cursor.eat_digits() {
            let has_ending = cursor.is_glued(0) && cursor.eat_any(&["st", "nd", "rd", "th"]);
            return if has_ending && number.digits <= 2 { u32::try_from(number.value).ok() } else { None };
        }
        let word = cursor.word();
        if let Some(number) = ordinal_of(word) {
            cursor.step();
            return Some(number);
        }
        let tens = u32::try_from(tens_of(word)?).ok()?;
        cursor.step();
        cursor.eat_glued_sign('-');
        let unit = ordinal_unit(cursor.word())?;
        cursor.step();
        Some(tens + unit)
    })
}

/// Consumes the number of a year, in four digits or in words ("nineteen eighty six").
pub(super) fn year(cursor: &mut Cursor<'_>) -> Option<i32> {
    cursor.attempt(|cursor| {
        if let Some(number) = cursor.eat_digits() {
            let is_year = number.digits == 4 && (1000..=9999).contains(&number.value) && !is_start_of_clock(cursor);
            return if is_year && cursor.ends_cleanly() { i32::try_from(number.value).ok() } else { None };
        }
        let year = cursor.attempt(thousands).or_else(|| cursor.attempt(centuries))?;
        i32::try_from(year).ok().filter(|year| (1000..=2999).contains(year))
    })
}

/// Returns whether a clock time such as "2015:10" continues here.
fn is_start_of_clock(cursor: &Cursor<'_>) -> bool {
    cursor.is_glued(0) && cursor.peek(0) == Some(What::Sign(':')) && matches!(cursor.peek(1), Some(What::Number(_)))
}

fn thousands(cursor: &mut Cursor<'_>) -> Option<u64> {
    let thousands = small(cursor)?;
    if !cursor.eat("thousand") {
        return None;
    }
    Some(thousands * 1000 + rest(cursor))
}

fn centuries(cursor: &mut Cursor<'_>) -> Option<u64> {
    let century = small(cursor).filter(|century| (10..=29).contains(century))?;
    if cursor.eat("hundred") {
        return Some(century * 100 + rest(cursor));
    }
    let is_single = cursor.eat_any(&["oh", "o"]);
    let of_century = small(cursor)?;
    let fits = if is_single { of_century < 10 } else { 10 <= of_century };
    fits.then_some(century * 100 + of_century)
}
