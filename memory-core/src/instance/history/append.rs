//! Keeping what was said.

use super::{Appended, Draft, Messages, Record, SessionName};
use crate::instance::InstanceError;
use crate::json::spelled_out;
use crate::{Secrets, secret};

/// Adds a record at the end of a session, and returns it as it is kept.
///
/// # Errors
/// When it says nothing, is too large, or holds a credential that `secrets` does not want kept; or when the store refuses.
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
