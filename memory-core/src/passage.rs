//! Selects the passages of memories that answer a query, for answers of limited size.

use crate::Hit;
use crate::context::content_terms;
use crate::text::{Term, fitting_snippet, query_terms, token_count};

/// Maximum number of characters of a passage.
const PASSAGE_CHARACTERS: usize = 300;

/// Number of characters by which a complete text may be longer.
const SPARE_CHARACTERS: usize = 40;

/// Number of words that locate a passage in its text.
const LOCATING_WORDS: usize = 5;

/// Maximum number of tokens of a passage, which limits texts in scripts without spaces.
const PASSAGE_TOKENS: usize = 110;

/// A part of a text, or the whole text if it is short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedPassage {
    /// The text: unchanged if it is complete, else one line with `…` where text was cut off.
    pub text: String,
    /// The number of characters of the text that the passage does not contain.
    pub omitted: usize,
    /// The number of characters before the passage, as far as it can be located.
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
        Self { terms: content_terms(query) }
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
        let marked = hit.marks.iter().filter_map(|mark| hit.snippet.get(mark.clone())).flat_map(query_terms);
        let mut terms = self.terms.clone();
        for term in marked {
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        select_passage(&hit.stored.memory.content, &terms)
    }
}

fn select_passage(text: &str, terms: &[Term]) -> SelectedPassage {
    let text = text.trim_end();
    let fits = |text: &str| token_count(text) <= PASSAGE_TOKENS;
    let length = text.chars().count();
    if length <= PASSAGE_CHARACTERS + SPARE_CHARACTERS && fits(text) {
        return SelectedPassage { text: text.to_owned(), omitted: 0, start: 0 };
    }
    let shown = fitting_snippet(text, terms, PASSAGE_CHARACTERS, &fits).text;
    let omitted = length.saturating_sub(shown.chars().filter(|character| *character != '…').count());
    let start = locate(text, &shown).unwrap_or(0);
    SelectedPassage { text: shown, omitted, start }
}

/// Returns the number of characters of `text` before the first words of `passage`, which has other white space.
fn locate(text: &str, passage: &str) -> Option<usize> {
    let words: Vec<&str> = passage.trim_start_matches('…').split_whitespace().take(LOCATING_WORDS).collect();
    // The last word may be cut off.
    let follows = |rest: &str| words.iter().try_fold(rest, |rest, word| rest.trim_start().strip_prefix(word)).is_some();
    let (byte, _) = text.match_indices(*words.first()?).find(|(byte, _)| follows(&text[*byte..]))?;
    Some(text[..byte].chars().count())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_passage_is_short_and_a_complete_one_is_the_text(text in "([a-z]{1,9} |茶|界面|\n|tea ){0,200}") {
            let SelectedPassage { text: shown, omitted, start } = PassageSelector::new("tea").select(&text);
            prop_assert!(shown.chars().count() <= PASSAGE_CHARACTERS + SPARE_CHARACTERS && token_count(&shown) <= PASSAGE_TOKENS);
            prop_assert!(0 < omitted || shown == text.trim_end());
            prop_assert!(start <= text.chars().count());
            prop_assert!(omitted == 0 || shown.contains('…') || text.trim_end() != text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    #[test]
    fn the_passage_with_the_words_of_the_query_is_selected() {
        let filler = "nothing of interest happened on that day ".repeat(60);
        let text = format!("{filler}The tea ceremony is at nine. {filler}");
        let passage = PassageSelector::new("When is the tea ceremony?").select(&text);
        assert!(passage.text.contains("The tea ceremony is at nine."), "{passage:?}");
        let located: String = text.chars().skip(passage.start).take(20).collect();
        assert!(passage.text.trim_start_matches('…').starts_with(&located), "{located}: {passage:?}");
        assert_eq!(
            passage.omitted + passage.text.chars().filter(|character| *character != '…').count(),
            text.trim_end().chars().count()
        );
    }
}
