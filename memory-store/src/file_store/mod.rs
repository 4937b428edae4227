//! The store that keeps memories as files.

mod derived_pages;
mod doctor;
mod history;
mod maintenance;
mod other_files;
mod plan;
mod purge;
mod replica;
mod statistics;
mod trait_impls;
mod trial_copy;
mod undo_tracker;

pub use doctor::{DoctorFinding, DoctorReport};
pub use replica::{QueueNotices, SharedStoreStatus};
pub use statistics::HomeStatistics;
pub use trial_copy::TrialCopy;

use self::replica::{ApplyError, Replica, is_mixed, is_of_conversations, new_contents};

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_core::{
    ContentHash, FileVersion, MemoryId, Operation, OperationId, OperationRecord, Problem, Progress,
    Recorded, StoreError, StoredMemory,
};

use crate::disk::{Disk, RealDisk, parent_folder};
use crate::error::{io_error, write_error};
use crate::index::{AppliedChange, MemoryIndex, RefreshDepth};
use crate::journal::{CommitStep, JournalPayload, execute_record, journal, record_steps, recover};
use crate::lock::{PATIENCE, WriterLock};
use crate::markdown::{decode, encode};
use crate::memory_file::time_from_nanos;
use crate::oplog::{Durability, LogPosition, OperationLog};
use crate::store_folder::StoreFolder;

/// A store of memories as Markdown files in a home folder.
///
/// Several stores can use the same home, in one process or in several.
///
/// # Examples
/// ```
/// use memory_core::MemoryStoreExt;
/// use memory_store::{FileStore, FileStoreOptions};
///
/// let home = tempfile::tempdir()?;
/// let store = FileStore::open(home.path(), FileStoreOptions::default())?;
/// assert!(store.find("550e8400").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileStore {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    index: MemoryIndex,
    options: FileStoreOptions,
    /// Whether this instance has written since it last created the index page.
    has_written: AtomicBool,
    /// The operations of the journal when they were read last.
    records: Mutex<Option<CachedRecords>>,
    /// The shared log, if the files are a replica of it.
    replica: Option<Replica>,
}

/// The operations of a journal with this end and this size.
#[derive(Debug)]
struct CachedRecords {
    end: LogPosition,
    size: u64,
    records: Arc<[OperationRecord]>,
}

/// The options of a [`FileStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStoreOptions {
    /// How thoroughly the files are checked before each query.
    pub freshness: Freshness,
    /// The lock timeout of writers.
    pub patience: Duration,
    /// Size of the cache of parsed files, in bytes; 0 disables it.
    pub kept: usize,
    /// Whether a replica queues writes while its database cannot be reached; otherwise they fail.
    pub queues_writes: bool,
}

impl Default for FileStoreOptions {
    fn default() -> Self {
        Self {
            freshness: Freshness::Usual,
            patience: PATIENCE,
            kept: 0,
            queues_writes: true,
        }
    }
}

/// How thoroughly the files are checked before each query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Added, removed and moved files are detected at once.
    ///
    /// Edits in place are detected at once in a store of up to 10,000 memories, and within 60 s in a larger one.
    Usual,
    /// Edits in place are detected at once in every store.
    Fresh,
    /// Added, removed and moved files are detected at once; edits in place need [`FileStore::reread`].
    Heard,
}

impl FileStore {
    /// Opens the home at `root`, and creates the folder if it is missing.
    ///
    /// # Errors
    /// If the folder cannot be opened.
    pub fn open(root: &Path, options: FileStoreOptions) -> Result<Self, StoreError> {
        let disk = RealDisk::open(root)
            .map_err(|error| io_error(format!("open the home {}", root.display()), error))?;
        let root = disk.root().to_owned();
        Ok(Self::on_disk(Arc::new(disk), &root, options))
    }

    /// Returns the home on `disk`, with its index at `root`.
    pub fn on_disk(disk: Arc<dyn Disk>, root: &Path, options: FileStoreOptions) -> Self {
        let index = MemoryIndex::open(Arc::clone(&disk), root, options.kept);
        Self {
            root: root.to_owned(),
            disk,
            index,
            options,
            has_written: AtomicBool::new(false),
            records: Mutex::default(),
            replica: None,
        }
    }

    /// Returns the home folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the problems of files that cannot be read, which lists of memories do not contain.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn unreadable_files(&self) -> Result<Vec<Problem>, StoreError> {
        self.index.unreadable_files()
    }

    /// Returns the text of a memory's file if it contains more than the memory.
    ///
    /// Examples are other keys, comments and different line ends. Returns `None` if the file has changed since the memory was read, or is
    /// not valid UTF-8.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn file_with_extras(&self, stored: &StoredMemory) -> Result<Option<String>, StoreError> {
        let read = self
            .disk
            .read(&stored.path)
            .map_err(|error| io_error(format!("read {}", stored.path), error))?;
        let Some((bytes, signature)) = read else {
            return Ok(None);
        };
        let is_ours = || {
            let memory =
                decode(&stored.path, &bytes, time_from_nanos(signature.modified_ns)).memory;
            encode(&memory, "").as_bytes() == bytes
        };
        if stored.stamp != FileVersion(ContentHash::from_bytes(&bytes)) || is_ours() {
            return Ok(None);
        }
        Ok(String::from_utf8(bytes).ok())
    }

    /// Rebuilds the index from the files, and returns the number of memories.
    ///
    /// # Errors
    /// If the files cannot be read, or the index cannot be written.
    pub fn rebuild(&self, progress: &mut dyn FnMut(Progress)) -> Result<u64, StoreError> {
        self.index.rebuild(&mut |done, total| {
            progress(Progress {
                done,
                total: Some(total),
            });
        })?;
        Ok(self.index.statistics()?.documents)
    }

    /// Returns a warning if parts of the journal cannot be read.
    ///
    /// Only the journal records the order of creation. A rebuilt index therefore puts memories without a record last, sorted by path.
    pub fn journal_warning(&self) -> Option<String> {
        let unknown = "so the creation order of memories may be wrong";
        match self.journal().invalid_lines() {
            Ok(lines) if lines.is_empty() => None,
            Ok(lines) => {
                let what = match lines.len() {
                    1 => "1 line of the journal is not valid".to_owned(),
                    several => format!("{several} lines of the journal are not valid"),
                };
                Some(format!("{what}, {unknown}; `memory doctor` reports where"))
            }
            Err(error) => Some(format!("the journal cannot be read ({error}), {unknown}")),
        }
    }

    fn journal(&self) -> OperationLog<'_, JournalPayload> {
        journal(self.disk.as_ref())
    }

    fn refresh_depth(&self) -> RefreshDepth {
        match self.options.freshness {
            Freshness::Usual => RefreshDepth::Usual,
            Freshness::Fresh => RefreshDepth::Fresh,
            Freshness::Heard => RefreshDepth::Names,
        }
    }

    /// Acquires the writer lock, and rolls back an interrupted operation of another writer.
    fn lock_for_writing(&self) -> Result<WriterLock, StoreError> {
        self.lock_and_recover(self.options.patience)
    }

    fn lock_and_recover(&self, patience: Duration) -> Result<WriterLock, StoreError> {
        let lock = WriterLock::acquire(self.disk.as_ref(), &self.root, patience)?;
        let (known, end) = self.journal_positions()?;
        // A replica that is created again has no interrupted operation.
        if known.as_ref() != Some(&end) && !self.is_incomplete_replica()? {
            recover(self.disk.as_ref(), known.as_ref())?;
        }
        Ok(lock)
    }

    /// Returns the position in the journal up to which every operation is known to be complete, and the end of the journal.
    fn journal_positions(&self) -> Result<(Option<LogPosition>, LogPosition), StoreError> {
        let known = self.index.journal_mark().ok().flatten();
        let end = self.journal().end()?;
        Ok((known.and_then(|mark| LogPosition::from_text(&mark)), end))
    }

    /// Rolls back an interrupted operation unless a writer is active, so that readers see none of its files.
    ///
    /// Without the lock, or in a home that cannot be written, the files are read as they are.
    fn recover_if_idle(&self) {
        let is_complete = self
            .journal_positions()
            .is_ok_and(|(known, end)| known.unwrap_or_default() == end);
        if !is_complete && let Ok(_lock) = self.lock_and_recover(Duration::ZERO) {
            // If this fails, the next read checks again.
            let _ = self
                .journal_end()
                .and_then(|end| self.index.apply(&[], Some(&end)));
        }
    }

    /// Performs `steps` and updates the index. The caller holds the lock from [`FileStore::lock_for_writing`].
    ///
    /// The steps of a replica are first appended to its log, unless there is an obstacle.
    fn apply_steps(
        &self,
        operation: &Operation,
        undoes: Option<&OperationId>,
        steps: &[CommitStep],
    ) -> Result<(), ApplyError> {
        if steps.is_empty() {
            return Ok(());
        }
        let record = record_steps(self.disk.as_ref(), operation, undoes, steps);
        let Some(replica) = &self.replica else {
            return Ok(self.execute(&record, &new_contents(steps), Durability::Synced)?);
        };
        if is_mixed(steps) {
            // The database commits memories and files apart, so a crash in between would leave one part of the operation.
            let why = "one operation cannot change both memories and facts of conversations of a shared home, and nothing was \
                       changed; change them in two operations";
            return Err(StoreError::Invalid { why: why.into() }.into());
        }
        match &replica.conversations {
            Some(folder) if is_of_conversations(steps) => {
                Ok(self.execute_in_conversations(folder, &record, steps)?)
            }
            None if is_of_conversations(steps) => {
                Ok(self.execute(&record, &new_contents(steps), Durability::Synced)?)
            }
            _ => self.append_and_execute(replica, record, steps),
        }
    }

    /// Performs a recorded operation on shared conversations. Its line and its trash belong to this machine.
    fn execute_in_conversations(
        &self,
        folder: &StoreFolder,
        record: &Recorded<JournalPayload>,
        steps: &[CommitStep],
    ) -> Result<(), StoreError> {
        let disk = self.disk.as_ref();
        let former = record
            .subject
            .changes
            .iter()
            .filter_map(|change| change.before.as_ref());
        let copies: Vec<_> = former
            .filter_map(|former| Some((&former.path, former.trash.as_ref()?)))
            .collect();
        // The previous files are in the trash before other nodes delete them.
        for (path, trash) in &copies {
            let linked = disk
                .hard_link(path, trash)
                .and_then(|()| disk.sync_folder(parent_folder(trash)));
            linked.map_err(write_error(trash))?;
        }
        let done = folder.write(disk, self.options.patience, |disk| {
            execute_record(disk, record, &new_contents(steps), Durability::Synced)
        });
        if done.is_err() {
            for (_, trash) in copies {
                let _ = disk
                    .remove(trash)
                    .and_then(|()| disk.remove_folder(parent_folder(trash)));
            }
        }
        done.map(|()| self.finish_execution(record))
    }

    /// Performs a recorded operation and updates the index.
    fn execute(
        &self,
        record: &Recorded<JournalPayload>,
        contents: &[Option<&[u8]>],
        durability: Durability,
    ) -> Result<(), StoreError> {
        execute_record(self.disk.as_ref(), record, contents, durability)?;
        self.finish_execution(record);
        Ok(())
    }

    /// Updates the index after an operation.
    fn finish_execution(&self, record: &Recorded<JournalPayload>) {
        // The files are durable, so the operation succeeded. A failed update of the index is detected by the next refresh.
        let _ = self.update_index(record);
        let changes = record.subject.changes.iter();
        let gone: Vec<MemoryId> = changes
            .filter(|change| change.before.is_some() && change.after.is_none())
            .map(|change| change.id)
            .collect();
        self.remove_from_index_page(&gone);
        self.has_written.store(true, Ordering::SeqCst);
    }

    fn update_index(&self, record: &Recorded<JournalPayload>) -> Result<(), StoreError> {
        let changes = &record.subject.changes;
        let mut applied = Vec::with_capacity(changes.len());
        for change in changes {
            let former_path = change.before.as_ref().map(|former| former.path.clone());
            match &change.after {
                None => applied.extend(former_path.map(|path| AppliedChange::Removed { path })),
                Some(next) => applied.push(AppliedChange::Kept {
                    path: next.path.clone(),
                    former_path,
                }),
            }
        }
        self.index.apply(&applied, Some(&self.journal_end()?))
    }
}
