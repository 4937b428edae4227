//! Lists changes of values.

use super::KeyValues;
use crate::instance::{self, InstanceError, InstanceRecord};

/// Returns the last `limit` operations on the values, newest first, including those that were undone.
///
/// # Errors
/// An error of the store.
pub fn operations(values: &KeyValues, limit: usize) -> Result<Vec<InstanceRecord>, InstanceError> {
    instance::operations(values.store.as_ref(), limit)
}
