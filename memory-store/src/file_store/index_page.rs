//! The index of the home, as a file.

use std::fs::File;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{INDEX_PAGE_HEAD, MemoryId, StoreError, index_page_without};

use super::FileStore;
use crate::derived;
use crate::disk::EntryKind;
use crate::error::io_error;
use crate::file::moment;
use crate::index::CATEGORIES;

/// Where the page lies.
const PAGE: &str = "memory.md";

const DAY: TimeDelta = TimeDelta::days(1);

impl FileStore {
    /// Tells whether something was written since the page was made, by us or by others, and the page is older than `rest`: so it is made
    /// anew at most once in that time. Once a day it is due without that, since memories end.
    pub fn is_index_page_due(&self, now: DateTime<Utc>, rest: TimeDelta) -> bool {
        let changed = |path: &str| Some(moment(self.disk.signature(path).ok()??.modified_ns));
        let last_of = |folder: &str| {
            let names = self.disk.folder(folder).unwrap_or_default().into_iter();
            names
                .filter(|entry| entry.kind != EntryKind::Other)
                .map(|entry| format!("{folder}/{}", entry.name))
                .collect::<Vec<_>>()
        };
        // What others put into a category, or take away, is seen by the times of its folder.
        let journal = last_of("journal").into_iter().max();
        let last = journal.into_iter().chain(last_of(CATEGORIES)).filter_map(|path| changed(&path)).max();
        match (last, changed(PAGE)) {
            (None, _) => false,
            (Some(_), None) => true,
            // The clock may have been set back since.
            (Some(_), Some(made)) if now < made => true,
            (Some(written), Some(made)) => made + DAY <= now || (made <= written && made + rest <= now),
        }
    }

    /// Takes the lines of memories that are gone from the page, at once: what somebody wanted to be rid of stands nowhere any more.
    pub(super) fn forget_on_index_page(&self, gone: &[MemoryId]) {
        let page = || String::from_utf8(self.disk.read(PAGE).ok()??.0).ok().filter(|page| page.starts_with(INDEX_PAGE_HEAD));
        let Some(page) = (!gone.is_empty()).then(page).flatten() else { return };
        let next = index_page_without(&page, gone);
        if next != page {
            let place = self.root.join(PAGE);
            let made = place.metadata().and_then(|found| found.modified());
            // The next one is due when it was before: others may be gone as well.
            if derived::write(&self.root, PAGE, next.as_bytes()).is_ok()
                && let (Ok(made), Ok(file)) = (made, File::options().write(true).open(&place))
            {
                let _ = file.set_modified(made);
            }
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
        let written = derived::write(&self.root, PAGE, page.as_bytes());
        written.map(|()| true).map_err(|error| io_error(format!("write {PAGE}"), error))
    }
}
