//! Showing nothing: the page of what is due says it.

use memory_core::{Notification, Notifier, NotifyError};

/// Shows nothing by itself: what is due stands in `pending.md`, which [`crate::FileStore::keep_pending`] writes.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileNotifier;

impl Notifier for FileNotifier {
    fn notify(&self, _: &Notification) -> Result<(), NotifyError> {
        Ok(())
    }
}
