//! The payload of the operation log of topics: the changed files.

use memory_core::topic::{INDEX_FILE, TopicError, TopicSubject, TrashedTopic};
use memory_core::{ContentHash, Operation, Recorded, RecordedFile};
use serde::{Deserialize, Serialize};

use super::error::{read_error, write_error};
use crate::disk::Disk;
use crate::oplog::{Durability, FileChange, FilePayload, LogPayload, OperationLog};

/// The folder of the log and of the previous files.
pub(super) const FOLDER: &str = ".trash";

/// The changed files of an operation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct TopicPayload {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TopicFileLine>,
    /// The copy of an index of another program, if this operation is the first to change it.
    ///
    /// It is in a separate line of the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
}

/// The change of one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TopicFileLine {
    pub path: String,
    /// The hash of the previous file, if it existed.
    pub before: Option<String>,
    /// The path of the previous file in the trash, if it existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trash: Option<String>,
    /// The hash of the file after the operation, if it then exists.
    pub after: Option<String>,
}

impl LogPayload for TopicPayload {
    type Subject = TopicSubject;
    type Error = TopicError;
    const FOLDER: &'static str = FOLDER;

    fn subject(&self) -> Option<TopicSubject> {
        let files: Vec<String> = self.files.iter().map(|file| file.path.clone()).collect();
        (!files.is_empty()).then_some(TopicSubject { files })
    }
}

impl FilePayload for TopicPayload {
    fn files(&self) -> Vec<FileChange> {
        let state = |path: &str, hash: Option<&str>, trash: Option<&String>| {
            // A hash that cannot be parsed matches no file.
            let hash = hash?.parse().unwrap_or(ContentHash::from([u8::MAX; 32]));
            Some(RecordedFile {
                path: path.to_owned(),
                hash,
                trash: trash.cloned(),
            })
        };
        let change = |TopicFileLine {
                          path,
                          before,
                          trash,
                          after,
                      }: &TopicFileLine| FileChange {
            before: state(path, before.as_deref(), trash.as_ref()),
            after: state(path, after.as_deref(), None),
        };
        self.files.iter().map(change).collect()
    }
}

/// Returns the log of a folder of topics.
pub(super) fn log(disk: &dyn Disk) -> OperationLog<'_, TopicPayload> {
    OperationLog::new(disk)
}

/// Copies an index of another program to the trash before an operation first changes it.
pub(super) fn copy_index_to_trash(
    disk: &dyn Disk,
    operation: &Operation,
) -> Result<(), TopicError> {
    let folder = log(disk).trash_folder(operation);
    let trash = format!("{folder}/{INDEX_FILE}");
    disk.hard_link(INDEX_FILE, &trash)
        .and_then(|()| disk.sync_folder(&folder))
        .map_err(write_error(&trash))?;
    let payload = TopicPayload {
        index: Some(trash),
        ..TopicPayload::default()
    };
    let record = Recorded::new(operation, payload, None);
    Ok(log(disk).append(&record, Durability::Synced)?)
}

/// Returns the files in the trash, newest first.
pub(super) fn list_trashed(disk: &dyn Disk) -> Result<Vec<TrashedTopic>, TopicError> {
    let mut trashed = Vec::new();
    for line in log(disk).operations()? {
        let Recorded {
            operation,
            subject: TopicPayload { files, index },
            ..
        } = line?;
        let index = index.map(|trash| (INDEX_FILE.to_owned(), trash));
        let files = files
            .into_iter()
            .filter_map(|TopicFileLine { path, trash, .. }| Some((path, trash?)));
        for (path, trash) in files.chain(index) {
            // The file may have been purged.
            let Some(found) = disk.stat(&trash).map_err(read_error(&trash))? else {
                continue;
            };
            trashed.push(TrashedTopic {
                path,
                trash,
                size: found.size,
                operation: operation.clone(),
            });
        }
    }
    Ok(trashed)
}
