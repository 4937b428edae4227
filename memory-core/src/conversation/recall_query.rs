//! Parses a message as a recall query.

use std::collections::HashMap;
use std::ops::Range;

use super::EntryRole;
use super::indexed_text::{IndexedText, content_terms, find_single_characters, word_term};
use super::speech_act::framing_words;
use crate::query_parser::is_stop_token;
use crate::text::{Term, TokenKind};

/// A recall query: the words of a message without stop words, and its vector if there is one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallQuery<'v> {
    /// The distinct words.
    pub terms: Vec<RecallTerm>,
    /// The vector, of length 1.
    pub vector: Option<&'v [f32]>,
    /// The hash of the statement in the message. A stored copy of it is excluded from the word frequencies.
    pub statement: Option<u64>,
}

/// A term of a recall query.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallTerm {
    /// The word.
    pub term: Term,
    /// The weight by kind: 1 for a word, less for one of several pieces of a text without spaces.
    pub weight: f32,
    /// Whether it only frames a request, as `write` and `poem` do in `Write a poem about my dog`.
    pub is_framing: bool,
    /// Whether it counts only if an entry contains it.
    ///
    /// This holds for a character that may or may not be a separate word.
    pub is_optional: bool,
}

/// The number of bytes that are parsed at the start and at the end of a longer message.
const MAX_END_BYTES: usize = 4096;

/// The weight of a single character in a run of a script without spaces; a bigram has 1.
const CHARACTER_WEIGHT: f32 = 0.15;

/// The weight of a bigram that contains a stop word or frames a request.
const FRAMING_BIGRAM_WEIGHT: f32 = 0.5;

impl RecallQuery<'_> {
    /// Parses the words of `message` as a query.
    pub fn of(message: &str) -> Self {
        let mut known = HashMap::<Term, usize>::new();
        let mut terms = Vec::<RecallTerm>::new();
        let parts = message_ends(message);
        for part in &parts {
            let frame = framing_words(part);
            let is_framed = |span: &Range<usize>| {
                frame
                    .iter()
                    .any(|own| own.start < span.end && span.start < own.end)
            };
            let content = find_single_characters(part, &is_framed);
            content_terms(part, &mut |term, span| {
                let is_framing = is_framed(&span);
                if term.kind == TokenKind::Character && !is_framing {
                    let term = word_term(&term.text);
                    known.entry(term.clone()).or_insert_with(|| {
                        terms.push(RecallTerm {
                            term,
                            weight: 1.0,
                            is_framing,
                            is_optional: true,
                        });
                        terms.len() - 1
                    });
                }
                let weight = match term.kind {
                    TokenKind::Bigram if is_framing || has_stop_word(&part[span.clone()]) => {
                        FRAMING_BIGRAM_WEIGHT
                    }
                    TokenKind::Word | TokenKind::Symbol | TokenKind::Bigram => 1.0,
                    TokenKind::Character if content.contains(&span.start) => 1.0,
                    TokenKind::Character => CHARACTER_WEIGHT,
                };
                if let Some(number) = known.get(&term) {
                    let own = &mut terms[*number];
                    own.weight = own.weight.max(weight);
                    own.is_framing &= is_framing;
                } else {
                    known.insert(term.clone(), terms.len());
                    terms.push(RecallTerm {
                        term,
                        weight,
                        is_framing,
                        is_optional: false,
                    });
                }
            });
        }
        let statement = if parts.len() == 1 {
            IndexedText::new(EntryRole::User, message).statement
        } else {
            None
        };
        Self {
            terms,
            vector: None,
            statement,
        }
    }
}

fn has_stop_word(pair: &str) -> bool {
    let mut buffer = [0; 4];
    pair.chars()
        .any(|character| is_stop_token(character.encode_utf8(&mut buffer), false))
}

/// Returns the message, or its start and end if it is too long to parse.
pub(super) fn message_ends(message: &str) -> Vec<&str> {
    if message.len() <= 2 * MAX_END_BYTES {
        return vec![message];
    }
    let (beginning, end) = (
        message.floor_char_boundary(MAX_END_BYTES),
        message.ceil_char_boundary(message.len() - MAX_END_BYTES),
    );
    vec![&message[..beginning], &message[end..]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(message: &str) -> Vec<String> {
        RecallQuery::of(message)
            .terms
            .into_iter()
            .filter(|wanted| !wanted.is_optional)
            .map(|wanted| wanted.term.text)
            .collect()
    }

    #[test]
    fn words_that_hold_a_sentence_together_are_left_out() {
        assert_eq!(
            terms("What is the name of my dog, my dog?"),
            ["name", "dog"]
        );
        assert_eq!(
            terms("什么是我的茶"),
            ["什", "什么", "么", "么是", "的茶", "茶"]
        );
    }

    #[test]
    fn of_a_huge_message_both_ends_count() {
        let message = format!("alpha {} omega", "é x ".repeat(300_000));
        assert_eq!(terms(&message).first().map(String::as_str), Some("alpha"));
        assert_eq!(terms(&message).last().map(String::as_str), Some("omega"));
    }

    #[test]
    fn a_request_is_about_what_its_frame_leaves() {
        let about = |message: &str| -> Vec<String> {
            let mut terms = RecallQuery::of(message).terms;
            terms
                .retain(|wanted| !wanted.is_framing && !wanted.is_optional && 1.0 <= wanted.weight);
            terms.into_iter().map(|wanted| wanted.term.text).collect()
        };
        for message in [
            "Write a poem about my dog",
            "Could you please compose another poem about my dog?",
            "A haiku about the dog",
        ] {
            assert_eq!(about(message), ["dog"], "{message}");
        }
        for message in [
            "写一首关于我的狗的诗",
            "请帮我写一首关于狗的诗",
            "给我的狗写一首诗",
        ] {
            assert_eq!(about(message), ["狗"], "{message}");
        }
        assert_eq!(about("Which book did I write?"), ["book", "write"]);
        assert_eq!(about("I write poems"), ["write", "poem"]);
    }
}
