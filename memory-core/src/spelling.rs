//! Finds the words that are probably meant by misspelled words of a query.
//!
//! Only a word that no memory contains is compared with the words of the memories, so other queries cost nothing. Of the similar words,
//! those that occur together with the other words of the query win, then those with fewer edits, then the more frequent ones.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::convert::Infallible;

use crate::query_parser::{QueryWord, TextQuery, WordRole, is_identifier, parse_sentence};
use crate::text::{TokenKind, fold, query_terms, tokenize};
use crate::{Filter, Memory, StoredMemory};

/// Minimum length of a word that is compared, in characters. Most shorter words are one edit from unrelated words.
const MIN_CHARS: usize = 4;

/// Minimum length of a word that is replaced although nothing else of the query supports the replacement.
const MIN_UNSUPPORTED_CHARS: usize = 5;

/// Minimum length of a word that may have two edits.
const MIN_TWO_EDITS_CHARS: usize = 8;

/// Maximum length of a compared word; the tokenizer cuts longer words.
const MAX_CHARS: usize = 64;

/// Maximum number of misspelled words of a query. A query with more is in another language than the memories.
const MAX_MISSPELLED: usize = 8;

/// Maximum number of words of a query that a person types.
const MAX_TYPED_WORDS: usize = 32;

/// A word of a query that no memory contains, and the word that is probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordCorrection {
    /// The word of the query, case-folded.
    pub word: String,
    /// A word of the memories.
    pub replacement: String,
    /// Whether the evidence suffices to search for it without asking.
    pub is_certain: bool,
}

/// A query whose misspelled words are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorrectedQuery {
    /// The text of the query with the replacements.
    pub text: String,
    /// The replaced words.
    pub words: Vec<WordCorrection>,
    /// Whether this query was searched; otherwise it is only a suggestion.
    pub is_searched: bool,
}

impl CorrectedQuery {
    /// Returns a sentence for people.
    pub fn describe(&self) -> String {
        if !self.is_searched {
            return format!("did you mean {}?", self.text);
        }
        let word = |word: &WordCorrection| format!("“{}”", word.word);
        let words: Vec<String> = self.words.iter().map(word).collect();
        format!(
            "no memory contains {}; searched for {}",
            words.join(" or "),
            self.text
        )
    }
}

/// Returns the words of a query that may be misspelled: words of letters of an alphabet, without names of files and other identifiers.
///
/// There are none in a long text, in a dialogue and in a query with a prefix.
pub(crate) fn correctable_words(question: &TextQuery) -> Vec<&QueryWord> {
    let words = &question.words;
    if MAX_TYPED_WORDS < words.len() || words.iter().any(|word| word.is_prefix || 0 < word.age) {
        return Vec::new();
    }
    let mut typed = HashSet::new();
    for part in question.text.split_whitespace() {
        if !is_identifier(part) {
            tokenize(part, &mut |token| {
                typed.insert(token.text.to_owned());
            });
        }
    }
    let may_be_misspelled = |word: &&QueryWord| {
        let length = word.spelled.chars().count();
        word.role == WordRole::Content
            && word.term.kind == TokenKind::Word
            && (MIN_CHARS..=MAX_CHARS).contains(&length)
            && word.spelled.chars().all(is_of_alphabet)
            && typed.contains(&word.term.text)
    };
    words.iter().filter(may_be_misspelled).collect()
}

/// Returns whether a character is a letter of a script whose words are compared: Latin, Greek or Cyrillic.
fn is_of_alphabet(letter: char) -> bool {
    letter.is_alphabetic()
        && matches!(letter, '\0'..='\u{24f}' | '\u{370}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}')
}

/// A misspelled word that is compared with the words of the memories.
struct Misspelling {
    spelled: String,
    letters: Vec<char>,
    set: u64,
    most: usize,
}

/// How a word of the memories is related to a misspelled word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordRelation {
    /// The word contains the misspelled one, which may be unfinished and not misspelled at all.
    Contains,
    /// The word differs in this number of letters that are missing, added, wrong or swapped: 1 or 2.
    Edits(usize),
}

impl Misspelling {
    /// Creates the comparison for a word of [`correctable_words()`].
    fn new(word: &QueryWord) -> Self {
        let letters: Vec<char> = word.spelled.chars().collect();
        let most = 1 + usize::from(MIN_TWO_EDITS_CHARS <= letters.len());
        Self {
            set: letters.iter().fold(0, |set, letter| set | bit(*letter)),
            spelled: word.spelled.clone(),
            letters,
            most,
        }
    }

    /// Returns parts of which every related word has one.
    ///
    /// A related word begins with the same letter, or with the second one, or contains the letters behind the first one. Two edits of
    /// which one is that of the first letter are too much.
    fn parts(&self) -> [WordPart<'_>; 3] {
        let mut starts = self.spelled.char_indices().map(|(start, _)| start).skip(1);
        let (second, third) = (starts.next().unwrap_or(0), starts.next().unwrap_or(0));
        [
            WordPart::Start(&self.spelled[..second]),
            WordPart::Start(&self.spelled[second..third]),
            WordPart::Inside(&self.spelled[second..]),
        ]
    }

    /// Returns the relation of `other` to the word; `None` for an unrelated word, and for one with digits.
    fn compare(&self, other: &str) -> Option<WordRelation> {
        if other.len() + 4 * self.most < self.spelled.len() {
            return None;
        }
        let (mut set, mut length) = (0, 0_usize);
        for letter in other.chars() {
            set |= bit(letter);
            length += 1;
        }
        let most = u32::try_from(self.most).unwrap_or_default();
        if most < (self.set & !set).count_ones() {
            return None;
        }
        let added = length.saturating_sub(self.letters.len());
        let is_longer = self.most < added || 0 < added && other.starts_with(&self.spelled);
        if is_longer && other.contains(&self.spelled) {
            return Some(WordRelation::Contains);
        }
        if most < (set & !self.set).count_ones() || self.most < length.abs_diff(self.letters.len())
        {
            return None;
        }
        let letters: Vec<char> = other.chars().collect();
        let edits = edit_distance(&self.letters, &letters);
        (0 < edits && edits <= self.most && letters.iter().copied().all(is_of_alphabet))
            .then_some(WordRelation::Edits(edits))
    }

    /// Returns the best candidate, unless the word is probably an unfinished word.
    ///
    /// `unfinished` counts for each word that contains the misspelled one the other words of the query that occur together with it.
    fn choose(
        &self,
        candidates: Vec<SpellingCandidate>,
        unfinished: &[usize],
    ) -> Option<SpellingCandidate> {
        let best = candidates.into_iter().max_by_key(|candidate| {
            (
                0 < candidate.together,
                Reverse(2 * candidate.edits + usize::from(!self.has_same_start(&candidate.word))),
                candidate.together,
                self.is_slip(&candidate.word),
                candidate.documents,
                Reverse(candidate.word.clone()),
            )
        })?;
        let is_supported = 0 < best.together && unfinished.iter().all(|together| *together == 0);
        (unfinished.is_empty() || is_supported).then_some(best)
    }

    /// Returns whether the evidence for a candidate suffices without a question.
    fn is_certain(&self, candidate: &SpellingCandidate) -> bool {
        let is_near = candidate.edits == 1 || self.has_same_start(&candidate.word);
        0 < candidate.together || MIN_UNSUPPORTED_CHARS <= self.letters.len() && is_near
    }

    fn has_same_start(&self, other: &str) -> bool {
        other.starts_with(self.letters[0])
    }

    /// Returns whether the words differ only in the order of letters and in doubled letters, which are the most frequent slips.
    fn is_slip(&self, other: &str) -> bool {
        let letters = |letters: &mut dyn Iterator<Item = char>| {
            let mut letters: Vec<char> = letters.collect();
            letters.sort_unstable();
            letters.dedup();
            letters
        };
        letters(&mut self.letters.iter().copied()) == letters(&mut other.chars())
    }
}

/// A word of the memories that is similar to a misspelled word.
struct SpellingCandidate {
    word: String,
    term: String,
    edits: usize,
    /// The number of memories with the word; not 0.
    documents: u64,
    /// The number of other words of the query that occur in one of these memories.
    together: usize,
}

fn bit(letter: char) -> u64 {
    1 << (u32::from(letter) % 64)
}

/// Returns the number of edits between two words: missing, added and wrong letters, and swapped adjacent letters.
fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut before = vec![0; other.len() + 1];
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, compared) in other.iter().enumerate() {
            let wrong = above[column] + usize::from(letter != compared);
            let mut least = wrong.min(above[column + 1] + 1).min(current[column] + 1);
            if 0 < row && 0 < column && one[row - 1] == *compared && other[column - 1] == *letter {
                least = least.min(before[column - 1] + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut above, current);
    }
    above[other.len()]
}

/// A part of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordPart<'p> {
    /// The word begins with the text.
    Start(&'p str),
    /// The text is anywhere in the word.
    Inside(&'p str),
}

impl WordPart<'_> {
    /// Returns whether a word has the part.
    pub fn is_of(self, word: &str) -> bool {
        match self {
            Self::Start(text) => word.starts_with(text),
            Self::Inside(text) => word.contains(text),
        }
    }
}

/// The words of a collection of documents.
pub trait Vocabulary {
    /// A set of documents.
    type Documents;
    /// The reason why the words cannot be read.
    type Error;

    /// Calls `each` with every word that has a part, as it is spelled, case-folded; a word may be repeated.
    ///
    /// # Errors
    /// If the words cannot be read.
    fn each_word(&self, part: WordPart<'_>, each: &mut dyn FnMut(&str)) -> Result<(), Self::Error>;

    /// Returns whether a document has one of the terms.
    ///
    /// # Errors
    /// If the words cannot be read.
    fn contains(&self, terms: &[&str]) -> Result<bool, Self::Error>;

    /// Returns the documents with one of the terms, see [`crate::text::tokenize()`].
    ///
    /// # Errors
    /// If the words cannot be read.
    fn documents(&self, terms: &[&str]) -> Result<Self::Documents, Self::Error>;

    /// Returns the number of documents in a set.
    fn count(&self, documents: &Self::Documents) -> u64;

    /// Returns whether two sets have a document in common.
    fn overlap(&self, one: &Self::Documents, other: &Self::Documents) -> bool;
}

/// Returns the corrections of the words of a query that no document contains.
///
/// # Errors
/// If the words cannot be read.
pub fn correct_words<V: Vocabulary>(
    question: &TextQuery,
    vocabulary: &V,
) -> Result<Vec<WordCorrection>, V::Error> {
    let (mut unknown, mut context) = (Vec::new(), Vec::new());
    for word in correctable_words(question) {
        let others = word.alternatives.iter().map(String::as_str);
        let terms: Vec<&str> = [word.term.text.as_str()]
            .into_iter()
            .chain(others)
            .collect();
        if !vocabulary.contains(&terms)? {
            unknown.push(word);
        }
    }
    if unknown.is_empty() || MAX_MISSPELLED < unknown.len() {
        return Ok(Vec::new());
    }
    for word in &question.words {
        if word.role == WordRole::Content && !unknown.contains(&word) {
            context.push(vocabulary.documents(&[&word.term.text])?);
        }
    }
    let mut found = Vec::new();
    for word in unknown {
        let misspelling = Misspelling::new(word);
        let mut related = BTreeMap::new();
        for part in misspelling.parts() {
            vocabulary.each_word(part, &mut |word| {
                if let Some(relation) = misspelling.compare(word) {
                    related.insert(word.to_owned(), relation);
                }
            })?;
        }
        found.push((misspelling, related));
    }
    // A word with one candidate supports those of the others.
    found.sort_by_key(|(_, related)| related.len());
    let mut corrections = Vec::new();
    for (misspelling, related) in found {
        let (mut candidates, mut unfinished) = (Vec::new(), Vec::new());
        for (word, relation) in related {
            let Some(term) = query_terms(&word).pop() else {
                continue;
            };
            let with_word = vocabulary.documents(&[&term.text])?;
            let documents = vocabulary.count(&with_word);
            let is_together = |other: &&V::Documents| vocabulary.overlap(&with_word, other);
            let together = context.iter().filter(is_together).count();
            match relation {
                // Deleted and hidden documents may leave their words.
                _ if documents == 0 => {}
                WordRelation::Contains => unfinished.push(together),
                WordRelation::Edits(edits) => candidates.push(SpellingCandidate {
                    word,
                    term: term.text,
                    edits,
                    documents,
                    together,
                }),
            }
        }
        let Some(best) = misspelling.choose(candidates, &unfinished) else {
            continue;
        };
        context.push(vocabulary.documents(&[&best.term])?);
        corrections.push(WordCorrection {
            word: misspelling.spelled.clone(),
            is_certain: question.phrases.is_empty() && misspelling.is_certain(&best),
            replacement: best.word,
        });
    }
    Ok(corrections)
}

/// The words of memories that are read one after the other.
pub(crate) struct ScannedVocabulary {
    spelled: BTreeSet<String>,
    terms: Vec<HashSet<String>>,
}

impl ScannedVocabulary {
    pub(crate) fn new(memories: &[StoredMemory]) -> Self {
        let mut own = Self {
            spelled: BTreeSet::new(),
            terms: Vec::with_capacity(memories.len()),
        };
        for stored in memories {
            let Memory {
                content,
                title,
                tags,
                aliases,
                ..
            } = &stored.memory;
            let mut terms = HashSet::new();
            let texts = [Some(content), title.as_ref()].into_iter().flatten();
            for text in texts.chain(tags).chain(aliases) {
                tokenize(text, &mut |token| {
                    if token.kind == TokenKind::Word {
                        own.spelled.insert(token.spelled.to_owned());
                    }
                    terms.insert(token.text.to_owned());
                });
            }
            own.terms.push(terms);
        }
        own
    }
}

impl Vocabulary for ScannedVocabulary {
    type Documents = Vec<bool>;
    type Error = Infallible;

    fn each_word(&self, part: WordPart<'_>, each: &mut dyn FnMut(&str)) -> Result<(), Infallible> {
        let words = self.spelled.iter().filter(|word| part.is_of(word));
        words.for_each(|word| each(word));
        Ok(())
    }

    fn contains(&self, terms: &[&str]) -> Result<bool, Infallible> {
        Ok(self.documents(terms)?.contains(&true))
    }

    fn documents(&self, terms: &[&str]) -> Result<Vec<bool>, Infallible> {
        let has_one = |own: &HashSet<String>| terms.iter().any(|term| own.contains(*term));
        Ok(self.terms.iter().map(has_one).collect())
    }

    fn count(&self, documents: &Vec<bool>) -> u64 {
        documents.iter().map(|is_in| u64::from(*is_in)).sum()
    }

    fn overlap(&self, one: &Vec<bool>, other: &Vec<bool>) -> bool {
        one.iter().zip(other).any(|(one, other)| *one && *other)
    }
}

/// Replaces words of a query whose corrections are certain, or those with any correction; `None` if nothing is replaced.
pub fn correct_query(
    question: &TextQuery,
    corrections: &[WordCorrection],
    is_certain: bool,
) -> Option<(TextQuery, CorrectedQuery)> {
    let used = corrections
        .iter()
        .filter(|own| own.is_certain || !is_certain);
    let words: Vec<WordCorrection> = used.cloned().collect();
    let mut spans = Vec::new();
    tokenize(&question.text, &mut |token| {
        let spelled = fold(&question.text[token.span.clone()]);
        if let Some(correction) = words.iter().find(|own| own.word == spelled) {
            spans.push((token.span, correction.replacement.as_str()));
        }
    });
    if spans.is_empty() {
        return None;
    }
    let mut text = question.text.clone();
    for (span, replacement) in spans.iter().rev() {
        text.replace_range(span.clone(), replacement);
    }
    let parsed = parse_sentence(&text, &Filter::default()).question;
    let corrected = TextQuery {
        words: parsed.words,
        text: parsed.text,
        names: parsed.names,
        ..question.clone()
    };
    let is_searched = is_certain;
    Some((
        corrected,
        CorrectedQuery {
            text,
            words,
            is_searched,
        },
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::query_parser::parse;
    use crate::testing::services;
    use crate::{Draft, MemStore, Query, SearchResults, SecretPolicy, search, write};

    fn find(notes: &[&str], text: &str) -> SearchResults {
        let services = services(Arc::new(MemStore::default()));
        for note in notes {
            write(&services, Draft::new(note), SecretPolicy::Refuse).unwrap();
        }
        search(&services, &Query::new(text)).unwrap()
    }

    /// Returns the text that was searched in place of `text`.
    fn searched(notes: &[&str], text: &str) -> Option<String> {
        let corrected = find(notes, text).corrected?;
        corrected.is_searched.then_some(corrected.text)
    }

    #[test]
    fn misspelled_words_find_the_note_that_is_meant() {
        let notes = [
            "The team is bowling on Fridays",
            "Postgres stores the billing of all customers",
            "Die Rechnung der Küche ist bezahlt",
            "Πληρωμή του λογαριασμού",
            "Оплата счёта за кухню",
        ];
        for (text, meant) in [
            ("postgress biling", "postgres billing"),
            ("Postgers biling?", "postgres billing?"),
            ("ostgres custmers", "postgres customers"),
            ("rechnugn der küche", "rechnung der küche"),
            ("оплота кухню", "оплата кухню"),
        ] {
            assert_eq!(searched(&notes, text).as_deref(), Some(meant), "{text}");
        }
        let found = find(&notes, "postgress biling");
        assert_eq!(found.hits[0].memory.content, notes[1]);
    }

    #[test]
    fn of_similar_words_the_one_of_the_same_note_is_meant() {
        let notes = ["boiling water", "boiling eggs", "billing in postgres"];
        assert_eq!(searched(&notes, "biling").as_deref(), Some("billing"));
        let text = "eggs biling";
        assert_eq!(searched(&notes, text).as_deref(), Some("eggs boiling"));
        let text = "postgres bolling";
        assert_eq!(searched(&notes, text).as_deref(), Some("postgres billing"));
    }

    #[test]
    fn known_unfinished_short_and_exact_words_are_searched_as_they_are() {
        let notes = ["postgres 1234 part config.yaml reconfiguration 日本語"];
        for text in [
            "postgres",
            "reconfig",
            "config",
            "1243",
            "dart",
            "confog.yaml",
            "\"postgress\"",
            "postgress*",
            "日木語",
        ] {
            assert_eq!(searched(&notes, text), None, "{text}");
        }
    }

    #[test]
    fn a_doubtful_word_is_a_suggestion_where_nothing_is_found() {
        for (text, meant) in [("\"postgress\"", "postgres"), ("dart", "part")] {
            let corrected = find(&["postgres part"], text).corrected;
            let suggestion = corrected.map(|own| (own.is_searched, own.text));
            assert_eq!(suggestion, Some((false, meant.to_owned())), "{text}");
        }
        assert_eq!(find(&["postgres"], "mysql").corrected, None);
    }

    proptest! {
        #[test]
        fn a_word_is_as_far_as_it_has_edits(word in "[a-d]{4,9}", edits in prop::collection::vec((0..4_usize, 0..9_usize), 0..3)) {
            let letters: Vec<char> = word.chars().collect();
            let mut other = letters.clone();
            for (kind, place) in &edits {
                let place = place % (other.len() - 1);
                match kind {
                    0 => other.insert(place, 'x'),
                    1 => drop(other.remove(place)),
                    2 => other[place] = 'y',
                    _ => other.swap(place, place + 1),
                }
            }
            // Two edits of the same letters may count as three, because a swapped letter is not changed again.
            prop_assert!(edit_distance(&letters, &other) <= edits.len() + usize::from(edits.len() == 2));
            prop_assert_eq!(edit_distance(&letters, &other), edit_distance(&other, &letters));
            prop_assert_eq!(edit_distance(&letters, &other) == 0, letters == other);
            let question = parse(&word, &Filter::default()).question;
            let related = Misspelling::new(&question.words[0]).compare(&other.iter().collect::<String>());
            let is_alike = edit_distance(&letters, &other) == 1 && !other.iter().collect::<String>().contains(&word);
            prop_assert!(!is_alike || related == Some(WordRelation::Edits(1)), "{:?}", related);
        }
    }
}
