//! Undoes an operation on values.

use super::Values;
use crate::instance::{self, InstanceError, InstanceUndone};

/// Undoes the operation with an id that starts with `reference`, or the last one that is not undone.
///
/// # Errors
/// See [`instance::undo()`].
pub fn undo(values: &Values, reference: Option<&str>) -> Result<InstanceUndone, InstanceError> {
    instance::undo(values.store.as_ref(), reference, values.clock.as_ref(), values.ids.as_ref())
}
