//! Deletes the matching records of a session.

use super::{Messages, PurgeResult, RecordFilter, SessionName};
use crate::Verb;
use crate::instance::InstanceError;

/// Deletes the records of a session that match `filter` in one operation.
///
/// A session that does not exist has no records.
///
/// # Errors
/// [`InstanceError::NoFilter`] if the filter accepts all records; or an error of the store.
pub fn purge(messages: &Messages, session: &SessionName, filter: &RecordFilter) -> Result<PurgeResult, InstanceError> {
    if filter.is_empty() {
        return Err(InstanceError::NoFilter);
    }
    messages.store.purge(session, filter, &messages.operation(Verb::Purge))
}
