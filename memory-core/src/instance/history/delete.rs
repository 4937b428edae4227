//! Removing a session.

use super::{Messages, SessionName};
use crate::instance::InstanceError;

/// Removes a whole session, and returns how many records it had.
///
/// # Errors
/// [`InstanceError::SessionNotFound`]; or when the store refuses.
pub fn delete(messages: &Messages, session: &SessionName) -> Result<usize, InstanceError> {
    messages.store.delete(session, &messages.operation())?.ok_or_else(|| InstanceError::no_session(session))
}
