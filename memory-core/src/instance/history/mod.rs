//! History: what was said in sessions, in the order in which it was said.
//!
//! | you want to | look at |
//! |---|---|
//! | know what is kept | [`Record`], [`SessionName`], [`Role`] |
//! | keep something | [`append()`] |
//! | find it again | [`read()`], [`sessions()`], with a [`Filter`] and a [`Window`] |
//! | take it away | [`delete()`], [`purge()`] |
//! | bring it back | [`undo()`], [`operations()`] |
//! | keep it somewhere else | [`MessageStore`], and its suite in `testing` |

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
