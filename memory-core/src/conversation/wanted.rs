//! What a message asks the memory for.

use std::collections::HashMap;
use std::ops::Range;

use super::EntryRole;
use super::indexed_text::IndexedText;
use super::speech_act::framing;
use crate::question::is_aside;
use crate::text::{Term, TokenKind, tokens};

/// What a message asks the memory for: its words, without those that hold a sentence together, and its vector if there is one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted<'v> {
    /// The words, each once.
    pub terms: Vec<WantedTerm>,
    /// The vector, of length 1.
    pub vector: Option<&'v [f32]>,
    /// Hash of the words that the message itself states: a copy of it says nothing of how common its words are.
    pub statement: Option<u64>,
}

/// One word of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedTerm {
    /// The word.
    pub term: Term,
    /// What it counts for by its kind: 1 for a word, less for one of several pieces of a text without blanks.
    pub weight: f32,
    /// Whether it only frames a request, as `write` and `poem` do in `Write a poem about my dog`.
    pub is_framing: bool,
    /// Whether it counts only where an entry has it, as a character that may or may not be a word of its own.
    pub is_optional: bool,
}

/// Of a longer message only its beginning and its end, so many bytes each, are looked at.
const LOOKED_AT: usize = 4096;

/// What a single character counts for in a longer run of a script without blanks, where a pair counts for 1.
const CHARACTER: f32 = 0.15;

/// What a pair of characters counts for if one of them holds the sentence together, or frames a request.
const HALF_PAIR: f32 = 0.5;

impl Wanted<'_> {
    /// Returns what `message` asks for by its words.
    pub fn of(message: &str) -> Self {
        let mut known = HashMap::<Term, usize>::new();
        let mut terms = Vec::<WantedTerm>::new();
        let parts = parts(message);
        for part in &parts {
            let frame = framing(part);
            let is_framed = |span: &Range<usize>| frame.iter().any(|own| own.start < span.end && span.start < own.end);
            let content = lone_characters(part, &is_framed);
            content_terms(part, &mut |term, span| {
                let is_framing = is_framed(&span);
                if term.kind == TokenKind::Character && !is_framing {
                    let term = own_word(&term.text);
                    known.entry(term.clone()).or_insert_with(|| {
                        terms.push(WantedTerm { term, weight: 1.0, is_framing, is_optional: true });
                        terms.len() - 1
                    });
                }
                let weight = match term.kind {
                    TokenKind::Bigram if is_framing || has_aside(&part[span.clone()]) => HALF_PAIR,
                    TokenKind::Word | TokenKind::Symbol | TokenKind::Bigram => 1.0,
                    TokenKind::Character if content.contains(&span.start) => 1.0,
                    TokenKind::Character => CHARACTER,
                };
                if let Some(number) = known.get(&term) {
                    let own = &mut terms[*number];
                    own.weight = own.weight.max(weight);
                    own.is_framing &= is_framing;
                } else {
                    known.insert(term.clone(), terms.len());
                    terms.push(WantedTerm { term, weight, is_framing, is_optional: false });
                }
            });
        }
        let statement = if parts.len() == 1 { IndexedText::new(EntryRole::User, message).statement } else { None };
        Self { terms, vector: None, statement }
    }
}

/// Characters between which a single one is a word of its own: they stand for relations, counts and measures, and are hardly ever part of a
/// longer noun.
const BETWEEN: &str = "叫养養给給把被让讓跟对對很也都就还還再又不没沒一二三四五两兩几幾只隻个個条條位辆輛台臺";

/// Returns the characters of a statement that are words of their own, as 猫 is in 我家的猫叫咪咪, and where they stand.
pub(super) fn words_of_one_character(text: &str) -> Vec<(Term, Range<usize>)> {
    let is_between = |span: &Range<usize>| BETWEEN.contains(&text[span.clone()]);
    let starts = lone_characters(text, &is_between);
    let spans = starts.into_iter().map(|start| start..text.ceil_char_boundary(start + 1));
    spans.map(|span| (own_word(&text[span.clone()]), span)).collect()
}

/// Returns a character as a word of its own, which no text is split into.
fn own_word(character: &str) -> Term {
    Term { text: character.to_owned(), kind: TokenKind::Word }
}

/// Returns where characters stand that are a word of their own in a script without blanks: all around them holds the sentence together
/// or frames a request.
fn lone_characters(text: &str, is_framed: &dyn Fn(&Range<usize>) -> bool) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut run: Vec<usize> = Vec::new();
    tokens(text, &mut |token| {
        if token.kind == TokenKind::Bigram {
            return;
        }
        let is_content =
            token.kind == TokenKind::Character && !is_aside(&text[token.span.clone()], false) && !is_framed(&token.span);
        let follows = run.last().is_some_and(|last| text[*last..token.span.start].chars().count() == 1);
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

fn has_aside(pair: &str) -> bool {
    let mut buffer = [0; 4];
    pair.chars().any(|character| is_aside(character.encode_utf8(&mut buffer), false))
}

/// Words that are a noun to the tokenizer, and a verb in most facts: both are meant.
const VERBS: [(&str, &str); 2] = [("lives", "live"), ("leaves", "leave")];

/// Calls `each` with every word of a text that says something, and with every pair and single character of scripts without blanks, and
/// where it stands.
pub(super) fn content_terms(text: &str, each: &mut dyn FnMut(Term, Range<usize>)) {
    tokens(text, &mut |token| {
        let spelled = &text[token.span.clone()];
        if is_aside(spelled, token.kind == TokenKind::Word) {
            return;
        }
        let span = token.span.clone();
        each(Term { text: token.text.to_owned(), kind: token.kind }, span.clone());
        if let Some((_, verb)) = VERBS.into_iter().find(|(form, _)| spelled.eq_ignore_ascii_case(form)) {
            tokens(verb, &mut |token| each(Term { text: token.text.to_owned(), kind: token.kind }, span.clone()));
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
        Wanted::of(message).terms.into_iter().filter(|wanted| !wanted.is_optional).map(|wanted| wanted.term.text).collect()
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

    #[test]
    fn a_request_is_about_what_its_frame_leaves() {
        let about = |message: &str| -> Vec<String> {
            let mut terms = Wanted::of(message).terms;
            terms.retain(|wanted| !wanted.is_framing && !wanted.is_optional && 1.0 <= wanted.weight);
            terms.into_iter().map(|wanted| wanted.term.text).collect()
        };
        for message in
            ["Write a poem about my dog", "Could you please compose another poem about my dog?", "A haiku about the dog"]
        {
            assert_eq!(about(message), ["dog"], "{message}");
        }
        for message in ["写一首关于我的狗的诗", "请帮我写一首关于狗的诗", "给我的狗写一首诗"] {
            assert_eq!(about(message), ["狗"], "{message}");
        }
        assert_eq!(about("Which book did I write?"), ["book", "write"]);
        assert_eq!(about("I write poems"), ["write", "poem"]);
    }
}
