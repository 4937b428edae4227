//! Reads the records of a session.

use super::{Messages, RecordFilter, SessionName, SessionRecord, SessionRecords, Window};
use crate::instance::InstanceError;

/// The result of reading a session.
#[derive(Debug, Default)]
pub struct SessionReadResult {
    /// The records, in order.
    pub records: Vec<SessionRecord>,
    /// One error for each line that cannot be parsed as a record.
    pub damaged: Vec<InstanceError>,
}

/// Returns the records of a session that match `filter` and are in `window`.
///
/// A session that does not exist has no records.
///
/// # Errors
/// An error of the store.
pub fn read(
    messages: &Messages,
    session: &SessionName,
    filter: &RecordFilter,
    window: Window,
) -> Result<SessionReadResult, InstanceError> {
    let mut reading = SessionReadResult::default();
    for record in records(messages, session, filter, window)? {
        match record {
            Ok(record) => reading.records.push(record),
            Err(error @ InstanceError::Damaged { .. }) => reading.damaged.push(error),
            Err(error) => return Err(error),
        }
    }
    Ok(reading)
}

/// Returns an iterator over these records, so that sessions of any length can be read.
///
/// A line that cannot be parsed as a record yields an [`InstanceError::Damaged`] at its position.
///
/// # Errors
/// An error of the store.
pub fn records(
    messages: &Messages,
    session: &SessionName,
    filter: &RecordFilter,
    window: Window,
) -> Result<SessionRecords, InstanceError> {
    messages.store.records(session, filter, window)
}
