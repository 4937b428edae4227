//! What was taken away or replaced.

use super::Messages;
use crate::instance::{self, InstanceError, InstanceRecord};

/// Returns the last `limit` operations on the sessions that can be taken back or were, newest first.
///
/// # Errors
/// When the store refuses.
pub fn operations(messages: &Messages, limit: usize) -> Result<Vec<InstanceRecord>, InstanceError> {
    instance::operations(messages.store.as_ref(), limit)
}
