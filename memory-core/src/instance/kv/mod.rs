//! Key-value storage: the current value of each key.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`ValueKey`], [`Value`] |
//! | set a value | [`set()`] |
//! | read values | [`get()`], [`list()`], with a [`Prefix`] |
//! | delete a value | [`delete()`] |
//! | undo a change | [`undo()`], [`operations()`] |
//! | implement another store | [`KeyValueStore`], and its suite in `testing` |

mod delete;
mod get;
mod key;
mod list;
mod operations;
mod services;
mod set;
mod store;
mod undo;

pub use delete::delete;
pub use get::get;
pub use key::{Prefix, ValueKey};
pub use list::list;
pub use operations::operations;
pub use services::Values;
pub use set::{MAX_VALUE, set};
pub use store::{KeySummary, KeyValueStore, Value};
pub use undo::undo;
