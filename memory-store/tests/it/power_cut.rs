//! The changes that a disk loses at a power cut.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memory_store::disk::{Disk, RealDisk};

/// The unsynced changes, all of which are lost.
///
/// The model is a file system with a journal. A rename is one change, durable once the folder of the new name is
/// synced. The sync of a file includes its name; all other names become durable with their folder.
#[derive(Debug, Default)]
pub(crate) struct Unsynced(Mutex<Changes>);

#[derive(Debug, Default)]
struct Changes {
    /// The current paths of files with unsynced content.
    files: BTreeSet<String>,
    /// The previous state of changed names, the last change last.
    names: Vec<Names>,
}

/// Names that change together, each with its previous content, if it had any.
///
/// The change is durable when the first name is.
#[derive(Debug)]
struct Names(Vec<(String, Option<Vec<u8>>)>);

impl Unsynced {
    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a file may be created.
    pub(crate) fn makes(&self, disk: &RealDisk, path: &str) {
        if disk.signature(path).is_ok_and(|found| found.is_none()) {
            self.names(disk, path);
        }
    }

    /// Records that the content of a file is not synced.
    pub(crate) fn writes(&self, disk: &RealDisk, path: &str) {
        self.makes(disk, path);
        self.changes().files.insert(path.to_owned());
    }

    /// Records that a name is about to be created, deleted or replaced.
    pub(crate) fn names(&self, disk: &RealDisk, path: &str) {
        let names = Names(vec![former(disk, path)]);
        self.changes().names.push(names);
    }

    /// Records that a file is about to be renamed.
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

    /// Sets the disk to its state after the power cut.
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
