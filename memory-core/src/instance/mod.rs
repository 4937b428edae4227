//! Instances: named backends that store either messages of sessions or values under keys.
//!
//! | task | items |
//! |---|---|
//! | messages of sessions, in order | [`history`] |
//! | values under keys | [`kv`] |
//! | names of instances | [`InstanceName`] |
//! | undo | [`undo()`], [`operations()`], [`InstanceOperations`] |
//! | errors | [`InstanceError`] |
//! | implement another store | [`history::MessageStore`], [`kv::KeyValueStore`], and their suites in `testing` |

mod error;
mod filter_time;
mod name;
mod operations;

pub mod history;
pub mod kv;

pub use error::InstanceError;
pub use filter_time::{parse_duration, parse_time};
pub use name::InstanceName;
pub(crate) use operations::undo_as;
pub use operations::{
    InstanceOperations, InstanceRecord, InstanceRecords, InstanceSubject, InstanceUndoReport,
    NamedInstance, join_parts, operations, undo,
};
