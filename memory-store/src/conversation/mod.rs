//! Conversations as Markdown files.
//!
//! [`ConversationFolder`] implements [`memory_core::conversation::ConversationStore`], and [`JobFile`] implements
//! [`memory_core::conversation::JobQueue`].
//!
//! | file | content |
//! |---|---|
//! | `entries/<conversation>/facts/<moment>__<id>.md` | a fact |
//! | `entries/<conversation>/turns/user/…`, `turns/assistant/…` | the messages |
//! | `entries/<conversation>/summaries/summary.md` | the summary of the conversation |
//! | `entries/<conversation>/deleted/…` | tombstones, under the previous path; `entries/deleted/<conversation>/…` is read as well |
//! | `.conversations/jobs.jsonl` | the turns from which facts are still to be extracted |
//! | `.conversations/journal/<yyyy-mm>.jsonl` | the operations that deleted or restored entries |
//! | `.git` | all previous states, if enabled; see [`Versions`] |
//!
//! A new file is written under a hidden name, synced, and renamed. A deleted file is renamed to a tombstone, and its replacement is
//! recorded in it afterwards. After a crash each entry is therefore active or a tombstone, and a repeated request completes the interrupted
//! one.

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
