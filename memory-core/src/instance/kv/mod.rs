//! Values under keys: what is set and got, not what happened.
//!
//! | you want to | look at |
//! |---|---|
//! | know what is kept | [`ValueKey`], [`Value`] |
//! | keep a value | [`set()`] |
//! | find it again | [`get()`], [`list()`], with a [`Prefix`] |
//! | take it away | [`delete()`] |
//! | bring back what was there | [`undo()`], [`operations()`] |
//! | keep it somewhere else | [`KeyValueStore`], and its suite in `testing` |

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
