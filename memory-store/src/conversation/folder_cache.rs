//! The cached content of the folder of a conversation, and its validation.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use memory_core::conversation::{
    ConversationId, ConversationIndex, EntryChange, EntryId, EntryRole,
};
use memory_core::{Code, Problem, StoreError};

use super::format::decode;
use super::layout::{PLACES, WAITING, is_entry_file, role_folder};
use super::tombstones::{FolderListing, OFTEN_NS, Tombstones, settled_ns};
use super::vectors;
use crate::disk::{DirEntryKind, Disk, FileStat, file_name, now_ns, parent_folder};
use crate::error::read_error;
use crate::memory_file::time_from_nanos;

/// Maximum number of files of a folder in which every refresh checks each file.
const ALWAYS_CHECKED_FILES: usize = 64;

/// Maximum number of files of a folder in which each file is checked once a second.
const OFTEN_CHECKED_FILES: usize = 500;

/// Interval of the check of each file in a larger folder, in nanoseconds.
const MAX_CHECK_INTERVAL_NS: i64 = 60_000_000_000;

/// The cached content of a folder of one or more conversations.
#[derive(Debug, Default)]
pub(super) struct ConversationCache {
    shelves: HashMap<ConversationId, Arc<ConversationIndex>>,
    folders: HashMap<&'static str, FolderListing>,
    files: HashMap<String, CachedEntryFile>,
    /// Files to check at every refresh: a further change may not alter their times, or a read failed.
    unsettled: HashSet<String>,
    /// Files to read at the next refresh: reported as changed, or copies of a removed file.
    doubted: HashSet<String>,
    /// Whether a writer of this process is active. It reports its changes itself.
    is_being_written: bool,
    /// The path of each entry; of two files with the same entry, the one read last.
    places: HashMap<(ConversationId, EntryId), String>,
    looked_ns: i64,
    tombstones: Tombstones,
    /// Temporary files of interrupted writers.
    leftovers: Vec<String>,
}

#[derive(Debug, Clone)]
struct CachedEntryFile {
    signature: FileStat,
    place: &'static str,
    /// The entry in the file, if it can be parsed.
    entry: Option<(ConversationId, EntryId)>,
    /// The read error, if another attempt may succeed.
    refusal: Option<String>,
}

/// The state of a folder that a writer needs.
#[derive(Debug, Default)]
pub(super) struct WriterState {
    /// The paths of the entries to change.
    pub(super) places: HashMap<EntryId, String>,
    /// Temporary files of interrupted writers.
    pub(super) leftovers: Vec<String>,
    folders: HashMap<&'static str, FolderListing>,
}

impl ConversationCache {
    /// Returns the index of a conversation.
    pub(super) fn conversation_index(
        &self,
        conversation: &ConversationId,
    ) -> Arc<ConversationIndex> {
        self.shelves.get(conversation).cloned().unwrap_or_default()
    }

    /// Returns the conversations with entries or a summary.
    pub(super) fn conversations(&self) -> impl Iterator<Item = &ConversationId> {
        let has_some = |held: &ConversationIndex| !held.is_empty() || held.summary().is_some();
        self.shelves
            .iter()
            .filter(move |(_, held)| has_some(held))
            .map(|(id, _)| id)
    }

    /// Returns the path of an entry.
    pub(super) fn entry_path(&self, conversation: &ConversationId, id: &EntryId) -> Option<&str> {
        self.places
            .get(&(conversation.clone(), id.clone()))
            .map(String::as_str)
    }

    /// Returns the state that a writer of these changes needs.
    ///
    /// # Errors
    /// If a file could not be read: it may contain an entry to change.
    pub(super) fn writer_state(
        &self,
        conversation: &ConversationId,
        changes: &[EntryChange],
    ) -> Result<WriterState, StoreError> {
        let refusal = |path: &String| Some((path.clone(), self.files.get(path)?.refusal.clone()?));
        if let Some((path, why)) = self.unsettled.iter().find_map(refusal) {
            return Err(read_error(&path)(io::Error::other(why)));
        }
        let ids = changes.iter().map(|change| match change {
            EntryChange::Add(entry) => &entry.id,
            EntryChange::Delete { id, .. } => id,
        });
        let place =
            |id: &EntryId| Some((id.clone(), self.entry_path(conversation, id)?.to_owned()));
        Ok(WriterState {
            places: ids.filter_map(place).collect(),
            leftovers: self.leftovers.clone(),
            folders: self.folders.clone(),
        })
    }

    /// Marks a file to be read again before the next result.
    pub(super) fn mark_changed(&mut self, path: &str) {
        if self.files.contains_key(path) {
            self.doubted.insert(path.to_owned());
        }
    }

    /// Marks all files to be read again before the next result.
    pub(super) fn mark_all_changed(&mut self) {
        self.doubted.extend(self.files.keys().cloned());
    }

    /// Announces a writer of this process, which reports its changes itself.
    ///
    /// Until then the folder is listed less often.
    pub(super) fn begin_write(&mut self) {
        self.is_being_written = true;
    }

    /// Sets the vectors of a conversation.
    pub(super) fn set_vectors(
        &mut self,
        conversation: &ConversationId,
        found: &vectors::ConversationVectors,
    ) {
        if let Some(held) = self.shelves.get_mut(conversation) {
            Arc::make_mut(held).add_vectors(&found.identity, &found.vectors);
        }
    }

    /// Updates the cache to the files in `folder`, and returns the new conversations.
    ///
    /// `generation` is the one of the last writer.
    pub(super) fn refresh(
        &mut self,
        disk: &dyn Disk,
        folder: &str,
        generation: u64,
        now_ns: i64,
    ) -> Result<Vec<ConversationId>, StoreError> {
        let known: Vec<ConversationId> = self.shelves.keys().cloned().collect();
        for (place, _) in PLACES {
            self.refresh_listing(disk, folder, place, (generation, now_ns))?;
        }
        let pause_ns = if self.files.len() <= OFTEN_CHECKED_FILES {
            OFTEN_NS
        } else {
            MAX_CHECK_INTERVAL_NS
        };
        let looks_at_each = self.files.len() <= ALWAYS_CHECKED_FILES
            || !(0..pause_ns).contains(&now_ns.saturating_sub(self.looked_ns));
        let paths: Vec<String> = if looks_at_each {
            self.files.keys().cloned().collect()
        } else {
            self.unsettled.union(&self.doubted).cloned().collect()
        };
        self.check_files(disk, &paths, now_ns)?;
        let turns = role_folder(EntryRole::User);
        let files = &self.files;
        let oldest = || {
            files
                .iter()
                .filter(|(_, file)| file.place == turns)
                .map(|(path, _)| file_name(path).to_owned())
                .min()
        };
        self.tombstones
            .refresh(disk, folder, now_ns, &oldest, &mut self.shelves);
        if looks_at_each {
            self.looked_ns = now_ns;
        }
        Ok(self
            .shelves
            .keys()
            .filter(|id| !known.contains(id))
            .cloned()
            .collect())
    }

    /// Checks some entries, and returns whether one of them has changed.
    pub(super) fn recheck_entries(
        &mut self,
        disk: &dyn Disk,
        conversation: &ConversationId,
        ids: &[EntryId],
        now_ns: i64,
    ) -> Result<bool, StoreError> {
        let paths: Vec<String> = ids
            .iter()
            .filter_map(|id| self.entry_path(conversation, id))
            .map(str::to_owned)
            .collect();
        self.check_files(disk, &paths, now_ns)
    }

    /// Updates the cache to the changes of a writer of this process, without a listing.
    ///
    /// `known` is the state that the writer had, and `generation` the one of the writer.
    pub(super) fn finish_write(
        &mut self,
        disk: &dyn Disk,
        folder: &str,
        changed: &[String],
        known: &WriterState,
        generation: u64,
    ) {
        self.is_being_written = false;
        self.tombstones
            .finish_write(disk, folder, changed, now_ns(), &mut self.shelves);
        for (place, _) in PLACES {
            let path = format!("{folder}/{place}");
            let mut own = changed
                .iter()
                .filter(|changed| parent_folder(changed) == path)
                .peekable();
            let (before, now) = (known.folders.get(place), self.folders.get(place));
            // A folder that was listed since, or is not listed yet, is listed by the next refresh.
            let Some(before) = before.copied().filter(|before| now == Some(before)) else {
                continue;
            };
            if own.peek().is_none() {
                self.folders.insert(
                    place,
                    FolderListing {
                        generation,
                        ..before
                    },
                );
                continue;
            }
            own.for_each(|changed| self.read_file(disk, changed, place, now_ns()));
            if let Ok(Some(found)) = disk.stat(&path) {
                let names = FolderListing {
                    modified_ns: found.modified_ns,
                    listed_ns: before.listed_ns,
                    generation,
                };
                self.folders.insert(place, names);
            }
        }
    }

    fn refresh_listing(
        &mut self,
        disk: &dyn Disk,
        folder: &str,
        place: &'static str,
        (generation, now_ns): (u64, i64),
    ) -> Result<(), StoreError> {
        let path = format!("{folder}/{place}");
        let told = read_error(&path);
        let modified = disk
            .stat(&path)
            .map_err(told)?
            .filter(|found| found.is_folder)
            .map(|found| found.modified_ns);
        let names = self.folders.get(place);
        let holds = |(modified, names): (i64, &FolderListing)| {
            names.is_current(modified, generation, now_ns)
                || self.is_being_written && names.is_fresh(now_ns)
        };
        if modified.zip(names).is_some_and(holds) {
            return Ok(());
        }
        let mut listed = HashMap::new();
        if modified.is_some() {
            self.leftovers
                .retain(|path| !path.starts_with(&format!("{folder}/{place}/")));
            for entry in disk.list_folder(&path).map_err(told)? {
                let file = format!("{path}/{}", entry.name);
                if entry.name.starts_with(WAITING) {
                    self.leftovers.push(file);
                } else if is_entry_file(&entry.name) && entry.kind != DirEntryKind::Folder {
                    listed.insert(file, entry.inode);
                }
            }
        }
        let mut gone = Vec::new();
        for (path, file) in self.files.iter().filter(|(_, file)| file.place == place) {
            match listed.remove(path) {
                None => gone.push(path.clone()),
                Some(inode) if inode == file.signature.inode => {}
                Some(inode) => drop(listed.insert(path.clone(), inode)),
            }
        }
        for path in gone {
            self.remove_file(&path);
        }
        for file in listed.into_keys() {
            self.read_file(disk, &file, place, now_ns);
        }
        match modified {
            Some(modified_ns) => drop(self.folders.insert(
                place,
                FolderListing {
                    modified_ns,
                    listed_ns: now_ns,
                    generation,
                },
            )),
            None => drop(self.folders.remove(place)),
        }
        Ok(())
    }

    fn check_files(
        &mut self,
        disk: &dyn Disk,
        paths: &[String],
        now_ns: i64,
    ) -> Result<bool, StoreError> {
        let mut is_news = false;
        for path in paths {
            let Some(file) = self.files.get(path) else {
                continue;
            };
            let is_settled = !self.unsettled.contains(path);
            // Another change in the same tick is detected when the tick is over; to read the file each time until then is too slow.
            let is_awaited = file.refusal.is_none() && now_ns < file_settled_ns(file.signature);
            let is_known = (is_settled || is_awaited) && !self.doubted.contains(path);
            let (place, before) = (file.place, (file.signature, is_known));
            match disk.stat(path).map_err(read_error(path))? {
                None => {
                    self.remove_file(path);
                    is_news = true;
                }
                Some(found) if found == before.0 && before.1 => {}
                Some(found) => {
                    let held = file
                        .entry
                        .as_ref()
                        .map(|(conversation, id)| (conversation.clone(), id.clone()));
                    let former = held.and_then(|(conversation, id)| {
                        self.shelves.get(&conversation)?.get(&id).cloned()
                    });
                    self.read_file(disk, path, place, now_ns);
                    let now = self.files.get(path).and_then(|file| file.entry.as_ref());
                    let now =
                        now.and_then(|(conversation, id)| self.shelves.get(conversation)?.get(id));
                    is_news |= found != before.0 && former.as_ref() != now;
                }
            }
        }
        Ok(is_news)
    }

    fn read_file(&mut self, disk: &dyn Disk, path: &str, place: &'static str, now_ns: i64) {
        let role = PLACES
            .into_iter()
            .find(|(own, _)| *own == place)
            .map_or(EntryRole::Memory, |(_, role)| role);
        let mut refusal = None;
        let (read, signature) = match disk.read(path) {
            Ok(None) => {
                self.remove_file(path);
                return;
            }
            Ok(Some((bytes, signature))) => (
                decode(path, &bytes, role, time_from_nanos(signature.modified_ns)),
                Some(signature),
            ),
            // An unreadable file must not prevent reading the other files.
            Err(error) => {
                refusal = is_temporary(&error).then(|| error.to_string());
                (
                    Err(unreadable_problem(path, &error)),
                    disk.stat(path).ok().flatten(),
                )
            }
        };
        let Some(signature) = signature else {
            self.remove_file(path);
            return;
        };
        let is_settled = file_settled_ns(signature) <= now_ns && refusal.is_none();
        let former = self.files.get(path).and_then(|file| file.entry.clone());
        let entry = match read {
            Ok(entry) => {
                let key = (entry.conversation.clone(), entry.id.clone());
                if former.as_ref() != Some(&key) {
                    self.remove_file(path);
                }
                let held = self.shelves.entry(key.0.clone()).or_default();
                let is_same = held.get(&key.1).is_some_and(|own| **own == entry);
                if !is_same {
                    Arc::make_mut(held).put(entry);
                }
                self.places.insert(key.clone(), path.to_owned());
                self.report_problem(path, None);
                Some(key)
            }
            Err(problem) => {
                self.remove_file(path);
                self.report_problem(path, Some(&problem));
                None
            }
        };
        self.doubted.remove(path);
        if is_settled {
            self.unsettled.remove(path);
        } else {
            self.unsettled.insert(path.to_owned());
        }
        self.files.insert(
            path.to_owned(),
            CachedEntryFile {
                signature,
                place,
                entry,
                refusal,
            },
        );
    }

    /// Removes a file and its entry from the cache.
    fn remove_file(&mut self, path: &str) {
        self.report_problem(path, None);
        self.unsettled.remove(path);
        self.doubted.remove(path);
        let Some(CachedEntryFile {
            entry: Some(key), ..
        }) = self.files.remove(path)
        else {
            return;
        };
        // Another file may contain the entry now.
        if self.places.get(&key).is_none_or(|place| place != path) {
            return;
        }
        self.places.remove(&key);
        if let Some(held) = self.shelves.get_mut(&key.0) {
            Arc::make_mut(held).remove(&key.1);
        }
        // A copy of the file may still contain the entry; it is read again.
        let twin = self
            .files
            .iter()
            .find(|(_, file)| file.entry.as_ref() == Some(&key))
            .map(|(path, _)| path.clone());
        self.doubted.extend(twin);
    }

    /// Records the problem of a file in all conversations of the folder, because its own is unknown.
    fn report_problem(&mut self, path: &str, problem: Option<&Problem>) {
        let has_any = |held: &ConversationIndex| held.problems().any(|own| own.path == path);
        if problem.is_some() && self.shelves.is_empty() {
            let name = path
                .split('/')
                .nth(1)
                .and_then(|name| name.parse().ok())
                .unwrap_or_else(ConversationId::default_conversation);
            self.shelves.insert(name, Arc::default());
        }
        for held in self.shelves.values_mut() {
            if problem.is_some() || has_any(held) {
                Arc::make_mut(held).set_problem(path, problem.cloned());
            }
        }
    }
}

/// Returns the time from which every further change of a file alters its times.
fn file_settled_ns(signature: FileStat) -> i64 {
    settled_ns(signature.modified_ns.max(signature.changed_ns))
}

/// Returns whether a read error may be temporary although the file stays the same.
fn is_temporary(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, InvalidInput, PermissionDenied};
    !matches!(error.kind(), FileTooLarge | InvalidInput | PermissionDenied)
}

fn unreadable_problem(path: &str, error: &io::Error) -> Problem {
    let code = if error.kind() == io::ErrorKind::FileTooLarge {
        Code::FileTooLarge
    } else {
        Code::FileDamaged
    };
    Problem {
        code,
        path: path.to_owned(),
        line: None,
        what: format!("it cannot be read: {error}"),
        hint: None,
    }
}
