//! A watcher for changes of conversation files by other processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use memory_core::StoreError;
use memory_store::conversation::ConversationFolder;
use memory_store::{FileWatcher, WatchedChanges};

use crate::wake_signal::WakeSignal;

/// A thread that reports changed files to the store before its next read; it stops when dropped.
pub(crate) struct Watcher {
    bell: Arc<WakeSignal>,
    has_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a watcher.
pub(super) fn watch(store: &Arc<ConversationFolder>) -> Result<Watcher, StoreError> {
    let (bell, has_ended) = (Arc::new(WakeSignal::default()), Arc::new(AtomicBool::default()));
    let own = Arc::clone(&bell);
    let watch = FileWatcher::watch_conversations(store.root(), move || own.notify())?;
    let (own, end, store) = (Arc::clone(&bell), Arc::clone(&has_ended), Arc::clone(store));
    let thread = thread::spawn(move || {
        while !end.load(Ordering::SeqCst) {
            own.wait(None);
            // Added and removed files also change the modification time of their folder.
            let WatchedChanges { files, folders, more, lost } = watch.take_changes();
            store.mark_changed((!more && !folders && lost.is_none()).then_some(&files));
            if lost.is_some() {
                return;
            }
        }
    });
    Ok(Watcher { bell, has_ended, thread: Some(thread) })
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::SeqCst);
        self.bell.notify();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}
