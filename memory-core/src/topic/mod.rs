//! Topics: Markdown files of one subject each, and an index of them that is short enough for every prompt.
//!
//! | you want to | look at |
//! |---|---|
//! | know what a topic is | [`Topic`], [`TopicName`], [`TopicKind`] |
//! | keep one | [`write()`], [`update()`] |
//! | know what there is | [`view()`], [`context()`], [`list()`] |
//! | read one, or find it | [`read()`], [`search()`] |
//! | take it away, and that back | [`delete()`], [`undo()`], [`history()`] |
//! | work on any file of the folder | [`mod@file`] |
//! | know how the index is made | [`index_text()`], [`rebuild()`] |
//! | keep topics somewhere else | [`TopicStore`], and its suite in `testing` |

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
