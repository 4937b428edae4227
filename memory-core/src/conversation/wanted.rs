//! What a message asks the memory for.

use std::collections::HashSet;

use crate::question::is_aside;
use crate::text::{Term, TokenKind, tokens};

/// What a message asks the memory for: its words, without those that hold a sentence together, and its vector if there is one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted<'v> {
    /// The words, each once.
    pub terms: Vec<Term>,
    /// The vector, of length 1.
    pub vector: Option<&'v [f32]>,
}

/// Of a longer message only its beginning and its end, so many bytes each, are looked at.
const LOOKED_AT: usize = 4096;

impl Wanted<'_> {
    /// Returns what `message` asks for by its words.
    pub fn of(message: &str) -> Self {
        let mut seen = HashSet::new();
        let mut terms = Vec::new();
        for part in parts(message) {
            content_terms(part, &mut |term| {
                if seen.insert(term.clone()) {
                    terms.push(term);
                }
            });
        }
        Self { terms, vector: None }
    }
}

/// Words that are a noun to the tokenizer, and a verb in most facts: both are meant.
const VERBS: [(&str, &str); 2] = [("lives", "live"), ("leaves", "leave")];

/// Calls `each` with every word of a text that says something, and with every pair and single character of scripts without blanks.
pub(super) fn content_terms(text: &str, each: &mut dyn FnMut(Term)) {
    tokens(text, &mut |token| {
        let spelled = &text[token.span.clone()];
        if is_aside(spelled, token.kind == TokenKind::Word) {
            return;
        }
        each(Term { text: token.text.to_owned(), kind: token.kind });
        if let Some((_, verb)) = VERBS.into_iter().find(|(form, _)| spelled.eq_ignore_ascii_case(form)) {
            tokens(verb, &mut |token| each(Term { text: token.text.to_owned(), kind: token.kind }));
        }
    });
}

/// Returns the beginning and the end of what is too long to be looked at whole.
pub(super) fn parts(message: &str) -> Vec<&str> {
    if message.len() <= 2 * LOOKED_AT {
        return vec![message];
    }
    let (beginning, end) = (message.floor_char_boundary(LOOKED_AT), message.ceil_char_boundary(message.len() - LOOKED_AT));
    vec![&message[..beginning], &message[end..]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(message: &str) -> Vec<String> {
        Wanted::of(message).terms.into_iter().map(|term| term.text).collect()
    }

    #[test]
    fn words_that_hold_a_sentence_together_are_left_out() {
        assert_eq!(terms("What is the name of my dog, my dog?"), ["name", "dog"]);
        assert_eq!(terms("什么是我的茶"), ["什", "什么", "么", "么是", "的茶", "茶"]);
    }

    #[test]
    fn of_a_huge_message_both_ends_count() {
        let message = format!("alpha {} omega", "é x ".repeat(300_000));
        assert_eq!(terms(&message).first().map(String::as_str), Some("alpha"));
        assert_eq!(terms(&message).last().map(String::as_str), Some("omega"));
    }
}
