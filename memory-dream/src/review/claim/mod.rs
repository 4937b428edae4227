//! Extracts claims from sentences.

mod chinese;
mod english;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use memory_core::text::{TokenKind, fold, is_han, tokenize};
use memory_core::wikilink::blank_code;

use crate::merge::sentence_ranges;

/// Maximum number of claims of a memory; the first ones are used.
const MAX_CLAIMS: usize = 8;

/// Maximum length of a sentence in bytes; the claim of a longer one is too complex to compare.
const MAX_SENTENCE_BYTES: usize = 200;

/// A claim that a sentence makes about a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own"
)]
pub(super) struct SentenceClaim {
    /// The hash of the subject.
    pub(super) subject: u64,
    /// The hash of the verb with its preposition, in its plain form.
    pub(super) verb: u64,
    /// The hash of the purpose: "for the orders".
    pub(super) purpose: Option<u64>,
    /// The hash of the value.
    pub(super) value: u64,
    /// The hash of the last word of the value; 0 if it is the only one.
    pub(super) head: u64,
    /// The kind of the value.
    pub(super) kind: ClaimValueKind,
    /// Whether the claim is negated.
    pub(super) is_denied: bool,
    /// Whether the sentence states that the situation has changed.
    pub(super) is_turn: bool,
    /// The hash of the previous value, if the sentence names it.
    pub(super) from: Option<u64>,
    /// Whether only one value can hold at a time, such as a home or a host.
    pub(super) is_only: bool,
    /// Whether [`Self::is_only`] is true of every kind of value.
    ///
    /// A person works in Berlin and in marketing, but lives in one place.
    pub(super) is_sure: bool,
    /// Whether the claim gives the value of a property: "the port is 80".
    pub(super) is_attribute: bool,
    /// Whether another value can replace this one, unlike a place of birth.
    pub(super) may_be_replaced: bool,
    /// Whether the subject is unique by its name.
    pub(super) is_named: bool,
    /// Whether the memory consists only of this sentence.
    pub(super) is_all: bool,
    /// The byte range of the sentence.
    pub(super) sentence: Range<usize>,
}

impl SentenceClaim {
    /// Returns the keys under which the claim is compared with others.
    pub(super) fn bucket_keys(&self) -> Vec<u64> {
        let mut buckets = vec![
            key("value", &(self.subject, self.value)),
            key("verb", &(self.subject, self.verb, self.purpose)),
        ];
        buckets.extend(self.from.map(|from| key("value", &(self.subject, from))));
        buckets
    }
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimValueKind {
    Number,
    /// A path, an address or an identifier.
    Literal,
    /// A day or a month.
    Date,
    Name,
    Word,
}

/// The claim of a sentence before hashing, as returned by a grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own"
)]
pub(super) struct ParsedClaim {
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

/// Returns the claims of a text, in order.
pub(super) fn extract_claims(text: &str) -> Vec<SentenceClaim> {
    let prose = blank_code(text);
    let mut found = Vec::new();
    let mut said = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let is_quote = line.trim_start().starts_with(['>', '|']);
        for range in sentence_ranges(line) {
            said += 1;
            let range = start + range.start..start + range.end;
            // A sentence with code is skipped: code makes no claim, and the value may be in it.
            let is_plain = prose[range.clone()] == text[range.clone()];
            if is_quote
                || MAX_SENTENCE_BYTES < range.len()
                || !is_plain
                || MAX_CLAIMS <= found.len()
            {
                continue;
            }
            let marked = &text[range.clone()];
            let sentence = marked.trim_start_matches(['-', '*', '+', '#', ' ']);
            let range = range.start + marked.len() - sentence.len()..range.end;
            let heard = if sentence.contains(is_han) {
                chinese::parse_chinese_claim(sentence)
            } else {
                english::parse_english_claim(sentence)
            };
            found.extend(heard.and_then(|heard| hash_claim(&heard, range)));
        }
    }
    for claim in &mut found {
        claim.is_all = said == 1;
    }
    found
}

fn hash_claim(heard: &ParsedClaim, sentence: Range<usize>) -> Option<SentenceClaim> {
    let (subject, _) = hash_words(&heard.subject)?;
    let (value, last) = hash_words(&heard.value)?;
    Some(SentenceClaim {
        subject,
        verb: key("verb", &heard.verb),
        purpose: heard
            .purpose
            .as_deref()
            .and_then(hash_words)
            .map(|(purpose, _)| purpose),
        value,
        head: last,
        kind: value_kind(&heard.value),
        is_denied: heard.is_denied,
        is_turn: heard.is_turn,
        from: heard
            .from
            .as_deref()
            .and_then(hash_words)
            .map(|(from, _)| from),
        is_only: heard.is_only,
        is_sure: heard.is_sure,
        is_attribute: heard.is_attribute,
        may_be_replaced: heard.may_be_replaced,
        is_named: heard.is_named,
        is_all: false,
        sentence,
    })
}

/// Returns the hashes of some words and of the last of them; `None` if there are no significant words.
fn hash_words(words: &str) -> Option<(u64, u64)> {
    let mut all = Vec::new();
    tokenize(words, &mut |token| {
        let is_filler = matches!(token.text, "the" | "a" | "an" | "my" | "our" | "your");
        if token.kind != TokenKind::Bigram && !is_filler {
            all.push(token.text.to_owned());
        }
    });
    // The signs distinguish 1.2 from 12, and C++ from C.
    let signs: String = words
        .trim_end_matches(['.', '!'])
        .chars()
        .filter(|character| ".:/+#-_@%$€£¥".contains(*character))
        .collect();
    let head = all
        .last()
        .filter(|_| 1 < all.len())
        .map_or(0, |last| key("head", last));
    (!all.is_empty()).then(|| (key("words", &(all, signs)), head))
}

fn value_kind(value: &str) -> ClaimValueKind {
    let small = value.to_lowercase();
    let is_date = |word: &str| DATES.split_ascii_whitespace().any(|own| own == word);
    if small.split_whitespace().any(is_date)
        || DATES_ZH
            .split_ascii_whitespace()
            .any(|word| small.contains(word))
    {
        ClaimValueKind::Date
    } else if value.contains(['/', '_', '@', '\\']) || value.contains("::") {
        ClaimValueKind::Literal
    } else if value.contains(|character: char| character.is_ascii_digit()) {
        ClaimValueKind::Number
    } else if value
        .split_whitespace()
        .all(|word| word.starts_with(char::is_uppercase))
        && value.contains(char::is_alphabetic)
    {
        ClaimValueKind::Name
    } else {
        ClaimValueKind::Word
    }
}

/// Returns `text` folded, without spaces next to non-ASCII characters.
fn fold_without_spaces(text: &str) -> String {
    let folded = fold(text);
    let mut plain = String::with_capacity(folded.len());
    let mut characters = folded.chars().peekable();
    while let Some(character) = characters.next() {
        let is_idle = |near: Option<char>| near.is_none_or(|near| !near.is_ascii());
        let is_blank = character.is_whitespace()
            && (is_idle(plain.chars().next_back()) || is_idle(characters.peek().copied()));
        if !is_blank {
            plain.push(character);
        }
    }
    plain
}

const DATES: &str = "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays january february \
    march april may june july august september october november december";
const DATES_ZH: &str = "周一 周二 周三 周四 周五 周六 周日 星期 月底 月初";

/// Returns a hash of `text` and its kind, which is stable only within one version of the program.
pub(super) fn key<T: Hash + ?Sized>(kind: &str, text: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    kind.hash(&mut hasher);
    text.hash(&mut hasher);
    hasher.finish()
}
