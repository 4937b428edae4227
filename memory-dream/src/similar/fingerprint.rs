//! Analyses a text for comparison.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use memory_core::text::{Token, TokenKind, fold, is_sentence_end, tokenize};
use memory_core::wikilink;

use super::min_hash::{for_each_shingle, hash_word};
use crate::language::WORDS;
use crate::merge::{parse_passages, passage_topic};

/// The analysis of a text, computed once for several comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFingerprint {
    /// The hash of the folded text without whitespace and final punctuation.
    pub(super) whole: u64,
    /// Number of words, or of characters in scripts without spaces.
    pub(super) words: usize,
    /// The hashes of its shingles, sorted and without duplicates.
    pub(super) shingles: Vec<u64>,
    /// The hashes of its sentences and of their topics, in order.
    pub(super) statements: Vec<(u64, Option<u64>)>,
    /// The hashes of its sentences and of their topics, sorted.
    pub(super) sentences: Vec<(u64, Option<u64>)>,
    /// Its significant words, in order.
    pub(super) pieces: Vec<SignificantWord>,
    /// Its words that change the meaning of others, in order.
    pub(super) marks: Vec<(WordEffect, u64)>,
    /// The hashes of its numbers, in order.
    pub(super) numbers: Vec<u64>,
    /// The stems of the words that it spells as names.
    pub(super) names: HashSet<u64>,
    /// The hash of its code, without whitespace.
    pub(super) code: u64,
    /// The hashes of its paths, addresses, identifiers and links, in order.
    pub(super) literals: Vec<u64>,
}

/// A significant word, or a character of a script without spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SignificantWord {
    /// The hash of its stem and its distinguishing ending, such as that of the past tense.
    pub(super) key: u64,
    /// The hash of its stem.
    pub(super) stem: u64,
    /// Its distance from the start of the sentence: 2 for each word, 1 for each character.
    pub(super) place: usize,
}

impl TextFingerprint {
    /// Analyses a text.
    pub fn of(text: &str) -> Self {
        let mut found = Vec::new();
        for_each_shingle(text, &mut |shingle| found.push(shingle));
        found.sort_unstable();
        found.dedup();
        let prose = wikilink::blank_code(text);
        let folded = fold(text);
        let mut whole: Vec<_> = folded.split_whitespace().collect::<String>().into_bytes();
        whole.truncate(
            String::from_utf8_lossy(&whole)
                .trim_end_matches(['.', '!', ',', ';', '。', '、', '…'])
                .len(),
        );
        let mut reader = FingerprintBuilder {
            text,
            end: 0,
            place: 0,
            words: 0,
            last_number: None,
            ..FingerprintBuilder::default()
        };
        tokenize(text, &mut |token| reader.add_token(&token));
        let statements = sentence_hashes(text);
        let mut sentences = statements.clone();
        sentences.sort_unstable();
        sentences.dedup();
        reader.add_question_mark(text.get(reader.end..).unwrap_or_default());
        Self {
            whole: hash_word(&String::from_utf8_lossy(&whole)),
            words: reader.words,
            shingles: found,
            statements,
            sentences,
            pieces: reader.pieces,
            marks: reader.marks,
            numbers: reader
                .numbers
                .iter()
                .map(|number| hash_word(number))
                .collect(),
            names: reader.names,
            code: code_hash(text, &prose),
            literals: extract_literals(&prose)
                .iter()
                .map(|literal| hash_word(literal))
                .collect(),
        }
    }
}

fn sentence_hashes(text: &str) -> Vec<(u64, Option<u64>)> {
    let passages = parse_passages(text);
    let said = |passage| {
        let topic = passage_topic(&passages, passage).map(hash_word);
        passage.keys.iter().map(move |key| (hash_word(key), topic))
    };
    passages.iter().flat_map(said).collect()
}

/// Returns a hash of the parts of `text` that are blanked in `prose`.
fn code_hash(text: &str, prose: &str) -> u64 {
    let is_code = |(own, blanked): &(u8, u8)| own != blanked;
    let bytes: Vec<u8> = text
        .bytes()
        .zip(prose.bytes())
        .filter(is_code)
        .map(|(own, _)| own)
        .collect();
    hash_word(&String::from_utf8_lossy(&bytes))
}

#[derive(Default)]
struct FingerprintBuilder<'a> {
    text: &'a str,
    /// The end of the previous token.
    end: usize,
    place: usize,
    words: usize,
    /// The end of the last number.
    last_number: Option<usize>,
    pieces: Vec<SignificantWord>,
    marks: Vec<(WordEffect, u64)>,
    numbers: Vec<String>,
    names: HashSet<u64>,
}

impl FingerprintBuilder<'_> {
    fn add_token(&mut self, token: &Token<'_>) {
        if token.kind == TokenKind::Bigram {
            return;
        }
        let gap = self
            .text
            .get(self.end..token.span.start)
            .unwrap_or_default();
        if gap.contains(is_sentence_end) {
            self.place = 0;
        }
        self.add_question_mark(gap);
        let written = &self.text[token.span.clone()];
        let form = fold(written);
        self.words += 1;
        let is_word = token.kind == TokenKind::Word;
        if is_word && token.text.contains(char::is_numeric) {
            self.add_number(token, gap);
        } else if let Some(digits) = number_digits(&form) {
            self.numbers.push(digits.to_owned());
            self.add_significant_word(hash_word(digits), hash_word(digits), is_word);
        } else if let Some(base) = negated_word(&form) {
            self.add_word(base, base, base, is_word);
            self.add_word("not", "not", "not", is_word);
        } else {
            self.add_word(written, &form, token.text, is_word);
        }
        self.end = token.span.end;
    }

    /// Records a question mark in the gap between two tokens.
    fn add_question_mark(&mut self, gap: &str) {
        if gap.contains(['?', '？']) {
            self.marks.push((WordEffect::Mood, hash_word("?")));
        }
    }

    fn add_word(&mut self, written: &str, form: &str, stem: &str, is_word: bool) {
        let mark = word_effect(form).or_else(|| word_effect(stem));
        if mark == Some(WordEffect::Filler) {
            return;
        }
        if let Some(mark) = mark {
            self.marks.push((mark, hash_word(stem)));
        } else if is_name(written, self.place == 0) {
            self.names.insert(hash_word(stem));
        }
        let key = hash_word(stem).rotate_left(17) ^ hash_word(distinguishing_ending(form, stem));
        self.add_significant_word(key, hash_word(stem), is_word);
    }

    /// Records a number with its sign and unit; it continues the previous one in 1.2.3 and 10:30.
    fn add_number(&mut self, token: &Token<'_>, gap: &str) {
        let (before, after) = (&self.text[..token.span.start], &self.text[token.span.end..]);
        let mut number = String::new();
        let sign = before
            .chars()
            .next_back()
            .filter(|sign| "-−$€£¥<>=~≤≥".contains(*sign));
        number.extend(sign.filter(|_| {
            self.last_number
                .is_none_or(|end| end + 1 < token.span.start)
        }));
        number.push_str(token.text);
        number.extend(
            after
                .chars()
                .next()
                .filter(|unit| "%‰°℃$€£¥+".contains(*unit)),
        );
        let goes_on =
            self.last_number == Some(self.end) && matches!(gap, "." | "," | ":" | "/" | "-" | "–");
        match self.numbers.last_mut().filter(|_| goes_on) {
            Some(last) => last.extend(gap.chars().chain(number.chars())),
            None => self.numbers.push(number),
        }
        self.last_number = Some(token.span.end);
        self.add_significant_word(hash_word(token.text), hash_word(token.text), true);
    }

    fn add_significant_word(&mut self, key: u64, stem: u64, is_word: bool) {
        self.pieces.push(SignificantWord {
            key,
            stem,
            place: self.place,
        });
        self.place += 1 + usize::from(is_word);
    }
}

/// Returns the word that a contraction such as `don't` negates.
fn negated_word(form: &str) -> Option<&str> {
    match form {
        "can't" | "cannot" | "cant" => Some("can"),
        "won't" | "wont" => Some("will"),
        "shan't" => Some("shall"),
        "dont" | "doesnt" | "isnt" | "arent" => Some("do"),
        "didnt" | "wasnt" => Some("did"),
        _ => form.strip_suffix("n't"),
    }
}

/// Returns the feature that distinguishes a word from others of the same stem.
///
/// It is an ending that makes a different word, as in `business` and `busy`, or `irregular` for an irregular form.
fn distinguishing_ending(form: &str, stem: &str) -> &'static str {
    // A final `s` is removed first, since it does not make a different word.
    let singular = form.strip_suffix('s').unwrap_or(form);
    let mut shorter = stem.chars();
    shorter.next_back();
    match WORDS
        .endings
        .iter()
        .copied()
        .find(|ending| singular.ends_with(ending))
    {
        _ if form == stem || singular == stem => "",
        Some(ending) => ending,
        None if form.starts_with(shorter.as_str()) => "",
        None => "irregular",
    }
}

/// Returns whether a word is spelled as a name.
///
/// It has a capital inside, or at its start if it is not the first word of a sentence.
fn is_name(written: &str, is_first: bool) -> bool {
    let mut characters = written.chars();
    let is_capital = characters.next().is_some_and(char::is_uppercase);
    characters.any(char::is_uppercase) || (is_capital && !is_first)
}

/// Returns the addresses, paths, identifiers, options, tags and wikilinks of a text, in order.
///
/// `prose` is the text with its code blanked.
fn extract_literals(prose: &str) -> Vec<String> {
    let parts_words = |character: char| character.is_whitespace() || '\u{2e80}' <= character;
    let around = |character: char| "()[]{}<>\"'“”‘’,.;:!?*_~`".contains(character);
    let words = prose
        .split(parts_words)
        .map(|word| word.trim_matches(around))
        .filter(|word| is_literal(word));
    let links = wikilink::parse_prose_wikilinks(prose)
        .into_iter()
        .map(|link| format!("[[{}]]", wikilink::fold_link_name(&link.target)));
    words.map(str::to_owned).chain(links).collect()
}

fn is_literal(word: &str) -> bool {
    let has_letter = word.contains(char::is_alphabetic);
    let is_option = word
        .strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(|next: char| next == '-' || next.is_alphabetic()));
    has_letter
        && (is_option
            || word.contains([
                '/', '\\', '_', '@', '#', '+', '=', '<', '>', '$', '^', '&', '~', '|', '.', ':',
            ]))
}

/// The effect of a word on the meaning of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum WordEffect {
    /// It has no effect.
    Filler,
    /// It negates or restricts.
    Negation,
    /// It has an opposite.
    Opposite,
    /// A day, a month or another word for a time.
    Date,
    /// A quantity or a frequency.
    Amount,
    /// A mood or tense: must, may, will or was.
    Mood,
    /// A person.
    Person,
}

/// Returns the effect of a folded word, if it is in one of the lists.
fn word_effect(word: &str) -> Option<WordEffect> {
    WORD_EFFECTS.get(word).copied()
}

/// Returns the digits of a number that is written as a word.
fn number_digits(word: &str) -> Option<&'static str> {
    NUMBER_WORDS.get(word).copied()
}

static WORD_EFFECTS: LazyLock<HashMap<&str, WordEffect>> = LazyLock::new(|| {
    let lists = [
        (&WORDS.fillers, WordEffect::Filler),
        (&WORDS.negations, WordEffect::Negation),
        (&WORDS.opposites, WordEffect::Opposite),
        (&WORDS.dates, WordEffect::Date),
        (&WORDS.amounts, WordEffect::Amount),
        (&WORDS.moods, WordEffect::Mood),
        (&WORDS.persons, WordEffect::Person),
    ];
    lists
        .into_iter()
        .flat_map(|(words, mark)| words.iter().map(move |word| (*word, mark)))
        .collect()
});

static NUMBER_WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let pairs = WORDS.digits.iter();
    pairs.filter_map(|pair| pair.split_once('=')).collect()
});
