//! Recognizes sentences that are standing instructions or preferences.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use super::authorship::{Authorship, authorship};
use super::words::SentenceWords;
use super::{chinese, english, french, german};
use crate::conversation::sentences;
use crate::text::fold;
use crate::{Category, Memory};

/// The kind of a standing sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StandingKind {
    /// An instruction on how the assistant must respond or behave from now on.
    Instruction,
    /// A preference of the person.
    Preference,
}

impl StandingKind {
    /// Returns the name used in the text for language models.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Preference => "preference",
        }
    }
}

impl fmt::Display for StandingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A filter for memories with standing sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StandingFilter {
    /// Memories with an instruction or a preference.
    Any,
    /// Memories for which [`standing_kind`] returns this kind.
    Only(StandingKind),
}

impl StandingFilter {
    /// Returns whether a memory passes, given its kind.
    pub fn matches(self, kind: Option<StandingKind>) -> bool {
        match self {
            Self::Any => kind.is_some(),
            Self::Only(wanted) => kind == Some(wanted),
        }
    }
}

/// The grammatical form of a standing sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StandingForm {
    /// A request to the assistant: `always use tabs`, `you should answer in German`.
    Request,
    /// A statement about the person, in the first or third person: `I prefer tabs`, `the user wants tests`.
    Statement,
}

/// A standing instruction or preference in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingSentence {
    /// The kind.
    pub kind: StandingKind,
    /// The grammatical form.
    pub form: StandingForm,
    /// The byte range of the sentence in the text.
    pub span: Range<usize>,
    /// The byte offset of the cue in the text. The clauses before the cue may have another subject.
    pub cue: usize,
}

/// The result of a language's grammar for a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StandingCue {
    pub(super) kind: StandingKind,
    pub(super) form: StandingForm,
    /// The byte offset of the cue in the sentence.
    pub(super) at: usize,
}

/// The maximum size of a sentence, in bytes. A longer one is part of a document or code.
const MAX_SENTENCE: usize = 800;

/// The maximum size of a short memory, in bytes.
///
/// A longer memory is a note or a document, in which only sentences with an explicit cue such as `always` count.
const SHORT: usize = 200;

const QUOTATION_MARKS: [char; 10] = ['"', '\u{201c}', '\u{201d}', '\u{201e}', '«', '»', '「', '」', '\'', '\u{2018}'];

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

/// Returns whether a request is a single task: `Answer in one sentence: what is a monad?`, `Translate this: please use tabs`.
fn is_task(sentence: &str, cue: usize) -> bool {
    let (before, after) = sentence.split_at(cue);
    let asks = sentence.trim_end().ends_with(['?', '？']) && (after.contains(": ") || after.contains('：'));
    asks || before.rsplit_once([':', '：']).is_some_and(|(task, _)| names_task(&fold(task)))
}

/// Verbs of tasks about a text that the person did not write, or that is not addressed to the assistant.
const TASKS: [&str; 34] = [
    "translate",
    "summarize",
    "summarise",
    "proofread",
    "rewrite",
    "rephrase",
    "paraphrase",
    "review",
    "analyze",
    "analyse",
    "correct",
    "shorten",
    "classify",
    "improve",
    "polish",
    "extract",
    "ubersetze",
    "ubersetz",
    "fasse",
    "korrigiere",
    "prufe",
    "uberarbeite",
    "analysiere",
    "traduis",
    "traduisez",
    "resume",
    "resumez",
    "corrige",
    "corrigez",
    "翻译",
    "总结",
    "润色",
    "修改",
    "分析",
];

fn names_task(folded: &str) -> bool {
    let words: Vec<&str> = folded.split(|letter: char| !letter.is_alphanumeric()).collect();
    TASKS.iter().any(|task| if task.is_ascii() { words.contains(task) } else { folded.contains(task) })
}

/// Returns the byte offset at which text from elsewhere begins, such as an e-mail to summarize.
///
/// A line introduces it that ends with a colon and names a task, as in `Translate this text:`; that consists of a heading such as
/// `Context:`; or that announces the words of another person, as in `Anna wrote:`. Before a blank line, it needs no colon.
fn pasted_start(text: &str) -> Option<usize> {
    const HEADINGS: [&str; 14] = [
        "context",
        "document",
        "documents",
        "source",
        "sources",
        "search results",
        "article",
        "transcript",
        "excerpt",
        "kontext",
        "quellen",
        "contexte",
        "上下文",
        "资料",
    ];
    const SAYING: [&str; 7] = [" wrote", " schrieb", " said", " a ecrit", "写道", "的邮件", "说"];
    const THIS: [&str; 14] = [
        "this",
        "following",
        "below",
        "diese",
        "diesen",
        "folgende",
        "folgenden",
        "ce",
        "cette",
        "suivant",
        "以下",
        "下面",
        "这段",
        "这封",
    ];
    let mut lines = text.split_inclusive('\n').peekable();
    let mut end = 0;
    while let Some(line) = lines.next() {
        end += line.len();
        let trimmed = line.trim();
        if !line.ends_with('\n') {
            break;
        }
        let folded = fold(trimmed.trim_end_matches([':', '：', '?', '？', '.', '。']));
        let is_pasted = if trimmed.ends_with([':', '：']) {
            names_task(&folded) || HEADINGS.contains(&folded.as_str()) || SAYING.iter().any(|end| folded.ends_with(end))
        } else if ["subject:", "betreff:", "objet:"].iter().any(|name| trimmed.to_lowercase().starts_with(name)) {
            true
        } else {
            let is_this = THIS
                .iter()
                .any(|word| if word.is_ascii() { folded.split(' ').any(|own| own == *word) } else { folded.contains(word) });
            is_this && names_task(&folded) && lines.peek().is_some_and(|next| next.trim().is_empty())
        };
        if is_pasted {
            return Some(end);
        }
    }
    None
}

/// Returns the sentences of `text` that are neither code nor quoted nor pasted nor too long.
fn plain_sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let pasted = pasted_start(text).unwrap_or(text.len());
    let closing_tags = find_closing_tags(text);
    let mut is_code = false;
    // The name of the element of a pasted document, such as `document` in `<document>`.
    let mut element: Option<&str> = None;
    sentences(text).into_iter().filter(move |span| {
        if pasted <= span.start {
            return false;
        }
        let sentence = &text[span.clone()];
        let begin = sentence.trim_start();
        if element.is_none() {
            let is_closed = |name: &&str| closing_tags.get(name).is_some_and(|at| span.start < *at);
            element = opened_element(begin).filter(is_closed);
        }
        if let Some(name) = element {
            if sentence.contains(&format!("</{name}")) {
                element = None;
            }
            return false;
        }
        let fences = sentence.matches("```").count() + sentence.matches("~~~").count();
        if 0 < fences {
            is_code ^= fences % 2 == 1;
            return false;
        }
        // A quotation mark after a line break belongs to the previous sentence.
        let is_after_quote = begin.len() == sentence.len() && text[..span.start].ends_with(QUOTATION_MARKS);
        let quoted = begin.strip_prefix(QUOTATION_MARKS).or(is_after_quote.then_some(begin));
        !is_code && !begin.starts_with('>') && !quoted.is_some_and(is_quoted_to_end) && sentence.len() <= MAX_SENTENCE
    })
}

/// Returns whether a quotation contains all words of the sentence, given the text after its opening mark.
fn is_quoted_to_end(text: &str) -> bool {
    text.rfind(QUOTATION_MARKS).is_none_or(|end| !text[end..].contains(char::is_alphanumeric))
}

/// Returns the byte offset of the last closing tag of each element.
fn find_closing_tags(text: &str) -> HashMap<&str, usize> {
    let name = |at: usize| {
        let rest = &text[at + 2..];
        &rest[..rest.find(|letter| !is_tag_character(letter)).unwrap_or(rest.len())]
    };
    text.match_indices("</").map(|(at, _)| (name(at), at)).collect()
}

/// Returns the name of the element that a sentence opens at its start.
fn opened_element(sentence: &str) -> Option<&str> {
    let (name, _) = sentence.strip_prefix('<')?.split_once(['>', ' ', '\n'])?;
    (name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_tag_character)).then_some(name)
}

fn is_tag_character(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
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
