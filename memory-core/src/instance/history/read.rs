//! Reading what was said.

use super::{Filter, Messages, Record, Records, SessionName, Window};
use crate::instance::InstanceError;

/// What was read of a session.
#[derive(Debug, Default)]
pub struct Reading {
    /// The records, in their order.
    pub records: Vec<Record>,
    /// What could not be read as a record.
    pub damaged: Vec<InstanceError>,
}

/// Returns the records of a session that fit `filter` and lie in `window`. A session that has not begun has none.
///
/// # Errors
/// When the store refuses.
pub fn read(messages: &Messages, session: &SessionName, filter: &Filter, window: Window) -> Result<Reading, InstanceError> {
    let mut reading = Reading::default();
    for record in records(messages, session, filter, window)? {
        match record {
            Ok(record) => reading.records.push(record),
            Err(error @ InstanceError::Damaged { .. }) => reading.damaged.push(error),
            Err(error) => return Err(error),
        }
    }
    Ok(reading)
}

/// Returns these records one after another, so that a session of any length can be read. What cannot be read as a record comes as
/// [`InstanceError::Damaged`] in its place.
///
/// # Errors
/// When the store refuses.
pub fn records(messages: &Messages, session: &SessionName, filter: &Filter, window: Window) -> Result<Records, InstanceError> {
    messages.store.records(session, filter, window)
}
