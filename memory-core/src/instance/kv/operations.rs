//! What was set and deleted.

use super::Values;
use crate::instance::{self, InstanceError, InstanceRecord};

/// Returns the last `limit` operations on the values that can be taken back or were, newest first.
///
/// # Errors
/// When the store refuses.
pub fn operations(values: &Values, limit: usize) -> Result<Vec<InstanceRecord>, InstanceError> {
    instance::operations(values.store.as_ref(), limit)
}
