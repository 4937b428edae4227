//! The way back.

use super::Values;
use crate::instance::{self, InstanceError, InstanceUndone};

/// Takes back the operation whose name begins with `reference`, or the last one that was not taken back.
///
/// # Errors
/// As [`instance::undo()`].
pub fn undo(values: &Values, reference: Option<&str>) -> Result<InstanceUndone, InstanceError> {
    instance::undo(values.store.as_ref(), reference, values.clock.as_ref(), values.ids.as_ref())
}
