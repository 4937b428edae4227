//! Key-value storage: the current value of each key.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`ValueKey`], [`StoredValue`] |
//! | set a value | [`set()`] |
//! | read values | [`get()`], [`list()`], with a [`KeyPrefix`] |
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
pub use key::{KeyPrefix, ValueKey};
pub use list::list;
pub use operations::operations;
pub use services::KeyValues;
pub use set::{MAX_VALUE, set};
pub use store::{KeySummary, KeyValueStore, StoredValue};
pub use undo::undo;
