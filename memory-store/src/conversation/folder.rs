//! A folder of conversations.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationIndex, ConversationStore, EntryChange, EntryId, EntryRole, EntryVector,
};
use memory_core::secret::Checked;
use memory_core::{Operation, StoreError};

use super::change::{self, ConversationCommit};
use super::folder_cache::ConversationCache;
use super::format::decode;
use super::journal::{self, RecordingDecision, decide_recording};
use super::layout::{
    DELETED, ENTRIES, PLACES, conversation_folder, format_file_time, is_entry_file, role_folder, tombstone_folders,
};
use super::vectors;
use crate::disk::{DirEntryKind, Disk, LazyDisk, now_ns};
use crate::error::{io_error, read_error};
use crate::lock::{PATIENCE, WriterLock, read_generation};
use crate::memory_file::time_from_nanos;

/// Maximum number of folders in the cache.
const MAX_CACHED_FOLDERS: usize = 128;

/// Conversations in a folder, which is created with the first entry.
///
/// Parsed files are cached, and read again after a change.
#[derive(Debug)]
pub struct ConversationFolder {
    place: LazyDisk,
    patience: Duration,
    kept: Mutex<HashMap<String, Arc<Mutex<ConversationCache>>>>,
}

impl ConversationFolder {
    /// Returns the conversations at `root`. The folder need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { place: LazyDisk::new(root.into()), patience: PATIENCE, kept: Mutex::default() }
    }

    /// Returns the conversations at `root`, with `disk` for writes.
    pub fn with_disk(root: impl Into<PathBuf>, disk: Arc<dyn Disk>) -> Self {
        Self { place: LazyDisk::on_disk(root.into(), disk), patience: PATIENCE, kept: Mutex::default() }
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
            all.iter().map(|(folder, kept)| (folder.clone(), Arc::clone(kept))).collect()
        };
        for (folder, kept) in all {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            match files {
                None => kept.mark_all_changed(),
                Some(files) => {
                    files.iter().filter(|file| file.starts_with(&format!("{folder}/"))).for_each(|file| kept.mark_changed(file));
                }
            }
        }
    }

    pub(super) fn disk(&self) -> Result<Option<&dyn Disk>, StoreError> {
        self.place.get().map_err(|error| read_error(ENTRIES, error))
    }

    /// Returns the disk, and creates the folder if it is missing.
    pub(super) fn create(&self) -> Result<&dyn Disk, StoreError> {
        self.place.get_or_create().map_err(|error| io_error(format!("open {}", self.root().display()), error))
    }

    /// Returns the lock timeout of writers.
    pub(super) fn lock_timeout(&self) -> Duration {
        self.patience
    }

    /// Runs `work` on the cached state of a folder, after a refresh.
    pub(super) fn with<T>(
        &self,
        folder: &str,
        work: impl FnOnce(&dyn Disk, &mut ConversationCache) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let Some(disk) = self.disk()? else { return Ok(None) };
        let kept = self.folder_cache(folder);
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        self.refresh_cache(disk, folder, &mut kept)?;
        work(disk, &mut kept).map(Some)
    }

    fn folder_cache(&self, folder: &str) -> Arc<Mutex<ConversationCache>> {
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if MAX_CACHED_FOLDERS <= all.len() && !all.contains_key(folder) {
            all.clear();
        }
        Arc::clone(all.entry(folder.to_owned()).or_default())
    }

    fn refresh_cache(&self, disk: &dyn Disk, folder: &str, kept: &mut ConversationCache) -> Result<(), StoreError> {
        for conversation in kept.refresh(disk, folder, read_generation(self.root()), now_ns())? {
            // Vectors are derived: without them a search uses only the words.
            if let Ok(Some(found)) = vectors::read(disk, &conversation) {
                kept.set_vectors(&conversation, &found);
            }
        }
        Ok(())
    }

    /// Applies changes; those of an operation are recorded in the journal first.
    fn commit_with(
        &self,
        all: &[(&ConversationId, Checked<&[EntryChange]>)],
        operation: Option<&Operation>,
    ) -> Result<(), StoreError> {
        let all: Vec<_> = all.iter().filter(|(_, changes)| !changes.is_empty()).collect();
        if all.is_empty() {
            return Ok(());
        }
        all.iter().flat_map(|(_, changes)| changes.iter()).try_for_each(EntryChange::check)?;
        let folders: BTreeSet<String> = all.iter().map(|(conversation, _)| conversation_folder(conversation)).collect();
        if folders.len() < all.len() {
            // The file of a summary depends on the other conversations in its folder.
            return all.iter().try_for_each(|&&one| self.commit_with(&[one], operation));
        }
        self.create()?;
        let lock = WriterLock::acquire(self.root(), self.patience)?;
        let Some(disk) = self.disk()? else { return Ok(()) };
        let mut works = Vec::new();
        for &&(conversation, changes) in &all {
            let changes = changes.into_inner();
            let Some(known) =
                self.with(&conversation_folder(conversation), |_, kept| kept.writer_state(conversation, changes))?
            else {
                return Ok(());
            };
            works.push(ConversationCommit { conversation, changes, known, kept_entries: BTreeSet::new(), touched: Vec::new() });
        }
        if let Some(operation) = operation {
            for work in &mut works {
                match decide_recording(disk, work.conversation, &work.known, work.changes, operation)? {
                    RecordingDecision::New(line) => journal::append(disk, &line)?,
                    RecordingDecision::Recorded { restored } => work.kept_entries = restored,
                    RecordingDecision::Undone => return Ok(()),
                }
            }
        }
        for work in &works {
            let kept = self.folder_cache(&conversation_folder(work.conversation));
            kept.lock().unwrap_or_else(PoisonError::into_inner).begin_write();
        }
        // Readers do not wait for the disk, because the cache is not locked here.
        let done = change::apply_changes(disk, &mut works);
        let generation = lock.write_generation();
        for ConversationCommit { conversation, known, touched, .. } in works {
            // The next reader uses the updated cache.
            let folder = conversation_folder(conversation);
            let kept = self.folder_cache(&folder);
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.finish_write(disk, &folder, &touched, &known, generation);
        }
        done
    }

    /// Returns the folders of conversations.
    fn list_folders(disk: &dyn Disk) -> Result<Vec<String>, StoreError> {
        let entries = disk.list_folder(ENTRIES).map_err(|error| read_error(ENTRIES, error))?;
        let is_one = |name: &str| name != DELETED;
        let found = entries.into_iter().filter(|entry| entry.kind == DirEntryKind::Folder && is_one(&entry.name));
        Ok(found.map(|entry| format!("{ENTRIES}/{}", entry.name)).collect())
    }
}

impl ConversationStore for ConversationFolder {
    fn location(&self) -> String {
        self.root().display().to_string()
    }

    fn conversations(&self) -> Result<Vec<ConversationId>, StoreError> {
        let Some(disk) = self.disk()? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for folder in Self::list_folders(disk)? {
            found
                .extend(self.with(&folder, |_, kept| Ok(kept.conversations().cloned().collect::<Vec<_>>()))?.unwrap_or_default());
        }
        found.sort();
        Ok(found)
    }

    fn read(&self, conversation: &ConversationId) -> Result<Arc<ConversationIndex>, StoreError> {
        Ok(self
            .with(&conversation_folder(conversation), |_, kept| Ok(kept.conversation_index(conversation)))?
            .unwrap_or_default())
    }

    fn user_turns_since(&self, moment: DateTime<Utc>) -> Result<Vec<Arc<ConversationEntry>>, StoreError> {
        let Some(disk) = self.disk()? else { return Ok(Vec::new()) };
        let (role, since) = (EntryRole::User, format_file_time(moment));
        let mut found = Vec::new();
        for folder in Self::list_folders(disk)? {
            let turns = format!("{folder}/{}", role_folder(role));
            let names = disk.list_folder(&turns).map_err(|error| read_error(&turns, error))?;
            // File names start with the time, so most folders need not be read.
            if !names.iter().any(|entry| is_entry_file(&entry.name) && since < entry.name) {
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
        Ok(found)
    }

    fn recheck_entries(&self, conversation: &ConversationId, ids: &[EntryId]) -> Result<bool, StoreError> {
        let Some(disk) = self.disk()? else { return Ok(false) };
        let kept = self.folder_cache(&conversation_folder(conversation));
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.recheck_entries(disk, conversation, ids, now_ns())
    }

    fn deleted(&self, conversation: &ConversationId) -> Result<Vec<ConversationEntry>, StoreError> {
        let Some(disk) = self.disk()? else { return Ok(Vec::new()) };
        let active = self.read(conversation)?;
        let mut deleted = Vec::new();
        for place in tombstone_folders(&conversation_folder(conversation)) {
            for (below, role) in PLACES {
                let folder = format!("{place}/{below}");
                for entry in disk.list_folder(&folder).map_err(|error| read_error(&folder, error))? {
                    let path = format!("{folder}/{}", entry.name);
                    let is_one = entry.kind == DirEntryKind::File && is_entry_file(&entry.name);
                    let Some((bytes, signature)) = (if is_one { disk.read(&path).ok().flatten() } else { None }) else {
                        continue;
                    };
                    deleted.extend(decode(&path, &bytes, role, time_from_nanos(signature.modified_ns)).ok());
                }
            }
        }
        // An interrupted change can leave an entry both active and as a tombstone.
        let is_active = |entry: &ConversationEntry| {
            active.get(&entry.id).is_some_and(|own| own.created_at == entry.created_at && own.content == entry.content)
        };
        deleted.retain(|entry| entry.conversation == *conversation && !is_active(entry));
        deleted.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        Ok(deleted)
    }

    fn commit(&self, conversation: &ConversationId, changes: Checked<&[EntryChange]>) -> Result<(), StoreError> {
        self.commit_all(&[(conversation, changes)])
    }

    fn commit_all(&self, all: &[(&ConversationId, Checked<&[EntryChange]>)]) -> Result<(), StoreError> {
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

    fn store_vectors(&self, conversation: &ConversationId, identity: &str, vectors: &[EntryVector]) -> Result<(), StoreError> {
        let place = self.location();
        self.place.get_or_create().map_err(|error| io_error(format!("open {place}"), error))?;
        let _lock = WriterLock::acquire(self.root(), self.patience)?;
        let kept = self.with(&conversation_folder(conversation), |disk, kept| {
            let found = vectors::append(disk, conversation, identity, vectors)?;
            kept.set_vectors(conversation, &found);
            Ok(())
        });
        kept.map(|_| ())
    }
}
