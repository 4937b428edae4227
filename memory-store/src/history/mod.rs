//! Sessions stored as files of lines.
//!
//! [`HistoryFolder`] implements [`memory_core::instance::history::MessageStore`]. A session is the file `<name>.jsonl`
//! with one record per line. Records are only appended, with one write and one sync per append. If an append was
//! interrupted, the next one moves the incomplete record to `.trash`.
//!
//! A purge writes a new file, which replaces the old one atomically. The old file of a purge and the file of a deleted
//! session are moved to `.trash`. Each operation appends a line to `.trash/<yyyy-mm>.jsonl` with the length and the
//! hash of the lines that it left in the session. An undo is refused if the session no longer starts with these lines.
//!
//! Concurrent appends of one process share a write: the first caller writes the records of all waiting callers
//! under the lock of the session. An append that sets aside an incomplete record reports it. A reader that finds
//! the last line incomplete first waits for the writers, and then reports it as well. The last records are found
//! from the end of the file, block by block.
//!
//! A reader that has the old file of a purge open reads it to its end. An undo replaces exactly the lines that
//! the operation left by the previous ones; records that were added since follow them. A new file that still
//! waits, or an old one that is gone, shows whether a logged operation was applied.

mod append;
mod file;
mod folder;
mod message;
mod operations;
mod queue;
mod rewrite;
mod undo;

pub(crate) use file::{created, existing, file_error, folder_error};
pub use folder::HistoryFolder;
pub(crate) use message::{is_session_file, load_message, read_messages};
