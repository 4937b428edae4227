//! Splits a text into tokens, by the classes of its characters, and into sentences.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::fold::for_each_folded;
use super::stem::{CachedStemmer, StemLanguage, lemma};
use crate::language::WORDS;

/// A token, by which a text is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// The text folded by [`super::fold()`], and stemmed in the language of its script.
    pub text: &'a str,
    /// The folded text without stemming.
    pub spelled: &'a str,
    /// The kind.
    pub kind: TokenKind,
    /// The byte range of the token in the original text.
    pub span: Range<usize>,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenKind {
    /// A word or number of a script with spaces between words.
    Word,
    /// Two adjacent characters of a script without spaces between words.
    Bigram,
    /// A single character of a script without spaces between words.
    Character,
    /// A sign or an emoji, or a word with its adjacent signs. See [`super::for_each_symbol()`].
    Symbol,
}

/// The maximum length of a word in characters.
///
/// Longer words, which are keys and encoded data, are truncated.
const MAX_WORD: usize = 64;

/// The maximum number of marks on one character. Further marks are decoration.
const MAX_MARKS: usize = 8;

/// The maximum number of letters behind the quotation mark of a Hebrew acronym.
const MAX_ACRONYM_END: usize = 3;

/// The letters of Hebrew that are prefixes of a word: "and", "in", "the", "to", "from", "that" and "like".
const HEBREW_PREFIXES: &str = "ובהלמשכ";

/// What follows the apostrophe of a possessive or of a contraction in English.
const ENGLISH_ENDINGS: [&str; 7] = ["s", "t", "d", "m", "ll", "re", "ve"];

/// Calls `each` with every token of `text`, ordered by start offset.
///
/// A word is a run of letters and digits with their marks and the apostrophes inside it, of which only that of an English ending is
/// kept; words of Latin, Cyrillic, Greek and Arabic letters are reduced to their English, Russian, Greek or Arabic stem. A quotation mark inside a Hebrew acronym is no part of it: רש״י is
/// רשי. A run of Han, Kana, Hangul, Bopomofo, Thai, Lao, Khmer or Myanmar, in any mixture, yields every character and every
/// bigram. A token never spans both kinds of scripts.
///
/// ```
/// # use memory_core::text::tokenize;
/// let mut found = Vec::new();
/// tokenize("Anna prefers 用Rust", &mut |token| found.push(token.text.to_owned()));
/// assert_eq!(found, ["anna", "prefer", "用", "rust"]);
/// ```
pub fn tokenize(text: &str, each: &mut dyn FnMut(Token<'_>)) {
    tokenize_filtered(text, &|_, _| true, each);
}

/// Calls `each` like [`tokens`], but skips the words for which `wanted` returns false, before stemming.
///
/// The arguments of `wanted` are the lemma if the word is an irregular form, otherwise the word, and the word as spelled.
pub(super) fn tokenize_filtered(
    text: &str,
    wanted: &dyn Fn(&str, &str) -> bool,
    each: &mut dyn FnMut(Token<'_>),
) {
    let mut tokenizer = TextTokenizer {
        stems: CachedStemmer::take_cached(),
        word: WordBuffer::default(),
        run: CharRun::default(),
        wanted,
        each,
    };
    for_each_folded(text, |character, span| tokenizer.take(character, span));
    tokenizer.finish();
    tokenizer.stems.store_cached();
}

/// Returns the term of the exact form of a word that is stemmed, so that texts with this form come first.
///
/// English words have none: most of their forms differ only in number and time.
pub fn exact_form(spelled: &str) -> Option<String> {
    let has_form = !spelled.is_ascii() && StemLanguage::of(spelled).is_some();
    has_form.then(|| format!("\u{1}{spelled}"))
}

/// Returns the term of a compound that a text writes with a hyphen.
pub fn hyphenated_form(compound: &str) -> String {
    format!("\u{2}{compound}")
}

/// Returns whether a term is another form of a word that is counted already.
pub fn is_other_form(term: &str) -> bool {
    term.starts_with(['\u{1}', '\u{2}'])
}

/// The state of the tokenizer. At most one of `word` and `run` is not empty at any time.
struct TextTokenizer<'e> {
    stems: CachedStemmer,
    word: WordBuffer,
    run: CharRun,
    wanted: &'e dyn Fn(&str, &str) -> bool,
    each: &'e mut dyn FnMut(Token<'_>),
}

impl TextTokenizer<'_> {
    fn take(&mut self, character: char, span: Range<usize>) {
        match classify_char(character) {
            CharClass::Word => {
                self.run.finish(self.each);
                if self.word.joint == Joint::Quote && !is_hebrew(character) {
                    self.finish_word();
                }
                self.word.push(character, span);
            }
            CharClass::Blankless => {
                self.finish_word();
                self.run.push(character, span, self.each);
            }
            CharClass::Apostrophe => {
                self.run.finish(self.each);
                if !self.word.join(Joint::Apostrophe, span) {
                    self.finish_word();
                }
            }
            // Marks without a base character are ignored.
            CharClass::Mark if self.word.joint != Joint::None => self.finish_word(),
            CharClass::Mark if !self.word.is_empty() => self.word.push(character, span),
            CharClass::Mark => self.run.push_mark(character, span),
            CharClass::Break if is_quote(character) && self.word.join(Joint::Quote, span) => {}
            CharClass::Break => self.finish(),
        }
    }

    fn finish_word(&mut self) {
        self.word.finish(&mut self.stems, self.wanted, self.each);
    }

    fn finish(&mut self) {
        self.finish_word();
        self.run.finish(self.each);
    }
}

/// A sign that is inside a word only if the word continues behind it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Joint {
    #[default]
    None,
    Apostrophe,
    /// A quotation mark or two apostrophes behind a Hebrew letter.
    Quote,
}

/// The current word.
#[derive(Default)]
struct WordBuffer {
    text: String,
    characters: usize,
    /// The last sign, if no letter followed it.
    joint: Joint,
    joint_span: Range<usize>,
    /// The quotation mark inside the word, with the length of the text before it.
    quote: Option<(usize, Range<usize>)>,
    /// Whether a second quotation mark followed.
    is_quoted: bool,
    span: Range<usize>,
}

impl WordBuffer {
    fn is_empty(&self) -> bool {
        self.characters == 0
    }

    /// Takes a sign behind the word, and returns whether the word may continue.
    fn join(&mut self, sign: Joint, span: Range<usize>) -> bool {
        let is_hebrew = self.text.ends_with(is_hebrew);
        self.joint = match (self.joint, sign) {
            (Joint::None, Joint::Apostrophe) if !self.is_empty() => Joint::Apostrophe,
            (Joint::None, Joint::Quote) | (Joint::Apostrophe, Joint::Apostrophe) if is_hebrew => {
                Joint::Quote
            }
            _ => return false,
        };
        if self.joint == sign {
            self.joint_span.start = span.start;
        }
        self.joint_span.end = span.end;
        self.is_quoted |= self.joint == Joint::Quote && self.quote.is_some();
        !self.is_quoted
    }

    fn push(&mut self, character: char, span: Range<usize>) {
        if self.is_empty() {
            self.span.start = span.start;
        }
        self.span.end = span.end;
        match std::mem::take(&mut self.joint) {
            Joint::None => {}
            Joint::Apostrophe => self.push_within_limit('\''),
            Joint::Quote => self.quote = Some((self.text.len(), self.joint_span.clone())),
        }
        self.push_within_limit(character);
    }

    /// Returns an ordinal number without its ending, so that the query 15 finds 15th.
    fn number(&self) -> &str {
        let digits = self
            .text
            .trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        let is_ordinal = matches!(&self.text[digits.len()..], "st" | "nd" | "rd" | "th");
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if is_ordinal && is_number {
            digits
        } else {
            &self.text
        }
    }

    /// Removes the apostrophes that many writers leave out, as in the names Zʾōrā, Qur'an and O'Brien, but not the one of an English ending.
    fn remove_inner_apostrophes(&mut self) {
        let Some(last) = self.text.rfind('\'') else {
            return;
        };
        let has_ending = ENGLISH_ENDINGS.contains(&&self.text[last + 1..]);
        let inner = if has_ending { last } else { self.text.len() };
        if self.text[..inner].contains('\'') {
            let kept = self.text.split_off(inner);
            self.text.retain(|character| character != '\'');
            self.text.push_str(&kept);
        }
    }

    fn push_within_limit(&mut self, character: char) {
        if self.characters < MAX_WORD {
            self.text.push(character);
            self.characters += 1;
        }
    }

    fn finish(
        &mut self,
        stems: &mut CachedStemmer,
        wanted: &dyn Fn(&str, &str) -> bool,
        each: &mut dyn FnMut(Token<'_>),
    ) {
        if self.is_empty() {
            return;
        }
        // The letters behind the quotation mark of an acronym are few, and one behind prefixes; more of them, or a second mark, are a
        // quotation.
        if let Some((length, mark)) = self.quote.take()
            && (self.is_quoted
                || longest_acronym_end(&self.text[..length]) < self.text[length..].chars().count())
        {
            let quoted = self.text.split_off(length);
            let end = std::mem::replace(&mut self.span.end, mark.start);
            self.emit(stems, wanted, each);
            self.text = quoted;
            self.span = mark.end..end;
        }
        self.emit(stems, wanted, each);
        *self = Self {
            text: std::mem::take(&mut self.text),
            ..Self::default()
        };
        self.text.clear();
    }

    fn emit(
        &mut self,
        stems: &mut CachedStemmer,
        wanted: &dyn Fn(&str, &str) -> bool,
        each: &mut dyn FnMut(Token<'_>),
    ) {
        self.remove_inner_apostrophes();
        if wanted(lemma(&self.text), &self.text) {
            let text = match StemLanguage::of(&self.text) {
                Some(language) => stems.stem(language, &self.text),
                None => self.number(),
            };
            each(Token {
                text,
                spelled: &self.text,
                kind: TokenKind::Word,
                span: self.span.clone(),
            });
        }
    }
}

/// The last two characters of a run of a script without spaces.
#[derive(Default)]
struct CharRun {
    /// The previous character, if any, and the last one, both with their marks.
    pair: String,
    /// The byte offset of the last character in `pair`.
    border: usize,
    /// The number of marks on the last character.
    marks: usize,
    before: Range<usize>,
    last: Range<usize>,
}

impl CharRun {
    fn push(&mut self, character: char, span: Range<usize>, each: &mut dyn FnMut(Token<'_>)) {
        self.emit(each);
        self.pair.drain(..self.border);
        self.border = self.pair.len();
        self.pair.push(character);
        self.marks = 0;
        self.before = std::mem::replace(&mut self.last, span);
    }

    fn push_mark(&mut self, mark: char, span: Range<usize>) {
        if self.pair.is_empty() {
            return;
        }
        self.last.end = span.end;
        if self.marks < MAX_MARKS {
            self.pair.push(mark);
            self.marks += 1;
        }
    }

    /// Emits the bigram first, because it starts earlier, then the last character.
    fn emit(&self, each: &mut dyn FnMut(Token<'_>)) {
        if 0 < self.border {
            let span = self.before.start..self.last.end;
            each(Token {
                text: &self.pair,
                spelled: &self.pair,
                kind: TokenKind::Bigram,
                span,
            });
        }
        if !self.pair.is_empty() {
            let (text, span) = (&self.pair[self.border..], self.last.clone());
            each(Token {
                text,
                spelled: text,
                kind: TokenKind::Character,
                span,
            });
        }
    }

    fn finish(&mut self, each: &mut dyn FnMut(Token<'_>)) {
        self.emit(each);
        self.pair.clear();
        self.border = 0;
    }
}

/// The class of a folded character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharClass {
    /// A letter or digit of a script with spaces between words.
    Word,
    /// A letter of a script that is written without spaces, or searched by parts of words.
    Blankless,
    /// A mark that belongs to the preceding character.
    Mark,
    /// An apostrophe, which belongs to a word only inside it.
    Apostrophe,
    /// A separator of words.
    Break,
}

/// Returns the class of `character`, which must be folded.
pub(super) fn classify_char(character: char) -> CharClass {
    match character {
        'a'..='z' | '0'..='9' => CharClass::Word,
        '\'' => CharClass::Apostrophe,
        '\0'..='\u{7f}' => CharClass::Break,
        _ if is_east_asian(character) => CharClass::Blankless,
        _ if is_combining_mark(character) => CharClass::Mark,
        _ if !character.is_alphanumeric() => CharClass::Break,
        _ if is_south_east_asian(character) && !character.is_numeric() => CharClass::Blankless,
        _ => CharClass::Word,
    }
}

/// Returns the maximum number of letters behind the quotation mark of an acronym that has these letters before it.
fn longest_acronym_end(before: &str) -> usize {
    if before
        .chars()
        .all(|letter| HEBREW_PREFIXES.contains(letter))
    {
        1
    } else {
        MAX_ACRONYM_END
    }
}

/// Returns whether `character` is a letter of Hebrew.
pub(crate) fn is_hebrew(character: char) -> bool {
    matches!(character, '\u{5d0}'..='\u{5ea}' | '\u{5ef}'..='\u{5f2}')
}

/// Returns whether a folded character is a quotation mark that may also denote an acronym.
fn is_quote(character: char) -> bool {
    matches!(character, '"' | '“' | '”' | '„' | '‟')
}

/// Returns whether `character` belongs to a script without spaces between words.
pub(crate) fn is_blankless(character: char) -> bool {
    is_east_asian(character) || is_south_east_asian(character)
}

/// Returns whether `character` is a letter of Han, Kana, Hangul or Bopomofo.
fn is_east_asian(character: char) -> bool {
    matches!(character,
        // Han: iteration marks and numerals, then the blocks, then the two reserved planes.
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303c}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}'
        // Hiragana and Katakana with the prolonged sound mark, but without the middle dot, which separates words.
        | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}' | '\u{1aff0}'..='\u{1b16f}'
        // Hangul: jamo that did not compose, and syllables.
        | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97c}' | '\u{ac00}'..='\u{d7a3}' | '\u{d7b0}'..='\u{d7fb}'
        // Bopomofo.
        | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}')
}

/// Returns whether `character` is in a block of Thai, Lao, Myanmar or Khmer.
fn is_south_east_asian(character: char) -> bool {
    matches!(character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}')
}

/// Quotation marks, without the single ones, which are also apostrophes.
pub(crate) const QUOTATION_MARKS: [char; 10] =
    ['"', '“', '”', '„', '«', '»', '「', '」', '『', '』'];

/// Returns whether a character ends a sentence, as a full stop does unless it is part of a number or a name.
pub fn is_sentence_end(character: char) -> bool {
    matches!(
        character,
        '.' | '!' | '?' | ';' | '\n' | '。' | '！' | '？' | '；'
    )
}

/// Returns the sentences of a text, each with its final punctuation.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut begin, mut has_ended) = (0, false);
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match character {
            '.' | '…' => {
                next.is_none_or(char::is_whitespace) && !ends_in_abbreviation(&text[begin..at])
            }
            _ => is_sentence_end(character),
        };
        has_ended |= ends;
        let goes_on = next.is_some_and(|next| "。！？!?.…\"”)）".contains(next));
        if has_ended && !goes_on {
            push_range(text, begin..at + character.len_utf8(), &mut found);
            begin = at + character.len_utf8();
            has_ended = false;
        }
    }
    push_range(text, begin..text.len(), &mut found);
    found
}

fn ends_in_abbreviation(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(['(', '"', '[']);
    let mut all = WORDS.abbreviations.iter();
    all.any(|own| own.eq_ignore_ascii_case(word))
}

/// Adds a range that contains a letter, a digit or a fence of code.
pub(crate) fn push_range(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let written = &text[range.clone()];
    if written.contains(char::is_alphanumeric) || written.contains("```") || written.contains("~~~")
    {
        found.push(range);
    }
}

#[cfg(test)]
mod tests;
