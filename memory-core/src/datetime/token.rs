//! Splits a text into words, numbers, Chinese characters and signs.

use std::ops::Range;

use super::chinese::simplify_date_character;
use crate::text::is_han;

/// A token.
#[derive(Debug, Clone)]
pub(super) struct DateToken<'t> {
    pub(super) what: DateTokenKind<'t>,
    pub(super) span: Range<usize>,
    /// Whether whitespace precedes the token.
    pub(super) gap: bool,
}

/// The content of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateTokenKind<'t> {
    Number(DateNumber),
    /// A word of ASCII letters, in lower case.
    Word(&'t str),
    /// A Chinese character, in its simplified form if the grammar uses it.
    Han(char),
    /// Any other visible character; `'\n'` is a paragraph break.
    Sign(char),
    /// A word of another script, or one that is too long for the vocabulary.
    Other,
}

/// A number in digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DateNumber {
    pub(super) value: u64,
    pub(super) digits: usize,
    /// The second number of an approximate amount, such as "2-3 days".
    pub(super) upper: Option<u64>,
}

impl DateNumber {
    pub(super) fn new(value: u64, digits: usize) -> Self {
        Self {
            value,
            digits,
            upper: None,
        }
    }

    /// Returns the parts of a date or time in digits: all but the last four, the third and fourth last, and the last two.
    pub(super) fn split(self) -> (u64, u64, u64) {
        let value = self.value;
        (value / 10_000, value / 100 % 100, value % 100)
    }
}

/// Maximum length of a word in the vocabulary.
const MAX_WORD_LENGTH: usize = 16;

/// Maximum number of digits of a number in a date or time.
const MAX_DIGITS: usize = 12;

/// Returns the tokens of `small`, which is the text in ASCII lower case, so that spans apply to both.
pub(super) fn tokenize_dates(small: &str) -> Vec<DateToken<'_>> {
    let mut tokens = Vec::new();
    let mut rest = small;
    let mut gap = true;
    let mut breaks = 0;
    while let Some(character) = rest.chars().next() {
        let start = small.len() - rest.len();
        let character = to_half_width(character);
        if character.is_whitespace() {
            gap = true;
            breaks += usize::from(character == '\n');
            rest = skip_char(rest);
            continue;
        }
        if 1 < breaks {
            tokens.push(DateToken {
                what: DateTokenKind::Sign('\n'),
                span: start..start,
                gap: true,
            });
        }
        breaks = 0;
        let (what, length) = scan_token(rest, character);
        tokens.push(DateToken {
            what,
            span: start..start + length,
            gap,
        });
        gap = false;
        rest = &rest[length..];
    }
    tokens
}

fn scan_token(rest: &str, first: char) -> (DateTokenKind<'_>, usize) {
    if first.is_ascii_digit() {
        return scan_number(rest);
    }
    if is_han(first) {
        let character = simplify_date_character(first);
        return (DateTokenKind::Han(character), first.len_utf8());
    }
    if first.is_alphanumeric() {
        return scan_word(rest);
    }
    let length = rest.len() - skip_char(rest).len();
    (DateTokenKind::Sign(first), length)
}

fn scan_number(rest: &str) -> (DateTokenKind<'_>, usize) {
    let mut value = 0_u64;
    let mut digits = 0;
    let mut length = 0;
    for character in rest.chars() {
        let Some(digit) = to_half_width(character).to_digit(10) else {
            break;
        };
        value = value.saturating_mul(10).saturating_add(u64::from(digit));
        digits += 1;
        length += character.len_utf8();
    }
    let what = if digits <= MAX_DIGITS {
        DateTokenKind::Number(DateNumber::new(value, digits))
    } else {
        DateTokenKind::Other
    };
    (what, length)
}

/// Parses a word. A possessive `'s` is part of the token but not of the word.
fn scan_word(rest: &str) -> (DateTokenKind<'_>, usize) {
    let is_letter = |character: char| {
        character.is_alphanumeric()
            && !to_half_width(character).is_ascii_digit()
            && !is_han(character)
    };
    let length = rest
        .find(|character| !is_letter(character))
        .unwrap_or(rest.len());
    let letters = &rest[..length];
    let is_ours = letters.is_ascii() && length <= MAX_WORD_LENGTH;
    let what = if is_ours {
        DateTokenKind::Word(expand_day_word(letters))
    } else {
        DateTokenKind::Other
    };
    let tail = &rest[length..];
    let possessive = ["'s", "\u{2019}s"].into_iter().find(|ending| {
        tail.strip_prefix(ending).is_some_and(|after| {
            !after.starts_with(|next: char| next.is_alphanumeric() && !is_han(next))
        })
    });
    let plural = ["' ", "\u{2019} "]
        .into_iter()
        .find(|ending| letters.ends_with('s') && tail.starts_with(ending));
    let swallowed = possessive.map_or(plural.map_or(0, |ending| ending.len() - 1), str::len);
    (what, length + swallowed)
}

/// Returns the whole word for an abbreviation of "weekday" or "weekend".
fn expand_day_word(word: &str) -> &str {
    match word {
        "wkday" | "wkdy" => "weekday",
        "wkdays" | "wkdys" => "weekdays",
        "wkend" | "wknd" => "weekend",
        "wkends" | "wknds" => "weekends",
        _ => word,
    }
}

fn skip_char(text: &str) -> &str {
    let mut characters = text.chars();
    characters.next();
    characters.as_str()
}

/// Maps full-width digits and signs to their ASCII equivalents.
fn to_half_width(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => {
            char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character)
        }
        '\u{3001}' => ',',
        '\u{3002}' => '.',
        '\u{2013}' | '\u{2010}' | '\u{2011}' | '\u{2212}' => '-',
        _ => character,
    }
}
