//! History: the messages of sessions, in the order of their arrival.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`SessionRecord`], [`SessionName`], [`RecordRole`] |
//! | store a message | [`append()`] |
//! | read messages | [`read()`], [`sessions()`], with a [`RecordFilter`] and a [`Window`] |
//! | delete messages | [`delete()`], [`purge()`] |
//! | undo a deletion | [`undo()`], [`operations()`] |
//! | implement another store | [`MessageStore`], and its suite in `testing` |

mod append;
mod delete;
mod filter;
mod operations;
mod purge;
mod read;
mod record;
mod role;
mod services;
mod session;
mod sessions;
mod store;
mod undo;

pub use append::append;
pub use delete::delete;
pub use filter::{RecordFilter, Window, WindowEnd};
pub use operations::operations;
pub use purge::purge;
pub use read::{SessionReadResult, read, records};
pub use record::{MAX_RECORD, RecordDraft, SessionRecord};
pub use role::RecordRole;
pub use services::Messages;
pub use session::SessionName;
pub use sessions::sessions;
pub use store::{MessageStore, PurgeResult, SessionAppendResult, SessionRecords, SessionSummary};
pub use undo::undo;
