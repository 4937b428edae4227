//! The changes that a disk loses at a power cut.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memory_store::disk::{Disk, RealDisk};

/// The unsynced changes, all of which are lost.
///
/// The model is a file system with a journal. A rename is one change, durable once the folder of the new name is
/// synced. The sync of a file includes its name; all other names become durable with their folder.
#[derive(Debug, Default)]
pub(crate) struct UnsyncedChanges(Mutex<UnsyncedState>);

#[derive(Debug, Default)]
struct UnsyncedState {
    /// The current paths of files with unsynced content.
    files: BTreeSet<String>,
    /// The previous state of changed names, the last change last.
    names: Vec<ChangedNames>,
}

/// Names that change together, each with its previous content, if it had any.
///
/// The change is durable when the first name is.
#[derive(Debug)]
struct ChangedNames(Vec<(String, Option<Vec<u8>>)>);

impl UnsyncedChanges {
    fn lock(&self) -> MutexGuard<'_, UnsyncedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a file may be created.
    pub(crate) fn record_create(&self, disk: &RealDisk, path: &str) {
        if disk.stat(path).is_ok_and(|found| found.is_none()) {
            self.record_name_change(disk, path);
        }
    }

    /// Records that the content of a file is not synced.
    pub(crate) fn record_write(&self, disk: &RealDisk, path: &str) {
        self.record_create(disk, path);
        self.lock().files.insert(path.to_owned());
    }

    /// Records that a name is about to be created, deleted or replaced.
    pub(crate) fn record_name_change(&self, disk: &RealDisk, path: &str) {
        let names = ChangedNames(vec![previous_content(disk, path)]);
        self.lock().names.push(names);
    }

    /// Records that a file is about to be renamed.
    pub(crate) fn record_rename(&self, disk: &RealDisk, from: &str, to: &str) {
        let names = ChangedNames(vec![
            previous_content(disk, to),
            previous_content(disk, from),
        ]);
        let mut changes = self.lock();
        changes.names.push(names);
        if changes.files.remove(from) {
            changes.files.insert(to.to_owned());
        } else {
            changes.files.remove(to);
        }
    }

    pub(crate) fn record_file_sync(&self, path: &str) {
        let mut changes = self.lock();
        changes.files.remove(path);
        changes.names.retain(|names| names.0[0].0 != path);
    }

    pub(crate) fn record_folder_sync(&self, folder: &str) {
        self.lock()
            .names
            .retain(|names| parent(&names.0[0].0) != folder);
    }

    pub(crate) fn record_full_sync(&self) {
        *self.lock() = UnsyncedState::default();
    }

    /// Sets the disk to its state after the power cut.
    pub(crate) fn revert(&self, disk: &RealDisk) {
        let mut changes = self.lock();
        for path in &changes.files {
            if disk.stat(path).is_ok_and(|found| found.is_some()) {
                drop(disk.write(path, b""));
            }
        }
        for (path, former) in changes
            .names
            .drain(..)
            .rev()
            .flat_map(|names| names.0.into_iter().rev())
        {
            drop(match former {
                Some(bytes) => disk.remove(&path).and_then(|()| disk.write(&path, &bytes)),
                None => disk.remove(&path),
            });
        }
        changes.files.clear();
    }
}

fn previous_content(disk: &RealDisk, path: &str) -> (String, Option<Vec<u8>>) {
    (
        path.to_owned(),
        disk.read(path).ok().flatten().map(|(bytes, _)| bytes),
    )
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}
