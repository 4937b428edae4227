//! Lexer for queries: splits the input into words, filters, phrases and exclusions.

use super::query_filter::is_filter_name;
use crate::text::is_sign_or_emoji;

/// The opening quotation marks with their closing ones: straight, curly, corner and angle.
const QUOTES: [(char, &[char]); 8] = [
    ('"', &['"']),
    ('＂', &['＂']),
    ('“', &['”']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('「', &['」']),
    ('『', &['』']),
    ('｢', &['｣']),
];

/// A lexical element of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryElement<'t> {
    /// A word or a filter.
    Text(&'t str),
    /// A required phrase, without its quotation marks.
    Phrase(&'t str),
    /// An excluded word or phrase, without the minus and the quotation marks.
    Without(&'t str),
}

/// Splits a query into its elements; a quotation mark that is never closed is ignored.
pub(super) fn split_query(text: &str) -> Vec<QueryElement<'_>> {
    let mut pieces = Vec::new();
    let mut quotes = QuoteScanner::default();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return pieces };
        let negated = rest.strip_prefix('-').filter(|rest| {
            rest.starts_with(|next: char| is_opening_quote(next) || next.is_alphabetic() || is_sign_or_emoji(next))
        });
        if let Some((phrase, after)) = quotes.take_quoted(negated.unwrap_or(rest)) {
            pieces.push(if negated.is_some() { QueryElement::Without(phrase) } else { QueryElement::Phrase(phrase) });
            rest = after;
            continue;
        }
        if is_opening_quote(first) {
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (piece, after) = split_element(rest, &mut quotes);
        pieces.push(match piece.strip_prefix('-').filter(|_| negated.is_some()) {
            Some(piece) => QueryElement::Without(piece),
            None => QueryElement::Text(piece),
        });
        rest = after;
    }
}

/// Splits `text` at the next blank or quoted phrase, or after the quoted value of a filter.
fn split_element<'t>(text: &'t str, quotes: &mut QuoteScanner) -> (&'t str, &'t str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    for (at, opening) in text[..end].char_indices().skip(1).filter(|(_, character)| is_opening_quote(*character)) {
        let Some((_, after)) = quotes.take_quoted(&text[at..]) else { continue };
        if text[..at].strip_suffix(':').is_some_and(is_filter_name) {
            return text.split_at(text.len() - after.len());
        }
        // A straight mark within a word is an inch sign or a typo. The other marks are deliberate, also in scripts without blanks.
        if !matches!(opening, '"' | '＂') {
            return text.split_at(at);
        }
    }
    text.split_at(end)
}

fn is_opening_quote(character: char) -> bool {
    QUOTES.iter().any(|(opening, _)| *opening == character)
}

/// Finds closing quotation marks in one text, in a single pass from start to end.
#[derive(Debug, Default)]
struct QuoteScanner {
    /// The opening marks without a closing mark in the remaining text.
    unclosed: Vec<char>,
}

impl QuoteScanner {
    /// Returns the quoted text at the start of `text` without its marks, and the text after it.
    ///
    /// Returns `None` if `text` does not start with a quotation mark or the mark is never closed.
    fn take_quoted<'t>(&mut self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let first = text.chars().next()?;
        let (_, closing) = QUOTES.iter().find(|(opening, _)| *opening == first)?;
        if self.unclosed.contains(&first) {
            return None;
        }
        let quoted = text[first.len_utf8()..].split_once(*closing);
        if quoted.is_none() {
            self.unclosed.push(first);
        }
        quoted
    }
}

#[cfg(test)]
mod tests {
    use super::{QueryElement::*, *};

    #[test]
    fn every_kind_of_quotes_makes_a_phrase_where_it_is_closed() {
        for text in
            ["\"dark mode\"", "“dark mode”", "„dark mode“", "„dark mode”", "«dark mode»", "「dark mode」", "『dark mode』"]
        {
            assert_eq!(split_query(&format!("a {text} b")), [Text("a"), Phrase("dark mode"), Text("b")], "{text}");
            assert_eq!(split_query(&format!("-{text}")), [Without("dark mode")], "{text}");
        }
        assert_eq!(split_query("“dark mode"), [Text("dark"), Text("mode")]);
        assert_eq!(split_query("dark” mode“ »a« "), [Text("dark”"), Text("mode“"), Text("»a«")]);
    }

    #[test]
    fn between_characters_without_blanks_quotes_are_quotes() {
        assert_eq!(split_query("他说「深色 模式」好吗"), [Text("他说"), Phrase("深色 模式"), Text("好吗")]);
        assert_eq!(split_query("他说:“深色”"), [Text("他说:"), Phrase("深色")]);
        assert_eq!(split_query("a 12\" pipe 13\" long"), ["a", "12\"", "pipe", "13\"", "long"].map(Text));
    }

    #[test]
    fn values_of_filters_may_be_quoted() {
        assert_eq!(split_query("tag:\"a b\" c"), [Text("tag:\"a b\""), Text("c")]);
        assert_eq!(split_query("tag:“a b”c"), [Text("tag:“a b”"), Text("c")]);
        assert_eq!(split_query("tag:“a b"), [Text("tag:“a"), Text("b")]);
    }

    #[test]
    fn quotes_without_end_are_looked_for_once() {
        let text = "“a ".repeat(100_000);
        assert_eq!(split_query(&text).len(), 100_000);
    }
}
