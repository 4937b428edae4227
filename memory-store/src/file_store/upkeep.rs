//! What a daemon does for the others.

use memory_core::StoreError;

use super::FileStore;
use crate::index::Depth;
use crate::journal::{Mark, What};

impl FileStore {
    /// Moves the changes that wait into the full text, and returns how many there were. Searches find them either way; they
    /// are a little faster afterwards.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub fn flush(&self) -> Result<u64, StoreError> {
        self.index.flush()
    }

    /// Reads those of the files at `paths`, below the home, again that are not as they were when they were last read; and
    /// returns how many that were. So their new words are found at once, however large the store is; and what we wrote
    /// ourselves, in whichever process, does not count.
    ///
    /// # Errors
    /// When the index is refused, or somebody has been writing for too long.
    pub fn reread(&self, paths: &[String]) -> Result<u64, StoreError> {
        // Whoever writes tells the index before giving this back.
        let _lock = self.begin()?;
        self.index.reread_changed(paths)
    }

    /// Looks at every file for changes, however large the store is and however lately that was done.
    ///
    /// # Errors
    /// When the files cannot be read.
    pub fn refresh_all(&self) -> Result<(), StoreError> {
        self.index.refresh(Depth::Fresh)
    }

    /// Returns where the journal ends now, for [`FileStore::was_written_since`].
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn journal_end(&self) -> Result<String, StoreError> {
        Ok(self.journal.end()?.to_text())
    }

    /// Tells whether anybody but `actor` has written since the journal ended at `end`, as far as the journal tells. It costs
    /// next to nothing when nobody has.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn was_written_since(&self, end: &str, actor: &str) -> Result<bool, StoreError> {
        if self.journal_end()? == end {
            return Ok(false);
        }
        let Some(mark) = Mark::from_text(end) else { return Ok(true) };
        self.journal.any_after(&mark, &|line| matches!(&line.what, What::Begun { by, .. } if by != actor))
    }
}
