//! Parses the claims of a text, to detect repetitions and contradictions without a model.

mod attribute;
mod cache;
mod word_order;
mod words;

pub(super) use cache::EntryClaims;

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};

use self::attribute::{is_same_value, parse_attributes};
use self::word_order::WordOrder;
use self::words::{CHINESE, ENGLISH};
use super::EntryRole;
use super::speech_act::{clauses_in, statements};
use crate::query_parser::is_stop_token;
use crate::text::{TokenKind, is_han, tokenize};

/// The claim of a text: its content words, their order, and the attitude towards them.
///
/// Stop words and other words without content are left out.
#[derive(Debug, Clone, Default)]
pub(super) struct TextClaim {
    words: BTreeSet<String>,
    /// The subset of `words` that are a name, a number or another person.
    marked: BTreeSet<String>,
    /// The canonical word order: orders with the same meaning have the same form.
    order: String,
    /// 1 if the text expresses liking, -1 if it expresses dislike, otherwise 0.
    attitude: i8,
    is_negated: bool,
}

/// The minimum overlap of words at which one text is a variation of another.
const MIN_VARIATION_OVERLAP: f32 = 0.5;

/// The maximum share of the words of a turn that may be missing from facts that cover it.
const MAX_MISSING_SHARE: f32 = 0.34;

impl TextClaim {
    /// Parses the claim of a text.
    ///
    /// `I really love coffee` and `Coffee is my favourite drink` have the same claim.
    pub(super) fn new(text: &str) -> Self {
        let mut claim = Self::default();
        let mut daily = BTreeSet::new();
        let mut is_first = true;
        let mut order = WordOrder::default();
        let mut end = 0;
        tokenize(text, &mut |token| {
            if token.kind != TokenKind::Word {
                return;
            }
            order.add_gap(&text[end.min(token.span.start)..token.span.start]);
            end = token.span.end;
            let spelled = &text[token.span.clone()];
            let lower = spelled.to_lowercase().replace('’', "'");
            let is_name = !is_first && spelled.starts_with(char::is_uppercase)
                || lower.contains(|own: char| own.is_ascii_digit());
            is_first = false;
            // The tokenizer treats these as nouns.
            let stem = match lower.as_str() {
                "lives" => "live",
                "leaves" => "leave",
                _ => token.text,
            };
            claim.add_word(&lower, stem, is_name, &mut daily);
            order.add_word(
                &lower,
                stem,
                claim.words.contains(stem) || daily.contains(stem),
            );
        });
        claim.add_han_text(text, &mut daily, &mut order);
        if claim.is_negated && claim.words.remove("stand") {
            (claim.attitude, claim.is_negated) = (-1, false);
        }
        if claim.attitude == 0 {
            claim.words.append(&mut daily);
        } else if claim.is_negated {
            claim.attitude = -claim.attitude;
            claim.is_negated = false;
        }
        claim.order = order.into_canonical(&claim.words);
        claim
    }

    fn add_word(&mut self, lower: &str, stem: &str, is_name: bool, daily: &mut BTreeSet<String>) {
        if ENGLISH.negations.contains(&lower) || lower.ends_with("n't") {
            self.is_negated = !self.is_negated;
        } else if let Some(person) = pronoun_person(lower) {
            self.words.insert(person.into());
            self.marked.insert(person.into());
        } else if is_stop_token(lower, true) || ENGLISH.light.contains(&lower) {
            // A word without content.
        } else if ENGLISH.dislikes.contains(&lower) {
            self.attitude = -1;
        } else if ENGLISH.likes.contains(&lower) {
            self.attitude = if self.attitude == 0 { 1 } else { self.attitude };
        } else if ENGLISH.daily.contains(&lower) {
            daily.insert(stem.into());
        } else {
            self.words.insert(stem.into());
            if is_name {
                self.marked.insert(stem.into());
            }
        }
    }

    fn add_han_text(&mut self, text: &str, daily: &mut BTreeSet<String>, order: &mut WordOrder) {
        for run in text
            .split(|character: char| !is_han(character))
            .filter(|run| !run.is_empty())
        {
            let mut rest = run;
            let mut word = String::new();
            order.end_clause();
            while let Some(character) = rest.chars().next() {
                let found = |all: &[&'static str]| {
                    all.iter()
                        .find(|own| rest.starts_with(**own))
                        .map(|own| own.len())
                };
                let mut length = character.len_utf8();
                if let Some(dislike) = found(&CHINESE.dislikes) {
                    (length, self.attitude) = (dislike, -1);
                } else if let Some(like) = found(&CHINESE.likes) {
                    length = like;
                    self.attitude = if self.attitude == 0 { 1 } else { self.attitude };
                } else if let Some(negation) = found(&CHINESE.negations) {
                    length = negation;
                    self.is_negated = !self.is_negated;
                } else if let Some(often) = found(&CHINESE.daily) {
                    length = often;
                    daily.insert(rest[..often].into());
                } else if let Some(light) = found(&CHINESE.light) {
                    length = light;
                } else {
                    word.push(character);
                    rest = &rest[length..];
                    continue;
                }
                self.add_han_word(std::mem::take(&mut word), order);
                if daily.contains(&rest[..length]) {
                    order.push(&rest[..length]);
                }
                if ["是", "叫"].contains(&&rest[..length]) {
                    order.end_side();
                }
                rest = &rest[length..];
            }
            self.add_han_word(word, order);
        }
    }

    fn add_han_word(&mut self, word: String, order: &mut WordOrder) {
        if !word.is_empty() {
            order.push(&word);
            self.words.insert(word);
        }
    }

    /// Parses the claim of the statements in a turn or a fact.
    pub(super) fn of(role: EntryRole, text: &str) -> Self {
        match role {
            EntryRole::User => {
                let stated: Vec<&str> = statements(text)
                    .into_iter()
                    .map(|part| &text[part])
                    .collect();
                Self::new(
                    if stated.is_empty() {
                        text.to_owned()
                    } else {
                        stated.join("\n")
                    }
                    .as_str(),
                )
            }
            EntryRole::Memory | EntryRole::Assistant | EntryRole::Summary => Self::new(text),
        }
    }

    /// Returns whether the text claims nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.attitude == 0
    }

    /// Returns the Jaccard similarity of the words of two claims, from 0 to 1.
    #[expect(
        clippy::cast_precision_loss,
        reason = "no text has so many words that it matters"
    )]
    pub(super) fn word_similarity(&self, other: &Self) -> f32 {
        let attitude = |claim: &Self| usize::from(claim.attitude != 0);
        let both = attitude(self) * attitude(other);
        let common = self.words.intersection(&other.words).count() + both;
        let all = self.words.len() + other.words.len() + attitude(self) + attitude(other) - common;
        common as f32 / all.max(1) as f32
    }

    /// Returns whether two claims are nearly the same.
    ///
    /// They are if most words agree, and no name, number or person differs.
    pub(super) fn is_variation(&self, other: &Self) -> bool {
        let mut differing = self.words.symmetric_difference(&other.words);
        self.attitude == other.attitude
            && self.is_negated == other.is_negated
            && MIN_VARIATION_OVERLAP <= self.word_similarity(other)
            && !differing.any(|word| self.marked.contains(word) || other.marked.contains(word))
    }

    /// Returns whether `facts`, extracted from this turn, cover all of its words but a few.
    #[expect(
        clippy::cast_precision_loss,
        reason = "no text has so many words that it matters"
    )]
    pub(super) fn is_covered_by(&self, facts: &[&Self]) -> bool {
        let lacking = || {
            self.words
                .iter()
                .filter(|word| !facts.iter().any(|fact| fact.words.contains(*word)))
        };
        let count = lacking().count() as f32;
        !facts.is_empty()
            && count <= MAX_MISSING_SHARE * self.words.len() as f32
            && !lacking().any(|word| self.marked.contains(word))
    }

    /// Returns whether this claim contradicts an earlier claim about the same subject.
    ///
    /// A dislike of a thing includes every kind of it; a liking of it does not exclude a dislike of one kind.
    fn contradicts(&self, earlier: &Self) -> bool {
        match (self.attitude, earlier.attitude) {
            _ if self.words.is_empty() => false,
            (-1, 1) => self.words.is_subset(&earlier.words),
            (1, -1) => self.words == earlier.words,
            (0, 0) => {
                self.is_negated != earlier.is_negated
                    && self.words == earlier.words
                    && self.order == earlier.order
            }
            _ => false,
        }
    }
}

/// Returns the person that a pronoun refers to.
fn pronoun_person(lower: &str) -> Option<&'static str> {
    match lower.strip_suffix("'s").unwrap_or(lower) {
        "he" | "him" | "his" => Some("he"),
        "she" | "her" | "hers" => Some("she"),
        "they" | "them" | "their" | "theirs" => Some("they"),
        "you" | "your" | "yours" => Some("you"),
        _ => None,
    }
}

impl PartialEq for TextClaim {
    fn eq(&self, other: &Self) -> bool {
        (self.attitude, self.is_negated) == (other.attitude, other.is_negated)
            && self.words == other.words
            && self.order == other.order
    }
}

impl Eq for TextClaim {}

impl Hash for TextClaim {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.words, self.attitude, self.is_negated).hash(state);
    }
}

impl fmt::Display for TextClaim {
    /// Formats the words, as input for a similarity comparison.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words
            .iter()
            .try_for_each(|word| write!(formatter, "{word} "))?;
        formatter.write_str(match self.attitude {
            0 => "",
            1 => "likes",
            _ => "dislikes",
        })
    }
}

/// The claims of a text by clause, and the attributes of the user in it.
#[derive(Debug, Clone, Default)]
pub(super) struct TextClaims {
    claims: Vec<TextClaim>,
    /// The single-valued attributes with their values.
    attributes: Vec<(String, String)>,
}

/// The maximum size of a text with comparable claims, in bytes. Longer texts are not plain statements.
const MAX_CLAIM_BYTES: usize = 1024;

impl TextClaims {
    /// Parses the claims of the statements in a turn of the user or in a fact.
    pub(super) fn new(role: EntryRole, text: &str) -> Self {
        #[cfg(test)]
        parse_count::increment();
        let stated = match role {
            _ if MAX_CLAIM_BYTES < text.len() => Vec::new(),
            EntryRole::User => statements(text),
            EntryRole::Memory => std::iter::once(0..text.len()).collect(),
            EntryRole::Assistant | EntryRole::Summary => Vec::new(),
        };
        let mut all = Self::default();
        for clause in stated.into_iter().flat_map(|part| clauses_in(text, part)) {
            all.claims.push(TextClaim::new(&text[clause.clone()]));
            all.attributes.extend(parse_attributes(&text[clause]));
        }
        all
    }

    /// Returns whether the text claims nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty() && self.attributes.is_empty()
    }

    /// Returns whether these claims of a later text supersede those of an earlier text.
    ///
    /// They do if they contradict one of them or give an attribute another value.
    pub(super) fn supersedes(&self, earlier: &Self) -> bool {
        let has_other = |(name, value): &(String, String)| {
            let mut former = earlier
                .attributes
                .iter()
                .filter(|(own, _)| own == name)
                .map(|(_, former)| former)
                .peekable();
            former.peek().is_some() && !former.any(|former| is_same_value(former, value))
        };
        self.denies(earlier) || self.attributes.iter().any(has_other)
    }

    fn denies(&self, earlier: &Self) -> bool {
        let is_opposite =
            |own: &TextClaim| earlier.claims.iter().any(|claim| own.contradicts(claim));
        self.claims.iter().any(is_opposite)
    }
}

/// The parsed claims of a statement, for repeated comparisons.
#[derive(Debug)]
pub(crate) struct StatementClaims(TextClaims);

impl StatementClaims {
    /// Parses the claims of a statement by or about the user.
    pub(crate) fn new(text: &str) -> Self {
        Self(TextClaims::new(EntryRole::Memory, text))
    }

    /// Returns whether these claims of a later statement contradict an earlier one, or change an attribute of the user.
    pub(crate) fn supersede(&self, earlier: &Self) -> bool {
        self.0.supersedes(&earlier.0)
    }
}

/// Returns whether a later text contradicts an earlier one: a statement says the opposite, or gives the same attribute another value.
///
/// Questions, requests and quotations are no statements.
///
/// ```
/// use memory_core::conversation::contradicts;
///
/// assert!(contradicts("The port of the proxy is 9090.", "The port of the proxy is 8080."));
/// assert!(contradicts("The API does not support gzip.", "The API supports gzip."));
/// assert!(!contradicts("Anna likes coffee.", "Anna likes tea."));
/// ```
pub fn contradicts(later: &str, earlier: &str) -> bool {
    statement_claims(later).supersedes(&statement_claims(earlier))
}

/// Returns whether a statement of a later text says the opposite of one of an earlier text, see [`contradicts()`].
pub fn denies(later: &str, earlier: &str) -> bool {
    statement_claims(later).denies(&statement_claims(earlier))
}

fn statement_claims(text: &str) -> TextClaims {
    TextClaims::new(EntryRole::User, text)
}

#[cfg(test)]
pub(super) mod parse_count {
    //! Counts the texts that the current thread has parsed.

    use std::cell::Cell;

    thread_local! {
        static COUNT: Cell<usize> = const { Cell::new(0) };
    }

    pub(in crate::conversation) fn increment() {
        COUNT.set(COUNT.get() + 1);
    }

    /// Returns the number of texts parsed since the last call.
    pub(in crate::conversation) fn take() -> usize {
        COUNT.replace(0)
    }
}

#[cfg(test)]
mod tests;
