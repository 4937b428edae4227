//! Instances: messages of sessions and values under keys, each kept where its instance says.
//!
//! | you want to | look at |
//! |---|---|
//! | keep what was said, in order | [`history`] |
//! | set and get a value | [`kv`] |
//! | know what an instance is called | [`InstanceName`] |
//! | take back what was done | [`undo()`], [`operations()`], [`Operations`] |
//! | know what can go wrong | [`InstanceError`] |
//! | keep either somewhere else | [`history::MessageStore`], [`kv::KeyValueStore`], and their suites in `testing` |

mod error;
mod moment;
mod name;
mod operation;
mod operations;

pub mod history;
pub mod kv;

pub use error::InstanceError;
pub use moment::{age, moment};
pub use name::InstanceName;
pub use operation::InstanceOperation;
pub(crate) use operations::last;
pub use operations::{
    InstanceRecord, InstanceRecords, InstanceUndone, InstanceVerb, KeptInstance, Operations, mark_undone, operations, undo,
};
