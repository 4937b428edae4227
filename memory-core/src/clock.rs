//! Time and chance, as things that are handed in.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use crate::{MemoryId, OperationId};

/// Tells the time.
pub trait Clock: Debug + Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> DateTime<Utc>;
}

/// Makes names that nobody else makes.
pub trait IdSource: Debug + Send + Sync {
    /// Returns an id that no memory has.
    fn memory_id(&self) -> MemoryId;

    /// Returns an id that no operation has.
    fn operation_id(&self) -> OperationId;
}
