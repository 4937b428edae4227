//! Standing instructions and preferences, which apply to all responses regardless of their subject.
//!
//! `Always answer in metric units` shares no words with the questions it applies to, so a search does not find it. Such sentences are
//! recognized by their wording ([`standing_sentences()`]), indexed ([`crate::Filter::standing`]), and placed first in the context for a
//! language model ([`crate::context()`]).
//!
//! Whether a memory is standing follows from its text, its category and the role of its author alone. It is
//! therefore stored in the index and in no file.

mod chinese;
mod classify;
mod english;
mod select;

pub use classify::{StandingKind, StandingSentence, is_standing, standing_kind, standing_sentences};
pub(crate) use select::{StandingMemory, StandingText, current, select_standing};
