//! The daemon: what is due is done on one thread, changes of files are heard on a second, and signals on a third.

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

/// Who writes, in the journal, when the daemon does.
pub(crate) const ACTOR: &str = "daemon";
