//! The page of what is due.

use memory_core::StoreError;

use super::FileStore;
use crate::error::io_error;

/// Where the page lies.
const PAGE: &str = "pending.md";

/// Where it waits until it is whole. Only one process at a time writes it.
const WAITING: &str = "pending.md.tmp";

impl FileStore {
    /// Writes what `page` returns to `pending.md`, or removes that file if it returns nothing; tells whether it is there.
    ///
    /// Others see the former page or the new one, and of several who write at once the last one that asked what is due wins.
    ///
    /// # Errors
    /// Whatever `page` says, or when the disk refuses.
    pub fn keep_pending(&self, page: impl FnOnce() -> Result<Option<String>, StoreError>) -> Result<bool, StoreError> {
        let _lock = self.begin()?;
        let refused = |error| io_error(format!("write {PAGE}"), error);
        let Some(page) = page()? else {
            self.disk.remove(PAGE).map_err(refused)?;
            return Ok(false);
        };
        self.disk.write(WAITING, page.as_bytes()).map_err(refused)?;
        self.disk.sync_file(WAITING).map_err(refused)?;
        self.disk.rename(WAITING, PAGE).map_err(refused)?;
        Ok(true)
    }
}
