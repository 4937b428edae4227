//! Limits how many filters run at the same time: in this process, and in all processes of the user.

use std::fs::TryLockError;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use memory_core::{Code, StoreError};

use super::error::JqError;
use crate::disk::RealDisk;
use crate::folder_format;
use crate::lock::{PATIENCE, WriterLock};

/// How many filters run at the same time, and how long others wait.
///
/// A filter takes a slot of this process, and one of the user, which is the lock of a file. So no wait needs a daemon, and a process that
/// is killed gives its slots back.
#[derive(Debug, Clone)]
pub struct JqSlots {
    /// Maximum number of filters that run at the same time, at least 1.
    count: usize,
    folders: Vec<PathBuf>,
    /// Maximum time that a filter waits for a slot.
    patience: Duration,
    process: &'static ProcessSlots,
}

impl JqSlots {
    /// Creates slots for filters that use `memory` bytes each, and `total` bytes together: at least one, and at most one for each processor.
    ///
    /// The locks are in the first one of `folders` that can be used; without one, only the filters of this process are limited.
    pub fn new(memory: u64, total: u64, folders: Vec<PathBuf>) -> Self {
        static PROCESS: ProcessSlots = ProcessSlots::new();
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let count = usize::try_from(total / memory.max(1)).unwrap_or(usize::MAX);
        Self {
            count: count.clamp(1, processors),
            folders,
            patience: PATIENCE,
            process: &PROCESS,
        }
    }

    /// Returns the slots of another process.
    #[cfg(test)]
    pub(super) fn of_process(count: usize, folders: &[&Path]) -> Self {
        Self {
            count,
            folders: folders.iter().map(|folder| (*folder).to_owned()).collect(),
            patience: PATIENCE,
            process: Box::leak(Box::new(ProcessSlots::new())),
        }
    }

    /// Waits at most `patience`, if that is shorter than the usual time.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = self.patience.min(patience);
        self
    }

    /// Waits for a slot.
    ///
    /// # Errors
    /// [`JqError::Busy`] after the patience.
    pub(super) fn acquire(&self) -> Result<JqSlot, JqError> {
        let begun = Instant::now();
        let busy = || JqError::Busy {
            running: self.count,
            waited: self.patience,
        };
        let in_process = self
            .process
            .acquire(self.count, self.patience)
            .ok_or_else(busy)?;
        let left = self.patience.saturating_sub(begun.elapsed());
        let of_user = self
            .acquire_of_user(left)
            .map_err(|error| match error.code() {
                Code::Locked => busy(),
                _ => JqError::Process {
                    message: error.to_string(),
                },
            })?;
        Ok(JqSlot {
            _of_user: of_user,
            _in_process: in_process,
        })
    }

    /// Returns the lock of a slot, or nothing if no folder can be used.
    fn acquire_of_user(&self, patience: Duration) -> Result<Option<WriterLock>, StoreError> {
        let count = self.count;
        // Processes begin at different slots, so that those that wait are spread over all of them.
        let first = usize::try_from(std::process::id()).unwrap_or_default();
        let names = (0..count).map(|number| format!("filter-{}", (first + number) % count));
        let usable = |folder: &&PathBuf| folder_format::check_writable(folder).is_ok();
        for folder in self.folders.iter().filter(usable) {
            // A folder that is missing is not created for a lock.
            let Some(disk) = folder
                .is_dir()
                .then(|| RealDisk::open(folder).ok())
                .flatten()
            else {
                continue;
            };
            let mut is_usable = false;
            for name in names.clone() {
                match WriterLock::try_acquire_named(&disk, &name) {
                    Ok(slot) => return Ok(Some(slot)),
                    Err(error) => is_usable |= matches!(error, TryLockError::WouldBlock),
                }
            }
            if is_usable {
                let name = format!("filter-{}", first % count);
                return WriterLock::acquire_named(&disk, folder, &name, patience).map(Some);
            }
        }
        Ok(None)
    }
}

/// The right to run one filter, until dropped.
#[derive(Debug)]
pub(super) struct JqSlot {
    _of_user: Option<WriterLock>,
    _in_process: ProcessSlot,
}

/// The slots of a process.
#[derive(Debug)]
struct ProcessSlots {
    running: Mutex<usize>,
    /// Notified when a filter ends.
    freed: Condvar,
}

impl ProcessSlots {
    const fn new() -> Self {
        Self {
            running: Mutex::new(0),
            freed: Condvar::new(),
        }
    }

    /// Waits until fewer than `count` filters run; `None` after `patience`.
    fn acquire(&'static self, count: usize, patience: Duration) -> Option<ProcessSlot> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut running, _) = self
            .freed
            .wait_timeout_while(running, patience, |running| count <= *running)
            .unwrap_or_else(PoisonError::into_inner);
        if count <= *running {
            return None;
        }
        *running += 1;
        Some(ProcessSlot(self))
    }
}

#[derive(Debug)]
struct ProcessSlot(&'static ProcessSlots);

impl Drop for ProcessSlot {
    fn drop(&mut self) {
        *self
            .0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_process(count: usize, folders: &[&Path]) -> JqSlots {
        JqSlots::of_process(count, folders).with_patience(Duration::ZERO)
    }

    fn take_all(slots: &JqSlots) -> Vec<JqSlot> {
        std::iter::from_fn(|| slots.acquire().ok()).collect()
    }

    #[test]
    fn the_filters_of_all_processes_share_one_memory_and_the_processors() {
        const MIB: u64 = 1 << 20;
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let count = |memory, total| JqSlots::new(memory, total, Vec::new()).count;
        assert_eq!(count(MIB, u64::MAX), processors);
        assert_eq!(count(512 * MIB, 1024 * MIB), processors.min(2));
        assert_eq!(count(512 * MIB, 16 * MIB), 1);
    }

    #[test]
    fn as_many_filters_run_as_there_are_slots_in_one_process_and_in_all() {
        let folder = tempfile::tempdir().unwrap();
        for folders in [&[][..], &[folder.path()][..]] {
            let slots = of_process(3, folders);
            let held = take_all(&slots);
            assert_eq!(held.len(), 3);
            let others = take_all(&of_process(3, folders));
            assert_eq!(others.len(), if folders.is_empty() { 3 } else { 0 });
            drop((held, others));
            assert_eq!(take_all(&slots).len(), 3);
        }
        let (one, other) = (
            of_process(3, &[folder.path()]),
            of_process(3, &[folder.path()]),
        );
        let held = [one.acquire().unwrap(), other.acquire().unwrap()];
        assert_eq!(take_all(&one).len(), 1);
        drop(held);
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let both = [missing.as_path(), folder.path()];
        let held = take_all(&of_process(2, &both));
        assert_eq!((held.len(), missing.exists()), (2, false));
        assert_eq!(take_all(&of_process(2, &[folder.path()])).len(), 0);
        assert_eq!(take_all(&of_process(2, &[&missing])).len(), 2);
    }

    #[test]
    fn who_waits_gets_the_slot_that_becomes_free_and_is_told_if_none_does() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path()];
        let (own, other) = (of_process(1, &folders), of_process(1, &folders));
        let held = own.acquire().unwrap();
        for slots in [&own, &other] {
            assert_eq!(
                slots.acquire().unwrap_err(),
                JqError::Busy {
                    running: 1,
                    waited: Duration::ZERO
                }
            );
        }
        let patient = |slots: JqSlots| JqSlots {
            patience: PATIENCE,
            ..slots
        };
        let (own, other) = (patient(own), patient(other));
        thread::scope(|scope| {
            let waiting =
                [&own, &other].map(|slots| scope.spawn(|| drop(slots.acquire().unwrap())));
            drop(held);
            for thread in waiting {
                thread.join().unwrap();
            }
        });
    }
}
