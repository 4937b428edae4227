//! A disk that fails or dies at a given step, or a faulty clock.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::testing::{FakeClock, is_sampled};
use memory_core::{Clock, LocalZone};
use memory_store::disk::{DirEntry, Disk, FileStat, RealDisk};

use crate::power_cut::UnsyncedChanges;

/// The fault at the chosen step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum DiskFault {
    /// This change fails with this error number, and later ones work again.
    Fails(i32),
    /// This change fails for lack of space after half of its bytes, if it has any; later ones work again.
    Short,
    /// This read fails with this error number, and later ones work again.
    Blind(i32),
    /// This change writes only half of its bytes, if it has any, and nothing works afterwards.
    Dies,
    /// Nothing works from this change on, and all unsynced changes are lost.
    ///
    /// They are lost even if the fault is after the last change.
    Forgets,
    /// The clock jumps back a year at this reading.
    GoesBack,
    /// The clock stops at this reading.
    Stands,
}

const EIO: i32 = 5;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;

impl DiskFault {
    /// A disk that is full at one step.
    pub(crate) const FULL: Self = Self::Fails(ENOSPC);

    /// All faults.
    pub(crate) const ALL: [Self; 11] = [
        Self::Dies,
        Self::Forgets,
        Self::Short,
        Self::FULL,
        Self::Fails(EIO),
        Self::Fails(EROFS),
        Self::Fails(EMFILE),
        Self::Blind(EIO),
        Self::Blind(EMFILE),
        Self::GoesBack,
        Self::Stands,
    ];

    /// Returns the faults of the disk, without those of the clock.
    pub(crate) fn disk_faults() -> &'static [Self] {
        let of_clocks = [Self::GoesBack, Self::Stands].len();
        &Self::ALL[..Self::ALL.len() - of_clocks]
    }

    /// Returns the steps at which the fault is tried in the operation `what` of `steps` steps.
    ///
    /// Unsynced changes can also be lost after the last step.
    pub(crate) fn steps(self, what: &str, steps: u64) -> impl Iterator<Item = u64> {
        (1..=steps + u64::from(self == Self::Forgets)).filter(move |at| self.is_tried(what, *at))
    }

    /// Returns whether the fault is tried at a step of the operation `what`: power cuts at each step, and others at a sample.
    pub(crate) fn is_tried(self, what: &str, at: u64) -> bool {
        matches!(self, Self::Dies | Self::Forgets) || is_sampled((self, what, at), 8)
    }
}

/// Runs `check` for each command and fault, and prints the number of tested steps.
pub(crate) fn run_fault_table<A: Copy>(
    commands: &[(&str, A)],
    faults: &[DiskFault],
    check: impl Fn(&str, A, DiskFault) -> u64,
) {
    let names: Vec<String> = faults.iter().map(DiskFault::to_string).collect();
    println!(
        "| command | {} |\n|---|{}",
        names.join(" | "),
        "---:|".repeat(names.len())
    );
    for (what, act) in commands {
        let tried: Vec<String> = faults
            .iter()
            .map(|fault| check(what, *act, *fault).to_string())
            .collect();
        println!("| {what} | {} |", tried.join(" | "));
    }
}

impl std::fmt::Display for DiskFault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |number: i32| match number {
            EIO => "EIO",
            EMFILE => "EMFILE",
            ENOSPC => "ENOSPC",
            EROFS => "EROFS",
            _ => "other",
        };
        match self {
            Self::Fails(number) => formatter.write_str(name(*number)),
            Self::Short => formatter.write_str("short write"),
            Self::Blind(number) => write!(formatter, "{} on reading", name(*number)),
            Self::Dies => formatter.write_str("dies"),
            Self::Forgets => formatter.write_str("forgets"),
            Self::GoesBack => formatter.write_str("clock goes back"),
            Self::Stands => formatter.write_str("clock stands"),
        }
    }
}

/// A disk that works until the chosen step.
///
/// [`DiskFault::Blind`] counts reads, faults of the clock count its readings, and all other faults count changes.
#[derive(Debug)]
pub(crate) struct FaultyDisk {
    real: RealDisk,
    fault: DiskFault,
    at: u64,
    steps: Arc<AtomicU64>,
    syncs: Arc<AtomicU64>,
    slowness: DiskCallback,
    saves: Option<DiskCallback>,
    unsynced: Option<UnsyncedChanges>,
}

/// A function that runs before each append, or before the chosen step.
struct DiskCallback(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for DiskCallback {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Beside")
    }
}

impl FaultyDisk {
    /// Returns a disk with a fault at step `at`, counted from 1, and the counter of its steps.
    pub(crate) fn new(real: RealDisk, fault: DiskFault, at: u64) -> (Self, Arc<AtomicU64>) {
        let steps = Arc::new(AtomicU64::new(0));
        let slowness = DiskCallback(Box::new(|| ()));
        let unsynced = (fault == DiskFault::Forgets).then(UnsyncedChanges::default);
        (
            Self {
                real,
                fault,
                at,
                steps: Arc::clone(&steps),
                syncs: Arc::default(),
                slowness,
                saves: None,
                unsynced,
            },
            steps,
        )
    }

    /// Returns the clock: faulty if the fault is one of the clock, and correct otherwise.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        let (fault, at, asked) = (self.fault, self.at, Arc::clone(&self.steps));
        Arc::new(FaultyClock {
            real: FakeClock::default(),
            fault,
            at,
            asked,
            stood: OnceLock::new(),
        })
    }

    /// Returns a disk without a fault that runs `wait` before each append.
    pub(crate) fn with_slow_appends(
        real: RealDisk,
        wait: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let mut disk = Self::new(real, DiskFault::Dies, u64::MAX).0;
        disk.slowness = DiskCallback(Box::new(wait));
        disk
    }

    /// Returns a disk on which another program saves its files before step `at`, and the step counter.
    ///
    /// Deletions do not count as steps: no system can check and delete a file atomically.
    pub(crate) fn with_concurrent_saves(
        real: RealDisk,
        at: u64,
        saves: impl Fn() + Send + Sync + 'static,
    ) -> (Self, Arc<AtomicU64>) {
        let (mut disk, _) = Self::new(real, DiskFault::Stands, at);
        disk.saves = Some(DiskCallback(Box::new(saves)));
        let steps = Arc::clone(&disk.steps);
        (disk, steps)
    }

    fn run_save_callback(&self) {
        if let Some(saves) = self
            .saves
            .as_ref()
            .filter(|_| self.steps.fetch_add(1, Ordering::Relaxed) + 1 == self.at)
        {
            (saves.0)();
        }
    }

    /// Returns the counter of syncs.
    pub(crate) fn sync_counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.syncs)
    }

    fn count_sync(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    fn is_dead(&self) -> bool {
        matches!(self.fault, DiskFault::Dies | DiskFault::Forgets)
            && self.at <= self.steps.load(Ordering::Relaxed)
    }

    fn read_step<T>(&self, look: impl FnOnce(&RealDisk) -> io::Result<T>) -> io::Result<T> {
        if self.is_dead() {
            return Err(dead_disk_error());
        }
        match self.fault {
            DiskFault::Blind(number)
                if self.steps.fetch_add(1, Ordering::Relaxed) + 1 == self.at =>
            {
                Err(io::Error::from_raw_os_error(number))
            }
            _ => look(&self.real),
        }
    }

    fn change_step<T>(
        &self,
        half: impl FnOnce(&RealDisk),
        whole: impl FnOnce(&RealDisk) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.is_dead() {
            return Err(dead_disk_error());
        }
        let is_other = matches!(
            self.fault,
            DiskFault::Blind(_) | DiskFault::GoesBack | DiskFault::Stands
        );
        if is_other || self.steps.fetch_add(1, Ordering::Relaxed) + 1 != self.at {
            return whole(&self.real);
        }
        match self.fault {
            DiskFault::Fails(number) | DiskFault::Blind(number) => {
                Err(io::Error::from_raw_os_error(number))
            }
            DiskFault::GoesBack | DiskFault::Stands => whole(&self.real),
            DiskFault::Short => {
                half(&self.real);
                Err(io::Error::from_raw_os_error(ENOSPC))
            }
            DiskFault::Dies => {
                half(&self.real);
                Err(dead_disk_error())
            }
            DiskFault::Forgets => {
                self.lose_unsynced();
                Err(dead_disk_error())
            }
        }
    }

    /// Reverts the unsynced changes.
    fn lose_unsynced(&self) {
        if let Some(unsynced) = &self.unsynced {
            unsynced.revert(&self.real);
        }
    }

    /// Records the unsynced state of a change before it is made.
    fn record_unsynced(&self, note: impl FnOnce(&UnsyncedChanges, &RealDisk)) {
        if let Some(unsynced) = self.unsynced.as_ref().filter(|_| !self.is_dead()) {
            note(unsynced, &self.real);
        }
    }
}

/// A clock with a fault at the chosen reading.
#[derive(Debug)]
struct FaultyClock {
    real: FakeClock,
    fault: DiskFault,
    at: u64,
    asked: Arc<AtomicU64>,
    stood: OnceLock<DateTime<Utc>>,
}

impl Clock for FaultyClock {
    fn now(&self) -> DateTime<Utc> {
        let now = self.real.now();
        let is_late = |asked: u64| self.at <= asked + 1;
        match self.fault {
            DiskFault::GoesBack if is_late(self.asked.fetch_add(1, Ordering::Relaxed)) => {
                now - TimeDelta::days(365)
            }
            DiskFault::Stands if is_late(self.asked.fetch_add(1, Ordering::Relaxed)) => {
                *self.stood.get_or_init(|| now)
            }
            _ => now,
        }
    }

    fn zone(&self) -> LocalZone {
        self.real.zone()
    }
}

impl Drop for FaultyDisk {
    fn drop(&mut self) {
        if !self.is_dead() {
            self.lose_unsynced();
        }
    }
}

fn dead_disk_error() -> io::Error {
    io::Error::other("the disk is dead")
}

impl Disk for FaultyDisk {
    fn read(&self, path: &str) -> io::Result<Option<(Vec<u8>, FileStat)>> {
        self.read_step(|disk| disk.read(path))
    }

    fn read_part(&self, path: &str, start: u64, length: usize) -> io::Result<Vec<u8>> {
        self.read_step(|disk| disk.read_part(path, start, length))
    }

    fn open_lock(&self, path: &str) -> io::Result<std::fs::File> {
        self.real.open_lock(path)
    }

    fn open(&self, path: &str) -> io::Result<Option<std::fs::File>> {
        self.read_step(|disk| disk.open(path))
    }

    fn stat(&self, path: &str) -> io::Result<Option<FileStat>> {
        self.read_step(|disk| disk.stat(path))
    }

    fn list_folder(&self, path: &str) -> io::Result<Vec<DirEntry>> {
        self.read_step(|disk| disk.list_folder(path))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.run_save_callback();
        self.record_unsynced(|unsynced, disk| unsynced.record_write(disk, path));
        let half = |disk: &RealDisk| drop(disk.write(path, &bytes[..bytes.len() / 2]));
        self.change_step(half, |disk| disk.write(path, bytes))
    }

    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.run_save_callback();
        (self.slowness.0)();
        self.count_sync();
        self.record_unsynced(|unsynced, disk| unsynced.record_create(disk, path));
        let half = |disk: &RealDisk| drop(disk.append(path, &bytes[..bytes.len() / 2]));
        self.change_step(half, |disk| disk.append(path, bytes))?;
        self.record_unsynced(|unsynced, _| unsynced.record_file_sync(path));
        Ok(())
    }

    fn append_unsynced(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.run_save_callback();
        self.record_unsynced(|unsynced, disk| unsynced.record_write(disk, path));
        let half = |disk: &RealDisk| drop(disk.append_unsynced(path, &bytes[..bytes.len() / 2]));
        self.change_step(half, |disk| disk.append_unsynced(path, bytes))
    }

    fn truncate(&self, path: &str, length: u64) -> io::Result<()> {
        self.count_sync();
        self.change_step(|_| (), |disk| disk.truncate(path, length))?;
        self.record_unsynced(|unsynced, _| unsynced.record_file_sync(path));
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.record_unsynced(|unsynced, disk| unsynced.record_rename(disk, from, to));
        self.change_step(|_| (), |disk| disk.rename(from, to))
    }

    fn hard_link(&self, from: &str, to: &str) -> io::Result<()> {
        self.run_save_callback();
        self.record_unsynced(|unsynced, disk| unsynced.record_name_change(disk, to));
        self.change_step(|_| (), |disk| disk.hard_link(from, to))
    }

    fn copy_permissions(&self, path: &str, of: &str) -> io::Result<()> {
        self.run_save_callback();
        self.change_step(|_| (), |disk| disk.copy_permissions(path, of))
    }

    fn check_writable(&self, path: &str) -> io::Result<()> {
        self.read_step(|disk| disk.check_writable(path))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.record_unsynced(|unsynced, disk| unsynced.record_name_change(disk, path));
        self.change_step(|_| (), |disk| disk.remove(path))
    }

    fn remove_folder(&self, path: &str) -> io::Result<()> {
        self.change_step(|_| (), |disk| disk.remove_folder(path))
    }

    fn sync_file(&self, path: &str) -> io::Result<()> {
        self.run_save_callback();
        self.count_sync();
        self.change_step(|_| (), |disk| disk.sync_file(path))?;
        self.record_unsynced(|unsynced, _| unsynced.record_file_sync(path));
        Ok(())
    }

    fn sync_folder(&self, path: &str) -> io::Result<()> {
        self.run_save_callback();
        self.count_sync();
        self.change_step(|_| (), |disk| disk.sync_folder(path))?;
        self.record_unsynced(|unsynced, _| unsynced.record_folder_sync(path));
        Ok(())
    }

    fn sync_everything(&self) -> io::Result<bool> {
        self.run_save_callback();
        self.count_sync();
        let done = self.change_step(|_| (), Disk::sync_everything)?;
        self.record_unsynced(|unsynced, _| {
            if done {
                unsynced.record_full_sync();
            }
        });
        Ok(done)
    }
}
