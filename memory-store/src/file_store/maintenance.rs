//! Maintenance of a home by a daemon.

use memory_core::StoreError;

use super::FileStore;
use crate::index::RefreshDepth;
use crate::journal::journal_read_error;
use crate::oplog::LogPosition;

impl FileStore {
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
        Ok(self.journal().end().map_err(journal_read_error)?.to_text())
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
        let mut operations = self
            .journal()
            .operations_after(&end)
            .map_err(journal_read_error)?;
        let by_other = operations.find(|record| {
            record
                .as_ref()
                .map_or(true, |record| record.operation.by != actor)
        });
        Ok(by_other.transpose().map_err(journal_read_error)?.is_some())
    }
}
