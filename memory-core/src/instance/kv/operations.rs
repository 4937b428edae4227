//! Lists changes of values.

use super::Values;
use crate::instance::{self, InstanceError, InstanceRecord};

/// Returns the last `limit` operations on the values, newest first, including those that were undone.
///
/// # Errors
/// An error of the store.
pub fn operations(values: &Values, limit: usize) -> Result<Vec<InstanceRecord>, InstanceError> {
    instance::operations(values.store.as_ref(), limit)
}
