//! When something is changed, and under which name.

use chrono::{DateTime, Utc};

use crate::{Clock, IdSource, OperationId};

/// A change of what an instance holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceOperation {
    /// Its name; what was there before is kept under it.
    pub id: OperationId,
    /// When.
    pub at: DateTime<Utc>,
}

impl InstanceOperation {
    /// Begins a change now.
    pub fn new(clock: &dyn Clock, ids: &dyn IdSource) -> Self {
        Self { id: ids.operation_id(), at: clock.now() }
    }
}
