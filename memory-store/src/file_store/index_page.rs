//! The index of the home, as a file.

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{INDEX_PAGE_HEAD, StoreError};

use super::FileStore;
use crate::derived;
use crate::error::io_error;
use crate::file::moment;

/// Where the page lies.
const PAGE: &str = "memory.md";

impl FileStore {
    /// Tells whether something was written since the page was made, and the page is older than `rest`: so it is made anew at most once
    /// in that time.
    pub fn is_index_page_due(&self, now: DateTime<Utc>, rest: TimeDelta) -> bool {
        let changed = |path: &str| Some(moment(self.disk.signature(path).ok()??.modified_ns));
        let months = self.disk.folder("journal").unwrap_or_default();
        let last = months.into_iter().map(|entry| entry.name).max().and_then(|month| changed(&format!("journal/{month}")));
        match (last, changed(PAGE)) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(written), Some(made)) => made <= written && made + rest <= now,
        }
    }

    /// Writes the page; tells whether it was, as one that a person wrote is left alone. It takes no lock and waits for nobody.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn keep_index_page(&self, page: &str) -> Result<bool, StoreError> {
        let former = self.disk.read(PAGE).map_err(|error| io_error(format!("read {PAGE}"), error))?;
        if former.is_some_and(|(former, _)| !former.starts_with(INDEX_PAGE_HEAD.as_bytes())) {
            return Ok(false);
        }
        let written = derived::write(&self.root.join(PAGE), page.as_bytes());
        written.map(|()| true).map_err(|error| io_error(format!("write {PAGE}"), error))
    }
}
