//! The index terms of an entry.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::LazyLock;

use super::EntryRole;
use super::speech_act::statements;
use crate::language::{self, WORDS};
use crate::query_parser::is_stop_token;
use crate::text::{Term, TokenKind, tokenize};

/// The distinct words of an entry, each with whether it occurs in a statement.
#[derive(Debug, Clone, Default)]
pub(super) struct IndexedText {
    /// All words with their use.
    pub words: HashMap<Term, WordUse>,
    /// The number of word occurrences.
    pub length: u32,
    /// The number of distinct words in statements.
    pub stated: u32,
    /// The number of word occurrences in statements.
    pub stated_length: u32,
    /// The hash of the set of words in statements, or `None` without such words.
    ///
    /// It identifies repeated statements.
    pub statement: Option<u64>,
}

/// The use of a word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct WordUse {
    /// The number of occurrences, at most 255.
    pub count: u8,
    /// Whether the word occurs in a statement.
    pub is_stated: bool,
}

impl IndexedText {
    /// Indexes a text.
    ///
    /// All of a fact except its subject is a statement; no part of a turn of the model is.
    pub(super) fn new(role: EntryRole, text: &str) -> Self {
        let parts = match role {
            EntryRole::Memory | EntryRole::Summary => std::iter::once(0..text.len()).collect(),
            EntryRole::User => statements(text),
            EntryRole::Assistant => Vec::new(),
        };
        let stated_parts: Vec<Range<usize>> = parts;
        let mut parts = stated_parts.iter().peekable();
        let mut indexed = Self::default();
        let subjects = if role == EntryRole::Memory {
            subjects(text)
        } else {
            Vec::new()
        };
        content_terms(text, &mut |term, span| {
            if subjects
                .iter()
                .any(|subject| subject.start <= span.start && span.end <= subject.end)
            {
                return;
            }
            while parts.next_if(|part| part.end <= span.start).is_some() {}
            let is_stated = parts.peek().is_some_and(|part| part.start <= span.start);
            let word = indexed.words.entry(term).or_default();
            word.count = word.count.saturating_add(1);
            word.is_stated |= is_stated;
            indexed.length += 1;
            indexed.stated_length += u32::from(is_stated);
        });
        for part in stated_parts {
            for (term, span) in single_character_words(&text[part.clone()]) {
                let span = part.start + span.start..part.start + span.end;
                if subjects
                    .iter()
                    .all(|subject| span.end <= subject.start || subject.end <= span.start)
                {
                    indexed.words.insert(
                        term,
                        WordUse {
                            count: 1,
                            is_stated: true,
                        },
                    );
                }
            }
        }
        let stated: Vec<&Term> = indexed
            .words
            .iter()
            .filter(|(_, word)| word.is_stated)
            .map(|(term, _)| term)
            .collect();
        indexed.stated = u32::try_from(stated.len()).unwrap_or(u32::MAX);
        // The sum is independent of the order of the words.
        let sum = |sum: u64, term: &Term| sum.wrapping_add(hash(term));
        indexed.statement = (!stated.is_empty()).then(|| stated.into_iter().fold(0, sum));
        indexed
    }
}

/// The names of the user in extracted facts.
const SUBJECTS: [&str; 4] = ["the user", "user", "用户", "用戶"];

/// Returns whether the user is the subject of a fact.
pub(super) fn has_subject(text: &str) -> bool {
    !subjects(text).is_empty()
}

/// Returns the ranges that name the user as the subject of a clause.
///
/// The names are matched at the start of a clause, and `the user` in any position.
fn subjects(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for subject in SUBJECTS {
        for (start, _) in lower.match_indices(subject) {
            let (before, rest) = (lower[..start].trim_end(), &lower[start + subject.len()..]);
            let is_first = before.is_empty()
                || before.ends_with(['.', '!', '?', ';', ',', ':', '。', '，', '；', '！']);
            let possessive = ["'s", "’s"]
                .into_iter()
                .find(|ending| rest.starts_with(ending))
                .map_or(0, str::len);
            let is_word = !subject.is_ascii()
                || !rest[possessive..].starts_with(char::is_alphanumeric)
                    && !lower[..start].ends_with(|last: char| last.is_alphanumeric());
            if is_word && (is_first || subject == "the user") {
                found.push(start..start + subject.len() + possessive);
            }
        }
    }
    found
}

fn hash(term: &Term) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

/// Returns the one-character words of a statement with their ranges, such as 猫 in 我家的猫叫咪咪.
fn single_character_words(text: &str) -> Vec<(Term, Range<usize>)> {
    let is_between = |span: &Range<usize>| {
        let character = &text[span.clone()];
        WORDS.separators.iter().any(|all| all.contains(character))
    };
    let starts = find_single_characters(text, &is_between);
    let spans = starts
        .into_iter()
        .map(|start| start..text.ceil_char_boundary(start + 1));
    spans
        .map(|span| (word_term(&text[span.clone()]), span))
        .collect()
}

/// Calls `each` with every content term of a text and its range.
///
/// Terms are words without stop words, and the bigrams and single characters of scripts without spaces.
pub(super) fn content_terms(text: &str, each: &mut dyn FnMut(Term, Range<usize>)) {
    tokenize(text, &mut |token| {
        let spelled = &text[token.span.clone()];
        if is_stop_token(spelled, token.kind == TokenKind::Word) {
            return;
        }
        let span = token.span.clone();
        each(
            Term {
                text: token.text.to_owned(),
                kind: token.kind,
            },
            span.clone(),
        );
        if let Some((_, other)) = FAMILIES
            .iter()
            .find(|(form, _)| spelled.eq_ignore_ascii_case(form))
        {
            tokenize(other, &mut |token| {
                each(
                    Term {
                        text: token.text.to_owned(),
                        kind: token.kind,
                    },
                    span.clone(),
                );
            });
        }
    });
}

/// Returns a character as a word term, which the tokenizer never emits for such a script.
pub(super) fn word_term(character: &str) -> Term {
    Term {
        text: character.to_owned(),
        kind: TokenKind::Word,
    }
}

/// Returns the offsets of the one-character words in a script without spaces.
///
/// The characters on both sides of such a word are stop words or frame a request.
pub(super) fn find_single_characters(
    text: &str,
    is_framed: &dyn Fn(&Range<usize>) -> bool,
) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut run: Vec<usize> = Vec::new();
    tokenize(text, &mut |token| {
        if token.kind == TokenKind::Bigram {
            return;
        }
        let is_content = token.kind == TokenKind::Character
            && !is_stop_token(&text[token.span.clone()], false)
            && !is_framed(&token.span);
        let follows = run
            .last()
            .is_some_and(|last| text[*last..token.span.start].chars().count() == 1);
        if !is_content || !follows {
            if let [only] = run.as_slice() {
                lone.push(*only);
            }
            run.clear();
        }
        if is_content {
            run.push(token.span.start);
        }
    });
    if let [only] = run.as_slice() {
        lone.push(*only);
    }
    lone
}

/// Words that also count as another word of their family, which has another stem: the commonest words about persons.
static FAMILIES: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| language::parse(include_str!("../language/en/families.json")));

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_about_persons_match_others_of_their_family() {
        let terms = |text: &str| {
            let mut terms = HashSet::new();
            content_terms(text, &mut |term, _| {
                terms.insert(term);
            });
            terms
        };
        for (stated, asked) in [
            ("I am allergic to peanuts", "mind my allergies"),
            ("I am allergic to peanuts", "which allergy do I have?"),
            ("my sister married Tom", "when was the marriage?"),
            ("I am diabetic", "does diabetes matter here?"),
        ] {
            assert!(!terms(stated).is_disjoint(&terms(asked)), "{stated}");
        }
    }

    #[test]
    fn words_of_requests_and_of_the_model_state_nothing() {
        let of = |role, text| IndexedText::new(role, text);
        let mixed = of(EntryRole::User, "My dog is Rex. Write a poem about my dog!");
        let stated = |word: &str| {
            mixed
                .words
                .iter()
                .any(|(term, used)| term.text == word && used.is_stated)
        };
        assert!(stated("dog") && stated("rex") && !stated("poem"));
        assert_eq!(mixed.statement, of(EntryRole::Memory, "Rex, dog").statement);
        assert_eq!(of(EntryRole::Assistant, "Your dog is Rex.").statement, None);
        assert_eq!(
            of(EntryRole::User, "What is my dog called?").statement,
            None
        );
    }
}
