//! The deleted facts of a folder, which mark turns as superseded.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use memory_core::conversation::{ConversationId, ConversationIndex, EntryId, EntryRole};

use super::format::decode;
use super::layout::{is_entry_file, role_folder, time_prefix, tombstone_folders};
use crate::disk::{DirEntryKind, Disk, parent_folder, racy_ns};
use crate::memory_file::time_from_nanos;

/// The deleted facts of a folder. A tombstone never changes in place, so each is read once.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    /// The facts by their paths; `None` for other files.
    known: HashMap<String, Option<(ConversationId, EntryId)>>,
    folders: HashMap<String, TombstoneListing>,
}

/// The times of the last change and of the last listing of a folder.
#[derive(Debug, Clone, Copy)]
struct TombstoneListing {
    modified_ns: i64,
    listed_ns: i64,
}

impl TombstoneListing {
    fn is_current(self, modified_ns: i64, now_ns: i64) -> bool {
        let is_settled = (settled_ns(modified_ns)..=now_ns).contains(&self.listed_ns);
        let is_fresh = (self.listed_ns..self.listed_ns.saturating_add(OFTEN_NS)).contains(&now_ns);
        self.modified_ns == modified_ns && (is_settled || is_fresh)
    }
}

type ConversationIndexes = HashMap<ConversationId, Arc<ConversationIndex>>;

impl Tombstones {
    /// Updates the superseded turns in `shelves` to the tombstones of `folder`.
    ///
    /// `oldest` returns the file name of the oldest turn. A fact is never older than its turn, so older tombstones are not read.
    pub(super) fn refresh(
        &mut self,
        disk: &dyn Disk,
        folder: &str,
        now_ns: i64,
        oldest: &dyn Fn() -> Option<String>,
        shelves: &mut ConversationIndexes,
    ) {
        for path in fact_tombstone_folders(folder) {
            // An unreadable folder only costs marks of turns, and must not prevent reading active entries.
            let Ok(found) = disk
                .stat(&path)
                .map(|found| found.filter(|found| found.is_folder))
            else {
                continue;
            };
            let modified_ns = found.map(|found| found.modified_ns);
            let listing = self.folders.get(&path);
            let is_current = match (modified_ns, listing) {
                (None, None) => true,
                (Some(modified_ns), Some(listing)) => listing.is_current(modified_ns, now_ns),
                _ => false,
            };
            if is_current {
                continue;
            }
            let oldest = oldest();
            let is_wanted = |name: &str| {
                is_entry_file(name)
                    && oldest
                        .as_deref()
                        .is_some_and(|oldest| time_prefix(oldest) <= time_prefix(name))
            };
            let Ok(names) = disk.list_folder(&path) else {
                continue;
            };
            let listed: HashSet<String> = names
                .into_iter()
                .filter(|entry| entry.kind == DirEntryKind::File && is_wanted(&entry.name))
                .map(|entry| format!("{path}/{}", entry.name))
                .collect();
            let gone: Vec<String> = self
                .known
                .keys()
                .filter(|own| parent_folder(own) == path && !listed.contains(*own))
                .cloned()
                .collect();
            for own in gone {
                self.remove_file(&own, shelves);
            }
            for own in listed
                .iter()
                .filter(|own| !self.known.contains_key(*own))
                .cloned()
                .collect::<Vec<_>>()
            {
                self.read_file(disk, &own, shelves);
            }
            match modified_ns {
                Some(modified_ns) => drop(self.folders.insert(
                    path,
                    TombstoneListing {
                        modified_ns,
                        listed_ns: now_ns,
                    },
                )),
                None => drop(self.folders.remove(&path)),
            }
        }
    }

    /// Updates the tombstones to the changes of a writer of this process, without a listing.
    pub(super) fn finish_write(
        &mut self,
        disk: &dyn Disk,
        folder: &str,
        changed: &[String],
        now_ns: i64,
        shelves: &mut ConversationIndexes,
    ) {
        for path in fact_tombstone_folders(folder) {
            let own: Vec<&String> = changed
                .iter()
                .filter(|changed| parent_folder(changed) == path)
                .collect();
            if own.is_empty() || !self.folders.contains_key(&path) {
                continue;
            }
            for own in own {
                self.remove_file(own, shelves);
                self.read_file(disk, own, shelves);
            }
            if let Ok(Some(found)) = disk.stat(&path) {
                self.folders.insert(
                    path,
                    TombstoneListing {
                        modified_ns: found.modified_ns,
                        listed_ns: now_ns,
                    },
                );
            }
        }
    }

    fn read_file(&mut self, disk: &dyn Disk, path: &str, shelves: &mut ConversationIndexes) {
        let read = disk.read(path).ok().flatten();
        let entry = read.and_then(|(bytes, signature)| {
            decode(
                path,
                &bytes,
                EntryRole::Memory,
                time_from_nanos(signature.modified_ns),
            )
            .ok()
            .filter(|entry| entry.source_id.is_some())
        });
        let known = entry.map(|entry| {
            let key = (entry.conversation.clone(), entry.id.clone());
            Arc::make_mut(shelves.entry(key.0.clone()).or_default()).add_tombstone(&entry);
            key
        });
        self.known.insert(path.to_owned(), known);
    }

    fn remove_file(&mut self, path: &str, shelves: &mut ConversationIndexes) {
        let Some(Some((conversation, id))) = self.known.remove(path) else {
            return;
        };
        if let Some(shelf) = shelves.get_mut(&conversation) {
            Arc::make_mut(shelf).remove_tombstone(&id);
        }
    }
}

/// Returns the folders of deleted facts: in the conversation, and in the layout of another program.
fn fact_tombstone_folders(folder: &str) -> [String; 2] {
    tombstone_folders(folder).map(|own| format!("{own}/{}", role_folder(EntryRole::Memory)))
}

/// Two changes within this time can have the same file time, in nanoseconds: a tick is at most 10 ms.
const RACY_NS: i64 = 20_000_000;

/// Maximum age of a listing while this program changes the folder continuously, in nanoseconds.
pub(super) const OFTEN_NS: i64 = 1_000_000_000;

/// The state of a folder at its last listing or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderListing {
    pub(super) modified_ns: i64,
    pub(super) listed_ns: i64,
    /// The generation of the last writer at that time.
    pub(super) generation: u64,
}

impl FolderListing {
    /// Returns whether a folder last modified at `modified_ns` still has the listed names.
    ///
    /// Either any further change would alter this time, or the listing is recent and no other writer of this program has run.
    pub(super) fn is_current(self, modified_ns: i64, generation: u64, now_ns: i64) -> bool {
        let settles_ns = settled_ns(modified_ns);
        let is_recent = now_ns < settles_ns && self.is_fresh(now_ns);
        // The clock may have been set back since the listing.
        let is_settled = (settles_ns..=now_ns).contains(&self.listed_ns);
        self.modified_ns == modified_ns
            && (is_settled || is_recent && self.generation == generation)
    }

    pub(super) fn is_fresh(self, now_ns: i64) -> bool {
        (self.listed_ns..self.listed_ns.saturating_add(OFTEN_NS)).contains(&now_ns)
    }
}

/// Returns the time from which a further change alters a file time of `time_ns`.
pub(super) fn settled_ns(time_ns: i64) -> i64 {
    time_ns.saturating_add(racy_ns(time_ns, RACY_NS))
}
