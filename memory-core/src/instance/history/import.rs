//! Importing sessions from an export.

use super::{Messages, RecordFilter, SessionName, SessionRecord, Window, read, sessions};
use crate::instance::InstanceError;
use crate::secret::Checked;
use crate::{SecretPolicy, SkippedFile, Verb};

/// A session of an export, with its position such as `line 12`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedSession {
    /// The position in the export.
    pub place: String,
    /// The name.
    pub session: SessionName,
    /// The records, in order.
    pub records: Vec<SessionRecord>,
}

/// The result of an import of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionImportReport {
    /// Number of sessions that did not exist before.
    pub new: u64,
    /// Number of sessions that already exist with the same records.
    pub unchanged: u64,
    /// Number of records that were written.
    pub records: u64,
    /// The skipped sessions and lines, with their positions in the export.
    pub skipped: Vec<SkippedFile>,
}

/// Imports the sessions of an export in one operation, which [`undo()`](super::undo()) reverts.
///
/// A session with the name of an existing session and other records is skipped, so that neither is lost. An error of
/// `exported` is the position and the reason of a line that is skipped.
///
/// # Errors
/// [`InstanceError::Invalid`] if the store does not support it, or an error of the store.
pub fn import(
    messages: &Messages,
    exported: impl Iterator<Item = Result<ExportedSession, SkippedFile>>,
    secrets: SecretPolicy,
) -> Result<SessionImportReport, InstanceError> {
    let operation = messages.operation(Verb::Import);
    import_with(messages, exported, secrets, &mut |session, records| {
        messages.store.replace(session, records, &operation)
    })
}

/// Returns the result that [`import`] would have, without writing.
///
/// # Errors
/// Those of [`import`].
pub fn preview_import(
    messages: &Messages,
    exported: impl Iterator<Item = Result<ExportedSession, SkippedFile>>,
    secrets: SecretPolicy,
) -> Result<SessionImportReport, InstanceError> {
    import_with(messages, exported, secrets, &mut |_, _| Ok(()))
}

/// A function that writes the records of a session.
type WriteSession<'w> =
    dyn FnMut(&SessionName, Checked<&[SessionRecord]>) -> Result<(), InstanceError> + 'w;

/// Imports with `write`, which writes the records of a session.
fn import_with(
    messages: &Messages,
    exported: impl Iterator<Item = Result<ExportedSession, SkippedFile>>,
    secrets: SecretPolicy,
    write: &mut WriteSession<'_>,
) -> Result<SessionImportReport, InstanceError> {
    messages.store.check_replace()?;
    let mut report = SessionImportReport::default();
    let mut known: std::collections::HashSet<_> = sessions(messages)?
        .into_iter()
        .map(|summary| summary.session)
        .collect();
    for session in exported {
        let ExportedSession {
            place,
            session,
            records,
        } = match session {
            Ok(session) => session,
            Err(skipped) => {
                report.skipped.push(skipped);
                continue;
            }
        };
        if !known.insert(session.clone()) {
            let stored = read(
                messages,
                &session,
                &RecordFilter::default(),
                Window::default(),
            )?;
            if stored.damaged.is_empty() && stored.records == records {
                report.unchanged += 1;
            } else {
                let reason = format!(
                    "the session {session} exists with other records; it remains unchanged"
                );
                report.skipped.push(SkippedFile {
                    path: place,
                    reason,
                });
            }
            continue;
        }
        match Checked::new(records.as_slice(), [session.as_str()], secrets) {
            Ok(checked) => write(&session, checked)?,
            Err(error) => {
                report.skipped.push(SkippedFile {
                    path: place,
                    reason: error.to_string(),
                });
                continue;
            }
        }
        report.new += 1;
        report.records += records.len() as u64;
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::instance::history::{RecordDraft, append, undo};
    use crate::testing::{FakeMessages, messages};

    fn exported(name: &str, texts: &[&str]) -> ExportedSession {
        let record = |text: &&str| {
            let draft = RecordDraft::from_text("user".parse().expect("a role"), text);
            SessionRecord::imported(&draft).expect("it has a content")
        };
        let session = name.parse().expect("a name");
        ExportedSession {
            place: "line 1".into(),
            session,
            records: texts.iter().map(record).collect(),
        }
    }

    #[test]
    fn sessions_are_imported_once_and_other_records_are_left() {
        let messages = messages(Arc::new(FakeMessages::default())).0;
        let all = || {
            [
                exported("a", &["hello", "again"]),
                exported("b", &["hello"]),
            ]
            .into_iter()
            .map(Ok)
        };
        let import = |sessions: &mut dyn Iterator<Item = Result<ExportedSession, SkippedFile>>| {
            import(&messages, sessions, SecretPolicy::Refuse).expect("the fake store does not fail")
        };
        let report = import(&mut all());
        assert_eq!((report.new, report.unchanged, report.records), (2, 0, 3));
        let draft = RecordDraft::from_text("user".parse().expect("a role"), "own");
        append(
            &messages,
            &"b".parse().expect("a name"),
            &draft,
            SecretPolicy::Refuse,
        )
        .expect("it is appended");
        let report = import(&mut all());
        assert_eq!(
            (report.new, report.unchanged, report.skipped.len()),
            (0, 1, 1)
        );
        assert!(
            report.skipped[0].reason.contains("the session b exists"),
            "{:?}",
            report.skipped
        );
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        assert_eq!(
            import(&mut [exported("c", &[&token])].into_iter().map(Ok))
                .skipped
                .len(),
            1
        );
    }

    #[test]
    fn one_undo_reverts_an_import() {
        let messages = messages(Arc::new(FakeMessages::default())).0;
        let all = [exported("a", &["hello"]), exported("b", &["hello"])];
        import(&messages, all.into_iter().map(Ok), SecretPolicy::Refuse)
            .expect("the fake store does not fail");
        undo(&messages, None).expect("there is an operation");
        assert_eq!(sessions(&messages).expect("a list"), []);
    }
}
