//! Appends a record to a session.

use super::{Messages, RecordDraft, SessionAppendResult, SessionName, SessionRecord};
use crate::instance::InstanceError;
use crate::secret::Checked;
use crate::{SecretPolicy, Verb};

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
    let records = Checked::new(std::slice::from_ref(&record), [session.as_str()], secrets)?;
    let appended = messages.store.append(session, records, &operation)?;
    Ok((record, appended))
}
