//! Recognizes sentences that are standing instructions or preferences.

use super::authorship::{Authorship, authorship};
use super::kind::{StandingCue, StandingForm, StandingKind, StandingSentence};
use super::pasted::{is_task, plain_sentences};
use super::words::SentenceWords;
use super::{chinese, english, french, german};
use crate::conversation::sentences;
use crate::{Category, Memory};

/// The maximum size of a short memory, in bytes.
///
/// A longer memory is a note or a document, in which only sentences with an explicit cue such as `always` count.
const SHORT: usize = 200;

/// Returns the standing instructions and preferences in `text`, in order.
///
/// English, German, French and Chinese are recognized. Fenced code, quoted lines and sentences, elements such as `<document>`, and
/// sentences of more than 800 bytes are skipped, and so is the text after a line such as `Translate this e-mail:`.
///
/// ```
/// use memory_core::standing::{StandingKind, standing_sentences};
///
/// let text = "Thanks! Always answer in metric units.";
/// let found = standing_sentences(text);
/// assert_eq!(found[0].kind, StandingKind::Instruction);
/// assert_eq!(text[found[0].span.clone()].trim(), "Always answer in metric units.");
/// assert!(standing_sentences("I have always liked Berlin.").is_empty());
/// ```
pub fn standing_sentences(text: &str) -> Vec<StandingSentence> {
    let is_short = text.len() <= SHORT;
    let mut found = Vec::new();
    for span in plain_sentences(text) {
        let sentence = &text[span.clone()];
        if let Some(StandingCue { kind, form, at }) = find_cue(sentence, is_short).filter(|cue| !is_task(sentence, cue.at)) {
            found.push(StandingSentence { kind, form, cue: span.start + at, span });
        }
    }
    found
}

fn find_cue(sentence: &str, is_short: bool) -> Option<StandingCue> {
    if sentence.contains(is_han)
        && let Some(cue) = chinese::find_cue(sentence, is_short)
    {
        return Some(cue);
    }
    let words = SentenceWords::new(sentence);
    if words.len() == 0 {
        return None;
    }
    let english = english::find_cue(&words, is_short);
    // Most sentences are no standing ones; English ones need no other grammar.
    if english.is_some() || is_english(&words) {
        return english;
    }
    german::find_cue(&words, is_short).or_else(|| french::find_cue(&words.split_elisions(), is_short))
}

/// Returns whether a sentence has a frequent English word. `Thé` is folded to `the`, but French articles tell.
fn is_english(words: &SentenceWords) -> bool {
    const ENGLISH: &[&str] = &["the", "and", "you", "to", "of", "is", "are", "for", "it", "my", "this", "that", "with"];
    const FRENCH: &[&str] = &["je", "le", "du", "un"];
    words.find(0..words.len(), ENGLISH).is_some() && words.find(0..words.len(), FRENCH).is_none()
}

fn is_han(character: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&character)
}

/// Returns whether a memory contains a standing instruction or preference of the person.
pub fn is_standing(memory: &Memory) -> bool {
    standing_kind(memory).is_some()
}

/// Returns the kind of the standing sentences in a memory, if any.
///
/// An instruction takes priority over a preference. A memory of the category `preferences` is a preference even without a cue. A reminder,
/// and a memory that is not by the person, has no kind; see the [module](super).
pub fn standing_kind(memory: &Memory) -> Option<StandingKind> {
    own_sentences(memory)?.sentences.iter().map(|sentence| sentence.kind).min().or(Some(StandingKind::Preference))
}

/// The standing sentences of a memory that count as those of the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnSentences {
    /// The sentences; empty if only the category makes the memory a preference.
    pub(super) sentences: Vec<StandingSentence>,
    /// Whether an agent wrote the memory, and it contains other sentences.
    pub(super) has_others: bool,
}

/// Returns the standing sentences of a memory that count as those of the person, or `None` if the memory is not standing.
pub(super) fn own_sentences(memory: &Memory) -> Option<OwnSentences> {
    let authorship = authorship(memory);
    if memory.reminder.is_some() || authorship == Authorship::Foreign {
        return None;
    }
    let found = standing_sentences(&memory.content);
    let is_preference = memory.category == Category::Preferences;
    let counts = match authorship {
        Authorship::Person => !found.is_empty() || is_preference,
        Authorship::Agent => is_statement(&memory.content, &found, is_preference),
        Authorship::Foreign => false,
    };
    let has_others = authorship == Authorship::Agent && found.len() < sentences(&memory.content).len();
    counts.then_some(OwnSentences { sentences: found, has_others })
}

/// Returns whether `edited` contains a standing sentence of the person that `original` lacks.
pub(crate) fn has_new_statement(original: &Memory, edited: &Memory) -> bool {
    let is_new = |sentence: &StandingSentence| !original.content.contains(edited.content[sentence.span.clone()].trim());
    own_sentences(edited).is_some_and(|own| own.sentences.iter().any(is_new))
}

/// The maximum size of an agent's note about a wish of the person, in bytes.
const MAX_AGENT_NOTE: usize = 400;

/// Returns whether a text of an agent only states wishes of the person.
///
/// The first sentence must be such a statement, and none may be a request: a page that an agent summarizes may contain requests.
fn is_statement(content: &str, found: &[StandingSentence], is_preference: bool) -> bool {
    let has_request = found.iter().any(|sentence| sentence.form == StandingForm::Request);
    let first = sentences(content).first().cloned();
    let begins = first.is_some_and(|first| found.first().is_some_and(|sentence| sentence.span == first));
    content.len() <= MAX_AGENT_NOTE && !has_request && (begins || found.is_empty() && is_preference)
}

#[cfg(test)]
mod tests;
