//! The id and time of a change of an instance.

use chrono::{DateTime, Utc};

use crate::{Clock, IdSource, OperationId};

/// A change of the content of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceOperation {
    /// The id of the operation; the previous content is retained under it.
    pub id: OperationId,
    /// The time of the operation.
    pub at: DateTime<Utc>,
}

impl InstanceOperation {
    /// Creates an operation with a new id at the current time.
    pub fn new(clock: &dyn Clock, ids: &dyn IdSource) -> Self {
        Self { id: ids.operation_id(), at: clock.now() }
    }
}
