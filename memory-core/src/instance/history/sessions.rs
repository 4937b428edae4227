//! Lists sessions.

use super::{Messages, SessionSummary};
use crate::instance::InstanceError;

/// Returns the sessions by name.
///
/// # Errors
/// An error of the store.
pub fn sessions(messages: &Messages) -> Result<Vec<SessionSummary>, InstanceError> {
    messages.store.sessions()
}
