//! Banks as JSON files.
//!
//! [`BankFolder`] implements [`memory_core::bank::BankStore`]. A bank is `<name>.json`, or `<name>.json.gz` if it is large. Files
//! of other programs are read as they are. A change edits only the text of the changed entry and of `_meta.updated_at`; all other
//! bytes are unchanged.
//!
//! | file | content |
//! |---|---|
//! | `<name>.json`, `<name>.json.gz` | a bank |
//! | `_index.json` | the positions of the entries of large banks; derived, may be deleted at any time |
//! | `.trash/<yyyy-mm>.jsonl` | the log: one line per operation with time, verb, author and the previous entries |
//! | `.trash/<yyyy-mm>/<operation>/` | complete copies of files that were deleted or repaired |
//! | `.lock` | held shared by the writers of single banks, exclusively by operations on all banks |
//! | `.locks/<name>` | held by the writer of that bank; `_journal` and `_index` by the writers of those files |
//!
//! A change needs three syncs. The new file is written under a temporary name and synced; a line with the previous entries is
//! appended to the log; the new file is renamed and the folder is synced. If the process dies before the end, the temporary file
//! remains. From it the next writer detects that the last operation was not executed, and records this in the log. A deletion
//! creates a temporary file for the same purpose.
//!
//! A writer decides under the lock of the bank, on the current content of the file, and the file must still have
//! that content when the new one replaces it. So neither writers with the lock nor programs without it lose an
//! update. Readers take no lock. Writers of different banks run concurrently; `repair` and purges hold `.lock`
//! exclusively. The log and the index have short locks of their own.
//!
//! The new file waits as `.next-<name>.tmp`. Version 0.1 had one temporary file for the folder and held `.lock`
//! exclusively for each write, so it and newer versions wait for each other; the next writer finishes its
//! temporary file alone.
//!
//! The log stores previous entries and not previous files, because a counter in a large bank must not cost a copy
//! of the bank for each change.
//!
//! Large banks are gzip members that start between entries. `_index.json` is used only with the file that it was
//! made from, and the entry is read at its position together with its key, so a wrong index costs time but gives
//! no wrong result. A repair of a damaged file finds the next intact member by its header and checksum, uses
//! nothing of the damaged one, and takes the names of its keys from the index or the log.

mod change;
mod decode;
mod edit;
mod file;
mod folder;
mod gzip;
mod index;
mod layout;
mod repair;
mod salvage;
mod schema;
#[cfg(test)]
mod tests;
mod trash;
mod undo;

pub use decode::parse_bank;
#[cfg(feature = "postgres")]
pub(crate) use folder::is_shared;
pub use folder::{BankFolder, BankOptions};
pub use schema::JsonSchemaValidator;
