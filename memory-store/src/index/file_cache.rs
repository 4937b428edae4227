//! A cache of parsed files.
//!
//! Law 5 holds for a cached file by its size, times and inode.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memory_core::{Memory, StoreError, StoredMemory};

use super::row::is_settled;
use crate::disk::{Disk, FileStat, now_ns};
use crate::memory_file::load;

/// A cache of parsed files, for a process that runs repeated queries.
///
/// Reading the signature of a file takes a third of the time of reading the file. An entry is valid only while the file has the same
/// signature, and it is cached only if no later change could have that signature.
#[derive(Debug)]
pub(super) struct FileCache {
    room: usize,
    files: Mutex<CacheGenerations>,
}

/// The cached files in two generations: the old one is dropped as soon as the young one is full.
#[derive(Debug, Default)]
struct CacheGenerations {
    young: HashMap<String, CachedFile>,
    old: HashMap<String, CachedFile>,
    /// The estimated size of the young generation, in bytes.
    used: usize,
}

/// A cached file.
#[derive(Debug, Clone)]
struct CachedFile {
    stored: Arc<StoredMemory>,
    signature: FileStat,
}

/// Estimated size of an entry without its texts, in bytes.
const ENTRY_OVERHEAD: usize = 768;

impl FileCache {
    /// Creates a cache of about `room` bytes; 0 disables it.
    pub(super) fn new(room: usize) -> Self {
        Self {
            room,
            files: Mutex::default(),
        }
    }

    /// Returns the same result as [`load`].
    pub(super) fn load(
        &self,
        disk: &dyn Disk,
        path: &str,
    ) -> Result<Option<Arc<StoredMemory>>, StoreError> {
        if self.room == 0 {
            return Ok(load(disk, path)?.map(|loaded| Arc::new(loaded.stored)));
        }
        let kept = self.lock_files().get(path, self.room);
        if let Some(CachedFile { stored, signature }) = kept
            && disk.stat(path).is_ok_and(|now| now == Some(signature))
        {
            return Ok(Some(stored));
        }
        // The time is read first: any later change makes the file newer.
        let now = now_ns();
        let Some(loaded) = load(disk, path)? else {
            return Ok(None);
        };
        let stored = Arc::new(loaded.stored);
        if is_settled(&loaded.signature, now) {
            let file = CachedFile {
                stored: Arc::clone(&stored),
                signature: loaded.signature,
            };
            self.lock_files().put(path.to_owned(), file, self.room);
        }
        Ok(Some(stored))
    }

    fn lock_files(&self) -> MutexGuard<'_, CacheGenerations> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheGenerations {
    fn get(&mut self, path: &str, room: usize) -> Option<CachedFile> {
        if let Some(file) = self.young.get(path) {
            return Some(file.clone());
        }
        let (path, file) = self.old.remove_entry(path)?;
        self.put(path, file.clone(), room);
        Some(file)
    }

    fn put(&mut self, path: String, file: CachedFile, room: usize) {
        let (size, half) = (entry_bytes(&path, &file), room / 2);
        // A larger entry would evict all others.
        if half < size {
            return;
        }
        if half < self.used + size {
            self.old = mem::take(&mut self.young);
            self.used = 0;
        }
        self.used += size;
        self.young.insert(path, file);
    }
}

fn entry_bytes(path: &str, file: &CachedFile) -> usize {
    let Memory {
        content,
        title,
        tags,
        aliases,
        ..
    } = &file.stored.memory;
    let texts = [content]
        .into_iter()
        .chain(title)
        .chain(tags.iter())
        .chain(aliases);
    ENTRY_OVERHEAD + 2 * path.len() + texts.map(String::len).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::disk::RealDisk;

    const ROOM: usize = 64 * 1024;

    /// Caches a file with the content `text` as one that was not changed recently.
    fn keep(home: &Path, kept: &FileCache, path: &str, text: &str) {
        std::fs::write(home.join(path), text).unwrap();
        let loaded = load(&RealDisk::open(home).unwrap(), path).unwrap().unwrap();
        let signature = FileStat {
            size: 3,
            modified_ns: 1,
            changed_ns: 1,
            inode: 1,
            is_folder: false,
        };
        kept.lock_files().put(
            path.to_owned(),
            CachedFile {
                stored: Arc::new(loaded.stored),
                signature,
            },
            kept.room,
        );
    }

    /// Caches `count` files one after the other, and returns the total size of the cache.
    fn keep_all(home: &Path, kept: &FileCache, count: usize) -> usize {
        (0..count).for_each(|number| keep(home, kept, &format!("{number}.md"), "tea"));
        let files = kept.lock_files();
        files
            .young
            .iter()
            .chain(&files.old)
            .map(|(path, file)| entry_bytes(path, file))
            .sum()
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for_and_what_was_used_last_stays() {
        let home = tempfile::tempdir().unwrap();
        let kept = FileCache::new(ROOM);
        assert!(keep_all(home.path(), &kept, 20) < ROOM);
        for _ in 0..10 {
            assert!(keep_all(home.path(), &kept, 20) <= ROOM);
            assert!(kept.lock_files().get("7.md", ROOM).is_some());
        }
        assert!(keep_all(home.path(), &kept, 1_000) <= ROOM);
        assert!(
            kept.lock_files().get("7.md", ROOM).is_none()
                && kept.lock_files().get("999.md", ROOM).is_some()
        );
    }

    #[test]
    fn a_file_that_takes_more_than_all_the_room_drives_out_nothing() {
        let home = tempfile::tempdir().unwrap();
        let kept = FileCache::new(2 * 1024);
        keep(home.path(), &kept, "small.md", "tea");
        keep(home.path(), &kept, "large.md", &"tea ".repeat(1_000));
        assert!(
            kept.lock_files().get("large.md", kept.room).is_none()
                && kept.lock_files().get("small.md", kept.room).is_some()
        );
    }
}
