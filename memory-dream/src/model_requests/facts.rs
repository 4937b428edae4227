//! Extracts the facts that a summary must preserve.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use memory_core::datetime::find_dates;
use memory_core::text::fold;
use memory_core::wikilink::{blank_code, parse_prose_wikilinks, prose_tags};

use crate::language::WORDS;

/// The facts that a summary must preserve.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SummaryFacts {
    /// Numbers, addresses, identifiers, links, tags and code, normalised for comparison.
    pub(super) exact: BTreeSet<String>,
    /// Words of dates and times, folded.
    dates: BTreeSet<String>,
    /// Words that are spelled as names.
    pub(super) names: BTreeSet<String>,
}

impl SummaryFacts {
    /// Returns the facts that are missing in `text`, given `after`, the facts of `text`.
    pub(super) fn missing_in(&self, text: &str, after: &Self) -> Vec<String> {
        let folded = fold_without_spaces(text);
        let dates = self
            .dates
            .iter()
            .filter(|date| !folded.contains(&fold_without_spaces(date)));
        self.exact
            .difference(&after.exact)
            .chain(dates)
            .cloned()
            .collect()
    }
}

/// Extracts the facts of a text.
pub(super) fn extract_summary_facts(text: &str) -> SummaryFacts {
    let mut facts = SummaryFacts::default();
    let prose = blank_code(text);
    facts.exact.extend(code_pieces(text, &prose));
    facts.exact.extend(
        parse_prose_wikilinks(&prose)
            .into_iter()
            .map(|link| format!("[[{}]]", link.target)),
    );
    facts
        .exact
        .extend(prose_tags(&prose).into_iter().map(|tag| format!("#{tag}")));
    for line in prose.lines() {
        let line = strip_item_number(line);
        facts.exact.extend(extract_numbers(&fold(line)));
        facts
            .exact
            .extend(line.split(separates_words).filter_map(literal_word));
    }
    for reading in find_dates(&prose, &DateTime::<Utc>::UNIX_EPOCH) {
        let said = fold(&reading.text);
        if said.contains(|character| '\u{3400}' <= character) {
            facts.dates.insert(said);
        } else {
            // The words between a day and its time are not dates, and numbers are separate facts.
            let words = said.split(|character: char| !character.is_alphabetic());
            facts.dates.extend(
                words
                    .filter(|word| WORDS.summary_times.contains(word))
                    .map(str::to_owned),
            );
        }
    }
    facts.names.extend(extract_names(&prose));
    facts
}

/// Returns the pieces of code, line by line.
fn code_pieces(text: &str, prose: &str) -> Vec<String> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, (own, blanked)) in text.bytes().zip(prose.bytes()).enumerate() {
        if own != blanked {
            match found.last_mut().filter(|last| {
                text.as_bytes()[last.end..at]
                    .iter()
                    .all(|byte| *byte == b' ')
            }) {
                Some(last) => last.end = at + 1,
                None => found.push(at..at + 1),
            }
        }
    }
    let pieces = found
        .into_iter()
        .flat_map(|range| text[range].split('`'))
        .map(str::trim);
    pieces
        .filter(|piece| piece.contains(char::is_alphanumeric))
        .map(str::to_owned)
        .collect()
}

/// Returns the numbers of a folded text, with the signs inside them.
fn extract_numbers(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open = String::new();
    for character in text.chars().chain([' ']) {
        let may_join = !open.is_empty() && matches!(character, '.' | ',' | ':' | '/' | '-');
        if character.is_numeric() || may_join {
            open.push(character);
        } else if !open.is_empty() {
            let unit = if "%‰°".contains(character) {
                character.to_string()
            } else {
                String::new()
            };
            found.push(open.trim_end_matches(['.', ',', ':', '/', '-']).to_owned() + &unit);
            open.clear();
        }
    }
    found
}

fn separates_words(character: char) -> bool {
    character.is_whitespace() || ('\u{2e80}'..='\u{ffef}').contains(&character)
}

/// Returns the word if it is an address, a path or an identifier.
fn literal_word(word: &str) -> Option<String> {
    let word = word.trim_matches(|character: char| "()[]{}<>\"'“”‘’,.;:!?*~".contains(character));
    let is_literal = word.contains("://")
        || word.contains(['@', '_', '\\', '='])
        || word.contains('/') && word.contains(['.', ':']);
    (is_literal && word.contains(char::is_alphanumeric)).then(|| word.to_owned())
}

/// Removes the number of a list item, since it only gives the position.
fn strip_item_number(line: &str) -> &str {
    let rest = line
        .trim_start()
        .trim_start_matches(|character: char| character.is_ascii_digit());
    let is_item =
        rest.len() < line.trim_start().len() && (rest.starts_with(". ") || rest.starts_with(") "));
    if is_item { rest } else { line }
}

/// Returns the words with a capital letter that are not at the start of a sentence.
fn extract_names(prose: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_first = true;
    for word in prose.split_whitespace() {
        let plain = word.trim_matches(|character: char| !character.is_alphanumeric());
        let plain = plain
            .strip_suffix("'s")
            .or_else(|| plain.strip_suffix("’s"))
            .unwrap_or(plain);
        let begins = plain.starts_with(char::is_uppercase);
        if begins && !is_first && plain != "I" && !plain.starts_with("I'") {
            found.push(plain.to_owned());
        }
        is_first = word.ends_with(['.', '!', '?', ':', '。', '！', '？']) || plain.is_empty();
    }
    found
}

fn fold_without_spaces(text: &str) -> String {
    fold(text).split_whitespace().collect()
}
