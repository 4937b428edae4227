//! Deletes a session.

use super::{Messages, SessionName};
use crate::Verb;
use crate::instance::InstanceError;

/// Deletes a whole session, and returns its number of records.
///
/// # Errors
/// [`InstanceError::SessionNotFound`], or an error of the store.
pub fn delete(messages: &Messages, session: &SessionName) -> Result<usize, InstanceError> {
    messages.store.delete(session, &messages.operation(Verb::Delete))?.ok_or_else(|| InstanceError::session_not_found(session))
}
