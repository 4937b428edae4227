//! The notifier that shows nothing.

use memory_core::{Notification, Notifier, NotifyError};

/// A notifier that shows nothing.
///
/// The due reminders are in `pending.md`, which [`crate::FileStore::update_pending_page`] writes.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopNotifier;

impl Notifier for NoopNotifier {
    fn notify(&self, _: &Notification) -> Result<(), NotifyError> {
        Ok(())
    }
}
