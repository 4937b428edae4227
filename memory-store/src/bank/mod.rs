//! Banks as JSON files.
//!
//! [`BankFolder`] is the driver behind [`memory_core::bank::BankStore`]. A bank is `<name>.json`, or `<name>.json.gz` once it is
//! large; both are read as they are, whoever made them. What we change in one is the text at the entry that changes and at
//! `_meta.updated_at`; all else stays byte for byte.
//!
//! | file | what it is |
//! |---|---|
//! | `<name>.json`, `<name>.json.gz` | a bank |
//! | `_index.json` | where the entries of large banks are; derived, may be deleted at any time |
//! | `.trash/<yyyy-mm>.jsonl` | one line an operation: when, what, who, and the entries as they were before |
//! | `.trash/<yyyy-mm>/<operation>/` | files that were deleted or repaired, whole |
//! | `.lock` | shared by those who write to one bank, held alone by who writes to all |
//! | `.locks/<name>` | held by the writer of that bank; `_journal` and `_index` by who writes to those |
//!
//! A change is three syncs. The new file is written under a temporary name; then the line of what was before is appended to the
//! trash; then the file takes its place and the folder is synced. Whoever dies on the way leaves the temporary file, by which the next
//! writer knows that the last line was not carried out, and says so in the next. A deletion leaves such a file as well.

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
