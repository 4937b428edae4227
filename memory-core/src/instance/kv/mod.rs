//! Key-value storage: the current value of each key.
//!
//! | task | items |
//! |---|---|
//! | the data model | [`ValueKey`], [`StoredValue`] |
//! | set a value | [`set()`], [`replace()`] |
//! | read values | [`get()`], [`list()`], with a [`KeyPrefix`] |
//! | delete a value | [`delete()`] |
//! | undo a change | [`undo()`], [`operations()`] |
//! | implement another store | [`KeyValueStore`], and its suite in `testing` |

mod key;
mod services;
mod store;

pub use key::{KeyPrefix, ValueKey};
pub use services::{KeyValues, MAX_VALUE, delete, get, list, operations, replace, set, undo};
pub use store::{KeySummary, KeyValueStore, StoredValue};
