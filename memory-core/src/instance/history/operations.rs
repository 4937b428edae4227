//! Lists deletions and purges of sessions.

use super::Messages;
use crate::instance::{self, InstanceError, InstanceRecord};

/// Returns the last `limit` operations on the sessions, newest first, including those that were undone.
///
/// # Errors
/// An error of the store.
pub fn operations(messages: &Messages, limit: usize) -> Result<Vec<InstanceRecord>, InstanceError> {
    instance::operations(messages.store.as_ref(), limit)
}
