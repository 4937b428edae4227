//! Reading what was said.

use super::{Filter, Messages, Record, SessionName, Window};
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
    for record in messages.store.records(session, filter, window)? {
        match record {
            Ok(record) => reading.records.push(record),
            Err(error @ InstanceError::Damaged { .. }) => reading.damaged.push(error),
            Err(error) => return Err(error),
        }
    }
    Ok(reading)
}
