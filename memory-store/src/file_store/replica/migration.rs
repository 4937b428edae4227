//! Copies the operations and memories of a home into the log of a replica.
//!
//! Every operation of the journal is appended with the contents of its files, which are current files or previous versions in the trash.
//! So the history, the trash and every undo are the same afterwards. The tokens are derived from the operations, so an interrupted copy
//! continues after the last operation in the log.

use std::collections::BTreeMap;
use std::path::Path;

use memory_core::{
    ContentHash, HomeSection, MemoryId, Operation, OperationId, Progress, Recorded, RecordedChange,
    RecordedFile, StoreError, Verb,
};

use crate::access_key::{access_key, name_with_key};
use crate::disk::{Disk, RealDisk, file_name, list_files};
use crate::error::{io_error, read_error};
use crate::file_store::FileStore;
use crate::index::CATEGORIES;
use crate::journal::{JournalPayload, journal};
use crate::lock::WriterLock;
use crate::memory_file::load;
use crate::shared_log::{
    LogAppendResult, LogHeads, NewOperation, OperationFile, SharedLog, decode_memory,
};

/// A version of a file, and the path of its content on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileVersionPlace {
    path: String,
    hash: ContentHash,
    /// The path of the content; `None` if it was purged.
    content: Option<String>,
}

/// An operation to append, with the paths of the contents of its files.
#[derive(Debug, Clone)]
struct CopiedOperation {
    record: Recorded<JournalPayload>,
    /// For each change, the contents of the previous and of the new file.
    contents: Vec<(Option<String>, Option<String>)>,
}

impl FileStore {
    /// Copies all operations and memories of the home at `source` into the log of this replica, and returns the number of operations.
    ///
    /// Only the lock of `source` is used. The log must be empty, or contain a part of these operations from an interrupted call.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if this store is not a replica, or if the log contains other operations; or if the home or the database
    /// cannot be used.
    pub fn copy_operations(
        &self,
        source: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<usize, StoreError> {
        let invalid = |why: &str| StoreError::Invalid {
            why: why.to_owned(),
        };
        let replica = self
            .replica
            .as_ref()
            .ok_or_else(|| invalid("the store is not a replica of a database"))?;
        let log = replica.connection.log();
        let disk = &RealDisk::open(source)
            .map_err(|error| io_error(format!("open {}", source.display()), error))?;
        let _lock = WriterLock::acquire(disk, source, self.options.patience)?;
        let newest_first = journal(disk).operations()?.collect::<Result<Vec<_>, _>>()?;
        let current = current_files(disk)?;
        let exists = |path: &str| matches!(disk.stat(path), Ok(Some(found)) if !found.is_folder);
        let planned = plan(newest_first, current, exists);
        let (mut heads, done) = logged_operations(log)?;
        if planned.len() < done.len()
            || planned
                .iter()
                .enumerate()
                .zip(&done)
                .any(|((at, own), token)| own.token(at) != *token)
        {
            return Err(invalid(
                "the database contains other memories; use an empty database",
            ));
        }
        let count = planned.len();
        let report = |done: usize| Progress {
            done: done as u64,
            total: Some(count as u64),
        };
        for (at, operation) in planned.into_iter().enumerate().skip(done.len()) {
            progress(report(at));
            operation.append(at, disk, log, &mut heads)?;
        }
        progress(report(count));
        Ok(count)
    }
}

impl CopiedOperation {
    /// Returns a number that identifies this operation at its place in the journal.
    fn token(&self, at: usize) -> i64 {
        let digest =
            ContentHash::from_bytes(format!("{}/{at}", self.record.operation.id).as_bytes());
        i64::from_ne_bytes(
            digest.as_bytes()[..8]
                .try_into()
                .expect("a hash has 32 bytes"),
        )
    }

    fn append(
        &self,
        at: usize,
        disk: &dyn Disk,
        log: &dyn SharedLog,
        heads: &mut LogHeads,
    ) -> Result<(), StoreError> {
        let mut record = self.record.clone();
        let mut files = Vec::new();
        for (change, (former, next)) in record.subject.changes.iter_mut().zip(&self.contents) {
            let former = read_version(disk, former.as_deref(), change.before.as_mut())?;
            let next = read_version(disk, next.as_deref(), change.after.as_mut())?;
            let (key, content) = next.unzip();
            files.push(OperationFile {
                former_key: former.map(|(key, _)| key),
                key,
                content,
            });
        }
        let operation = NewOperation {
            record,
            token: self.token(at),
            files,
        };
        match log.append(heads, &operation)? {
            LogAppendResult::Appended => Ok(()),
            // The connection was lost after the operation was appended, or another program uses the database.
            LogAppendResult::Behind => {
                let (next, done) = logged_operations(log)?;
                *heads = next;
                let is_done = done.len() == at + 1 && done.last() == Some(&operation.token);
                let refused = || StoreError::Invalid {
                    why: "another program has changed the database meanwhile".into(),
                };
                if is_done { Ok(()) } else { Err(refused()) }
            }
            LogAppendResult::Refused(path) => Err(StoreError::Invalid {
                why: format!(
                    "{path} cannot be copied: another memory has its id, or its history is inconsistent"
                ),
            }),
        }
    }
}

/// Returns the positions of a log, and the tokens of all operations.
fn logged_operations(log: &dyn SharedLog) -> Result<(LogHeads, Vec<i64>), StoreError> {
    let (mut heads, mut tokens) = (LogHeads::default(), Vec::new());
    loop {
        let page = log.pull(&heads)?.operations;
        if page.is_empty() {
            return Ok((heads, tokens));
        }
        for logged in page {
            let head = logged.head();
            heads.advance(logged.scopes, head);
            tokens.push(head.token);
        }
    }
}

/// Reads a version of `file` from the path `content`, gives the file the name that it has in replicas, and returns its access key and bytes.
fn read_version(
    disk: &dyn Disk,
    content: Option<&str>,
    file: Option<&mut RecordedFile>,
) -> Result<Option<(String, Vec<u8>)>, StoreError> {
    let Some((content, file)) = content.zip(file) else {
        return Ok(None);
    };
    let bytes = disk
        .read_part(content, 0, usize::MAX)
        .map_err(read_error(content))?;
    let key = access_key(&decode_memory(&file.path, &bytes).scope, None);
    let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    file.path = format!("{folder}/{}", name_with_key(&name.replace('@', "-"), &key));
    Ok(Some((key.to_string(), bytes)))
}

/// Returns the current file of each memory.
fn current_files(disk: &dyn Disk) -> Result<BTreeMap<MemoryId, FileVersionPlace>, StoreError> {
    let mut files = BTreeMap::new();
    let paths = list_files(disk, CATEGORIES, |_| true);
    for path in paths.map_err(read_error(CATEGORIES))? {
        let name = file_name(&path);
        if !name.to_lowercase().ends_with(".md") || name.starts_with('.') {
            continue;
        }
        let Some(file) = load(disk, &path)? else {
            continue;
        };
        let place = FileVersionPlace {
            path: path.clone(),
            hash: file.stored.stamp.0,
            content: Some(path.clone()),
        };
        if files.insert(file.stored.memory.id, place).is_some() {
            let why = format!("{path} cannot be copied: another file has the same id");
            return Err(StoreError::Invalid { why });
        }
    }
    Ok(files)
}

/// Returns the operations to append, oldest first.
///
/// `exists` returns whether a path in the trash exists. A file that another program changed after an operation counts as written by that
/// operation, because its content then is in no other place. Files from before the first operation are an operation of their own.
fn plan(
    newest_first: Vec<Recorded<JournalPayload>>,
    current: BTreeMap<MemoryId, FileVersionPlace>,
    exists: impl Fn(&str) -> bool,
) -> Vec<CopiedOperation> {
    // The versions that the operations must leave behind.
    let mut wanted = current;
    let oldest = newest_first.iter().map(|record| record.operation.at).min();
    let mut planned = Vec::new();
    for mut record in newest_first {
        let is_whole = record.subject.changes.is_empty();
        record
            .subject
            .changes
            .retain(|change| !is_in_conversation(change));
        if record.subject.changes.is_empty() && !is_whole {
            continue;
        }
        let mut contents = Vec::new();
        for change in record.subject.changes.iter_mut().rev() {
            let next = wanted.remove(&change.id);
            if let (Some(after), Some(next)) = (&mut change.after, &next) {
                (after.path, after.hash) = (next.path.clone(), next.hash);
            }
            let former = change.before.as_ref().map(|before| FileVersionPlace {
                path: before.path.clone(),
                hash: before.hash,
                content: before.trash.clone().filter(|trash| exists(trash)),
            });
            let next_content = if change.after.is_some() {
                next.and_then(|next| next.content)
            } else {
                None
            };
            contents.push((
                former.as_ref().and_then(|former| former.content.clone()),
                next_content,
            ));
            if let Some(former) = former {
                wanted.insert(change.id, former);
            }
        }
        contents.reverse();
        planned.push(CopiedOperation { record, contents });
    }
    wanted.retain(|_, place| place.content.is_some());
    if !wanted.is_empty() {
        planned.push(first_operation(wanted, oldest.unwrap_or_default()));
    }
    planned.reverse();
    planned
}

fn is_in_conversation(change: &RecordedChange) -> bool {
    let files = change.before.iter().chain(&change.after);
    files
        .into_iter()
        .any(|file| HomeSection::of(&file.path) == HomeSection::Conversations)
}

/// Returns the operation with the files that no operation in the journal has created.
fn first_operation(
    files: BTreeMap<MemoryId, FileVersionPlace>,
    at: chrono::DateTime<chrono::Utc>,
) -> CopiedOperation {
    let texts: Vec<_> = files
        .values()
        .map(|file| format!("{} {}\n", file.hash, file.path))
        .collect();
    let digest = ContentHash::from_bytes(texts.concat().as_bytes());
    let bits = u64::from_ne_bytes(
        digest.as_bytes()[..8]
            .try_into()
            .expect("a hash has 32 bytes"),
    );
    let operation = Operation {
        id: OperationId::from_random(bits),
        verb: Verb::Import,
        by: String::new(),
        at,
    };
    let change = |(id, file): (&MemoryId, &FileVersionPlace)| {
        let after = Some(RecordedFile {
            path: file.path.clone(),
            hash: file.hash,
            trash: None,
        });
        RecordedChange {
            id: *id,
            before: None,
            after,
            why: None,
        }
    };
    let payload = JournalPayload {
        changes: files.iter().map(change).collect(),
        by_other: false,
    };
    CopiedOperation {
        record: Recorded::new(&operation, payload, None),
        contents: files
            .into_values()
            .map(|file| (None, file.content))
            .collect(),
    }
}
