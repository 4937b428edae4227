//! Sessions stored as files of lines.
//!
//! [`HistoryFolder`] implements [`memory_core::instance::history::MessageStore`]. A session is the file `<name>.jsonl`
//! with one record per line. Records are only appended, with one write and one sync per append. If an append was
//! interrupted, the next one moves the incomplete record to `.trash`.
//!
//! A purge writes a new file, which replaces the old one atomically. The old file of a purge and the file of a deleted
//! session are moved to `.trash`. Each operation appends a line to `.trash/<yyyy-mm>.jsonl` with the length and the
//! hash of the lines that it left in the session. An undo is refused if the session no longer starts with these lines.

mod append;
mod file;
mod folder;
mod lines;
mod name;
mod operations;
mod queue;
mod rewrite;
mod undo;

pub(crate) use file::{no_folder, refused};
pub use folder::HistoryFolder;
pub(crate) use lines::Backward;
