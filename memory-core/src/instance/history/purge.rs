//! Removing some records of a session.

use super::{Filter, Messages, Purged, SessionName};
use crate::instance::InstanceError;

/// Removes the records of a session that fit `filter`, all at once. A session that has not begun has none.
///
/// # Errors
/// [`InstanceError::NoFilter`] if it means every record; or when the store refuses.
pub fn purge(messages: &Messages, session: &SessionName, filter: &Filter) -> Result<Purged, InstanceError> {
    if filter.is_empty() {
        return Err(InstanceError::NoFilter);
    }
    messages.store.purge(session, filter, &messages.operation())
}
