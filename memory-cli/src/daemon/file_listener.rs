//! The thread that detects changed files and indexes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memory_core::{MemoryStore, StoreError};
use memory_dream::schedule::{CancellationToken, EventDebouncer};
use memory_store::{FileStore, FileWatcher, WatchedChanges};

use super::daemon_log::{DaemonLog, error_text};
use crate::wake_signal::WakeSignal;

/// Number of files that are read between two checks for a stop request.
const FILES_PER_SLICE: usize = 256;

/// Minimum interval between scans of all files, if the system reports no changes.
const MIN_SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// Minimum ratio of the pause between two scans to the duration of a scan.
const SCAN_PAUSE_RATIO: u32 = 50;

/// A flag that another process has written.
#[derive(Debug, Default)]
pub(crate) struct ForeignWriteFlag(AtomicBool);

impl ForeignWriteFlag {
    /// Returns whether there was a write since the last call.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }
}

/// The listener for changed files.
pub(crate) struct FileListener<'a> {
    /// The memories.
    pub store: &'a FileStore,
    /// The log and state of the daemon.
    pub diary: &'a DaemonLog,
    /// The notification for changed files and stop requests.
    pub bell: Arc<WakeSignal>,
    /// The flag to set after a write, and the notification that follows.
    pub woken: (&'a ForeignWriteFlag, &'a WakeSignal),
    /// The function to call at once after a write.
    pub written: &'a (dyn Fn() -> Result<(), StoreError> + Sync),
    /// The stop request.
    pub stop: CancellationToken,
}

impl FileListener<'_> {
    /// Listens until a stop request. If the system reports no changes, all files are scanned periodically.
    pub(crate) fn run(&self) {
        let start = Instant::now();
        let mut debounce = EventDebouncer::default();
        let mut watch = self.start_watch();
        // A change between the last scan and the start of the watch is not reported, so a scan is due at once.
        let mut look = Some(Duration::ZERO);
        while !self.stop.is_cancelled() {
            let now = start.elapsed();
            if let Some(listening) = &watch
                && debounce.take_due(now)
            {
                let news = listening.take_changes();
                if let Some(why) = &news.lost {
                    self.diary
                        .warning(&format!("file change notifications stopped ({why})"));
                    watch = None;
                    look = Some(now);
                } else {
                    self.index_changes(&news);
                }
            }
            if look.is_some_and(|at| at <= now) {
                let took = self.scan_all(start);
                // The watch may be available again.
                watch = watch.or_else(|| self.start_watch());
                look = watch
                    .is_none()
                    .then(|| start.elapsed() + MIN_SCAN_INTERVAL.max(took * SCAN_PAUSE_RATIO));
            }
            let next = [debounce.due_at(), look].into_iter().flatten().min();
            let is_rung = self
                .bell
                .wait(next.and_then(|next| start.checked_add(next)));
            if is_rung && watch.is_some() {
                debounce.record_event(start.elapsed());
            }
        }
    }

    fn start_watch(&self) -> Option<FileWatcher> {
        let bell = Arc::clone(&self.bell);
        match FileWatcher::watch_home(self.store.root(), move || bell.notify()) {
            Ok(watch) => {
                self.diary.record_watching(FileWatcher::name(), None);
                Some(watch)
            }
            Err(error) => {
                self.diary
                    .record_watching("polling", Some(&error_text(&error)));
                None
            }
        }
    }

    fn scan_all(&self, start: Instant) -> Duration {
        let began = start.elapsed();
        self.wake_main_loop(self.store.refresh_all().map(|()| 0));
        start.elapsed().saturating_sub(began)
    }

    /// Indexes the reported changes.
    fn index_changes(&self, news: &WatchedChanges) {
        if news.more {
            return self.wake_main_loop(self.store.refresh_all().map(|()| 1));
        }
        let files: Vec<String> = news.files.iter().cloned().collect();
        let mut changed = 0;
        for slice in files.chunks(FILES_PER_SLICE) {
            if self.stop.is_cancelled() {
                return;
            }
            match self.store.reread(slice) {
                Ok(count) => changed += count,
                Err(error) => return self.wake_main_loop(Err(error)),
            }
        }
        let looked = if news.folders {
            self.store.refresh()
        } else {
            Ok(())
        };
        self.wake_main_loop(looked.map(|()| changed));
    }

    /// Wakes the main loop, if others have changed files or written to the journal.
    fn wake_main_loop(&self, changed: Result<u64, StoreError>) {
        let written = self.diary.take_foreign_writes();
        let changed = changed.and_then(|changed| Ok((changed, written?)));
        match changed {
            Ok((0, false)) => {}
            Ok((changed, _)) => {
                if 0 < changed {
                    let files = if changed == 1 { "file" } else { "files" };
                    self.diary.info(&format!(
                        "index: indexed {changed} {files} changed by other programs"
                    ));
                }
                self.woken.0.0.store(true, Ordering::SeqCst);
                self.woken.1.notify();
                if let Err(error) = (self.written)() {
                    self.diary
                        .warning(&format!("after a write: {}", error_text(&error)));
                }
            }
            Err(error) => self
                .diary
                .warning(&format!("index: {}", error_text(&error))),
        }
    }
}
