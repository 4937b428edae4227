//! Undo of an operation on a session.

use std::collections::HashSet;
use std::io;

use memory_core::instance::InstanceError;
use memory_core::{ContentHasher, OperationId, Recorded, StoreError, Verb};

use super::file::{SessionFile, file_error, parse_record};
use super::operations::{self, RemainingLines, SessionPayload};
use super::rewrite::SessionRewriter;
use crate::disk::{Disk, ForwardLines};
use crate::system::read_exact_at;

/// Number of bytes read at a time to compute the hash.
const BLOCK: usize = 1024 * 1024;

impl SessionRewriter<'_> {
    /// Undoes a change of the session.
    ///
    /// The previous lines replace the lines that the operation left. Records appended since then follow them.
    pub(super) fn undo(&self, logged: &Recorded<SessionPayload>) -> Result<(), InstanceError> {
        let (now, since) = self.check_undo(logged)?;
        let (line, undone) = (&logged.subject, &logged.operation.id);
        let former = line
            .former
            .as_deref()
            .map(|former| self.open_trashed_file(former, undone))
            .transpose()?;
        let payload = SessionPayload::new(self.session.as_str(), line.count);
        let is_all = now.as_ref().is_none_or(|now| now.end <= since);
        if former.is_none() && is_all {
            return self.move_to_trash(payload, Some(undone));
        }
        let has_more = now.is_some();
        let former = former
            .into_iter()
            .flat_map(|former| ForwardLines::new(former.file, former.end));
        // The incomplete record of an interrupted append is in the trash already, or still at the end of the session.
        let former = former.filter(move |line| {
            line.as_ref()
                .map_or(true, |line| !has_more || is_complete_record(line))
        });
        let more = now
            .into_iter()
            .flat_map(|now| ForwardLines::from_offset(now.file, since, now.end));
        self.replace(former.chain(more), payload, Some(undone))
    }

    /// Returns the file of the session, and the length of the lines that the operation left.
    ///
    /// # Errors
    /// [`InstanceError::ChangedSince`] if a later change prevents the undo.
    pub(super) fn check_undo(
        &self,
        logged: &Recorded<SessionPayload>,
    ) -> Result<(Option<SessionFile>, u64), InstanceError> {
        let changed = |why: String| InstanceError::ChangedSince {
            operation: logged.operation.id.clone(),
            why,
        };
        if let Some(other) = find_later_restore(self.disk, logged)? {
            return Err(changed(format!(
                "{other} restored records that were deleted earlier; undo that operation first"
            )));
        }
        let now = SessionFile::open(self.disk, self.path, || ())?;
        let since = match (&logged.subject.left, &now) {
            (None, _) => 0,
            (Some(left), Some(now))
                if starts_with_remaining(left, now).map_err(file_error(self.path))? =>
            {
                left.bytes
            }
            (Some(_), _) => {
                return Err(changed(format!(
                    "the session {} was changed afterwards",
                    self.session
                )));
            }
        };
        Ok((now, since))
    }

    fn open_trashed_file(
        &self,
        path: &str,
        undone: &OperationId,
    ) -> Result<SessionFile, InstanceError> {
        let missing = || StoreError::OperationNotFound {
            wanted: format!("the data deleted by {undone} was purged"),
        };
        Ok(SessionFile::open(self.disk, path, || ())?.ok_or_else(missing)?)
    }
}

fn is_complete_record(line: &crate::disk::RawLine) -> bool {
    line.is_whole || matches!(parse_record("", line), Some(Ok(_)))
}

/// Returns whether a file starts with the lines that an operation left.
fn starts_with_remaining(left: &RemainingLines, now: &SessionFile) -> io::Result<bool> {
    if now.end < left.bytes {
        return Ok(false);
    }
    let (mut hash, mut at, mut buffer) = (ContentHasher::default(), 0, vec![0; BLOCK]);
    while at < left.bytes {
        let block = usize::try_from(left.bytes - at).unwrap_or(BLOCK).min(BLOCK);
        read_exact_at(&now.file, &mut buffer[..block], at)?;
        hash.update(&buffer[..block]);
        at += block as u64;
    }
    Ok(hash.finish().to_string() == left.hash)
}

/// Returns a later undo, still in effect, that restored records removed before `undone`.
///
/// Restored records are placed at the start of the session, so an undo of `undone` would put them in the wrong order.
fn find_later_restore(
    disk: &dyn Disk,
    undone: &Recorded<SessionPayload>,
) -> Result<Option<OperationId>, InstanceError> {
    let mut back: Vec<Recorded<SessionPayload>> = Vec::new();
    let mut passed = HashSet::new();
    for record in operations::operations(disk)? {
        let record = record?;
        if record.operation.id == undone.operation.id {
            break;
        }
        if record.subject.session == undone.subject.session {
            passed.insert(record.operation.id.clone());
            back.extend(
                (record.operation.verb == Verb::Undo && record.undone_by.is_none())
                    .then_some(record),
            );
        }
    }
    let is_older = |record: &Recorded<SessionPayload>| {
        record
            .undoes
            .as_ref()
            .is_some_and(|other| !passed.contains(other))
    };
    Ok(back
        .into_iter()
        .find(is_older)
        .map(|record| record.operation.id))
}
