//! History: what was said in sessions, in the order in which it was said.
//!
//! | you want to | look at |
//! |---|---|
//! | know what is kept | [`Record`], [`SessionName`], [`Role`] |
//! | keep something | [`append()`] |
//! | find it again | [`read()`], [`sessions()`], with a [`Filter`] and a [`Window`] |
//! | take it away | [`delete()`], [`purge()`] |
//! | keep it somewhere else | [`MessageStore`], and its suite in `testing` |

mod append;
mod delete;
mod filter;
mod purge;
mod read;
mod record;
mod role;
mod services;
mod session;
mod sessions;
mod store;

pub use append::append;
pub use delete::delete;
pub use filter::{End, Filter, Window};
pub use purge::purge;
pub use read::{Reading, read};
pub use record::{Draft, MAX_RECORD, Record};
pub use role::Role;
pub use services::Messages;
pub use session::SessionName;
pub use sessions::sessions;
pub use store::{Appended, MessageStore, Purged, Records, SessionSummary};
