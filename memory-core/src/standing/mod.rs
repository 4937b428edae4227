//! Standing instructions and preferences: how a person wants every answer to be, whatever the question is about.
//!
//! `Always answer in metric units` has no word in common with the questions it applies to, so that no search finds it. Such
//! sentences are recognised by their words ([`standing_sentences()`]), indexed ([`crate::Filter::standing`]), and put first in
//! what a language model is told ([`crate::context()`]).

mod chinese;
mod classify;
mod english;
mod select;

pub use classify::{StandingKind, StandingSentence, is_standing, standing_kind, standing_sentences};
pub(crate) use select::{StandingMemory, StandingText, current, select_standing};
