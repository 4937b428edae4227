//! What a sentence claims of what.

mod chinese;
mod english;

use std::ops::Range;

use memory_core::text::{TokenKind, fold, tokens};
use memory_core::wikilink::blank_code;

use super::seen::key;
use crate::merge::sentences;

/// No more claims of a memory are kept, the first ones.
const MOST: usize = 8;

/// A longer sentence, in bytes, claims too much to be told from another.
const LONGEST: usize = 200;

/// What a sentence claims of what.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub(super) struct Claim {
    /// Of what.
    pub(super) subject: u64,
    /// What kind of thing is claimed.
    pub(super) verb: u64,
    /// What it is claimed for: "for the orders".
    pub(super) purpose: Option<u64>,
    /// What is claimed.
    pub(super) value: u64,
    /// The last word of that, 0 where it is the only one.
    pub(super) head: u64,
    /// What kind of value it is.
    pub(super) kind: Value,
    /// Whether it is denied.
    pub(super) is_denied: bool,
    /// Whether it says itself that something else held before.
    pub(super) is_turn: bool,
    /// What held before, if that is said.
    pub(super) from: Option<u64>,
    /// Whether only one such thing can hold at a time: where somebody lives, on what something runs.
    pub(super) is_only: bool,
    /// Whether that is so whatever is claimed: one works in Berlin and in marketing, but lives in one place.
    pub(super) is_sure: bool,
    /// Whether it tells what something is that is named by a property of something: "the port is 80".
    pub(super) is_attribute: bool,
    /// Whether something else can come in its place: not where somebody comes from.
    pub(super) may_be_replaced: bool,
    /// Whether there is but one thing that is called so.
    pub(super) is_named: bool,
    /// Whether the memory says nothing else.
    pub(super) is_all: bool,
    /// The bytes of the sentence.
    pub(super) sentence: Range<usize>,
}

impl Claim {
    /// Returns under which names it is compared with others.
    pub(super) fn buckets(&self) -> Vec<u64> {
        let mut buckets = vec![key("value", &(self.subject, self.value)), key("verb", &(self.subject, self.verb, self.purpose))];
        buckets.extend(self.from.map(|from| key("value", &(self.subject, from))));
        buckets
    }
}

/// What kind of value is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Number,
    /// A path, an address, an identifier.
    Literal,
    /// A day or a month.
    Date,
    Name,
    Word,
}

/// What a grammar hears.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub(super) struct Heard {
    subject: String,
    verb: String,
    purpose: Option<String>,
    value: String,
    is_denied: bool,
    is_turn: bool,
    from: Option<String>,
    is_only: bool,
    is_sure: bool,
    is_attribute: bool,
    may_be_replaced: bool,
    is_named: bool,
}

/// Returns what a text claims, in its order.
pub(super) fn claims(text: &str) -> Vec<Claim> {
    let prose = blank_code(text);
    let mut found = Vec::new();
    let mut said = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let is_quote = line.trim_start().starts_with(['>', '|']);
        for range in sentences(line) {
            said += 1;
            let range = start + range.start..start + range.end;
            // In code nothing is claimed, and neither is in a sentence whose code says what matters.
            let is_plain = prose[range.clone()] == text[range.clone()];
            if is_quote || LONGEST < range.len() || !is_plain || MOST <= found.len() {
                continue;
            }
            let marked = &text[range.clone()];
            let sentence = marked.trim_start_matches(['-', '*', '+', '#', ' ']);
            let range = range.start + marked.len() - sentence.len()..range.end;
            let heard = if sentence.contains(is_han) { chinese::heard(sentence) } else { english::heard(sentence) };
            found.extend(heard.and_then(|heard| claim(&heard, range)));
        }
    }
    for claim in &mut found {
        claim.is_all = said == 1;
    }
    found
}

fn claim(heard: &Heard, sentence: Range<usize>) -> Option<Claim> {
    let (subject, _) = meaning(&heard.subject)?;
    let (value, last) = meaning(&heard.value)?;
    Some(Claim {
        subject,
        verb: key("verb", &heard.verb),
        purpose: heard.purpose.as_deref().and_then(meaning).map(|(purpose, _)| purpose),
        value,
        head: last,
        kind: kind(&heard.value),
        is_denied: heard.is_denied,
        is_turn: heard.is_turn,
        from: heard.from.as_deref().and_then(meaning).map(|(from, _)| from),
        is_only: heard.is_only,
        is_sure: heard.is_sure,
        is_attribute: heard.is_attribute,
        may_be_replaced: heard.may_be_replaced,
        is_named: heard.is_named,
        is_all: false,
        sentence,
    })
}

/// Returns numbers for what some words say and for the last of them; `None` if they say nothing.
fn meaning(words: &str) -> Option<(u64, u64)> {
    let mut all = Vec::new();
    tokens(words, &mut |token| {
        let is_filler = matches!(token.text, "the" | "a" | "an" | "my" | "our" | "your");
        if token.kind != TokenKind::Bigram && !is_filler {
            all.push(token.text.to_owned());
        }
    });
    // The signs between digits and letters tell 1.2 from 12, and C++ from C.
    let signs: String =
        words.trim_end_matches(['.', '!']).chars().filter(|character| ".:/+#-_@%$€£¥".contains(*character)).collect();
    let head = all.last().filter(|_| 1 < all.len()).map_or(0, |last| key("head", last));
    (!all.is_empty()).then(|| (key("words", &(all, signs)), head))
}

fn kind(value: &str) -> Value {
    let small = value.to_lowercase();
    let is_date = |word: &str| DATES.split_ascii_whitespace().any(|own| own == word);
    if small.split_whitespace().any(is_date) || DATES_ZH.split_ascii_whitespace().any(|word| small.contains(word)) {
        Value::Date
    } else if value.contains(['/', '_', '@', '\\']) || value.contains("::") {
        Value::Literal
    } else if value.contains(|character: char| character.is_ascii_digit()) {
        Value::Number
    } else if value.split_whitespace().all(|word| word.starts_with(char::is_uppercase)) && value.contains(char::is_alphabetic) {
        Value::Name
    } else {
        Value::Word
    }
}

fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{9fff}')
}

/// Returns `text` folded, with no blanks beside characters that need none.
fn plain(text: &str) -> String {
    let folded = fold(text);
    let mut plain = String::with_capacity(folded.len());
    let mut characters = folded.chars().peekable();
    while let Some(character) = characters.next() {
        let is_idle = |near: Option<char>| near.is_none_or(|near| !near.is_ascii());
        let is_blank = character.is_whitespace() && (is_idle(plain.chars().next_back()) || is_idle(characters.peek().copied()));
        if !is_blank {
            plain.push(character);
        }
    }
    plain
}

const DATES: &str = "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays january february \
    march april may june july august september october november december";
const DATES_ZH: &str = "周一 周二 周三 周四 周五 周六 周日 星期 月底 月初";
