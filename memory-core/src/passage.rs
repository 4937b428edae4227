//! Selects the passages of memories that answer a query, for answers of limited size.

use crate::Hit;
use crate::context::content_terms;
use crate::query_parser::has_content_word;
use crate::text::{
    Term, TokenKind, contained_terms, fitting_snippet, fold, query_terms, to_one_line, token_count,
};

/// Maximum number of characters of a passage.
const PASSAGE_CHARACTERS: usize = 300;

/// Number of characters by which a complete text may be longer.
const SPARE_CHARACTERS: usize = 40;

/// Maximum number of missing words that are returned.
const MAX_MISSING: usize = 8;

/// Maximum number of characters of a missing word.
const MAX_WORD: usize = 40;

/// Maximum number of tokens of a passage, which limits texts in scripts without spaces.
const PASSAGE_TOKENS: usize = 110;

/// A part of a text, or the whole text if it is short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedPassage {
    /// The text: unchanged if it is complete, else one line with `…` where text was cut off.
    pub text: String,
    /// The number of characters of the text that the passage does not contain.
    pub omitted: usize,
    /// The number of characters before the passage.
    pub start: usize,
}

/// Selects the passages with most words of a query.
#[derive(Debug, Clone, Default)]
pub struct PassageSelector {
    terms: Vec<Term>,
}

impl PassageSelector {
    /// Creates a selector for the content words of `query`. Without such words, it selects the start of a text.
    pub fn new(query: &str) -> Self {
        Self {
            terms: content_terms(query),
        }
    }

    /// Selects a passage of about 300 characters from `text`.
    ///
    /// ```
    /// use memory_core::PassageSelector;
    ///
    /// let text = format!("{}The wifi of the cabin is mountain9. {}", "We met. ".repeat(80), "We left. ".repeat(80));
    /// let passage = PassageSelector::new("wifi of the cabin").select(&text);
    /// assert!(passage.text.contains("The wifi of the cabin is mountain9.") && passage.text.starts_with('…'));
    /// assert_eq!(PassageSelector::default().select("short\ntext\n").text, "short\ntext");
    /// ```
    pub fn select(&self, text: &str) -> SelectedPassage {
        select_passage(text, &self.terms)
    }

    /// Selects a passage from the text of a hit; words that match the query by another spelling count too.
    pub fn select_hit(&self, hit: &Hit) -> SelectedPassage {
        let marked = hit
            .marks
            .iter()
            .filter_map(|mark| hit.snippet.get(mark.clone()))
            .flat_map(query_terms);
        let mut terms = self.terms.clone();
        for term in marked {
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        select_passage(&hit.stored.memory.content, &terms)
    }
}

/// Returns the words of a query that no hit contains, if they are at least half of its words with content.
///
/// Such hits were found by meaning or by similar words, and may not answer the query. Only words of scripts with spaces are examined.
pub fn missing_words(query: &str, hits: &[Hit]) -> Vec<String> {
    // A list without a search has no scores.
    if hits.iter().all(|hit| hit.score == 0.0) {
        return Vec::new();
    }
    let words: Vec<(&str, Vec<Term>)> = query
        .split_whitespace()
        .filter(|word| has_content_word(word))
        .map(|word| {
            (
                word,
                content_terms(word)
                    .into_iter()
                    .filter(|term| term.kind == TokenKind::Word)
                    .collect(),
            )
        })
        .filter(|(_, terms): &(&str, Vec<Term>)| !terms.is_empty())
        .collect();
    let terms: Vec<Term> = words.iter().flat_map(|(_, terms)| terms.clone()).collect();
    let mut is_contained = vec![false; terms.len()];
    for hit in hits {
        for text in hit_texts(hit) {
            contained_terms(text, &terms).for_each(|index| is_contained[index] = true);
        }
    }
    // A term that occurs twice in the query has the index of one occurrence.
    let is_missing = |term: &Term| {
        !terms
            .iter()
            .zip(&is_contained)
            .any(|(other, contained)| *contained && other == term)
    };
    let missing = words
        .iter()
        .filter(|(_, terms)| terms.iter().all(is_missing))
        .map(|(word, _)| word.trim_matches(|character: char| !character.is_alphanumeric()));
    // A person sees the word also inside a longer one.
    let missing: Vec<&str> = missing
        .filter(|word| {
            let spelled = fold(word);
            let mut texts = hits.iter().flat_map(hit_texts);
            !texts.any(|text| fold(text).contains(&spelled))
        })
        .collect();
    if missing.len() * 2 < words.len() {
        return Vec::new();
    }
    missing
        .into_iter()
        .take(MAX_MISSING)
        .map(|word| to_one_line(word, MAX_WORD))
        .collect()
}

/// Returns the texts by which a search finds a memory.
fn hit_texts(hit: &Hit) -> impl Iterator<Item = &str> {
    let memory = &hit.stored.memory;
    [Some(&memory.content), memory.title.as_ref()]
        .into_iter()
        .flatten()
        .chain(&memory.tags)
        .chain(&memory.aliases)
        .map(String::as_str)
}

fn select_passage(text: &str, terms: &[Term]) -> SelectedPassage {
    let text = text.trim_end();
    let fits = |text: &str| token_count(text) <= PASSAGE_TOKENS;
    let length = text.chars().count();
    if length <= PASSAGE_CHARACTERS + SPARE_CHARACTERS && fits(text) {
        return SelectedPassage {
            text: text.to_owned(),
            omitted: 0,
            start: 0,
        };
    }
    let shown = fitting_snippet(text, terms, PASSAGE_CHARACTERS, &fits);
    let omitted = length.saturating_sub(
        shown
            .text
            .chars()
            .filter(|character| *character != '…')
            .count(),
    );
    SelectedPassage {
        start: shown.offset_in(text),
        text: shown.text,
        omitted,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Draft, MemStore, Memories};

    proptest! {
        #[test]
        fn a_passage_is_short_and_a_complete_one_is_the_text(text in "([a-z]{1,9} |茶|界面|\n|tea ){0,200}") {
            let SelectedPassage { text: shown, omitted, start } = PassageSelector::new("tea").select(&text);
            prop_assert!(shown.chars().count() <= PASSAGE_CHARACTERS + SPARE_CHARACTERS && token_count(&shown) <= PASSAGE_TOKENS);
            prop_assert!(0 < omitted || shown == text.trim_end());
            let visible = |text: &str| text.chars().filter(|character| !character.is_whitespace()).collect::<String>();
            let from_start: String = text.chars().skip(start).collect();
            prop_assert!(visible(&from_start).starts_with(visible(&shown).trim_matches('…')));
            prop_assert!(omitted == 0 || shown.contains('…') || text.trim_end() != text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    #[test]
    fn a_passage_is_located_also_if_its_words_occur_before() {
        let day = |number: usize| format!("On day {number}   the ship left the harbour.\n\n");
        let text: String = (0..200).map(day).collect();
        let passage = PassageSelector::new("day 150").select(&text);
        let from_there: String = text.chars().skip(passage.start).collect();
        let words = |text: &str| {
            text.split_whitespace()
                .take(5)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            words(&from_there),
            words(passage.text.trim_start_matches('…'))
        );
        assert!(passage.text.contains("day 150"), "{passage:?}");
    }

    #[test]
    fn a_word_within_another_word_or_in_a_tag_is_not_missing() {
        let memories = Memories::builder(MemStore::default()).build();
        let draft = Draft::new("PostgreSQL runs there").tags(["invoices"]);
        memories.write(draft).unwrap();
        let hits = memories.search("postgresql").unwrap().hits;
        assert_eq!(missing_words("sql invoices", &hits), Vec::<String>::new());
        assert_eq!(missing_words("mysql billing", &hits), ["mysql", "billing"]);
    }

    #[test]
    fn the_passage_with_the_words_of_the_query_is_selected() {
        let filler = "nothing of interest happened on that day ".repeat(60);
        let text = format!("{filler}The tea ceremony is at nine. {filler}");
        let passage = PassageSelector::new("When is the tea ceremony?").select(&text);
        assert!(
            passage.text.contains("The tea ceremony is at nine."),
            "{passage:?}"
        );
        let located: String = text.chars().skip(passage.start).take(20).collect();
        assert!(
            passage.text.trim_start_matches('…').starts_with(&located),
            "{located}: {passage:?}"
        );
        assert_eq!(
            passage.omitted
                + passage
                    .text
                    .chars()
                    .filter(|character| *character != '…')
                    .count(),
            text.trim_end().chars().count()
        );
    }
}
