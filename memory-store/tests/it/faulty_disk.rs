//! A disk that fails, or dies, at a given step.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memory_store::disk::{Disk, Entry, RealDisk, Signature};

/// What happens at the chosen step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// That step fails, and the next ones work again.
    Fails(io::ErrorKind),
    /// That step writes only half of its bytes, where it writes any, and nothing works from then on.
    Dies,
}

/// A disk that works until the chosen step. Only steps that change something are counted.
#[derive(Debug)]
pub(crate) struct FaultyDisk {
    real: RealDisk,
    fault: Fault,
    at: u64,
    steps: Arc<AtomicU64>,
    syncs: Arc<AtomicU64>,
    slowness: Slowness,
}

/// What goes on before each append gets to the disk.
struct Slowness(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Slowness {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Slowness")
    }
}

impl FaultyDisk {
    /// Returns a disk that has its fault at step `at`, counted from 1, and the counter of its steps.
    pub(crate) fn new(real: RealDisk, fault: Fault, at: u64) -> (Self, Arc<AtomicU64>) {
        let steps = Arc::new(AtomicU64::new(0));
        let slowness = Slowness(Box::new(|| ()));
        (Self { real, fault, at, steps: Arc::clone(&steps), syncs: Arc::default(), slowness }, steps)
    }

    /// Returns a disk that works, on which `wait` goes on before each append.
    pub(crate) fn slow(real: RealDisk, wait: impl Fn() + Send + Sync + 'static) -> Self {
        Self { slowness: Slowness(Box::new(wait)), ..Self::new(real, Fault::Dies, u64::MAX).0 }
    }

    /// Returns the counter of what was made durable.
    pub(crate) fn syncs(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.syncs)
    }

    fn sync(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    fn is_dead(&self) -> bool {
        self.fault == Fault::Dies && self.at <= self.steps.load(Ordering::Relaxed)
    }

    fn look<T>(&self, look: impl FnOnce(&RealDisk) -> io::Result<T>) -> io::Result<T> {
        if self.is_dead() { Err(dead()) } else { look(&self.real) }
    }

    fn step<T>(&self, half: impl FnOnce(&RealDisk), whole: impl FnOnce(&RealDisk) -> io::Result<T>) -> io::Result<T> {
        if self.is_dead() {
            return Err(dead());
        }
        let step = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        match self.fault {
            _ if step != self.at => whole(&self.real),
            Fault::Fails(kind) => Err(io::Error::new(kind, "the disk fails")),
            Fault::Dies => {
                half(&self.real);
                Err(dead())
            }
        }
    }
}

fn dead() -> io::Error {
    io::Error::other("the disk is dead")
}

impl Disk for FaultyDisk {
    fn read(&self, path: &str) -> io::Result<Option<(Vec<u8>, Signature)>> {
        self.look(|disk| disk.read(path))
    }

    fn read_part(&self, path: &str, start: u64, length: usize) -> io::Result<Vec<u8>> {
        self.look(|disk| disk.read_part(path, start, length))
    }

    fn open(&self, path: &str) -> io::Result<Option<std::fs::File>> {
        self.look(|disk| disk.open(path))
    }

    fn signature(&self, path: &str) -> io::Result<Option<Signature>> {
        self.look(|disk| disk.signature(path))
    }

    fn folder(&self, path: &str) -> io::Result<Vec<Entry>> {
        self.look(|disk| disk.folder(path))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let half = |disk: &RealDisk| drop(disk.write(path, &bytes[..bytes.len() / 2]));
        self.step(half, |disk| disk.write(path, bytes))
    }

    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        (self.slowness.0)();
        self.sync();
        let half = |disk: &RealDisk| drop(disk.append(path, &bytes[..bytes.len() / 2]));
        self.step(half, |disk| disk.append(path, bytes))
    }

    fn shorten(&self, path: &str, length: u64) -> io::Result<()> {
        self.sync();
        self.step(|_| (), |disk| disk.shorten(path, length))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.step(|_| (), |disk| disk.rename(from, to))
    }

    fn keep(&self, from: &str, to: &str) -> io::Result<()> {
        self.step(|_| (), |disk| disk.keep(from, to))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.step(|_| (), |disk| disk.remove(path))
    }

    fn remove_folder(&self, path: &str) -> io::Result<()> {
        self.step(|_| (), |disk| disk.remove_folder(path))
    }

    fn sync_file(&self, path: &str) -> io::Result<()> {
        self.sync();
        self.step(|_| (), |disk| disk.sync_file(path))
    }

    fn sync_folder(&self, path: &str) -> io::Result<()> {
        self.sync();
        self.step(|_| (), |disk| disk.sync_folder(path))
    }

    fn sync_everything(&self) -> io::Result<bool> {
        self.sync();
        self.step(|_| (), Disk::sync_everything)
    }
}
