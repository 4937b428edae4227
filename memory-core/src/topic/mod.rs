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

mod context;
mod delete;
mod error;
pub mod file;
mod find;
mod index;
mod kind;
mod links;
mod list;
mod metadata;
mod name;
mod path;
mod read;
mod rebuild;
mod search;
mod services;
mod store;
mod undo;
mod update;
mod view;
mod write;

pub use context::context;
pub use delete::delete;
pub use error::TopicError;
pub use find::find;
pub use index::{INDEX_BYTES, INDEX_LINES, TopicIndex, TopicUsage, TopicUsages, index_text};
pub use kind::TopicKind;
pub use links::resolve_wikilink;
pub use list::list;
pub use metadata::Topic;
pub use name::{INDEX_FILE, TopicName, is_same_name};
pub use path::TopicPath;
pub use read::{TopicReadResult, read};
pub use rebuild::rebuild;
pub use search::{TopicHit, search};
pub use services::Topics;
pub use store::{
    PathEntry, TopicChange, TopicChangeResult, TopicDraft, TopicListing, TopicRecord, TopicStore, TopicSubject, TopicText,
    TrashedTopic,
};
pub use undo::{TopicUndoReport, history, last, purge, undo};
pub use update::update;
pub use view::{index_overflow, view};
pub use write::{TopicWriteRequest, TopicWriteResult, write};
