//! The cache of files: unchanged files are not read again, and searches never use an old version.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memory_core::{Draft, Filter, Query, Ranking, SecretPolicy, Services, search, write};
use memory_store::disk::{DirEntry, Disk, FileStat, RealDisk};
use memory_store::{FileStore, FileStoreOptions, Freshness};

use crate::home::{TestHome, services};

/// A disk that counts reads of files, and may have constant file times.
#[derive(Debug)]
struct ReadCountingDisk {
    real: RealDisk,
    reads: Arc<AtomicU64>,
    /// The times of all files, if they are constant.
    time_ns: Option<i64>,
}

impl ReadCountingDisk {
    fn with_fixed_times(&self, signature: FileStat) -> FileStat {
        self.time_ns.map_or(signature, |time| FileStat {
            modified_ns: time,
            changed_ns: time,
            ..signature
        })
    }
}

impl Disk for ReadCountingDisk {
    fn read(&self, path: &str) -> io::Result<Option<(Vec<u8>, FileStat)>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(self
            .real
            .read(path)?
            .map(|(bytes, signature)| (bytes, self.with_fixed_times(signature))))
    }

    fn open_lock(&self, path: &str) -> io::Result<std::fs::File> {
        self.real.open_lock(path)
    }

    fn open(&self, path: &str) -> io::Result<Option<std::fs::File>> {
        self.real.open(path)
    }

    fn stat(&self, path: &str) -> io::Result<Option<FileStat>> {
        Ok(self
            .real
            .stat(path)?
            .map(|signature| self.with_fixed_times(signature)))
    }

    fn read_part(&self, path: &str, start: u64, length: usize) -> io::Result<Vec<u8>> {
        self.real.read_part(path, start, length)
    }

    fn list_folder(&self, path: &str) -> io::Result<Vec<DirEntry>> {
        self.real.list_folder(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.real.write(path, bytes)
    }

    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.real.append(path, bytes)
    }

    fn append_unsynced(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.real.append_unsynced(path, bytes)
    }

    fn truncate(&self, path: &str, length: u64) -> io::Result<()> {
        self.real.truncate(path, length)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.real.rename(from, to)
    }

    fn hard_link(&self, from: &str, to: &str) -> io::Result<()> {
        self.real.hard_link(from, to)
    }

    fn copy_permissions(&self, path: &str, of: &str) -> io::Result<()> {
        self.real.copy_permissions(path, of)
    }

    fn check_writable(&self, path: &str) -> io::Result<()> {
        self.real.check_writable(path)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        self.real.remove(path)
    }

    fn remove_folder(&self, path: &str) -> io::Result<()> {
        self.real.remove_folder(path)
    }

    fn sync_file(&self, path: &str) -> io::Result<()> {
        self.real.sync_file(path)
    }

    fn sync_folder(&self, path: &str) -> io::Result<()> {
        self.real.sync_folder(path)
    }

    fn sync_everything(&self) -> io::Result<bool> {
        self.real.sync_everything()
    }
}

/// Returns a store with a cache, on a disk with these file times, and the counter of reads.
fn cached_services(home: &Path, time_ns: Option<i64>) -> (Services, Arc<AtomicU64>) {
    let reads = Arc::new(AtomicU64::new(0));
    let disk = ReadCountingDisk {
        real: RealDisk::open(home).unwrap(),
        reads: Arc::clone(&reads),
        time_ns,
    };
    let options = FileStoreOptions {
        freshness: Freshness::Heard,
        kept: 1 << 20,
        ..FileStoreOptions::default()
    };
    (
        services(FileStore::on_disk(Arc::new(disk), home, options)),
        reads,
    )
}

/// Returns the texts of the memories that contain the word "tea".
fn search_tea(services: &Services) -> Vec<String> {
    let (filter, ranking) = (Filter::default(), Ranking::default());
    let found = search(
        services,
        &Query {
            text: "tea".into(),
            filter,
            limit: 10,
            ranking,
        },
    )
    .unwrap();
    found
        .hits
        .into_iter()
        .map(|hit| hit.stored.memory.content)
        .collect()
}

/// A file time in the distant past, and one in the future.
const PAST_NS: i64 = 1_700_000_000_123_456_789;
const FUTURE_NS: i64 = 7_000_000_000_123_456_789;

#[test]
fn a_file_that_was_read_and_did_not_change_is_not_read_again() {
    let home = TestHome::new();
    write(
        &home.services(),
        Draft::new("green tea"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let (services, reads) = cached_services(home.path(), Some(PAST_NS));
    assert_eq!(search_tea(&services), ["green tea"]);
    let before = reads.load(Ordering::Relaxed);
    assert_eq!(
        (search_tea(&services), search_tea(&services)),
        (vec!["green tea".to_owned()], vec!["green tea".to_owned()])
    );
    assert_eq!(reads.load(Ordering::Relaxed), before);
}

#[test]
fn an_edit_is_seen_by_the_next_search_even_within_one_tick_of_the_clock() {
    let home = TestHome::new();
    let path = write(
        &home.services(),
        Draft::new("green tea"),
        SecretPolicy::Refuse,
    )
    .unwrap()
    .path;
    let place = home.path().join(path);
    // No change alters the times of this file, as within one tick of the clock.
    let (services, _) = cached_services(home.path(), Some(FUTURE_NS));
    assert_eq!(search_tea(&services), ["green tea"]);
    for (from, to) in [("green", "black"), ("black", "white"), ("white", "fresh")] {
        fs::write(
            &place,
            fs::read_to_string(&place).unwrap().replace(from, to),
        )
        .unwrap();
        assert_eq!(search_tea(&services), [format!("{to} tea")]);
    }
}

#[test]
fn an_edit_of_a_file_that_is_kept_is_seen_by_the_next_search() {
    let home = TestHome::new();
    let path = write(
        &home.services(),
        Draft::new("green tea"),
        SecretPolicy::Refuse,
    )
    .unwrap()
    .path;
    let place = home.path().join(path);
    let (services, reads) = cached_services(home.path(), None);
    // The file is cached once it is old enough.
    let is_kept =
        |_: &u32| search_tea(&services) == ["green tea"] && reads.swap(0, Ordering::Relaxed) == 0;
    assert!((0..100_000).any(|round| is_kept(&round)));
    fs::write(
        &place,
        fs::read_to_string(&place)
            .unwrap()
            .replace("green", "black"),
    )
    .unwrap();
    assert_eq!(search_tea(&services), ["black tea"]);
    fs::remove_file(&place).unwrap();
    assert!(search_tea(&services).is_empty());
}
