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
//! | `.conversations/turns.jsonl` | in a shared folder, the turns that this machine has stored |
//! | `.conversations/journal/<yyyy-mm>.jsonl` | the operations that added facts, or deleted or restored entries |
//! | `.git` | all previous states, if enabled; see [`GitVersions`] |
//!
//! A new file is written under a hidden name, synced, and renamed. A deleted file is renamed to a tombstone, and its replacement is
//! recorded in it afterwards. After a crash each entry is therefore active or a tombstone, and a repeated request completes the interrupted
//! one.
//!
//! The index of a conversation is cached in memory. It is validated by the times of its folders and of each file:
//! at every request for a few dozen files, once a second for some hundreds. While such a time is so recent that a
//! further change might not alter it, a writer of this program notifies others by a number in the lock file, and
//! caches its own changes without listing the folder. A change by another program in the same tick is seen within
//! 20 ms, or within a second while turns arrive without a pause.
//!
//! A new file gets its final name before deleted files become tombstones, so a crash leaves each entry in one of
//! the two. A repeated request makes each change once. A job is decided, recorded as decided, and executed, so it
//! may be executed twice while the model is called once. Changes that delete entries pass `change` in
//! memory-core, which redacts credentials. They are recorded, with ids, paths and hashes, before they are made;
//! the tombstones contain the bytes. If changes were made before, they are not repeated: their job then waits for
//! the summary alone, and entries that were restored since remain. An undo makes its changes first and is
//! recorded last; the next one completes an interrupted one. An entry that the user changed since the operation
//! is left unchanged (`CONFLICT`).
//!
//! The queue records the time from which it has a job for each turn, so that a start finds the turns of a process
//! that died before it added their jobs. The index of memories finds facts and turns in the scope of their
//! conversation, and the store of memories changes and deletes facts as it does notes.

mod change;
mod folder;
mod folder_cache;
mod format;
mod job_file;
mod journal;
mod layout;
mod own_turns;
mod tombstones;
mod undo;
mod vectors;
mod versions;

#[cfg(test)]
mod tests;

pub use folder::ConversationFolder;
#[cfg(feature = "postgres")]
pub(crate) use folder::REPLICA;
pub(crate) use format::decode_as_memory;
pub use job_file::JobFile;
pub use versions::{GitVersion, GitVersions, GitVersionsError};
pub(crate) use versions::{remote_address, repository_folder};
