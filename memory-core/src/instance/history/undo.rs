//! The way back.

use super::Messages;
use crate::instance::{self, InstanceError, InstanceUndone};

/// Takes back the operation whose name begins with `reference`, or the last one that was not taken back.
///
/// # Errors
/// As [`instance::undo()`].
pub fn undo(messages: &Messages, reference: Option<&str>) -> Result<InstanceUndone, InstanceError> {
    instance::undo(messages.store.as_ref(), reference, messages.clock.as_ref(), messages.ids.as_ref())
}
