//! Conversations as Markdown files.
//!
//! [`ConversationFolder`] is the driver behind [`memory_core::conversation::ConversationStore`], [`JobFile`] the one behind
//! [`memory_core::conversation::JobQueue`].
//!
//! | file | what it is |
//! |---|---|
//! | `entries/<conversation>/facts/<moment>__<id>.md` | a fact |
//! | `entries/<conversation>/turns/user/…`, `turns/assistant/…` | what was said |
//! | `entries/<conversation>/summaries/summary.md` | what it was about so far |
//! | `entries/<conversation>/deleted/…` | what was deleted, under its former path; `entries/deleted/<conversation>/…` is read as well |
//! | `.conversations/jobs.jsonl` | what is still to be made of what was said |
//! | `.conversations/journal/<yyyy-mm>.jsonl` | the operations that took entries away or brought them back |
//! | `.git` | every state there was, if that is wanted; see [`Versions`] |
//!
//! What is new is written under a hidden name, synced, and renamed; what is deleted is renamed, and what took its place written into it
//! then. So whoever dies on the way leaves each entry active or as a tombstone, and to ask again is to go on where it was.

mod change;
mod folder;
mod format;
mod found;
mod jobs;
mod journal;
mod kept;
mod layout;
mod listing;
mod tombstones;
mod undo;
mod vectors;
mod versions;

#[cfg(test)]
mod tests;

pub use folder::ConversationFolder;
pub(crate) use found::found;
pub use jobs::JobFile;
pub use versions::{Version, Versions, VersionsError};
