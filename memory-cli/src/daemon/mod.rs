//! The daemon: one thread runs chores, a second detects changed files, a third handles signals.

mod bell;
mod chores;
mod diary;
mod keep;
mod listen;
mod signals;

pub(crate) use bell::Bell;
pub(crate) use chores::HomeChores;
pub(crate) use diary::{Diary, told};
pub(crate) use keep::{Report, keep, once};
pub(crate) use listen::{Listener, Woken};
pub(crate) use signals::Signals;

/// The actor of the daemon's changes in the journal.
pub(crate) const ACTOR: &str = "daemon";
