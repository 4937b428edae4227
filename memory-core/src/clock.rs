//! Time and random ids as injected dependencies.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use crate::{MemoryId, OperationId};

/// A source of the current time.
pub trait Clock: Debug + Send + Sync {
    /// Returns the current time.
    fn now(&self) -> DateTime<Utc>;
}

/// A source of unique ids.
pub trait IdSource: Debug + Send + Sync {
    /// Returns an id that no memory has.
    fn memory_id(&self) -> MemoryId;

    /// Returns an id that no operation has.
    fn operation_id(&self) -> OperationId;
}
