//! The queue of operations that are not in the shared log yet.
//!
//! Each operation is a file with its record and the contents of its new files. The queue is not derived from anything: it is the only place
//! with these operations, apart from the replica, which may be deleted.

use std::io;

use chrono::{DateTime, Utc};
use memory_core::{Code, Problem, Recorded, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::disk::{Disk, replace_file};
use crate::error::{io_error, write_error};
use crate::journal::JournalPayload;
use crate::oplog::{operation_from_json, operation_to_json};
use crate::shared_log::{NewOperation, OperationFile};

/// The folder of the queue.
pub(crate) const OFFLINE_FOLDER: &str = "offline";

/// The queue in a home. The caller of a method that changes it holds the writer lock.
#[derive(Debug)]
pub(crate) struct OfflineQueue<'d> {
    disk: &'d dyn Disk,
}

/// An operation in the queue.
#[derive(Debug, Clone)]
pub(crate) struct QueuedOperation {
    /// The position in the queue.
    number: u64,
    pub operation: NewOperation,
}

impl<'d> OfflineQueue<'d> {
    /// Returns the queue of the home on `disk`.
    pub(crate) fn new(disk: &'d dyn Disk) -> Self {
        Self { disk }
    }

    /// Returns the number of operations.
    pub(crate) fn len(&self) -> Result<usize, StoreError> {
        Ok(self.numbers()?.len())
    }

    /// Returns whether the log has all operations of this node.
    pub(crate) fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.numbers()?.is_empty())
    }

    /// Returns the time of the first operation, if there is one.
    pub(crate) fn oldest(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        let first = self.numbers()?.first().copied();
        Ok(first
            .map(|number| self.read_one(number))
            .transpose()?
            .flatten()
            .map(|queued| queued.operation.record.operation.at))
    }

    /// Returns all operations in the order in which they were queued.
    pub(crate) fn read(&self) -> Result<Vec<QueuedOperation>, StoreError> {
        self.numbers()?
            .into_iter()
            .filter_map(|number| self.read_one(number).transpose())
            .collect()
    }

    /// Adds an operation durably.
    pub(crate) fn push(&self, operation: NewOperation) -> Result<QueuedOperation, StoreError> {
        let number = self.numbers()?.last().map_or(1, |last| last + 1);
        let queued = QueuedOperation { number, operation };
        self.replace(&queued).map(|()| queued)
    }

    /// Replaces an operation durably.
    pub(crate) fn replace(&self, queued: &QueuedOperation) -> Result<(), StoreError> {
        let path = path(queued.number);
        let bytes = serde_json::to_vec(&WireQueued::from(&queued.operation))
            .expect("texts and numbers have a JSON form");
        replace_file(self.disk, &format!("{path}.tmp"), &path, &bytes).map_err(write_error(&path))
    }

    /// Removes an operation durably.
    pub(crate) fn remove(&self, queued: &QueuedOperation) -> Result<(), StoreError> {
        let path = path(queued.number);
        let removed = self
            .disk
            .remove(&path)
            .and_then(|()| self.disk.sync_folder(OFFLINE_FOLDER));
        removed.map_err(|error| io_error(format!("remove {path}"), error))
    }

    fn numbers(&self) -> Result<Vec<u64>, StoreError> {
        let entries = match self.disk.list_folder(OFFLINE_FOLDER) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_error(format!("read {OFFLINE_FOLDER}"), error));
            }
            entries => entries.unwrap_or_default(),
        };
        let number = |name: &str| name.strip_suffix(".json")?.parse().ok();
        let mut numbers: Vec<u64> = entries
            .iter()
            .filter_map(|entry| number(&entry.name))
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn read_one(&self, number: u64) -> Result<Option<QueuedOperation>, StoreError> {
        let path = path(number);
        let read = self
            .disk
            .read_part(&path, 0, usize::MAX)
            .map_err(|error| io_error(format!("read {path}"), error))?;
        if read.is_empty() {
            // Another process has sent it meanwhile.
            return Ok(None);
        }
        let parsed = serde_json::from_slice::<WireQueued>(&read)
            .ok()
            .and_then(WireQueued::parse)
            .map(|operation| QueuedOperation { number, operation });
        let hint = Some(
            "it contains a write that is not in the database; move the file to another folder to continue without it",
        );
        let what = "the queued operation cannot be read".to_owned();
        parsed.map(Some).ok_or(StoreError::Damaged(Problem {
            code: Code::FileDamaged,
            path,
            line: None,
            what,
            hint,
        }))
    }
}

fn path(number: u64) -> String {
    format!("{OFFLINE_FOLDER}/{number:08}.json")
}

#[derive(Debug, Serialize, Deserialize)]
struct WireQueued {
    token: i64,
    /// The line of the journal.
    operation: Value,
    files: Vec<WireQueuedFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireQueuedFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    former_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The content if it is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Vec<u8>>,
}

impl From<&NewOperation> for WireQueued {
    fn from(queued: &NewOperation) -> Self {
        let operation = serde_json::from_slice(&operation_to_json(&queued.record))
            .expect("a line of the journal is JSON");
        let file = |file: &OperationFile| {
            let text = file
                .content
                .as_ref()
                .and_then(|bytes| String::from_utf8(bytes.clone()).ok());
            let bytes = file.content.clone().filter(|_| text.is_none());
            WireQueuedFile {
                former_key: file.former_key.clone(),
                key: file.key.clone(),
                text,
                bytes,
            }
        };
        Self {
            token: queued.token,
            operation,
            files: queued.files.iter().map(file).collect(),
        }
    }
}

impl WireQueued {
    fn parse(self) -> Option<NewOperation> {
        let record: Recorded<JournalPayload> =
            operation_from_json(self.operation.to_string().as_bytes())?;
        let file = |file: WireQueuedFile| OperationFile {
            former_key: file.former_key,
            key: file.key,
            content: file.text.map(String::into_bytes).or(file.bytes),
        };
        let files: Vec<_> = self.files.into_iter().map(file).collect();
        (files.len() == record.subject.changes.len()).then_some(NewOperation {
            token: self.token,
            record,
            files,
        })
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{IdSource, MemoryId, Operation, Verb, testing::CountingIds};

    use super::*;
    use crate::disk::RealDisk;
    use crate::journal::{CommitStep, PlannedFile, record_steps};

    #[test]
    fn an_operation_is_the_same_after_it_was_queued_whatever_bytes_it_writes() {
        let home = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(home.path()).unwrap();
        let queue = OfflineQueue::new(&disk);
        assert!(queue.is_empty().unwrap() && queue.oldest().unwrap().is_none());
        let operation = Operation {
            id: CountingIds::default().operation_id(),
            verb: Verb::Write,
            by: "cli".into(),
            at: DateTime::UNIX_EPOCH,
        };
        let contents: [&[u8]; 3] = ["text \"部署\"\r\n".as_bytes(), &[0xff, 0x00, 0x0a], b""];
        for content in contents {
            let path = "categories/inbox/a.md".to_owned();
            let after = Some(PlannedFile {
                path: path.clone(),
                bytes: content.to_vec(),
            });
            let step = CommitStep {
                id: MemoryId::for_path(&path),
                before: None,
                after,
                why: Some("why".into()),
            };
            let record = record_steps(&disk, &operation, None, &[step]);
            let files = vec![OperationFile {
                former_key: Some("global".into()),
                key: Some("team:web".into()),
                content: Some(content.to_vec()),
            }];
            let queued = queue
                .push(NewOperation {
                    record: record.clone(),
                    token: -7,
                    files: files.clone(),
                })
                .unwrap();
            let [QueuedOperation { operation, .. }] = &queue.read().unwrap()[..] else {
                panic!("one operation")
            };
            assert_eq!(
                (operation.token, &operation.record, &operation.files),
                (-7, &record, &files)
            );
            assert_eq!(queue.oldest().unwrap(), Some(DateTime::UNIX_EPOCH));
            queue.remove(&queued).unwrap();
        }
        std::fs::write(home.path().join(path(1)), "{").unwrap();
        assert_eq!(queue.read().unwrap_err().code(), Code::FileDamaged);
    }
}
