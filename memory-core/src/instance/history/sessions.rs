//! What sessions there are.

use super::{Messages, SessionSummary};
use crate::instance::InstanceError;

/// Returns the sessions, by name.
///
/// # Errors
/// When the store refuses.
pub fn sessions(messages: &Messages) -> Result<Vec<SessionSummary>, InstanceError> {
    messages.store.sessions()
}
