//! A backtracking cursor over the tokens of a text.

use std::ops::RangeInclusive;

use super::token::DateTokenKind::{self, Han, Number, Other, Sign, Word};
use super::token::{DateNumber, DateToken};

/// A position between tokens. It is `Copy`, so that a parser can save and restore it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenCursor<'t> {
    tokens: &'t [DateToken<'t>],
    at: usize,
}

/// A function that parses what is at a cursor.
type CursorParser<T> = fn(&mut TokenCursor<'_>) -> Option<T>;

impl<'t> TokenCursor<'t> {
    pub(super) fn new(tokens: &'t [DateToken<'t>], at: usize) -> Self {
        Self { tokens, at }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns a cursor over the tokens from here on, to which the ones before are not joined.
    pub(super) fn detached(&self) -> Self {
        Self::new(self.tokens.get(self.at..).unwrap_or_default(), 0)
    }

    fn token(&self, ahead: usize) -> Option<&'t DateToken<'t>> {
        self.tokens.get(self.at + ahead)
    }

    /// Returns the token `ahead` positions after the next one.
    pub(super) fn peek(&self, ahead: usize) -> Option<DateTokenKind<'t>> {
        self.token(ahead).map(|token| token.what)
    }

    /// Returns whether the token `ahead` positions after the next one follows its predecessor without whitespace.
    pub(super) fn is_glued(&self, ahead: usize) -> bool {
        self.token(ahead).is_some_and(|token| !token.gap)
    }

    /// Returns whether the token `back` positions before the cursor follows its predecessor without whitespace.
    pub(super) fn is_glued_before(&self, back: usize) -> bool {
        self.at
            .checked_sub(back)
            .and_then(|at| self.tokens.get(at))
            .is_some_and(|token| !token.gap)
    }

    /// Returns the token `back` positions before the cursor; 1 is the nearest.
    pub(super) fn peek_back(&self, back: usize) -> Option<DateTokenKind<'t>> {
        self.at
            .checked_sub(back)
            .and_then(|at| self.tokens.get(at))
            .map(|token| token.what)
    }

    /// Returns the word `back` positions before the cursor, or an empty string.
    pub(super) fn word_before(&self, back: usize) -> &'t str {
        if let Some(Word(word)) = self.peek_back(back) {
            word
        } else {
            ""
        }
    }

    /// Returns the sign `ahead` positions after the next token.
    pub(super) fn sign(&self, ahead: usize) -> Option<char> {
        sign_of(self.peek(ahead)?)
    }

    /// Returns the sign `back` positions before the cursor.
    pub(super) fn sign_before(&self, back: usize) -> Option<char> {
        sign_of(self.peek_back(back)?)
    }

    /// Returns whether the token `ahead` positions after the next one is a number in digits.
    pub(super) fn is_number(&self, ahead: usize) -> bool {
        matches!(self.peek(ahead), Some(Number(_)))
    }

    /// Returns whether the token `back` positions before the cursor is a number in digits.
    pub(super) fn is_number_before(&self, back: usize) -> bool {
        matches!(self.peek_back(back), Some(Number(_)))
    }

    /// Returns whether one of these Chinese characters is `ahead` positions after the next token.
    pub(super) fn is_han_next(&self, ahead: usize, characters: &str) -> bool {
        self.peek_han(ahead)
            .is_some_and(|character| characters.contains(character))
    }

    /// Returns whether one of these Chinese characters is `back` positions before the cursor.
    pub(super) fn is_han_before(&self, back: usize, characters: &str) -> bool {
        matches!(self.peek_back(back), Some(Han(character)) if characters.contains(character))
    }

    pub(super) fn is_at_start(&self) -> bool {
        self.at == 0
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.tokens.len() <= self.at
    }

    pub(super) fn step_back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    /// Runs `parse`, and restores the position if it returns `None`.
    pub(super) fn attempt<T>(&mut self, parse: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = *self;
        let found = parse(self);
        if found.is_none() {
            *self = start;
        }
        found
    }

    /// Runs `consume`, and restores the position if it returns `false`.
    pub(super) fn try_consume(&mut self, consume: impl FnOnce(&mut Self) -> bool) -> bool {
        self.attempt(|cursor| consume(cursor).then_some(()))
            .is_some()
    }

    /// Returns what the first of `forms` that applies parses.
    pub(super) fn attempt_any<T>(&mut self, forms: &[CursorParser<T>]) -> Option<T> {
        forms.iter().find_map(|form| self.attempt(form))
    }

    /// Returns the next token if it is a word, otherwise an empty string.
    pub(super) fn word(&self) -> &'t str {
        self.word_ahead(0)
    }

    pub(super) fn word_ahead(&self, ahead: usize) -> &'t str {
        if let Some(Word(word)) = self.peek(ahead) {
            word
        } else {
            ""
        }
    }

    /// Returns the sign after the next token if it is glued to it.
    pub(super) fn peek_ahead_sign(&self) -> Option<char> {
        match self.peek(1) {
            Some(Sign(sign)) if self.is_glued(1) => Some(sign),
            _ => None,
        }
    }

    pub(super) fn consume_word(&mut self, word: &str) -> bool {
        self.consume_if(|what| what == Word(word))
    }

    /// Consumes a word that `lookup` knows, and returns what it means.
    pub(super) fn consume_known<T>(
        &mut self,
        lookup: impl FnOnce(&'t str) -> Option<T>,
    ) -> Option<T> {
        let meaning = lookup(self.word())?;
        self.step();
        Some(meaning)
    }

    pub(super) fn consume_any_word(&mut self, words: &[&str]) -> bool {
        self.consume_if(|what| matches!(what, Word(word) if words.contains(&word)))
    }

    /// Consumes all words of a phrase, also with hyphens between them, or nothing.
    pub(super) fn consume_phrase(&mut self, phrase: &str) -> bool {
        // Most phrases start with another word.
        let word = self.word();
        if word.is_empty() || !phrase.starts_with(word) {
            return false;
        }
        self.try_consume(|cursor| {
            let mut words = phrase.split(' ');
            words.next().is_some_and(|word| cursor.consume_word(word))
                && words.all(|word| {
                    cursor.consume_glued_sign('-');
                    cursor.consume_word(word)
                })
        })
    }

    pub(super) fn consume_any_phrase(&mut self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.consume_phrase(phrase))
    }

    pub(super) fn consume_sign(&mut self, sign: char) -> bool {
        self.consume_if(|what| what == Sign(sign))
    }

    pub(super) fn consume_glued_sign(&mut self, sign: char) -> bool {
        self.is_glued(0) && self.consume_sign(sign)
    }

    /// Consumes a word that directly follows the previous token.
    pub(super) fn consume_glued_word(&mut self, word: &str) -> bool {
        self.is_glued(0) && self.consume_word(word)
    }

    /// Consumes one of these signs, and returns it.
    pub(super) fn consume_any_sign(&mut self, signs: &[char]) -> Option<char> {
        let sign = self.sign(0).filter(|sign| signs.contains(sign))?;
        self.step();
        Some(sign)
    }

    pub(super) fn consume_any_glued_sign(&mut self, signs: &[char]) -> Option<char> {
        self.is_glued(0).then(|| self.consume_any_sign(signs))?
    }

    /// Consumes the point after an abbreviation, but not the first of several.
    pub(super) fn consume_point(&mut self) {
        if self.peek_ahead_sign() != Some('.') {
            self.consume_glued_sign('.');
        }
    }

    /// Consumes all of these Chinese characters, or nothing. The digit 1 stands for 一.
    pub(super) fn consume_han(&mut self, characters: &str) -> bool {
        let one = Number(DateNumber::new(1, 1));
        self.try_consume(|cursor| {
            characters.chars().all(|character| {
                cursor.consume_if(|what| what == Han(character) || character == '一' && what == one)
            })
        })
    }

    pub(super) fn consume_any_han(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.consume_han(word))
    }

    /// Consumes the first of these Chinese words that is next, and returns its meaning.
    pub(super) fn consume_meaning<T: Copy, W: AsRef<[&'static str]>>(
        &mut self,
        words: &[(T, W)],
    ) -> Option<T> {
        matches!(self.peek(0)?, Han(_) | Number(_)).then_some(())?;
        words
            .iter()
            .find(|(_, words)| self.consume_any_han(words.as_ref()))
            .map(|(meaning, _)| *meaning)
    }

    pub(super) fn peek_han(&self, ahead: usize) -> Option<char> {
        if let Some(Han(character)) = self.peek(ahead) {
            Some(character)
        } else {
            None
        }
    }

    /// Consumes a number in digits.
    pub(super) fn consume_number(&mut self) -> Option<DateNumber> {
        let Some(Number(number)) = self.peek(0) else {
            return None;
        };
        self.at += 1;
        Some(number)
    }

    /// Consumes a number in digits that follows the previous token without whitespace.
    pub(super) fn consume_glued_number(&mut self) -> Option<DateNumber> {
        self.is_glued(0).then(|| self.consume_number())?
    }

    /// Consumes a number in digits, and returns it if it has so many of them.
    pub(super) fn consume_digits(&mut self, count: RangeInclusive<usize>) -> Option<DateNumber> {
        self.consume_number()
            .filter(|number| count.contains(&number.digits))
    }

    /// Consumes a number that directly follows the previous token, and returns it if it has so many digits.
    pub(super) fn consume_glued_digits(
        &mut self,
        count: RangeInclusive<usize>,
    ) -> Option<DateNumber> {
        self.consume_glued_number()
            .filter(|number| count.contains(&number.digits))
    }

    fn consume_if(&mut self, wanted: impl FnOnce(DateTokenKind<'t>) -> bool) -> bool {
        let is_wanted = self.peek(0).is_some_and(wanted);
        self.at += usize::from(is_wanted);
        is_wanted
    }

    /// Returns whether a number at the cursor is not the end of something longer, such as a price or a version.
    pub(super) fn starts_cleanly(&self) -> bool {
        if !self.is_glued(0) {
            return !matches!(self.sign_before(1), Some('$' | '#' | '£' | '€' | '¥' | '+'));
        }
        let is_inside = 1 < self.at && self.tokens.get(self.at - 1).is_some_and(|token| !token.gap);
        match self.peek_back(1) {
            // The `T` between date and time in RFC 3339.
            Some(Word("t")) => is_inside && self.is_number_before(2),
            Some(Sign('.' | ',' | '-' | '/' | ':' | '_' | '\'')) => {
                !is_inside || matches!(self.peek_back(2), Some(Han(_) | Sign(_)))
            }
            Some(Sign('=' | '?')) => !is_inside,
            Some(
                Sign('$' | '#' | '£' | '€' | '¥' | '+' | '%' | '&' | '\\' | '^')
                | Word(_)
                | Number(_)
                | Other,
            ) => false,
            None | Some(Han(_) | Sign(_)) => true,
        }
    }

    /// Returns whether an expression that ends at the cursor is not the start of something longer, such as a version or
    /// a percentage.
    pub(super) fn ends_cleanly(&self) -> bool {
        if !self.is_glued(0) {
            return !matches!(self.sign(0), Some('%' | '\u{b0}' | '$' | '€' | '£'));
        }
        match self.peek(0) {
            Some(Word(_) | Number(_) | Other | Sign('%' | '\u{b0}' | '$' | '€' | '£' | '+')) => {
                false
            }
            Some(Sign('.' | ',' | ':' | '-' | '/' | '_' | '@' | '=')) => {
                !(self.is_glued(1) && matches!(self.peek(1), Some(Number(_) | Word(_) | Other)))
            }
            None | Some(Han(_) | Sign(_)) => true,
        }
    }
}

fn sign_of(what: DateTokenKind<'_>) -> Option<char> {
    if let Sign(sign) = what {
        Some(sign)
    } else {
        None
    }
}
