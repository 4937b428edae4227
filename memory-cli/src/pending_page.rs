//! The page of due reminders, for long-running processes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use memory_core::{MemoryId, ReminderQuery, Services, StoreError, pending};
use memory_store::FileStore;

use crate::home::Home;
use crate::zone::UserTimeZone;

/// Number of reminders on the page; only a change of these causes an update.
const MAX_REMINDERS: usize = 100;

/// A reminder as shown on the page: its id, time and text.
type PendingReminder = (MemoryId, Option<DateTime<Utc>>, String);

/// A writer that updates `pending.md` of one home when its content changes.
#[derive(Debug)]
pub(crate) struct PendingPage {
    services: Services,
    store: Arc<FileStore>,
    zone: UserTimeZone,
    file: PathBuf,
    /// The content of the last update: the reminders and their total number.
    last: Mutex<Option<(Vec<PendingReminder>, u64)>>,
}

impl PendingPage {
    /// Creates a writer for `home`.
    pub(crate) fn of(home: &Home) -> Self {
        let file = home.store.root().join("pending.md");
        let (services, store) = (home.services.clone(), Arc::clone(&home.store));
        Self { services, store, zone: home.zone, file, last: Mutex::default() }
    }

    /// Updates the page if its content has changed, and removes it if nothing is due.
    ///
    /// # Errors
    /// If the files cannot be read, or a write fails.
    pub(crate) fn refresh(&self) -> Result<(), StoreError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let due = self.services.store.reminders(ReminderQuery::Due(self.services.clock.now()), None, Some(MAX_REMINDERS))?;
        let shown = due.memories.iter().map(|stored| {
            let memory = &stored.memory;
            (memory.id, memory.reminder.map(|reminder| reminder.due), memory.headline().to_owned())
        });
        let page = Some((shown.collect(), due.total));
        let is_absent = due.total == 0 && !self.file.exists();
        if !is_absent && *last != page {
            self.store.update_pending_page(|| pending(&self.services, &self.zone))?;
        }
        *last = page;
        Ok(())
    }
}
