//! Recognizes sentences that are standing instructions or preferences, by their wording and their author.

use super::kind::{Reading, StandingCue, StandingForm, StandingKind, StandingSentence};
use super::pasted::{is_task, plain_sentences};
use super::words::SentenceWords;
use super::{chinese, english, grammar};
use crate::text::{QUOTATION_MARKS, is_han, sentences};
use crate::{Category, Memory, SpeakerRole};

/// The maximum size of a short memory, in bytes.
///
/// A longer memory is a note or a document, in which only sentences with an explicit cue such as `always` count.
const SHORT: usize = 200;

/// Maximum size of the part of a memory that is searched, in bytes, so that one long memory does not delay all requests.
const MAX_SEARCHED: usize = 16 * 1024;

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
    find_sentences(text, false)
}

/// Finds the standing sentences of a text, which may be filed as guidance.
fn find_sentences(text: &str, is_guidance: bool) -> Vec<StandingSentence> {
    let reading = Reading {
        is_short: text.len() <= SHORT,
        is_guidance: is_guidance && text.len() <= SHORT,
    };
    let mut found = Vec::new();
    for span in plain_sentences(text) {
        let sentence = &text[span.clone()];
        if let Some(StandingCue { kind, form, at }) =
            find_cue(sentence, reading).filter(|cue| !is_task(sentence, cue.at))
        {
            found.push(StandingSentence {
                kind,
                form,
                cue: span.start + at,
                span,
            });
        }
    }
    found
}

fn find_cue(sentence: &str, reading: Reading) -> Option<StandingCue> {
    let Reading { is_short, .. } = reading;
    if sentence.contains(is_han)
        && let Some(cue) = chinese::find_cue(sentence, reading)
    {
        return Some(cue);
    }
    let words = SentenceWords::new(sentence);
    if words.len() == 0 {
        return None;
    }
    let english = english::find_cue(&words, reading);
    // Most sentences are no standing ones; English ones need no other grammar.
    if english.is_some() || english::is_english(&words) {
        return english;
    }
    grammar::find_cue(&words, is_short)
}

/// Returns whether a memory contains a standing instruction or preference of the person.
pub fn is_standing(memory: &Memory) -> bool {
    standing_kind(memory).is_some()
}

/// Returns the kind of the standing sentences in a memory, if any.
///
/// Only the first 16 KiB are searched. An instruction takes priority over a preference. A memory of the category `preferences` is a preference even without a cue. A reminder,
/// and a memory that is not by the person, has no kind; see the [module](super).
pub fn standing_kind(memory: &Memory) -> Option<StandingKind> {
    own_sentences(memory)?
        .sentences
        .iter()
        .map(|sentence| sentence.kind)
        .min()
        .or(Some(StandingKind::Preference))
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
    let end = memory.content.floor_char_boundary(MAX_SEARCHED);
    let is_guidance = authorship == Authorship::Person
        && matches!(
            memory.category,
            Category::Preferences | Category::Feedback | Category::Soul | Category::Character
        );
    let found = find_sentences(&memory.content[..end], is_guidance);
    let is_preference = memory.category == Category::Preferences;
    let counts = match authorship {
        Authorship::Person => !found.is_empty() || is_preference,
        Authorship::Agent => {
            is_rule(memory, &found) || is_statement(&memory.content, &found, is_preference)
        }
        Authorship::Foreign => false,
    };
    let is_long = end < memory.content.len();
    let has_others = authorship == Authorship::Agent
        && (is_long || found.len() < sentences(&memory.content).len())
        && !is_rule(memory, &found);
    counts.then_some(OwnSentences {
        sentences: found,
        has_others,
    })
}

/// Returns whether `edited` contains a standing sentence of the person that `original` lacks.
pub(crate) fn has_new_statement(original: &Memory, edited: &Memory) -> bool {
    let is_new = |sentence: &StandingSentence| {
        !original
            .content
            .contains(edited.content[sentence.span.clone()].trim())
    };
    own_sentences(edited).is_some_and(|own| own.sentences.iter().any(is_new))
}

/// The maximum size of an agent's note about a wish of the person, in bytes.
const MAX_AGENT_NOTE: usize = 400;

/// Returns whether an agent saves a rule for the person: a short text that begins with a request.
///
/// A quotation, a line of an assistant in a transcript, and a text with an address, which a page may have asked for, are none.
fn is_rule(memory: &Memory, found: &[StandingSentence]) -> bool {
    let first = sentences(&memory.content).into_iter().next();
    let begins = first.zip(found.first()).is_some_and(|(first, own)| {
        own.span == first
            && own.form == StandingForm::Request
            && !memory.content[..own.cue].contains(QUOTATION_MARKS)
    });
    begins
        && !memory.content.trim_start().starts_with(QUOTATION_MARKS)
        && memory.content.len() <= MAX_AGENT_NOTE
        && !SpeakerRole::is_assistant_label(&memory.source)
        && !has_address(&memory.content)
}

/// Returns whether a text names a host, a location or a person's address.
fn has_address(text: &str) -> bool {
    let is_mark = |letter: char| !letter.is_alphanumeric();
    text.split_whitespace().any(|word| {
        word.contains("://") || word.contains('@') || is_domain(word.trim_matches(is_mark))
    })
}

/// Returns whether a text of an agent only states wishes of the person.
///
/// The first sentence must be such a statement, and none may be a request: a page that an agent summarizes may contain requests.
fn is_statement(content: &str, found: &[StandingSentence], is_preference: bool) -> bool {
    let has_request = found
        .iter()
        .any(|sentence| sentence.form == StandingForm::Request);
    let first = sentences(content).first().cloned();
    let begins =
        first.is_some_and(|first| found.first().is_some_and(|sentence| sentence.span == first));
    content.len() <= MAX_AGENT_NOTE && !has_request && (begins || found.is_empty() && is_preference)
}

/// The author of a memory, as far as standing sentences are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Authorship {
    /// The person. Requests and statements count.
    Person,
    /// A program that writes on behalf of the person. Statements about the person count, and short rules that begin with a request.
    Agent,
    /// Another author, or a text from elsewhere. Nothing counts.
    Foreign,
}

/// Returns the authorship of a memory, from its role, its origin and its source.
pub(super) fn authorship(memory: &Memory) -> Authorship {
    match memory.role {
        Some(SpeakerRole::Person) => return Authorship::Person,
        Some(SpeakerRole::Assistant | SpeakerRole::Tool | SpeakerRole::Author) => {
            return Authorship::Foreign;
        }
        None => {}
    }
    if let Some(origin) = &memory.origin {
        return match origin.source.as_str() {
            "claude" if is_instruction_file(&origin.path) => Authorship::Person,
            "claude" => Authorship::Agent,
            _ => Authorship::Foreign,
        };
    }
    let source = memory.source.trim();
    match SpeakerRole::from_source(source) {
        _ if source.is_empty() => Authorship::Person,
        Some(SpeakerRole::Person) => Authorship::Person,
        Some(SpeakerRole::Tool | SpeakerRole::Author) => Authorship::Foreign,
        _ if is_web(source) => Authorship::Foreign,
        // Programs have many names, so an unknown one counts as an agent.
        Some(SpeakerRole::Assistant) | None => Authorship::Agent,
    }
}

/// Returns whether a memory is by the person or by an agent of the person, and not a text from elsewhere.
pub(crate) fn is_of_person_or_agent(memory: &Memory) -> bool {
    memory.role == Some(SpeakerRole::Assistant) || authorship(memory) != Authorship::Foreign
}

/// Returns whether the person is the author of a memory.
pub fn is_by_person(memory: &Memory) -> bool {
    authorship(memory) == Authorship::Person
}

/// Returns whether a file of Claude Code contains instructions of the user; all others are notes of the model.
fn is_instruction_file(path: &str) -> bool {
    let path = path.strip_prefix(".claude/").unwrap_or(path);
    let file = path.split_once('#').map_or(path, |(file, _)| file);
    file == "CLAUDE.md" || file == "CLAUDE.local.md" || file.starts_with("rules/")
}

/// Returns whether a source is an address, or a program that stores pages of the web.
fn is_web(source: &str) -> bool {
    const NAMES: [&str; 10] = [
        "web",
        "website",
        "webpage",
        "page",
        "browser",
        "clipper",
        "web clipper",
        "clipping",
        "rss",
        "url",
    ];
    let lower = source.to_lowercase();
    lower.contains("://") || NAMES.contains(&lower.as_str()) || is_domain(&lower)
}

/// Returns whether a source is the name of a host, such as `example.com`.
fn is_domain(source: &str) -> bool {
    let host = source.split_once('/').map_or(source, |(host, _)| host);
    let labels: Vec<&str> = host.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty()
            && label
                .chars()
                .all(|character| character.is_alphanumeric() || character == '-')
    };
    let ends_in_letters = labels
        .last()
        .is_some_and(|last| 2 <= last.len() && last.chars().all(char::is_alphabetic));
    2 <= labels.len() && labels.iter().all(is_label) && ends_in_letters
}

#[cfg(test)]
mod tests;
