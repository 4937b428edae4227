//! Standing instructions and preferences, which apply to all responses regardless of their subject.
//!
//! `Always answer in metric units` shares no words with the questions it applies to, so a search does not find it. Such sentences are
//! recognized by their wording ([`standing_sentences()`]), indexed ([`crate::Filter::standing`]), and placed first in the context for a
//! language model ([`crate::build_context()`]).
//!
//! Whether a memory is standing follows from its text, its category and its author alone. It is therefore stored in the index and in no
//! file.
//!
//! # Whose sentences count
//!
//! A text from elsewhere may contain requests too, so the author of a memory decides whether its sentences count:
//!
//! - **The person**: the memory has the role `person`; or it has no role, was not ingested, and its source is empty or names the person
//!   (`user`, `human`); or it was ingested from an instruction file of the user (`CLAUDE.md`, `CLAUDE.local.md` and `rules/` of the source
//!   `claude`). Requests (`always use tabs`) and statements (`I prefer tabs`) count.
//! - **An agent on behalf of the person**: there is no role, and the source is a program, such as the name of a client of the Model Context
//!   Protocol, or a file of notes of the source `claude`. The memory counts if it is short and begins with a statement about the person in
//!   the first or third person (`The user prefers tabs`, `I want short answers`), without a request behind it; or with a request, without
//!   an address. So no page that an agent summarizes counts.
//! - **Anything else never counts**: the roles `assistant`, `tool` and `author`; notes ingested from other sources; sources that are web
//!   addresses or tools.
//!
//! # Replacement
//!
//! A newer sentence replaces an older one if both have the same content words, with or without a negation; or if both set the same
//! single-valued property, such as the language, to different values; or if one preference contradicts the other. Other sentences of the
//! older memory stay in effect. The order is that of the times at which the memories were written; a replaced memory that the person writes
//! again, and one whose standing sentences the person edits, count from that time ([`crate::Memory::stated_at`]).

mod address;
mod chinese;
mod classify;
mod english;
mod grammar;
mod kind;
mod pasted;
mod polarity;
mod properties;
mod replacement;
mod select;
mod words;

pub use address::{MAX_SEARCHED_FOR_ADDRESS, find_address};
pub(crate) use classify::{has_new_statement, is_of_person_or_agent};
pub use classify::{is_by_person, is_standing, standing_kind, standing_sentences};
pub use kind::{StandingFilter, StandingForm, StandingKind, StandingSentence};
pub(crate) use pasted::{asks_for_play, own_sentences, without_material};
pub use replacement::replaces_standing;
pub(crate) use replacement::{StandingText, current};
pub(crate) use select::{StandingMemory, StandingSelection, select_standing};
