//! The pages of the home that are derived from its memories: the index page, and the page of due reminders.

use std::fs::File;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::{INDEX_PAGE_HEAD, MemoryId, PENDING_PAGE_HEAD, StoreError, index_page_without};

use super::FileStore;
use crate::cache_file;
use crate::disk::DirEntryKind;
use crate::error::{io_error, write_error};
use crate::index::CATEGORIES;
use crate::lock::lock_file_within;
use crate::memory_file::time_from_nanos;
use crate::system::owner_only;

/// The path of the index page.
const INDEX_PAGE: &str = "memory.md";

/// The path of the page of due reminders.
const PENDING_PAGE: &str = "pending.md";

/// The temporary path of the page of due reminders. Only one process at a time writes it.
const PENDING_PAGE_TEMP: &str = "pending.md.tmp";

const DAY: TimeDelta = TimeDelta::days(1);

/// Maximum number of memories of a home in which the index page is updated after every write.
const SMALL_HOME: u64 = 10_000;

/// Minimum age of the index page of a larger home before an update.
const MIN_PAGE_AGE: TimeDelta = TimeDelta::seconds(30);

/// The lock file of writers of the index page, so that no page replaces one with newer content.
const PAGE_LOCK: &str = "index/page.lock";

/// Lock timeout. After it, the page is left to the other writer.
const PAGE_LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum number of updates if memories change in between; the other writer updates the page as well.
const MAX_UPDATES: usize = 3;

/// The time of the last write, and the size of the journal at that time.
type LastWrite = (Option<DateTime<Utc>>, Option<u64>);

impl FileStore {
    /// Updates the index page of the home with `make` after writes, and returns whether it did.
    ///
    /// Writes by other processes count as well. A page that the user wrote is left unchanged. Without a write, the page is updated once a
    /// day, because memories expire.
    ///
    /// In a home of up to 10,000 memories, the page includes every write of this process when the call returns. In a larger one it is
    /// updated at most every 30 s.
    ///
    /// # Errors
    /// If the memories cannot be read, or the disk fails.
    pub fn update_index_page(
        &self,
        now: DateTime<Utc>,
        make: &dyn Fn() -> Result<String, StoreError>,
    ) -> Result<bool, StoreError> {
        let has_written = self.has_written.swap(false, Ordering::SeqCst);
        if !has_written && !self.is_index_page_due(now) {
            return Ok(false);
        }
        if self.is_index_page_new(now) && !self.is_small() {
            return Ok(false);
        }
        // Without the lock the page is updated anyway, because it is derived.
        let place = self.root.join(PAGE_LOCK);
        let patience = self.options.patience.min(PAGE_LOCK_TIMEOUT);
        let locked = owner_only(File::options().create(true).truncate(false).write(true))
            .open(&place)
            .map(|file| lock_file_within(file, &place, patience));
        if let Ok(Err(StoreError::Locked { .. })) = locked {
            // The next call of this process tries again.
            self.has_written.fetch_or(has_written, Ordering::SeqCst);
            return Ok(false);
        }
        let mut last = self.last_write();
        for _ in 0..MAX_UPDATES {
            if !self.write_index_page(&make()?)? {
                return Ok(false);
            }
            let seen = std::mem::replace(&mut last, self.last_write());
            if seen == last {
                break;
            }
        }
        Ok(true)
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
        let refused = write_error(PENDING_PAGE);
        let page = page()?;
        if self.has_own_page(PENDING_PAGE, PENDING_PAGE_HEAD)? {
            return Ok(false);
        }
        let Some(page) = page else {
            self.disk.remove(PENDING_PAGE).map_err(refused)?;
            return Ok(false);
        };
        self.disk
            .write(PENDING_PAGE_TEMP, page.as_bytes())
            .map_err(refused)?;
        self.disk.sync_file(PENDING_PAGE_TEMP).map_err(refused)?;
        self.disk
            .rename(PENDING_PAGE_TEMP, PENDING_PAGE)
            .map_err(refused)?;
        Ok(true)
    }

    /// Returns whether there was a write since the page was created, or the page is a day old.
    fn is_index_page_due(&self, now: DateTime<Utc>) -> bool {
        match (self.last_write().0, self.index_page_time()) {
            (None, _) => false,
            (Some(_), None) => true,
            // The clock may have been set back since.
            (Some(_), Some(made)) if now < made => true,
            (Some(written), Some(made)) => DAY <= now - made || made <= written,
        }
    }

    fn is_index_page_new(&self, now: DateTime<Utc>) -> bool {
        self.index_page_time()
            .is_some_and(|made| made <= now && now - made < MIN_PAGE_AGE)
    }

    fn is_small(&self) -> bool {
        self.index
            .count()
            .is_ok_and(|documents| documents <= SMALL_HOME)
    }

    fn index_page_time(&self) -> Option<DateTime<Utc>> {
        Some(time_from_nanos(
            self.disk.stat(INDEX_PAGE).ok()??.modified_ns,
        ))
    }

    fn last_write(&self) -> LastWrite {
        let signature = |path: &str| self.disk.stat(path).ok()?;
        let within = |folder: &str| {
            let names = self
                .disk
                .list_folder(folder)
                .unwrap_or_default()
                .into_iter();
            let names = names.filter(|entry| entry.kind != DirEntryKind::Other);
            names
                .map(|entry| format!("{folder}/{}", entry.name))
                .collect::<Vec<_>>()
        };
        // Files that other programs add to a category or remove from it change the time of its folder.
        let journal = within("journal")
            .into_iter()
            .max()
            .and_then(|path| signature(&path));
        let folders = within(CATEGORIES)
            .into_iter()
            .filter_map(|path| Some(signature(&path)?.modified_ns));
        let last = journal
            .iter()
            .map(|journal| journal.modified_ns)
            .chain(folders)
            .max();
        (
            last.map(time_from_nanos),
            journal.map(|journal| journal.size),
        )
    }

    /// Removes the derived pages of the home, which may contain memories that this node may no longer read.
    pub(super) fn remove_pages(&self) -> Result<(), StoreError> {
        self.remove_index_page()?;
        self.remove_page(PENDING_PAGE, PENDING_PAGE_HEAD)
    }

    /// Removes the index page, unless the user wrote it. The next update creates it again.
    fn remove_index_page(&self) -> Result<(), StoreError> {
        self.remove_page(INDEX_PAGE, INDEX_PAGE_HEAD)
    }

    /// Removes a derived page, unless the user wrote it.
    fn remove_page(&self, path: &str, head: &str) -> Result<(), StoreError> {
        if self.has_own_page(path, head)? {
            return Ok(());
        }
        self.disk
            .remove(path)
            .map_err(|error| io_error(format!("delete {path}"), error))
    }

    /// Returns whether the user wrote the file in place of a derived page that starts with `head`.
    fn has_own_page(&self, path: &str, head: &str) -> Result<bool, StoreError> {
        let page = self
            .disk
            .read(path)
            .map_err(|error| io_error(format!("read {path}"), error))?;
        Ok(page.is_some_and(|(page, _)| !page.starts_with(head.as_bytes())))
    }

    /// Removes the lines of deleted memories from the index page at once, so that no copy of them remains.
    pub(super) fn remove_from_index_page(&self, gone: &[MemoryId]) {
        let page = || {
            String::from_utf8(self.disk.read(INDEX_PAGE).ok()??.0)
                .ok()
                .filter(|page| page.starts_with(INDEX_PAGE_HEAD))
        };
        let Some(page) = (!gone.is_empty()).then(page).flatten() else {
            return;
        };
        let next = index_page_without(&page, gone);
        if next != page {
            let place = self.root.join(INDEX_PAGE);
            let made = place.metadata().and_then(|found| found.modified());
            // The modification time is preserved, so that the next update, which may cover other deletions, stays due.
            if cache_file::write(&self.root, INDEX_PAGE, next.as_bytes()).is_ok()
                && let (Ok(made), Ok(file)) = (made, File::options().write(true).open(&place))
            {
                let _ = file.set_modified(made);
            }
        }
    }

    /// Writes the page, and returns whether it did. A page that the user wrote is left unchanged.
    fn write_index_page(&self, page: &str) -> Result<bool, StoreError> {
        if self.has_own_page(INDEX_PAGE, INDEX_PAGE_HEAD)? {
            return Ok(false);
        }
        let written = cache_file::write(&self.root, INDEX_PAGE, page.as_bytes());
        written.map(|()| true).map_err(write_error(INDEX_PAGE))
    }
}

#[cfg(test)]
mod tests {
    use super::super::FileStoreOptions;
    use super::*;

    #[test]
    fn a_writer_leaves_the_page_to_who_holds_it() {
        let home = tempfile::tempdir().unwrap();
        let store = FileStore::open(
            home.path(),
            FileStoreOptions {
                patience: Duration::ZERO,
                ..FileStoreOptions::default()
            },
        )
        .unwrap();
        store.has_written.store(true, Ordering::SeqCst);
        let page = || Ok(format!("{INDEX_PAGE_HEAD}\n"));
        std::fs::create_dir_all(home.path().join("index")).unwrap();
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(home.path().join(PAGE_LOCK))
            .unwrap();
        lock.lock().unwrap();
        assert!(
            !store
                .update_index_page(DateTime::UNIX_EPOCH, &page)
                .unwrap()
        );
        assert!(!home.path().join(INDEX_PAGE).exists());
        // A child process of another test may have a copy of the file, so dropping it would not suffice.
        lock.unlock().unwrap();
        assert!(
            store
                .update_index_page(DateTime::UNIX_EPOCH, &page)
                .unwrap(),
            "the next one makes it"
        );
    }
}
