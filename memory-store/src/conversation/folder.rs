//! A folder of conversations.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationIndex, ConversationStore, EntryChange, EntryId,
    EntryRole, EntryVector,
};
use memory_core::secret::Checked;
use memory_core::{Operation, StoreError};

use super::change::{self, ConversationCommit};
use super::folder_cache::ConversationCache;
use super::format::decode;
use super::journal::{self, RecordingDecision, decide_recording};
use super::layout::{
    DELETED, ENTRIES, conversation_folder, format_file_time, is_entry_file, list_tombstones,
    role_folder, tombstone_folders,
};
use super::{own_turns, vectors};
use crate::disk::{DirEntryKind, Disk, LazyDisk, now_ns};
use crate::error::{io_error, read_error};
use crate::lock::{PATIENCE, WriterLock, read_generation};
use crate::memory_file::time_from_nanos;
use crate::store_folder::StoreFolder;

/// Maximum number of folders in the cache.
const MAX_CACHED_FOLDERS: usize = 128;

/// Conversations in a folder, which is created with the first entry.
///
/// Parsed files are cached, and read again after a change.
#[derive(Debug)]
pub struct ConversationFolder {
    place: StoreFolder,
    patience: Duration,
    kept: Mutex<HashMap<String, Arc<Mutex<ConversationCache>>>>,
}

impl ConversationFolder {
    /// Returns the conversations at `root`. The folder need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self::in_folder(StoreFolder::new(LazyDisk::new(root.into())))
    }

    /// Returns the conversations at `root`, with `disk` for writes.
    pub fn with_disk(root: impl Into<PathBuf>, disk: Arc<dyn Disk>) -> Self {
        Self::in_folder(StoreFolder::new(LazyDisk::on_disk(root.into(), disk)))
    }

    pub(crate) fn in_folder(place: StoreFolder) -> Self {
        Self {
            place,
            patience: PATIENCE,
            kept: Mutex::default(),
        }
    }

    /// Copies the conversations in the folder at `source` to the database of this replica, with their history, and returns the number of
    /// files.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the folder is not a replica, or if the database contains other conversations; or if the database cannot
    /// be reached.
    pub fn copy_files(&self, source: &Path) -> Result<usize, StoreError> {
        self.place.copy_files(source)
    }

    /// Returns the path of the root folder.
    pub fn root(&self) -> &Path {
        self.place.root()
    }

    /// Marks changed files, by their paths below the root, for a check before the next result.
    ///
    /// `None` marks all files.
    pub fn mark_changed(&self, files: Option<&BTreeSet<String>>) {
        let all: Vec<(String, Arc<Mutex<ConversationCache>>)> = {
            let all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter()
                .map(|(folder, kept)| (folder.clone(), Arc::clone(kept)))
                .collect()
        };
        for (folder, kept) in all {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            match files {
                None => kept.mark_all_changed(),
                Some(files) => {
                    files
                        .iter()
                        .filter(|file| file.starts_with(&format!("{folder}/")))
                        .for_each(|file| kept.mark_changed(file));
                }
            }
        }
    }

    /// Returns the disk with the changes of other nodes, or `None` if the folder does not exist.
    pub(super) fn disk(&self) -> Result<Option<&dyn Disk>, StoreError> {
        self.place.catch_up(self.patience)?;
        self.own_disk()
    }

    /// Returns the disk as it is, or `None` if the folder does not exist.
    fn own_disk(&self) -> Result<Option<&dyn Disk>, StoreError> {
        self.place.get().map_err(read_error(ENTRIES))
    }

    /// Returns the disk, and creates the folder if it is missing.
    fn create(&self) -> Result<&dyn Disk, StoreError> {
        self.place
            .get_or_create()
            .map_err(|error| io_error(format!("open {}", self.root().display()), error))
    }

    /// Waits for the lock, and runs `work`, which may be repeated.
    pub(super) fn write<T>(
        &self,
        mut work: impl FnMut(&dyn Disk) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let disk = self.create()?;
        let lock = WriterLock::acquire(disk, self.root(), self.patience)?;
        let mut known = self.place.applied_changes();
        let done = self.place.write(disk, self.patience, |disk| {
            self.begin_attempt(&lock, &mut known);
            work(disk)
        });
        lock.write_generation();
        done
    }

    /// Returns whether the folder is a replica.
    fn is_shared(&self) -> bool {
        self.place.is_shared()
    }

    /// Makes the cache detect the changes of other nodes since `known` before a writer uses it.
    fn begin_attempt(&self, lock: &WriterLock, known: &mut u64) {
        let applied = self.place.applied_changes();
        if std::mem::replace(known, applied) != applied {
            lock.write_generation();
        }
    }

    /// Runs `work` on the cached state of a folder, after a refresh, without the changes of other nodes that were not applied yet.
    pub(super) fn with<T>(
        &self,
        folder: &str,
        work: impl FnOnce(&dyn Disk, &mut ConversationCache) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let Some(disk) = self.own_disk()? else {
            return Ok(None);
        };
        let kept = self.folder_cache(folder);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        refresh_cache(disk, folder, &mut kept)?;
        work(disk, &mut kept).map(Some)
    }

    /// Runs `work` like [`Self::with`] on the folder of a conversation.
    pub(super) fn with_conversation<T>(
        &self,
        conversation: &ConversationId,
        work: impl FnOnce(&dyn Disk, &mut ConversationCache) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let Some(disk) = self.own_disk()? else {
            return Ok(None);
        };
        self.with(&conversation_folder(disk, conversation), work)
    }

    fn folder_cache(&self, folder: &str) -> Arc<Mutex<ConversationCache>> {
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if MAX_CACHED_FOLDERS <= all.len() && !all.contains_key(folder) {
            all.clear();
        }
        Arc::clone(all.entry(folder.to_owned()).or_default())
    }

    /// Applies changes; those of an operation are recorded in the journal first.
    fn commit_with(
        &self,
        all: &[(&ConversationId, Checked<&[EntryChange]>)],
        operation: Option<&Operation>,
    ) -> Result<(), StoreError> {
        let all: Vec<_> = all
            .iter()
            .filter(|(_, changes)| !changes.is_empty())
            .collect();
        if all.is_empty() {
            return Ok(());
        }
        all.iter()
            .flat_map(|(_, changes)| changes.iter())
            .try_for_each(EntryChange::check)?;
        let disk = self.create()?;
        let folders: BTreeSet<String> = all
            .iter()
            .map(|(conversation, _)| conversation_folder(disk, conversation))
            .collect();
        if folders.len() < all.len() {
            // The file of a summary depends on the other conversations in its folder.
            return all
                .iter()
                .try_for_each(|&&one| self.commit_with(&[one], operation));
        }
        let lock = WriterLock::acquire(disk, self.root(), self.patience)?;
        let (own_disk, mut known) = (disk, self.place.applied_changes());
        let mut new_turns = if self.is_shared() {
            all.iter()
                .flat_map(|(_, changes)| user_turns(changes))
                .collect()
        } else {
            Vec::new()
        };
        let mut works = Vec::new();
        // Readers do not wait for the disk, because the cache is not locked here.
        let done = self.place.write(disk, self.patience, |disk| {
            self.begin_attempt(&lock, &mut known);
            own_turns::append(own_disk, &std::mem::take(&mut new_turns))?;
            works.clear();
            for &&(conversation, changes) in &all {
                works.extend(self.plan_commit(conversation, changes.into_inner())?);
            }
            if let Some(operation) = operation {
                for work in &mut works {
                    match decide_recording(
                        disk,
                        work.conversation,
                        &work.known,
                        work.changes,
                        operation,
                    )? {
                        RecordingDecision::New(line) => journal::append(disk, &line)?,
                        RecordingDecision::Recorded { restored } => work.kept_entries = restored,
                        RecordingDecision::Undone => {
                            works.clear();
                            return Ok(());
                        }
                    }
                }
            }
            // In a replica, the files change later.
            for work in works.iter().filter(|_| !self.is_shared()) {
                let kept = self.folder_cache(&conversation_folder(disk, work.conversation));
                kept.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .begin_write();
            }
            change::apply_changes(disk, &mut works)
        });
        let generation = lock.write_generation();
        for ConversationCommit {
            conversation,
            known,
            touched,
            ..
        } in works
        {
            // The next reader uses the updated cache.
            let folder = conversation_folder(disk, conversation);
            let kept = self.folder_cache(&folder);
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.finish_write(disk, &folder, &touched, &known, generation);
        }
        done
    }

    /// Returns the changes of a conversation with the state that they need.
    fn plan_commit<'w>(
        &self,
        conversation: &'w ConversationId,
        changes: &'w [EntryChange],
    ) -> Result<Option<ConversationCommit<'w>>, StoreError> {
        let known = self.with_conversation(conversation, |_, kept| {
            kept.writer_state(conversation, changes)
        })?;
        let plan = |known| ConversationCommit {
            conversation,
            changes,
            known,
            kept_entries: BTreeSet::new(),
            touched: Vec::new(),
        };
        Ok(known.map(plan))
    }

    /// Returns the folders of conversations.
    fn list_folders(disk: &dyn Disk) -> Result<Vec<String>, StoreError> {
        let entries = disk.list_folder(ENTRIES).map_err(read_error(ENTRIES))?;
        let is_one = |name: &str| name != DELETED;
        let found = entries
            .into_iter()
            .filter(|entry| entry.kind == DirEntryKind::Folder && is_one(&entry.name));
        Ok(found
            .map(|entry| format!("{ENTRIES}/{}", entry.name))
            .collect())
    }
}

/// Which files of a folder of conversations a replica shares: the entries and the journal.
#[cfg(feature = "postgres")]
pub(crate) const REPLICA: crate::store_folder::ReplicaLayout = crate::store_folder::ReplicaLayout {
    is_shared,
    prefix: ".conversations/",
};

#[cfg(feature = "postgres")]
fn is_shared(path: &str) -> bool {
    [ENTRIES, journal::FOLDER]
        .iter()
        .any(|folder| crate::store_folder::is_in_log_folder(path, folder))
}

/// Returns the added turns of users.
fn user_turns(changes: &[EntryChange]) -> impl Iterator<Item = &ConversationEntry> {
    changes.iter().filter_map(|change| match change {
        EntryChange::Add(entry) if entry.role == EntryRole::User => Some(entry),
        EntryChange::Add(_) | EntryChange::Delete { .. } => None,
    })
}

fn refresh_cache(
    disk: &dyn Disk,
    folder: &str,
    kept: &mut ConversationCache,
) -> Result<(), StoreError> {
    for conversation in kept.refresh(disk, folder, read_generation(disk), now_ns())? {
        // Vectors are derived: without them a search uses only the words.
        if let Ok(Some(found)) = vectors::read(disk, &conversation) {
            kept.set_vectors(&conversation, &found);
        }
    }
    Ok(())
}

impl ConversationStore for ConversationFolder {
    fn location(&self) -> String {
        self.root().display().to_string()
    }

    fn conversations(&self) -> Result<Vec<ConversationId>, StoreError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for folder in Self::list_folders(disk)? {
            found.extend(
                self.with(&folder, |_, kept| {
                    Ok(kept.conversations().cloned().collect::<Vec<_>>())
                })?
                .unwrap_or_default(),
            );
        }
        found.sort();
        Ok(found)
    }

    fn read(&self, conversation: &ConversationId) -> Result<Arc<ConversationIndex>, StoreError> {
        self.place.catch_up(self.patience)?;
        Ok(self
            .with_conversation(conversation, |_, kept| {
                Ok(kept.conversation_index(conversation))
            })?
            .unwrap_or_default())
    }

    fn user_turns_since(
        &self,
        moment: DateTime<Utc>,
    ) -> Result<Vec<Arc<ConversationEntry>>, StoreError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        let (role, since) = (EntryRole::User, format_file_time(moment));
        let mut found = Vec::new();
        for folder in Self::list_folders(disk)? {
            let turns = format!("{folder}/{}", role_folder(role));
            let names = disk.list_folder(&turns).map_err(read_error(&turns))?;
            // File names start with the time, so most folders need not be read.
            if !names
                .iter()
                .any(|entry| is_entry_file(&entry.name) && since < entry.name)
            {
                continue;
            }
            let entries = self.with(&folder, |_, kept| {
                Ok(kept
                    .conversations()
                    .flat_map(|conversation| kept.conversation_index(conversation).entries())
                    .collect::<Vec<_>>())
            })?;
            found.extend(entries.unwrap_or_default());
        }
        found.retain(|entry| entry.role == role && moment < entry.created_at);
        if self.is_shared() {
            let own = own_turns::read(disk)?;
            found.retain(|entry| own.contains(&(entry.conversation.clone(), entry.id.clone())));
        }
        Ok(found)
    }

    fn recheck_entries(
        &self,
        conversation: &ConversationId,
        ids: &[EntryId],
    ) -> Result<bool, StoreError> {
        let Some(disk) = self.own_disk()? else {
            return Ok(false);
        };
        let kept = self.folder_cache(&conversation_folder(disk, conversation));
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.recheck_entries(disk, conversation, ids, now_ns())
    }

    fn deleted(&self, conversation: &ConversationId) -> Result<Vec<ConversationEntry>, StoreError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        let active = self.read(conversation)?;
        let mut deleted = Vec::new();
        for place in tombstone_folders(&conversation_folder(disk, conversation)) {
            for (path, role) in list_tombstones(disk, &place)? {
                let Ok(Some((bytes, signature))) = disk.read(&path) else {
                    continue;
                };
                deleted.extend(
                    decode(&path, &bytes, role, time_from_nanos(signature.modified_ns)).ok(),
                );
            }
        }
        // An interrupted change can leave an entry both active and as a tombstone.
        let is_active = |entry: &ConversationEntry| {
            active.get(&entry.id).is_some_and(|own| {
                own.created_at == entry.created_at && own.content == entry.content
            })
        };
        deleted.retain(|entry| entry.conversation == *conversation && !is_active(entry));
        deleted.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        Ok(deleted)
    }

    fn commit(
        &self,
        conversation: &ConversationId,
        changes: Checked<&[EntryChange]>,
    ) -> Result<(), StoreError> {
        self.commit_all(&[(conversation, changes)])
    }

    fn commit_all(
        &self,
        all: &[(&ConversationId, Checked<&[EntryChange]>)],
    ) -> Result<(), StoreError> {
        self.commit_with(all, None)
    }

    fn commit_operation(
        &self,
        conversation: &ConversationId,
        changes: Checked<&[EntryChange]>,
        operation: &Operation,
    ) -> Result<(), StoreError> {
        self.commit_with(&[(conversation, changes)], Some(operation))
    }

    fn store_vectors(
        &self,
        conversation: &ConversationId,
        identity: &str,
        vectors: &[EntryVector],
    ) -> Result<(), StoreError> {
        let _lock = WriterLock::acquire(self.create()?, self.root(), self.patience)?;
        let kept = self.with_conversation(conversation, |disk, kept| {
            let found = vectors::append(disk, conversation, identity, vectors)?;
            kept.set_vectors(conversation, &found);
            Ok(())
        });
        kept.map(|_| ())
    }
}
