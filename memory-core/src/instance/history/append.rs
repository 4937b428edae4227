//! Appends a record to a session.

use super::{Messages, RecordDraft, SessionAppendResult, SessionName, SessionRecord};
use crate::instance::InstanceError;
use crate::json::unescape_strings;
use crate::{SecretPolicy, Verb, secret};

/// Appends a record to a session, and returns the stored record.
///
/// # Errors
/// If the record is empty or too large, or contains a credential and `secrets` refuses them; or an error of the store.
pub fn append(
    messages: &Messages,
    session: &SessionName,
    draft: &RecordDraft,
    secrets: SecretPolicy,
) -> Result<(SessionRecord, SessionAppendResult), InstanceError> {
    // An append is no operation of the log; only the time and the id of this one are used.
    let operation = messages.operation(Verb::Purge);
    let record = SessionRecord::new(draft, operation.at)?;
    if secrets == SecretPolicy::Refuse {
        secret::reject_secrets([session.as_str(), unescape_strings(record.text().as_str()).as_ref()])?;
    }
    let appended = messages.store.append(session, std::slice::from_ref(&record), &operation)?;
    Ok((record, appended))
}
