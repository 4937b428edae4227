//! Sessions as files of lines.
//!
//! [`HistoryFolder`] is the driver behind [`memory_core::instance::history::MessageStore`]. A session is `<name>.jsonl`, one record a
//! line, to which records are only ever added: one write and one sync an append. What an append that was cut off left behind is set
//! aside by the next one. A purge writes a new file, which takes the place of the former one at once; that goes to `.trash`, and so
//! does a session that is deleted. A line in `.trash/<yyyy-mm>.jsonl` says of each what the session began with afterwards, and so whether
//! what was there before may be put in its place again.

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
