//! The journal: the operation log of memories, and the operations that it records.
//!
//! The caller holds the writer lock and has checked every expectation. A single write takes three syncs: the journal, the file and its
//! folder. A replica performs an operation that its shared log has without syncs.
//!
//! The index stores a *mark*: the end of the journal at its last update. A writer that finds a longer journal checks the files of the last
//! line. Therefore an operation of many files is applied completely or not at all.

use std::collections::HashSet;
use std::io;

use memory_core::{
    ChangedFiles, ContentHash, MemoryId, Operation, OperationId, ParseError, Recorded,
    RecordedChange, RecordedFile, StoreError,
};
use serde::{Deserialize, Serialize};

use crate::disk::Disk;
use crate::error::io_error;
use crate::markdown::is_version;
use crate::oplog::{
    Durability, FileChange, FileOperations, FilePayload, LogPayload, LogPosition, NewContent,
    OperationError, OperationLog, Staging, shorten_name, trash_folder,
};

/// The beginning of the reason of a change in a shared log that a node cannot apply. It has no files.
pub(crate) const INVALID_CHANGE: &str = "not applied: ";

/// The changes of an operation, or of a part of a long one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WireChanges", into = "WireChanges")]
pub(crate) struct JournalPayload {
    pub(crate) changes: Vec<RecordedChange>,
    /// Whether another principal of a shared database made the changes.
    pub(crate) by_other: bool,
}

impl LogPayload for JournalPayload {
    type Subject = ChangedFiles;
    type Error = StoreError;
    const FOLDER: &'static str = "journal";

    fn subject(&self) -> Option<ChangedFiles> {
        Some(ChangedFiles {
            count: self.changes.len() as u64,
            by_other: self.by_other,
        })
    }
}

impl FilePayload for JournalPayload {
    fn files(&self) -> Vec<FileChange> {
        self.changes.iter().map(file_change).collect()
    }
}

fn file_change(RecordedChange { before, after, .. }: &RecordedChange) -> FileChange {
    FileChange {
        before: before.clone(),
        after: after.clone(),
    }
}

/// The change of one file.
#[derive(Debug, Clone)]
pub(crate) struct CommitStep {
    pub id: MemoryId,
    /// The file in its current state.
    pub before: Option<ReplacedFile>,
    /// The file in its new state.
    pub after: Option<PlannedFile>,
    /// The reason, if the verb of the operation does not explain it.
    pub why: Option<String>,
}

/// A file that is about to be moved to the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplacedFile {
    pub path: String,
    pub hash: ContentHash,
}

/// A file that is about to be created.
#[derive(Debug, Clone)]
pub(crate) struct PlannedFile {
    pub path: String,
    pub bytes: Vec<u8>,
}

/// Returns the record of `steps`, with the path of each previous file in the trash.
pub(crate) fn record_steps(
    disk: &dyn Disk,
    operation: &Operation,
    undoes: Option<&OperationId>,
    steps: &[CommitStep],
) -> Recorded<JournalPayload> {
    Recorded::new(
        operation,
        JournalPayload {
            changes: record_changes(disk, operation, steps),
            by_other: false,
        },
        undoes,
    )
}

/// Performs a recorded operation with the contents of its new files, and rolls back on failure.
///
/// # Errors
/// If the disk fails, or [`StoreError::Conflict`] if a file is not in the expected state. All other files are in their previous state then.
pub(crate) fn execute_record(
    disk: &dyn Disk,
    record: &Recorded<JournalPayload>,
    contents: &[Option<&[u8]>],
    durability: Durability,
) -> Result<(), StoreError> {
    let new: Vec<_> = contents
        .iter()
        .map(|bytes| bytes.map(|bytes| NewContent { bytes, like: None }))
        .collect();
    file_operations(disk)
        .with_durability(durability)
        .execute(record, &new)
        .map_err(|error| match error {
            OperationError::Read(_, source) | OperationError::Write(_, source) => io_error(
                format!(
                    "{} {}",
                    record.operation.verb,
                    describe(&record.subject.changes)
                ),
                source,
            ),
            error => error.into(),
        })
}

/// Returns the step that reverts `change`.
///
/// # Errors
/// [`StoreError::Conflict`] if the file is not as the change left it, [`StoreError::TrashNotFound`], or if the disk fails.
pub(crate) fn revert_step(
    disk: &dyn Disk,
    change: &RecordedChange,
) -> Result<CommitStep, StoreError> {
    let mut change = change.clone();
    if let Some(after) = &mut change.after
        && let Ok(Some((bytes, _))) = disk.read(&after.path)
        && is_version(&bytes, after.hash)
    {
        // Access counts are written without an operation.
        after.hash = ContentHash::from_bytes(&bytes);
    }
    let content = file_operations(disk)
        .previous_content(&file_change(&change))
        .map_err(|error| match error {
            OperationError::Read(reference, source) if source.kind() == io::ErrorKind::NotFound => {
                StoreError::TrashNotFound {
                    reference,
                    earlier: None,
                }
            }
            error => error.into(),
        })?;
    let before = change.after.as_ref().map(|after| ReplacedFile {
        path: after.path.clone(),
        hash: after.hash,
    });
    let after = change
        .before
        .as_ref()
        .zip(content)
        .map(|(former, bytes)| PlannedFile {
            path: former.path.clone(),
            bytes,
        });
    Ok(CommitStep {
        id: change.id,
        before,
        after,
        why: None,
    })
}

/// Restores the previous files of the last operation that is not taken back yet, and removes the operation from the journal.
pub(crate) fn take_back_record(
    disk: &dyn Disk,
    record: &Recorded<JournalPayload>,
) -> Result<(), StoreError> {
    Ok(file_operations(disk).roll_back(record)?)
}

/// Rolls back the last operation after `mark` if it was interrupted. The caller holds the writer lock.
pub(crate) fn recover(disk: &dyn Disk, mark: Option<&LogPosition>) -> Result<(), StoreError> {
    file_operations(disk).recover(mark)
}

fn file_operations(disk: &dyn Disk) -> FileOperations<'_, JournalPayload> {
    FileOperations::new(disk, Staging::BesideFiles)
}

/// Returns the journal of a home.
pub(crate) fn journal(disk: &dyn Disk) -> OperationLog<'_, JournalPayload> {
    OperationLog::new(disk)
}

/// Returns the changes for the journal, including the trash path of each previous file.
fn record_changes(
    disk: &dyn Disk,
    operation: &Operation,
    steps: &[CommitStep],
) -> Vec<RecordedChange> {
    let folder = trash_folder("trash", operation);
    let mut taken = HashSet::new();
    let mut trash_path = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let place = |number: u32| {
            let mark = format!("{number}-");
            format!("{folder}/{mark}{}", shorten_name(name, mark.len()))
        };
        let numbered = std::iter::once(format!("{folder}/{name}")).chain((2..).map(place));
        numbered
            .into_iter()
            .find(|place| !matches!(disk.stat(place), Ok(Some(_))) && taken.insert(place.clone()))
            .unwrap_or_else(|| unreachable!("numbers do not run out"))
    };
    steps
        .iter()
        .map(|step| RecordedChange {
            id: step.id,
            before: step.before.as_ref().map(|former| RecordedFile {
                path: former.path.clone(),
                hash: former.hash,
                trash: Some(trash_path(&former.path)),
            }),
            after: step.after.as_ref().map(|next| RecordedFile {
                path: next.path.clone(),
                hash: ContentHash::from_bytes(&next.bytes),
                trash: None,
            }),
            why: step.why.clone(),
        })
        .collect()
}

fn describe(changes: &[RecordedChange]) -> String {
    match changes {
        [only] => only
            .after
            .as_ref()
            .or(only.before.as_ref())
            .map(|file| file.path.clone())
            .unwrap_or_default(),
        many => format!("{} files", many.len()),
    }
}

#[derive(Serialize, Deserialize)]
struct WireChanges {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<WireChange>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    by_other: bool,
}

#[derive(Serialize, Deserialize)]
struct WireChange {
    id: String,
    before: Option<WireFile>,
    after: Option<WireFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct WireFile {
    path: String,
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trash: Option<String>,
}

impl From<JournalPayload> for WireChanges {
    fn from(payload: JournalPayload) -> Self {
        let file = |RecordedFile { path, hash, trash }| WireFile {
            path,
            hash: hash.to_string(),
            trash,
        };
        let change = |RecordedChange {
                          id,
                          before,
                          after,
                          why,
                      }| WireChange {
            id: id.to_string(),
            before: before.map(file),
            after: after.map(file),
            why,
        };
        Self {
            changes: payload.changes.into_iter().map(change).collect(),
            by_other: payload.by_other,
        }
    }
}

impl TryFrom<WireChanges> for JournalPayload {
    type Error = ParseError;

    fn try_from(wire: WireChanges) -> Result<Self, ParseError> {
        let file = |WireFile { path, hash, trash }| {
            Ok(RecordedFile {
                path,
                hash: hash.parse::<ContentHash>()?,
                trash,
            })
        };
        let change = |WireChange {
                          id,
                          before,
                          after,
                          why,
                      }| {
            let (before, after) = (before.map(file).transpose()?, after.map(file).transpose()?);
            Ok(RecordedChange {
                id: id.parse::<MemoryId>()?,
                before,
                after,
                why,
            })
        };
        Ok(Self {
            changes: wire
                .changes
                .into_iter()
                .map(change)
                .collect::<Result<_, ParseError>>()?,
            by_other: wire.by_other,
        })
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{
        ContentHash, IdSource, MemoryId, Operation, OperationId, Verb, testing::CountingIds,
    };

    use super::{
        CommitStep, PlannedFile, ReplacedFile, execute_record, journal, record_steps, recover,
    };
    use crate::disk::{Disk, RealDisk};
    use crate::oplog::Durability;

    #[test]
    fn what_somebody_did_after_an_operation_is_no_reason_to_take_it_back() {
        let home = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(home.path()).unwrap();
        let path = |name: &str| format!("categories/inbox/{name}.md");
        disk.write(&path("changed"), b"former").unwrap();
        let step = |name: &str, before: Option<&[u8]>, after: &[u8]| CommitStep {
            id: MemoryId::for_path(name),
            before: before.map(|bytes| ReplacedFile {
                path: path(name),
                hash: ContentHash::from_bytes(bytes),
            }),
            after: Some(PlannedFile {
                path: path(name),
                bytes: after.to_vec(),
            }),
            why: None,
        };
        let id = CountingIds::default().operation_id();
        let operation = Operation {
            id,
            verb: Verb::Import,
            by: "test".into(),
            at: chrono::DateTime::UNIX_EPOCH,
        };
        let steps = [
            step("kept", None, b"kept"),
            step("deleted", None, b"deleted"),
            step("changed", Some(b"former"), b"new"),
        ];
        let contents = steps
            .each_ref()
            .map(|step| step.after.as_ref().map(|next| next.bytes.as_slice()));
        execute_record(
            &disk,
            &record_steps(&disk, &operation, None, &steps),
            &contents,
            Durability::Synced,
        )
        .unwrap();

        disk.remove(&path("deleted")).unwrap();
        disk.write(&path("changed"), b"former").unwrap();
        // Without the index, the operation is not known to be complete.
        recover(&disk, None).unwrap();

        let text = |name: &str| disk.read(&path(name)).unwrap().map(|(bytes, _)| bytes);
        assert_eq!(
            [text("kept"), text("deleted"), text("changed")],
            [Some(b"kept".to_vec()), None, Some(b"former".to_vec())]
        );
        assert_eq!(journal(&disk).operations().unwrap().count(), 1);
    }

    #[test]
    fn operations_with_a_text_are_those_of_the_log_that_contain_it_and_all_undos() {
        let home = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(home.path()).unwrap();
        let ids = CountingIds::default();
        let log = journal(&disk);
        let append = |id: &OperationId, undoes: Option<&OperationId>, name: &str| {
            let operation = Operation {
                id: id.clone(),
                verb: Verb::Import,
                by: "test".into(),
                at: chrono::DateTime::UNIX_EPOCH,
            };
            let step = CommitStep {
                id: MemoryId::for_path(name),
                before: None,
                after: Some(PlannedFile {
                    path: name.into(),
                    bytes: Vec::new(),
                }),
                why: None,
            };
            let record = record_steps(&disk, &operation, undoes, &[step]);
            log.append(&record, Durability::Unsynced).unwrap();
            operation
        };
        let [first, second, undo] = [(); 3].map(|()| ids.operation_id());
        append(&first, None, "tea");
        append(&second, None, "tea");
        // The last part of the second operation was not carried out. Its line does not contain the text.
        let aborted = append(&second, None, "milk");
        log.append_abort(&aborted).unwrap();
        append(&undo, Some(&second), "sugar");

        let wanted = MemoryId::for_path("tea").to_string();
        let found = log.operations_with(Some(&wanted)).unwrap();
        let found: Vec<_> = found.map(|record| record.unwrap().operation.id).collect();
        assert_eq!(found, [undo, second, first]);
        let found = log.operations_with(Some("coffee")).unwrap();
        assert_eq!(found.count(), 1, "the undo");
    }
}
