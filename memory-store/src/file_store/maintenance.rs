//! Maintenance of a home by a daemon.

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{Memory, MemoryId, StoreError};

use super::FileStore;
use crate::disk::{parent_folder, stage_file};
use crate::error::write_error;
use crate::index::RefreshDepth;
use crate::markdown;
use crate::memory_file::{is_conversation_file, time_from_nanos};
use crate::oplog::LogPosition;

/// Time for which a changed file is left to its author.
const EDITING_TIME: TimeDelta = TimeDelta::minutes(10);

/// Maximum number of files whose access counts one run writes.
const MAX_COUNTS: usize = 1_000;

/// Number of files whose access counts are written under one lock.
const COUNTS_PER_LOCK: usize = 32;

impl FileStore {
    /// Writes access counts into files. The index has them until then.
    pub(super) fn write_counts(&self, now: DateTime<Utc>) -> Result<u64, StoreError> {
        // Each file of a shared home is a version in the database.
        if self.replica.is_some() {
            return Ok(0);
        }
        let mut written = 0;
        for ids in self.index.ids_with_new_accesses()?.chunks(COUNTS_PER_LOCK) {
            let _lock = self.lock_for_writing()?;
            let mut paths = Vec::new();
            for id in ids {
                paths.extend(self.write_count(id, now)?);
            }
            self.index.reread_changed(&paths)?;
            written += paths.len();
            if MAX_COUNTS <= written {
                break;
            }
        }
        Ok(written as u64)
    }

    /// Writes the access count of a memory, and returns the path of its file if it was written.
    fn write_count(&self, id: &MemoryId, now: DateTime<Utc>) -> Result<Option<String>, StoreError> {
        let Some((loaded, new)) = self.load_indexed(id)? else {
            return Ok(None);
        };
        let (memory, path) = (&loaded.stored.memory, loaded.stored.path.as_str());
        let changed = time_from_nanos(loaded.signature.modified_ns);
        // The undo of conversations compares whole files.
        if loaded.stored.problem.is_some()
            || is_conversation_file(path)
            || (now - changed).abs() < EDITING_TIME
            || self.is_in_editor(path)
        {
            return Ok(None);
        }
        let access_count = memory.access_count.saturating_add(new);
        let Some(bytes) = markdown::with_access_count(&loaded.bytes, access_count) else {
            return Ok(None);
        };
        let counted = Memory {
            access_count,
            ..memory.clone()
        };
        if markdown::decode(path, &bytes, changed).memory != counted {
            return Ok(None);
        }
        let (disk, waiting) = (self.disk.as_ref(), format!("{path}.tmp"));
        let write = || {
            stage_file(disk, &waiting, &bytes, Some(path))?;
            disk.rename(&waiting, path)?;
            disk.sync_folder(parent_folder(path))
        };
        write().map_err(write_error(path))?;
        Ok(Some(path.to_owned()))
    }

    /// Returns whether an editor has marked a file as open, as Vim, Emacs and office programs do.
    fn is_in_editor(&self, path: &str) -> bool {
        let folder = parent_folder(path);
        let name = path.rsplit('/').next().unwrap_or(path);
        [
            format!("{folder}/.{name}.swp"),
            format!("{folder}/.#{name}"),
            format!("{folder}/.~lock.{name}#"),
        ]
        .iter()
        .any(|mark| !matches!(self.disk.stat(mark), Ok(None)))
    }

    /// Moves the pending changes into the full text, and returns their number.
    ///
    /// Searches find pending changes as well, but are a little slower.
    ///
    /// # Errors
    /// If the index cannot be written.
    pub fn flush(&self) -> Result<u64, StoreError> {
        self.index.flush()
    }

    /// Reads those files at `paths`, below the home, again that differ from the index.
    ///
    /// Returns the number of these files. Their new content is found at once, regardless of the size of the store. Changes by any process
    /// of this program are in the index already and do not count.
    ///
    /// # Errors
    /// If the index cannot be read, or the lock of the home is not released in time.
    pub fn reread(&self, paths: &[String]) -> Result<u64, StoreError> {
        // A writer updates the index before it releases the lock.
        let _lock = self.lock_for_writing()?;
        self.index.reread_changed(paths)
    }

    /// Checks every file for changes, regardless of the size of the store and of the last check.
    ///
    /// # Errors
    /// If the files cannot be read.
    pub fn refresh_all(&self) -> Result<(), StoreError> {
        self.index.refresh(RefreshDepth::Fresh)
    }

    /// Returns the current end of the journal, for [`FileStore::was_written_since`].
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn journal_end(&self) -> Result<String, StoreError> {
        Ok(self.journal().end()?.to_text())
    }

    /// Returns whether an actor other than `actor` has written since the journal ended at `end`.
    ///
    /// Only operations in the journal count. The call is cheap if the journal has not changed.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn was_written_since(&self, end: &str, actor: &str) -> Result<bool, StoreError> {
        if self.journal_end()? == end {
            return Ok(false);
        }
        let Some(end) = LogPosition::from_text(end) else {
            return Ok(true);
        };
        let mut operations = self.journal().operations_after(&end)?;
        let by_other = operations.find(|record| {
            record
                .as_ref()
                .map_or(true, |record| record.operation.by != actor)
        });
        Ok(by_other.transpose()?.is_some())
    }
}
