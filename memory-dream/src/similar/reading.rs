//! A text as it is compared.

use std::collections::HashSet;

use memory_core::text::{Token, TokenKind, fold, tokens};
use memory_core::wikilink;

use super::literal::literals;
use super::mark::{Mark, mark, number};
use super::shingle::{hash, shingles};
use crate::merge::{passages, topic};

/// A text as it is compared, made once for many comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Its words and signs, folded.
    pub(super) whole: u64,
    /// How many words it has, or characters of a script without blanks.
    pub(super) words: usize,
    /// Its shingles, in order, each once.
    pub(super) shingles: Vec<u64>,
    /// Its sentences with what they are under, in order.
    pub(super) sentences: Vec<(u64, Option<u64>)>,
    /// Its words, save those that say nothing, as they follow each other.
    pub(super) pieces: Vec<Piece>,
    /// Those of them that turn the meaning of others.
    pub(super) marks: Vec<(Mark, u64)>,
    /// Its numbers, as they follow each other.
    pub(super) numbers: Vec<u64>,
    /// The words that it spells as names.
    pub(super) names: HashSet<u64>,
    /// Its code, without blanks.
    pub(super) code: u64,
    /// Paths, addresses, identifiers and links, as they follow each other.
    pub(super) literals: Vec<u64>,
}

/// A word that says something, or a character of a script without blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    /// Its stem, and whether it tells of the past.
    pub(super) key: u64,
    /// Its stem.
    pub(super) stem: u64,
    /// How much of its sentence is before it: 2 for each word, 1 for each character.
    pub(super) place: usize,
}

impl Reading {
    /// Reads a text.
    pub fn of(text: &str) -> Self {
        let mut found = Vec::new();
        shingles(text, &mut |shingle| found.push(shingle));
        found.sort_unstable();
        found.dedup();
        let prose = wikilink::blank_code(text);
        let folded = fold(text);
        let mut whole: Vec<_> = folded.split_whitespace().collect::<String>().into_bytes();
        whole.truncate(String::from_utf8_lossy(&whole).trim_end_matches(['.', '!', ',', ';', '。', '、', '…']).len());
        let mut reader = Reader { text, end: 0, place: 0, words: 0, last_number: None, ..Reader::default() };
        tokens(text, &mut |token| reader.take(&token));
        reader.ask(text.get(reader.end..).unwrap_or_default());
        Self {
            whole: hash(&String::from_utf8_lossy(&whole)),
            words: reader.words,
            shingles: found,
            sentences: sentences(text),
            pieces: reader.pieces,
            marks: reader.marks,
            numbers: reader.numbers.iter().map(|number| hash(number)).collect(),
            names: reader.names,
            code: code(text, &prose),
            literals: literals(&prose).iter().map(|literal| hash(literal)).collect(),
        }
    }
}

fn sentences(text: &str) -> Vec<(u64, Option<u64>)> {
    let passages = passages(text);
    let said = |passage| {
        let topic = topic(&passages, passage).map(hash);
        passage.keys.iter().map(move |key| (hash(key), topic))
    };
    let mut sentences: Vec<_> = passages.iter().flat_map(said).collect();
    sentences.sort_unstable();
    sentences.dedup();
    sentences
}

/// Returns a hash of what is in `text` and not in its prose.
fn code(text: &str, prose: &str) -> u64 {
    let is_code = |(own, blanked): &(u8, u8)| own != blanked;
    let bytes: Vec<u8> = text.bytes().zip(prose.bytes()).filter(is_code).map(|(own, _)| own).collect();
    hash(&String::from_utf8_lossy(&bytes))
}

#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    /// Where the token before ended.
    end: usize,
    place: usize,
    words: usize,
    /// Where the last number ended.
    last_number: Option<usize>,
    pieces: Vec<Piece>,
    marks: Vec<(Mark, u64)>,
    numbers: Vec<String>,
    names: HashSet<u64>,
}

impl Reader<'_> {
    fn take(&mut self, token: &Token<'_>) {
        if token.kind == TokenKind::Bigram {
            return;
        }
        let gap = self.text.get(self.end..token.span.start).unwrap_or_default();
        if gap.contains(['.', '!', '?', ';', '\n', '。', '！', '？', '；']) {
            self.place = 0;
        }
        self.ask(gap);
        let written = &self.text[token.span.clone()];
        let form = fold(written);
        self.words += 1;
        let is_word = token.kind == TokenKind::Word;
        if is_word && token.text.contains(char::is_numeric) {
            self.number(token, gap);
        } else if let Some(digits) = number(&form) {
            self.numbers.push(digits.to_owned());
            self.piece(hash(digits), hash(digits), is_word);
        } else if let Some(base) = denied(&form) {
            self.word(base, base, base, is_word);
            self.word("not", "not", "not", is_word);
        } else {
            self.word(written, &form, token.text, is_word);
        }
        self.end = token.span.end;
    }

    /// Notes that a question ends where it does.
    fn ask(&mut self, gap: &str) {
        if gap.contains(['?', '？']) {
            self.marks.push((Mark::Mood, hash("?")));
        }
    }

    fn word(&mut self, written: &str, form: &str, stem: &str, is_word: bool) {
        let mark = mark(form).or_else(|| mark(stem));
        if mark == Some(Mark::Filler) {
            return;
        }
        if let Some(mark) = mark {
            self.marks.push((mark, hash(stem)));
        } else if is_name(written, self.place == 0) {
            self.names.insert(hash(stem));
        }
        let key = hash(stem).rotate_left(17) ^ hash(ending(form, stem));
        self.piece(key, hash(stem), is_word);
    }

    /// Takes a number with its sign, its unit and the number it goes on from, as in 1.2.3 and 10:30.
    fn number(&mut self, token: &Token<'_>, gap: &str) {
        let (before, after) = (&self.text[..token.span.start], &self.text[token.span.end..]);
        let mut number = String::new();
        let sign = before.chars().next_back().filter(|sign| "-−$€£¥<>=~≤≥".contains(*sign));
        number.extend(sign.filter(|_| self.last_number.is_none_or(|end| end + 1 < token.span.start)));
        number.push_str(token.text);
        number.extend(after.chars().next().filter(|unit| "%‰°℃$€£¥+".contains(*unit)));
        let goes_on = self.last_number == Some(self.end) && matches!(gap, "." | "," | ":" | "/" | "-" | "–");
        match self.numbers.last_mut().filter(|_| goes_on) {
            Some(last) => last.extend(gap.chars().chain(number.chars())),
            None => self.numbers.push(number),
        }
        self.last_number = Some(token.span.end);
        self.piece(hash(token.text), hash(token.text), true);
    }

    fn piece(&mut self, key: u64, stem: u64, is_word: bool) {
        self.pieces.push(Piece { key, stem, place: self.place });
        self.place += 1 + usize::from(is_word);
    }
}

/// Returns what is denied by a word such as `don't`.
fn denied(form: &str) -> Option<&str> {
    match form {
        "can't" | "cannot" | "cant" => Some("can"),
        "won't" | "wont" => Some("will"),
        "shan't" => Some("shall"),
        "dont" | "doesnt" | "isnt" | "arent" => Some("do"),
        "didnt" | "wasnt" => Some("did"),
        _ => form.strip_suffix("n't"),
    }
}

/// Returns what tells a form from others of the same stem that mean something else: the past, be it irregular, or an ending that
/// makes another word, as those of `business` and `busy` do.
fn ending(form: &str, stem: &str) -> &'static str {
    // Without the s at the end, which makes no other word.
    const ENDINGS: [&str; 24] = [
        "ed", "ity", "nes", "ment", "er", "or", "ly", "al", "ally", "ive", "able", "ible", "ation", "ion", "ist", "ism", "ful",
        "les", "ize", "ise", "ance", "ence", "ou", "ic",
    ];
    let singular = form.strip_suffix('s').unwrap_or(form);
    let mut shorter = stem.chars();
    shorter.next_back();
    match ENDINGS.into_iter().find(|ending| singular.ends_with(ending)) {
        _ if form == stem || singular == stem => "",
        Some(ending) => ending,
        None if form.starts_with(shorter.as_str()) => "",
        None => "irregular",
    }
}

/// Tells whether a word is spelled as a name: with a capital where no sentence begins, or with one inside.
fn is_name(written: &str, is_first: bool) -> bool {
    let mut characters = written.chars();
    let is_capital = characters.next().is_some_and(char::is_uppercase);
    characters.any(char::is_uppercase) || (is_capital && !is_first)
}
