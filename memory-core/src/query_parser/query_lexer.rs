//! Lexer for queries: splits the input into words, filters, phrases and exclusions.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Days, Months, NaiveDate, TimeZone, Utc};

use super::filter_extraction::days_between;
use super::{QueryWord, WordRole};
use crate::Filter;
use crate::text::{Term, TokenKind, is_hebrew, is_sign_or_emoji, tokenize};

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
        let Some(first) = rest.chars().next() else {
            return pieces;
        };
        let negated = rest.strip_prefix('-').filter(|rest| {
            rest.starts_with(|next: char| {
                is_opening_quote(next) || next.is_alphabetic() || is_sign_or_emoji(next)
            })
        });
        if let Some((phrase, after)) = quotes.take_quoted(negated.unwrap_or(rest)) {
            pieces.push(if negated.is_some() {
                QueryElement::Without(phrase)
            } else {
                QueryElement::Phrase(phrase)
            });
            rest = after;
            continue;
        }
        if is_opening_quote(first) {
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (piece, after) = split_element(rest, &mut quotes);
        pieces.push(
            match piece.strip_prefix('-').filter(|_| negated.is_some()) {
                Some(piece) => QueryElement::Without(piece),
                None => QueryElement::Text(piece),
            },
        );
        rest = after;
    }
}

/// Splits `text` at the next blank or quoted phrase, or after the quoted value of a filter.
fn split_element<'t>(text: &'t str, quotes: &mut QuoteScanner) -> (&'t str, &'t str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    for (at, opening) in text[..end]
        .char_indices()
        .skip(1)
        .filter(|(_, character)| is_opening_quote(*character))
    {
        let Some((_, after)) = quotes.take_quoted(&text[at..]) else {
            continue;
        };
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
        let inside = &text[first.len_utf8()..];
        let is_end = |(at, mark): &(usize, char)| {
            // The sign of an acronym, as in רש"י, closes nothing.
            let is_inner = inside[..*at].ends_with(is_hebrew)
                && inside[at + mark.len_utf8()..].starts_with(is_hebrew);
            closing.contains(mark) && !is_inner
        };
        let end = inside.char_indices().find(is_end);
        let quoted = end.map(|(at, mark)| (&inside[..at], &inside[at + mark.len_utf8()..]));
        if quoted.is_none() {
            self.unclosed.push(first);
        }
        quoted
    }
}

/// Maximum number of tags in a filter.
const MAX_TAGS: usize = 64;

/// Maximum number of characters of an invalid filter that its error message shows.
const MAX_SHOWN: usize = 40;

/// Returns whether `key` is the name of a filter.
fn is_filter_name(key: &str) -> bool {
    matches!(
        key.to_ascii_lowercase().as_str(),
        "tag" | "source" | "scope" | "category" | "from" | "to"
    )
}

/// Parses a filter such as `tag:work` into `filter`, days in `zone`; returns whether `text` is a filter.
///
/// Tags are added, and `from:` and `to:` can only shorten the period. `source:`, `scope:` and `category:` replace the value in `filter`.
///
/// # Errors
/// Returns a sentence with the reason if `text` looks like a filter but is invalid.
pub(super) fn parse_filter<Tz: TimeZone>(
    text: &str,
    filter: &mut Filter,
    zone: &Tz,
) -> Result<bool, String> {
    let Some((key, quoted)) = text.split_once(':').filter(|(key, _)| is_filter_name(key)) else {
        return Ok(false);
    };
    let value = quoted.trim_matches([
        '"', '＂', '“', '”', '„', '«', '»', '「', '」', '『', '』', '｢', '｣',
    ]);
    let refused = |why: &str| {
        let shown: String = text.chars().take(MAX_SHOWN).collect();
        let end = if shown.len() < text.len() { "…" } else { "" };
        Err(format!(
            "{:?} is searched as plain text because it {why}",
            shown + end
        ))
    };
    let is_prose = key.starts_with(|first: char| first.is_ascii_uppercase());
    match (key.to_ascii_lowercase().as_str(), value) {
        // A sentence may begin with "To:".
        (_, "") if is_prose => return Ok(false),
        (_, "") => return refused("has no value"),
        ("tag", _) if MAX_TAGS <= filter.tags.iter().count() => {
            return refused("exceeds the limit of 64 tags");
        }
        ("tag", _) => {
            filter.tags = filter
                .tags
                .iter()
                .map(String::as_str)
                .chain([value])
                .collect();
        }
        ("source", _) => filter.source = Some(value.to_owned()),
        ("scope", _) => match value.parse() {
            Ok(scope) => filter.scope = Some(scope),
            Err(_) => return refused("is not a scope"),
        },
        ("category", _) => match value.to_lowercase().parse() {
            Ok(category) => filter.category = Some(category),
            Err(_) => return refused("is not a category"),
        },
        ("from", _) => match date_range(value, zone) {
            Some((first, _)) => {
                filter.from = Some(filter.from.map_or(first, |from| from.max(first)));
            }
            None => {
                return refused(
                    "is not a date; use a year, month or day such as 2026, 2026-05 or 2026-05-07",
                );
            }
        },
        _ => match date_range(value, zone) {
            Some((_, after)) => {
                filter.until = Some(filter.until.map_or(after, |until| until.min(after)));
            }
            None => {
                return refused(
                    "is not a date; use a year, month or day such as 2026, 2026-05 or 2026-05-07",
                );
            }
        },
    }
    Ok(true)
}

/// Returns the start of a year, month or day in `zone`, and the start of the next one.
fn date_range<Tz: TimeZone>(text: &str, zone: &Tz) -> Option<(DateTime<Utc>, DateTime<Utc>)> {
    let numbers = text
        .split('-')
        .map(|part| part.parse::<u32>().ok())
        .collect::<Option<Vec<_>>>()?;
    let is_year = text.split('-').next().is_some_and(|year| year.len() == 4);
    let year = i32::try_from(*numbers.first().filter(|_| is_year)?).ok()?;
    let (first, after) = match numbers[1..] {
        [] => (
            NaiveDate::from_ymd_opt(year, 1, 1)?,
            NaiveDate::from_ymd_opt(year + 1, 1, 1)?,
        ),
        [month] => {
            let first = NaiveDate::from_ymd_opt(year, month, 1)?;
            (first, first.checked_add_months(Months::new(1))?)
        }
        [month, day] => {
            let first = NaiveDate::from_ymd_opt(year, month, day)?;
            (first, first.checked_add_days(Days::new(1))?)
        }
        _ => return None,
    };
    days_between(first, after, zone)
}

/// Adds the single characters of scripts without blanks to the query words.
///
/// Does nothing unless `words` contains a bigram. Stops at `most` words; particles and duplicates are skipped.
pub(super) fn add_characters(
    plain: &str,
    ages: &HashMap<Term, u8>,
    most: usize,
    words: &mut Vec<QueryWord>,
) {
    if words.iter().all(|word| word.term.kind != TokenKind::Bigram) {
        return;
    }
    let mut known: HashSet<Term> = words.iter().map(|word| word.term.clone()).collect();
    tokenize(plain, &mut |token| {
        if token.kind != TokenKind::Character || most <= words.len() || is_particle(token.text) {
            return;
        }
        let term = Term {
            text: token.text.to_owned(),
            kind: token.kind,
        };
        if known.insert(term.clone()) {
            let age = ages.get(&term).copied().unwrap_or_default();
            words.push(QueryWord {
                spelled: term.text.clone(),
                term,
                role: WordRole::Character,
                age,
                is_prefix: false,
                alternatives: Vec::new(),
            });
        }
    });
}

/// Returns whether a character is a function character that is rarely part of a searched word.
fn is_particle(character: &str) -> bool {
    const PARTICLES: &str = "的了是我你您他她它们們这這那在有和就不也都与與及吗嗎呢吧啊么麼什怎之着著过過把被给給对對很还還";
    PARTICLES.contains(character)
}

#[cfg(test)]
mod tests {
    use super::QueryElement::*;
    use super::*;

    #[test]
    fn every_kind_of_quotes_makes_a_phrase_where_it_is_closed() {
        for text in [
            "\"dark mode\"",
            "“dark mode”",
            "„dark mode“",
            "„dark mode”",
            "«dark mode»",
            "「dark mode」",
            "『dark mode』",
        ] {
            assert_eq!(
                split_query(&format!("a {text} b")),
                [Text("a"), Phrase("dark mode"), Text("b")],
                "{text}"
            );
            assert_eq!(
                split_query(&format!("-{text}")),
                [Without("dark mode")],
                "{text}"
            );
        }
        assert_eq!(split_query("“dark mode"), [Text("dark"), Text("mode")]);
        assert_eq!(
            split_query("dark” mode“ »a« "),
            [Text("dark”"), Text("mode“"), Text("»a«")]
        );
    }

    #[test]
    fn between_characters_without_blanks_quotes_are_quotes() {
        assert_eq!(
            split_query("他说「深色 模式」好吗"),
            [Text("他说"), Phrase("深色 模式"), Text("好吗")]
        );
        assert_eq!(split_query("他说:“深色”"), [Text("他说:"), Phrase("深色")]);
        assert_eq!(
            split_query("a 12\" pipe 13\" long"),
            ["a", "12\"", "pipe", "13\"", "long"].map(Text)
        );
    }

    #[test]
    fn the_sign_of_a_hebrew_acronym_is_no_quotation_mark() {
        assert_eq!(split_query("רש\"י רמב\"ם"), [Text("רש\"י"), Text("רמב\"ם")]);
        assert_eq!(
            split_query("\"רש\"י על התורה\" a"),
            [Phrase("רש\"י על התורה"), Text("a")]
        );
    }

    #[test]
    fn values_of_filters_may_be_quoted() {
        assert_eq!(
            split_query("tag:\"a b\" c"),
            [Text("tag:\"a b\""), Text("c")]
        );
        assert_eq!(split_query("tag:“a b”c"), [Text("tag:“a b”"), Text("c")]);
        assert_eq!(split_query("tag:“a b"), [Text("tag:“a"), Text("b")]);
    }

    #[test]
    fn quotes_without_end_are_looked_for_once() {
        let text = "“a ".repeat(100_000);
        assert_eq!(split_query(&text).len(), 100_000);
    }

    #[test]
    fn what_looks_like_a_filter_and_is_none_is_told() {
        for (text, why) in [
            (
                "from:yesterdayish",
                "it is not a date; use a year, month or day",
            ),
            (
                "to:2026-13",
                "\"to:2026-13\" is searched as plain text because it is not a date",
            ),
            ("scope:foo", "because it is not a scope"),
            ("category:nonsense", "because it is not a category"),
            (
                "tag:",
                "\"tag:\" is searched as plain text because it has no value",
            ),
            ("tag:\"\"", "has no value"),
            ("source:", "because it has no value"),
        ] {
            let mut filter = Filter::default();
            let told = parse_filter(text, &mut filter, &Utc).unwrap_err();
            assert!(
                told.contains(why) && filter == Filter::default(),
                "{text}: {told}"
            );
        }
        let told = parse_filter(
            &format!("from:{}", "x".repeat(100_000)),
            &mut Filter::default(),
            &Utc,
        )
        .unwrap_err();
        assert!(told.len() < 200, "{told}");
    }

    #[test]
    fn words_with_a_colon_are_words() {
        for text in [
            "http://example.com",
            "note:",
            "12:30",
            "To:",
            "From:",
            "dark",
            ":",
            "re:tag:x",
        ] {
            assert_eq!(
                parse_filter(text, &mut Filter::default(), &Utc),
                Ok(false),
                "{text}"
            );
        }
    }
}
