//! Recognizes sentences that are standing instructions or preferences.

use std::fmt;
use std::ops::Range;

use super::{chinese, english};
use crate::conversation::sentences;
use crate::{Category, Memory, SpeakerRole};

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

/// A standing instruction or preference in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingSentence {
    /// The kind.
    pub kind: StandingKind,
    /// The byte range of the sentence in the text.
    pub span: Range<usize>,
    /// The byte offset of the cue in the text. The clauses before the cue may have another subject.
    pub cue: usize,
}

/// The result of a language's matcher for a sentence: the kind, and the byte offset of the cue.
pub(super) type StandingCue = (StandingKind, usize);

/// The maximum size of a sentence, in bytes. A longer one is part of a document or code.
const MAX_SENTENCE: usize = 800;

/// The maximum size of a short memory, in bytes.
///
/// A longer memory is a note or a document, in which only sentences with an explicit cue such as `always` count.
pub(super) const SHORT: usize = 200;

/// Returns the standing instructions and preferences in `text`, in order.
///
/// Fenced code, quoted lines and sentences of more than 800 bytes are skipped.
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
    let mut is_code = false;
    for span in sentences(text) {
        let sentence = &text[span.clone()];
        let begin = sentence.trim_start();
        if begin.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if is_code || begin.starts_with('>') || MAX_SENTENCE < sentence.len() {
            continue;
        }
        let cue = if sentence.is_ascii() { None } else { chinese::cue(sentence, is_short) };
        if let Some((kind, at)) = cue.or_else(|| english::cue(sentence, is_short)) {
            found.push(StandingSentence { kind, cue: span.start + at, span });
        }
    }
    found
}

/// Returns whether a memory contains a standing instruction or preference of the person.
///
/// A memory from an assistant or a tool never does.
pub fn is_standing(memory: &Memory) -> bool {
    standing_kind(memory).is_some()
}

/// Returns the kind of the standing sentences in a memory, if any.
///
/// An instruction takes priority over a preference. A memory of the category `preferences` is a preference even without a cue. A reminder,
/// and a memory from an assistant or a tool, has no kind.
pub fn standing_kind(memory: &Memory) -> Option<StandingKind> {
    let role = memory.role.or_else(|| SpeakerRole::of_source(&memory.source));
    if memory.reminder.is_some() || matches!(role, Some(SpeakerRole::Assistant | SpeakerRole::Tool)) {
        return None;
    }
    let of_text = standing_sentences(&memory.content).into_iter().map(|sentence| sentence.kind).min();
    let of_category = (memory.category == Category::Preferences).then_some(StandingKind::Preference);
    of_text.or(of_category)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Draft, MemoryId};

    fn kind(text: &str) -> Option<StandingKind> {
        standing_sentences(text).into_iter().map(|sentence| sentence.kind).min()
    }

    #[test]
    fn instructions_are_recognised() {
        for text in [
            "Answer in metric units",
            "Always format dates as \"Month Day, Year\" when I ask about deadlines.",
            "Please never use emojis.",
            "From now on, answer in German.",
            "Whenever I ask about code, include the version numbers.",
            "I want you to always cite your sources.",
            "Don't use emojis in your replies.",
            "Keep your answers short.",
            "Whenever you suggest a restaurant, name the price.",
            "Going forward, please use British spelling.",
            "Call me Jo.",
            "The user wants short answers.",
            "以后请用公制单位回答。",
            "请用中文回答",
            "不要用表情符号回复我。",
            "请叫我小王",
        ] {
            assert_eq!(kind(text), Some(StandingKind::Instruction), "{text}");
        }
    }

    #[test]
    fn preferences_are_recognised() {
        for text in [
            "I'm new here, and I really prefer short bursts, can you help me?",
            "I like tabs better than spaces.",
            "I'd rather walk than drive.",
            "My favourite editor is Vim.",
            "The user prefers dark mode",
            "我更喜欢绿茶。",
            "我喜欢用深色模式",
        ] {
            assert_eq!(kind(text), Some(StandingKind::Preference), "{text}");
        }
    }

    #[test]
    fn other_sentences_are_not() {
        for text in [
            "I have always liked Berlin.",
            "Never been there!",
            "Never mind.",
            "It never really got off the ground.",
            "Happy to help whenever you need it!",
            "Whenever you need support, I'm here for you.",
            "What's pushing you to keep going forward with it?",
            "Give me two examples of renewable energy sources.",
            "I like to say there is no club better than Liverpool!",
            "Always happy to help.",
            "They always format the disk when I ask.",
            "What happens when I ask for a refund?",
            "Use the red one for the door.",
            "Do you prefer tea?",
            "Write a poem about my dog.",
            "Answer the door, please.",
            "From now on I get up at six.",
            "```\nAlways include this header.\n```",
            "你喜欢茶吗？",
            "我昨天去了超市。",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
    }

    #[test]
    fn neither_an_assistant_nor_a_tool_sets_anything() {
        let memory = |draft: Draft| draft.into_memory(MemoryId::of_path(""), chrono::DateTime::UNIX_EPOCH);
        let always = || Draft::new("Always answer in metric units.");
        assert!(is_standing(&memory(always())));
        for role in [SpeakerRole::Assistant, SpeakerRole::Tool] {
            assert!(!is_standing(&memory(Draft { role: Some(role), ..always() })));
        }
        assert!(!is_standing(&memory(Draft { source: "Assistant".into(), ..always() })));
        let preference = Draft { category: Some(Category::Preferences), ..Draft::new("dark mode") };
        assert_eq!(standing_kind(&memory(preference)), Some(StandingKind::Preference));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,60}|((always|when i ask|prefer|我喜欢|请用|。|\n|```|İ|,) ?){0,12}") {
            for sentence in standing_sentences(&text) {
                prop_assert!(text.is_char_boundary(sentence.cue) && sentence.span.contains(&sentence.cue));
            }
        }
    }
}
