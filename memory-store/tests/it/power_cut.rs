//! What a disk forgets that lost its power.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memory_store::disk::{Disk, RealDisk};

/// What was not synced, all of which is lost. As on file systems with a journal, a rename is one change that stays once the folder of the
/// new name is synced, and a file that is synced has its name; otherwise names are kept by their folder.
#[derive(Debug, Default)]
pub(crate) struct Unsynced(Mutex<Changes>);

#[derive(Debug, Default)]
struct Changes {
    /// Files whose bytes were not synced, by their name now.
    files: BTreeSet<String>,
    /// Names as they were before they were changed, the last one last.
    names: Vec<Names>,
}

/// Names that change together, each with the bytes that it had, if it had any. The first one decides when that is durable.
#[derive(Debug)]
struct Names(Vec<(String, Option<Vec<u8>>)>);

impl Unsynced {
    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note that there may be a new file.
    pub(crate) fn makes(&self, disk: &RealDisk, path: &str) {
        if disk.signature(path).is_ok_and(|found| found.is_none()) {
            self.names(disk, path);
        }
    }

    /// Takes note that the bytes of a file will not be synced.
    pub(crate) fn writes(&self, disk: &RealDisk, path: &str) {
        self.makes(disk, path);
        self.changes().files.insert(path.to_owned());
    }

    /// Takes note that a name will come, go or mean something else.
    pub(crate) fn names(&self, disk: &RealDisk, path: &str) {
        let names = Names(vec![former(disk, path)]);
        self.changes().names.push(names);
    }

    /// Takes note that a file will have another name.
    pub(crate) fn renames(&self, disk: &RealDisk, from: &str, to: &str) {
        let names = Names(vec![former(disk, to), former(disk, from)]);
        let mut changes = self.changes();
        changes.names.push(names);
        if changes.files.remove(from) {
            changes.files.insert(to.to_owned());
        } else {
            changes.files.remove(to);
        }
    }

    pub(crate) fn file_is_synced(&self, path: &str) {
        let mut changes = self.changes();
        changes.files.remove(path);
        changes.names.retain(|names| names.0[0].0 != path);
    }

    pub(crate) fn folder_is_synced(&self, folder: &str) {
        self.changes().names.retain(|names| parent(&names.0[0].0) != folder);
    }

    pub(crate) fn all_is_synced(&self) {
        *self.changes() = Changes::default();
    }

    /// Puts the disk in the state that it comes back with.
    pub(crate) fn forget(&self, disk: &RealDisk) {
        let mut changes = self.changes();
        for path in &changes.files {
            if disk.signature(path).is_ok_and(|found| found.is_some()) {
                drop(disk.write(path, b""));
            }
        }
        for (path, former) in changes.names.drain(..).rev().flat_map(|names| names.0.into_iter().rev()) {
            drop(match former {
                Some(bytes) => disk.remove(&path).and_then(|()| disk.write(&path, &bytes)),
                None => disk.remove(&path),
            });
        }
        changes.files.clear();
    }
}

fn former(disk: &RealDisk, path: &str) -> (String, Option<Vec<u8>>) {
    (path.to_owned(), disk.read(path).ok().flatten().map(|(bytes, _)| bytes))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}
