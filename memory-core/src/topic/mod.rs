//! Topics: Markdown files about one subject each, with an index that is short enough for every prompt.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`Topic`], [`TopicName`], [`TopicKind`] |
//! | write a topic | [`write()`], [`update()`] |
//! | list the topics | [`view()`], [`context()`], [`list()`] |
//! | read or find a topic | [`read()`], [`search()`] |
//! | delete a topic, and undo | [`delete()`], [`undo()`], [`history()`] |
//! | work on any file of the folder | [`mod@file`] |
//! | generate the index | [`index_text()`], [`rebuild()`] |
//! | implement another store | [`TopicStore`], and its suite in `testing` |

mod error;
pub mod file;
mod index;
mod metadata;
mod name;
mod path;
mod search;
mod services;
mod store;
mod update;
mod write;

pub use error::TopicError;
pub use index::{INDEX_BYTES, INDEX_LINES, TopicIndex, TopicUsage, TopicUsages, index_text};
pub use metadata::{Topic, TopicKind};
pub use name::{TopicName, is_same_name};
pub use path::TopicPath;
pub use search::{TopicHit, search};
pub use services::{
    TopicReadResult, TopicUndoReport, Topics, context, delete, external_operation, find, history,
    index_overflow, last, list, purge, read, rebuild, record_external_changes, resolve_wikilink,
    undo, view,
};
pub use store::{
    PathEntry, TopicChange, TopicChangeResult, TopicDraft, TopicListing, TopicRecord, TopicStore,
    TopicSubject, TopicText, TrashedTopic,
};
pub use update::update;
pub use write::{TopicWriteRequest, TopicWriteResult, write};

/// The file name of the index.
pub const INDEX_FILE: &str = "MEMORY.md";
