//! Values under keys: what is set and got, not what happened.
//!
//! | you want to | look at |
//! |---|---|
//! | know what is kept | [`ValueKey`], [`Value`] |
//! | keep a value | [`set()`] |
//! | find it again | [`get()`], [`list()`], with a [`Prefix`] |
//! | take it away | [`delete()`] |
//! | keep it somewhere else | [`KeyValueStore`], and its suite in `testing` |

mod delete;
mod get;
mod key;
mod list;
mod services;
mod set;
mod store;

pub use delete::delete;
pub use get::get;
pub use key::{Prefix, ValueKey};
pub use list::list;
pub use services::Values;
pub use set::{MAX_VALUE, set};
pub use store::{KeySummary, KeyValueStore, Value};
