//! Cutting what was typed into words, filters, phrases, and what must not be there.

use super::narrow::is_key;
use crate::text::is_picture;

/// What opens a phrase, and what closes it: straight and curly quotes, corners and angles.
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

/// A part of what was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// Words, or a filter.
    Text(&'t str),
    /// What must stand there word by word, without its quotes.
    Phrase(&'t str),
    /// What must not be there, without the minus and the quotes.
    Without(&'t str),
}

/// Cuts what was typed into its parts. A quote that is never closed is none.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut quotes = Quotes::default();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return pieces };
        let negated = rest
            .strip_prefix('-')
            .filter(|rest| rest.starts_with(|next: char| opens(next) || next.is_alphabetic() || is_picture(next)));
        if let Some((phrase, after)) = quotes.quoted(negated.unwrap_or(rest)) {
            pieces.push(if negated.is_some() { Piece::Without(phrase) } else { Piece::Phrase(phrase) });
            rest = after;
            continue;
        }
        if opens(first) {
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (piece, after) = cut(rest, &mut quotes);
        pieces.push(match piece.strip_prefix('-').filter(|_| negated.is_some()) {
            Some(piece) => Piece::Without(piece),
            None => Piece::Text(piece),
        });
        rest = after;
    }
}

/// Cuts off what stands up to the next blank or quote, or up to the end of a quoted value.
fn cut<'t>(text: &'t str, quotes: &mut Quotes) -> (&'t str, &'t str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    for (at, opening) in text[..end].char_indices().skip(1).filter(|(_, character)| opens(*character)) {
        let Some((_, after)) = quotes.quoted(&text[at..]) else { continue };
        if text[..at].strip_suffix(':').is_some_and(is_key) {
            return text.split_at(text.len() - after.len());
        }
        // A straight one within a word is an inch, or a slip; the others are typed on purpose, and where no blanks are.
        if !matches!(opening, '"' | '＂') {
            return text.split_at(at);
        }
    }
    text.split_at(end)
}

fn opens(character: char) -> bool {
    QUOTES.iter().any(|(opening, _)| *opening == character)
}

/// Looks for the ends of quotes in one text, from its beginning to its end.
#[derive(Debug, Default)]
struct Quotes {
    /// What opens a quote and is not closed any more.
    unclosed: Vec<char>,
}

impl Quotes {
    /// Takes what is quoted off the beginning of `text`, without its quotes; returns it and what follows, if it is closed.
    fn quoted<'t>(&mut self, text: &'t str) -> Option<(&'t str, &'t str)> {
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
    use super::{Piece::*, *};

    #[test]
    fn every_kind_of_quotes_makes_a_phrase_where_it_is_closed() {
        for text in
            ["\"dark mode\"", "“dark mode”", "„dark mode“", "„dark mode”", "«dark mode»", "「dark mode」", "『dark mode』"]
        {
            assert_eq!(pieces(&format!("a {text} b")), [Text("a"), Phrase("dark mode"), Text("b")], "{text}");
            assert_eq!(pieces(&format!("-{text}")), [Without("dark mode")], "{text}");
        }
        assert_eq!(pieces("“dark mode"), [Text("dark"), Text("mode")]);
        assert_eq!(pieces("dark” mode“ »a« "), [Text("dark”"), Text("mode“"), Text("»a«")]);
    }

    #[test]
    fn between_characters_without_blanks_quotes_are_quotes() {
        assert_eq!(pieces("他说「深色 模式」好吗"), [Text("他说"), Phrase("深色 模式"), Text("好吗")]);
        assert_eq!(pieces("他说:“深色”"), [Text("他说:"), Phrase("深色")]);
        assert_eq!(pieces("a 12\" pipe 13\" long"), ["a", "12\"", "pipe", "13\"", "long"].map(Text));
    }

    #[test]
    fn values_of_filters_may_be_quoted() {
        assert_eq!(pieces("tag:\"a b\" c"), [Text("tag:\"a b\""), Text("c")]);
        assert_eq!(pieces("tag:“a b”c"), [Text("tag:“a b”"), Text("c")]);
        assert_eq!(pieces("tag:“a b"), [Text("tag:“a"), Text("b")]);
    }

    #[test]
    fn quotes_without_end_are_looked_for_once() {
        let text = "“a ".repeat(100_000);
        assert_eq!(pieces(&text).len(), 100_000);
    }
}
