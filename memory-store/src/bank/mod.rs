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
mod symlinked;
#[cfg(test)]
mod tests;
mod trash;
mod undo;

pub use decode::bank_of_text;
pub use folder::{BankFolder, BankOptions};
pub use schema::JsonSchemas;
pub use symlinked::SymlinkedBanks;
