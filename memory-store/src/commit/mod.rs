//! Applies an operation to the files atomically, even across a power cut.
//!
//! Safety follows from the order of the steps. Each step is durable before the next one starts:
//!
//! 1. A journal line records for each file its previous and its new state.
//! 2. The new content is written under temporary names.
//! 3. The previous files are linked into the trash.
//! 4. The new files are renamed to their final names.
//! 5. The previous names of moved files are removed.
//!
//! After a crash, the journal contains an operation with some files in the previous state and some in the new one. The next writer detects
//! this and rolls the operation back.
//!
//! The caller holds the writer lock and has checked every expectation before step 1. A single write takes three
//! syncs: the journal, the file and its folder. The files of an operation with many changes are synced together.
//!
//! The index stores a *mark*: the end of the journal at its last update. A writer that finds a longer journal
//! checks the files of the last line. Therefore an operation of many files is applied completely or not at all.

mod execution;
mod journal;
mod progress;
mod recovery;

pub(crate) use execution::{execute_steps, is_temporary_name};
pub(crate) use journal::{JournalPayload, journal, journal_read_error, journal_write_error};
pub(crate) use recovery::{recover, roll_back};

use std::borrow::Cow;

use memory_core::{ContentHash, MemoryId, Operation, OperationId, RecordedChange, RecordedFile};

use crate::disk::Disk;

/// Maximum length of a file name on common file systems, in bytes.
pub(crate) const LONGEST_NAME: usize = 255;

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

/// Returns the changes for the journal, including the trash path of each previous file.
pub(crate) fn record_changes(disk: &dyn Disk, operation: &Operation, steps: &[CommitStep]) -> Vec<RecordedChange> {
    let folder = trash_folder(operation);
    let mut taken = std::collections::HashSet::new();
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

fn trash_folder(operation: &Operation) -> String {
    format!("trash/{}/{}", operation.at.format("%Y-%m"), operation.id)
}

/// Returns the temporary path for the new content of `path`.
fn temporary_path(path: &str, operation: &OperationId) -> String {
    let end = format!(".{operation}.tmp");
    match path.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/.{}{end}", shorten_name(name, 1 + end.len())),
        None => format!(".{}{end}", shorten_name(path, 1 + end.len())),
    }
}

/// Returns a name that `more` bytes can be added to. A shortened name ends in a hash of the full one.
fn shorten_name(name: &str, more: usize) -> Cow<'_, str> {
    if name.len() + more <= LONGEST_NAME {
        return Cow::Borrowed(name);
    }
    let mark: String = ContentHash::of(name).to_string().chars().take(16).collect();
    let start = &name[..name.floor_char_boundary(LONGEST_NAME - more - 1 - mark.len())];
    Cow::Owned(format!("{start}-{mark}"))
}

fn parent_folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
