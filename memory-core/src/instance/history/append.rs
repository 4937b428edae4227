//! Appends a record to a session.

use super::{Appended, Draft, Messages, Record, SessionName};
use crate::instance::InstanceError;
use crate::json::spelled_out;
use crate::{Secrets, secret};

/// Appends a record to a session, and returns the stored record.
///
/// # Errors
/// If the record is empty or too large, or contains a credential and `secrets` refuses them; or an error of the store.
pub fn append(
    messages: &Messages,
    session: &SessionName,
    draft: &Draft,
    secrets: Secrets,
) -> Result<(Record, Appended), InstanceError> {
    let operation = messages.operation();
    let record = Record::new(draft, operation.at)?;
    if secrets == Secrets::Refuse {
        secret::refuse([session.as_str(), spelled_out(record.text().as_str()).as_ref()])?;
    }
    let appended = messages.store.append(session, std::slice::from_ref(&record), &operation)?;
    Ok((record, appended))
}
