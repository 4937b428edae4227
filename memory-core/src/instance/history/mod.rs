//! History: the messages of sessions, in the order of their arrival.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`Record`], [`SessionName`], [`Role`] |
//! | store a message | [`append()`] |
//! | read messages | [`read()`], [`sessions()`], with a [`Filter`] and a [`Window`] |
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
pub use filter::{End, Filter, Window};
pub use operations::operations;
pub use purge::purge;
pub use read::{Reading, read, records};
pub use record::{Draft, MAX_RECORD, Record};
pub use role::Role;
pub use services::Messages;
pub use session::SessionName;
pub use sessions::sessions;
pub use store::{Appended, MessageStore, Purged, Records, SessionSummary};
pub use undo::undo;
