//! The kinds and forms of standing sentences.

use std::ops::Range;

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

impl_display!(StandingKind);

/// A filter for memories with standing sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StandingFilter {
    /// Memories with an instruction or a preference.
    Any,
    /// Memories for which [`standing_kind`](super::standing_kind) returns this kind.
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
#[non_exhaustive]
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

/// What is known of the memory of a sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    /// Whether the memory is short; only then a request without `always`, `never` or a condition counts.
    pub(super) is_short: bool,
    /// Whether it is also filed as a preference, as feedback or as part of a character; then a prohibition counts, too.
    pub(super) is_guidance: bool,
}
