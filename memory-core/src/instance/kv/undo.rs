//! Undoes an operation on values.

use super::KeyValues;
use crate::instance::{self, InstanceError, InstanceUndoReport};

/// Undoes the operation with an id that starts with `reference`, or the last one that is not undone.
///
/// # Errors
/// See [`instance::undo()`].
pub fn undo(values: &KeyValues, reference: Option<&str>) -> Result<InstanceUndoReport, InstanceError> {
    instance::undo(values.store.as_ref(), reference, values.clock.as_ref(), values.ids.as_ref())
}
