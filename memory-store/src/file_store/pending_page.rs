//! The page of due reminders.

use memory_core::{PENDING_PAGE_HEAD, StoreError};

use super::FileStore;
use crate::error::io_error;

/// The path of the page.
const PAGE: &str = "pending.md";

/// The temporary path of the page. Only one process at a time writes it.
const TEMPORARY_PAGE: &str = "pending.md.tmp";

impl FileStore {
    /// Removes the derived pages of the home, which may contain memories that this node may no longer read.
    pub(super) fn remove_pages(&self) -> Result<(), StoreError> {
        self.remove_index_page()?;
        self.remove_page(PAGE, PENDING_PAGE_HEAD)
    }

    /// Writes the result of `page` to `pending.md`, or removes that file if it is `None`.
    ///
    /// Returns whether the page exists. A file that the user wrote in its place is left unchanged. The page is replaced
    /// atomically. Of several concurrent writers the last one to call `page` wins.
    ///
    /// # Errors
    /// An error of `page`, or an error of the disk.
    pub fn update_pending_page(
        &self,
        page: impl FnOnce() -> Result<Option<String>, StoreError>,
    ) -> Result<bool, StoreError> {
        let _lock = self.lock_for_writing()?;
        let refused = |error| io_error(format!("write {PAGE}"), error);
        let page = page()?;
        if self.has_own_page(PAGE, PENDING_PAGE_HEAD)? {
            return Ok(false);
        }
        let Some(page) = page else {
            self.disk.remove(PAGE).map_err(refused)?;
            return Ok(false);
        };
        self.disk
            .write(TEMPORARY_PAGE, page.as_bytes())
            .map_err(refused)?;
        self.disk.sync_file(TEMPORARY_PAGE).map_err(refused)?;
        self.disk.rename(TEMPORARY_PAGE, PAGE).map_err(refused)?;
        Ok(true)
    }
}
