//! Undoes an operation on sessions.

use super::Messages;
use crate::instance::{self, InstanceError, InstanceUndoReport};

/// Undoes the operation with an id that starts with `reference`, or the last one that is not undone.
///
/// # Errors
/// See [`instance::undo()`].
pub fn undo(messages: &Messages, reference: Option<&str>) -> Result<InstanceUndoReport, InstanceError> {
    instance::undo(messages.store.as_ref(), reference, messages.clock.as_ref(), messages.ids.as_ref())
}
