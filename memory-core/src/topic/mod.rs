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
mod name;
mod path;
mod read;
mod rebuild;
mod search;
mod services;
mod store;
mod subject;
mod undo;
mod update;
mod view;
mod write;

pub use context::context;
pub use delete::delete;
pub use error::TopicError;
pub use find::find;
pub use index::{INDEX_BYTES, INDEX_LINES, Use, Uses, WrittenIndex, index_text};
pub use kind::TopicKind;
pub use links::follow;
pub use list::list;
pub use name::{INDEX_FILE, TopicName, is_same_name};
pub use path::TopicPath;
pub use read::{Reading, read};
pub use rebuild::rebuild;
pub use search::{TopicHit, search};
pub use services::Topics;
pub use store::{
    Changed, Listing, PathEntry, TopicChange, TopicDraft, TopicOperation, TopicRecord, TopicStore, TopicText, TopicVerb, Trashed,
    mark_undone,
};
pub use subject::Topic;
pub use undo::{TopicUndone, history, last, purge, undo};
pub use update::update;
pub use view::{index_overflow, view};
pub use write::{WriteRequest, Written, write};
