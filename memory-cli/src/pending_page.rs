//! The page of what is due, for a process that stays.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use memory_core::{MemoryId, Reminders, Services, StoreError, pending};
use memory_store::FileStore;

use crate::app::Home;
use crate::zone::Zone;

/// How many reminders the page names; they decide whether it must be written anew.
const SHOWN: usize = 100;

/// A reminder as the page shows it: its id, its time and its text.
type Shown = (MemoryId, Option<DateTime<Utc>>, String);

/// Writes `pending.md` of one home where it would differ from the last time.
#[derive(Debug)]
pub(crate) struct PendingPage {
    services: Services,
    store: Arc<FileStore>,
    zone: Zone,
    file: PathBuf,
    /// What was last written: the reminders, and how many there were.
    last: Mutex<Option<(Vec<Shown>, u64)>>,
}

impl PendingPage {
    /// Returns the page of `home`.
    pub(crate) fn of(home: &Home) -> Self {
        let file = home.store.root().join("pending.md");
        let (services, store) = (home.services.clone(), Arc::clone(&home.store));
        Self { services, store, zone: home.zone, file, last: Mutex::default() }
    }

    /// Writes the page anew if it would differ, or removes it if nothing is due.
    ///
    /// # Errors
    /// When the files cannot be read, or the disk refuses.
    pub(crate) fn refresh(&self) -> Result<(), StoreError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let due = self.services.store.reminders(Reminders::Due(self.services.clock.now()), None, Some(SHOWN))?;
        let shown = due.memories.iter().map(|stored| {
            let memory = &stored.memory;
            (memory.id, memory.reminder.map(|reminder| reminder.due), memory.headline().to_owned())
        });
        let page = Some((shown.collect(), due.total));
        let is_absent = due.total == 0 && !self.file.exists();
        if !is_absent && *last != page {
            self.store.keep_pending(|| pending(&self.services, &self.zone))?;
        }
        *last = page;
        Ok(())
    }
}
