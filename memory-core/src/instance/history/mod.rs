//! History: the messages of sessions, in the order of their arrival.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`SessionRecord`], [`SessionName`], [`RecordRole`] |
//! | store a message | [`append()`] |
//! | read messages | [`read()`], [`sessions()`], with a [`RecordFilter`] and a [`Window`] |
//! | import sessions of an export | [`import()`] |
//! | search messages | [`search()`], [`search_sessions()`] |
//! | delete messages | [`delete()`], [`purge()`] |
//! | undo a deletion | [`undo()`], [`operations()`] |
//! | implement another store | [`MessageStore`], and its suite in `testing` |

mod filter;
mod import;
mod record;
mod services;
mod store;

pub use filter::{RecordFilter, Window, WindowEnd};
pub use import::{ExportedSession, SessionImportReport, import, preview_import};
pub use record::{MAX_RECORD, RecordDraft, RecordRole, SessionName, SessionRecord};
pub use services::{
    AppendedRecord, Messages, SessionReadResult, append, delete, operations, purge, read, records,
    search, search_sessions, sessions, undo,
};
pub use store::{MessageStore, PurgeResult, SessionAppendResult, SessionRecords, SessionSummary};
