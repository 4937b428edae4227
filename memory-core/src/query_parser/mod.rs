//! Parsing of search queries: words, phrases, filters and dates.
//!
//! Parsing is the first of three steps of a search; the index then gathers candidates with their features, and
//! `rank` converts these to scores. In a query that is a dialogue with one message per line, words count less the
//! earlier they occur. In scripts without spaces, pairs of characters find memories, and single characters add to
//! the score of those found.

mod dates;
mod filter_extraction;
mod parse;
mod phrase;
mod query_intent;
mod query_lexer;
mod stop_words;

use crate::Filter;
use crate::text::{Term, TokenKind};

pub use dates::NamedDate;
pub(crate) use filter_extraction::current_period;
pub use filter_extraction::{ExtractedFilter, extract_filter, parse_period};
pub(crate) use parse::parse_sentence;
pub use parse::{extract_bounds, has_operators, parse};
pub use phrase::Phrase;
pub use query_intent::{expects_several_results, to_first_person};
pub(crate) use stop_words::{has_content_word, is_about_memories, is_stop_token};

/// A parsed query without its filters.
///
/// See [`parse()`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
pub struct TextQuery {
    /// The query text without filters and exclusions, as a model reads it.
    pub text: String,
    /// The distinct query words, in order of first appearance.
    pub words: Vec<QueryWord>,
    /// The phrases that a matching text must contain.
    pub phrases: Vec<Phrase>,
    /// The terms that a matching text must not contain.
    pub without: Vec<Term>,
    /// The phrases that a matching text must not contain.
    pub without_phrases: Vec<Phrase>,
    /// The words that may be the name of a speaker, in lower case.
    pub names: Vec<String>,
    /// The day, month or year that the query names.
    pub date: Option<NamedDate>,
    /// Whether the query refers to a message of the assistant, such as a recommendation.
    pub asks_assistant: bool,
    /// Whether the query requests a summary, which covers the messages of the assistant too.
    pub asks_summary: bool,
    /// Whether the query consists of a date only.
    pub is_only_date: bool,
    /// Whether the query is about the time of an event.
    pub asks_when: bool,
    /// Whether the query is about a person, a place or the name of something.
    pub asks_which: bool,
    /// The number of words dropped because the query exceeds the word limit.
    pub left_out: usize,
}

impl TextQuery {
    /// Returns whether the query states exactly what to find, so that similar meanings are no matches.
    ///
    /// Such a query has a phrase, an exclusion or a prefix, or consists of a date, or of identifiers.
    pub fn is_exact(&self) -> bool {
        !(self.phrases.is_empty() && self.without.is_empty() && self.without_phrases.is_empty())
            || self.is_only_date
            || self.words.iter().any(|word| word.is_prefix)
            || self.text.split_whitespace().all(is_identifier)
    }

    /// Returns whether the query consists of content words and the signs between them alone, so that each may be meant as a part of a longer word.
    pub fn is_keywords(&self) -> bool {
        self.words.iter().all(|word| {
            matches!(word.role, WordRole::Content | WordRole::Character)
                || word.term.kind == TokenKind::Symbol
        })
    }
}

/// Returns whether a word is an identifier: it has a digit, or punctuation between letters other than a hyphen or an apostrophe.
pub(crate) fn is_identifier(word: &str) -> bool {
    let inner = word.trim_matches(|letter: char| letter.is_ascii_punctuation());
    inner.is_ascii()
        && inner.chars().any(|letter| {
            letter.is_ascii_digit()
                || letter.is_ascii_punctuation() && !matches!(letter, '-' | '\'')
        })
}

/// A word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryWord {
    /// The term as it is indexed.
    pub term: Term,
    /// The first spelling in the query, case-folded but not stemmed.
    pub spelled: String,
    /// The role of the word in the query.
    pub role: WordRole,
    /// The number of messages after the last one that contains the word; 0 unless the query is a dialogue.
    pub age: u8,
    /// Whether the word is a prefix that matches every longer word.
    pub is_prefix: bool,
    /// Other terms that count as the word: its exact form, and the compound of which it is a part.
    pub alternatives: Vec<String>,
}

/// The role of a word in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordRole {
    /// A word that carries the content of the query.
    Content,
    /// Part of a date. Texts near that date match as well as texts that contain the word.
    Date,
    /// A stop word. It matches no text and has little weight.
    Aside,
    /// A single character of a run in a script without blanks, which is searched by bigrams.
    ///
    /// It matches no text and only contributes to the score of texts that match otherwise.
    Character,
}

/// A query split into its text and its filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedQuery {
    /// The query without the filters.
    pub question: TextQuery,
    /// The filter passed to [`parse()`], combined with the filters in the query.
    ///
    /// These are `tag:`, `scope:`, `category:`, `source:`, `from:` and `to:`.
    pub filter: Filter,
    /// Messages for words that look like a filter but are invalid. These words are searched as text.
    pub misread: Vec<String>,
}
