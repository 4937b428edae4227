//! What was read of the folder of a conversation, and whether it is still so.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use memory_core::conversation::{ConversationId, EntryChange, EntryId, EntryRole, Shelf};
use memory_core::{Code, Problem, StoreError};

use super::format::decode;
use super::layout::{PLACES, WAITING, file_name, folder_of, is_entry, place};
use super::listing::{Names, OFTEN_NS, settled_ns};
use super::tombstones::Tombstones;
use super::vectors;
use crate::disk::{Disk, EntryKind, Signature};
use crate::error::io_error;
use crate::file::moment;
use crate::index::now_ns;

/// Among so many files each is looked at every time.
const FEW: usize = 64;

/// Among so many, each is looked at once a second.
const MANY: usize = 500;

/// Among more, each is looked at when the last look was so long ago.
const LONGEST_NS: i64 = 60_000_000_000;

/// The folder of one or more conversations, as it was read last.
#[derive(Debug, Default)]
pub(super) struct Kept {
    shelves: HashMap<ConversationId, Arc<Shelf>>,
    folders: HashMap<&'static str, Names>,
    files: HashMap<String, File>,
    /// Those that are looked at each time, because a further change might not show, or the disk did not give them.
    unsettled: HashSet<String>,
    /// Those that somebody said have changed, or that took the place of others.
    doubted: HashSet<String>,
    /// Whether a writer of this process is at work, who will say what it changed.
    is_being_written: bool,
    /// Which file holds what; of two that hold the same, the one that was read last.
    places: HashMap<(ConversationId, EntryId), String>,
    looked_ns: i64,
    tombstones: Tombstones,
    /// What somebody who died left behind.
    leftovers: Vec<String>,
}

#[derive(Debug, Clone)]
struct File {
    signature: Signature,
    place: &'static str,
    /// What it holds, if that could be read.
    entry: Option<(ConversationId, EntryId)>,
    /// Why the disk did not give it, though it may do so the next time.
    refusal: Option<String>,
}

/// What whoever makes changes must know of a folder.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Where those entries lie that are to change.
    pub(super) places: HashMap<EntryId, String>,
    /// What somebody who died left behind.
    pub(super) leftovers: Vec<String>,
    folders: HashMap<&'static str, Names>,
}

impl Kept {
    /// Returns what is kept of a conversation.
    pub(super) fn shelf(&self, conversation: &ConversationId) -> Arc<Shelf> {
        self.shelves.get(conversation).cloned().unwrap_or_default()
    }

    /// Returns the conversations of which something is kept.
    pub(super) fn conversations(&self) -> impl Iterator<Item = &ConversationId> {
        let has_some = |held: &Shelf| !held.is_empty() || held.summary().is_some();
        self.shelves.iter().filter(move |(_, held)| has_some(held)).map(|(id, _)| id)
    }

    /// Returns where an entry lies.
    pub(super) fn path(&self, conversation: &ConversationId, id: &EntryId) -> Option<&str> {
        self.places.get(&(conversation.clone(), id.clone())).map(String::as_str)
    }

    /// Returns what whoever makes these changes must know.
    ///
    /// # Errors
    /// When the disk did not give one of the files, so that nobody knows whether it holds what is to be changed.
    pub(super) fn known(&self, conversation: &ConversationId, changes: &[EntryChange]) -> Result<Known, StoreError> {
        let refusal = |path: &String| Some((path.clone(), self.files.get(path)?.refusal.clone()?));
        if let Some((path, why)) = self.unsettled.iter().find_map(refusal) {
            return Err(refused(&path, io::Error::other(why)));
        }
        let ids = changes.iter().map(|change| match change {
            EntryChange::Add(entry) => &entry.id,
            EntryChange::Delete { id, .. } => id,
        });
        let place = |id: &EntryId| Some((id.clone(), self.path(conversation, id)?.to_owned()));
        Ok(Known { places: ids.filter_map(place).collect(), leftovers: self.leftovers.clone(), folders: self.folders.clone() })
    }

    /// Has a file looked at again before the next answer.
    pub(super) fn doubt(&mut self, path: &str) {
        if self.files.contains_key(path) {
            self.doubted.insert(path.to_owned());
        }
    }

    /// Has every file looked at again before the next answer.
    pub(super) fn doubt_all(&mut self) {
        self.doubted.extend(self.files.keys().cloned());
    }

    /// Says that a writer of this process begins, and will say what it changed: until then nobody need look for that.
    pub(super) fn is_about_to_change(&mut self) {
        self.is_being_written = true;
    }

    /// Takes vectors for a conversation.
    pub(super) fn give_vectors(&mut self, conversation: &ConversationId, found: &vectors::Vectors) {
        if let Some(held) = self.shelves.get_mut(conversation) {
            Arc::make_mut(held).give_vectors(&found.identity, &found.vectors);
        }
    }

    /// Makes this agree with the files in `folder`, where `generation` is that of our last writer; returns the conversations that are new
    /// here.
    pub(super) fn refresh(
        &mut self,
        disk: &dyn Disk,
        folder: &str,
        generation: u64,
        now_ns: i64,
    ) -> Result<Vec<ConversationId>, StoreError> {
        let known: Vec<ConversationId> = self.shelves.keys().cloned().collect();
        for (place, _) in PLACES {
            self.compare_names(disk, folder, place, (generation, now_ns))?;
        }
        let pause_ns = if self.files.len() <= MANY { OFTEN_NS } else { LONGEST_NS };
        let looks_at_each = self.files.len() <= FEW || !(0..pause_ns).contains(&now_ns.saturating_sub(self.looked_ns));
        let paths: Vec<String> = if looks_at_each {
            self.files.keys().cloned().collect()
        } else {
            self.unsettled.union(&self.doubted).cloned().collect()
        };
        self.look(disk, &paths, now_ns)?;
        let turns = place(EntryRole::User);
        let files = &self.files;
        let oldest = || files.iter().filter(|(_, file)| file.place == turns).map(|(path, _)| file_name(path).to_owned()).min();
        self.tombstones.refresh(disk, folder, now_ns, &oldest, &mut self.shelves);
        if looks_at_each {
            self.looked_ns = now_ns;
        }
        Ok(self.shelves.keys().filter(|id| !known.contains(id)).cloned().collect())
    }

    /// Looks at some entries again; returns whether one of them has changed.
    pub(super) fn look_again(
        &mut self,
        disk: &dyn Disk,
        conversation: &ConversationId,
        ids: &[EntryId],
        now_ns: i64,
    ) -> Result<bool, StoreError> {
        let paths: Vec<String> = ids.iter().filter_map(|id| self.path(conversation, id)).map(str::to_owned).collect();
        self.look(disk, &paths, now_ns)
    }

    /// Takes in what our own writer of this generation changed in `folder`, who knew it as `known`. Nothing is listed.
    pub(super) fn take_in(&mut self, disk: &dyn Disk, folder: &str, changed: &[String], known: &Known, generation: u64) {
        self.is_being_written = false;
        self.tombstones.take_in(disk, folder, changed, now_ns(), &mut self.shelves);
        for (place, _) in PLACES {
            let path = format!("{folder}/{place}");
            let mut own = changed.iter().filter(|changed| folder_of(changed) == path).peekable();
            let (before, now) = (known.folders.get(place), self.folders.get(place));
            // Who has listed it meanwhile, or not yet, does so the next time.
            let Some(before) = before.copied().filter(|before| now == Some(before)) else { continue };
            if own.peek().is_none() {
                self.folders.insert(place, Names { generation, ..before });
                continue;
            }
            own.for_each(|changed| self.read(disk, changed, place, now_ns()));
            if let Ok(Some(found)) = disk.signature(&path) {
                let names = Names { modified_ns: found.modified_ns, listed_ns: before.listed_ns, generation };
                self.folders.insert(place, names);
            }
        }
    }

    fn compare_names(
        &mut self,
        disk: &dyn Disk,
        folder: &str,
        place: &'static str,
        (generation, now_ns): (u64, i64),
    ) -> Result<(), StoreError> {
        let path = format!("{folder}/{place}");
        let told = |error| refused(&path, error);
        let modified = disk.signature(&path).map_err(told)?.filter(|found| found.is_folder).map(|found| found.modified_ns);
        let names = self.folders.get(place);
        let holds = |(modified, names): (i64, &Names)| {
            names.are_those_of(modified, generation, now_ns) || self.is_being_written && names.is_fresh(now_ns)
        };
        if modified.zip(names).is_some_and(holds) {
            return Ok(());
        }
        let mut listed = HashMap::new();
        if modified.is_some() {
            self.leftovers.retain(|path| !path.starts_with(&format!("{folder}/{place}/")));
            for entry in disk.folder(&path).map_err(told)? {
                let file = format!("{path}/{}", entry.name);
                if entry.name.starts_with(WAITING) {
                    self.leftovers.push(file);
                } else if is_entry(&entry.name) && entry.kind != EntryKind::Folder {
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
            self.forget(&path);
        }
        for file in listed.into_keys() {
            self.read(disk, &file, place, now_ns);
        }
        match modified {
            Some(modified_ns) => drop(self.folders.insert(place, Names { modified_ns, listed_ns: now_ns, generation })),
            None => drop(self.folders.remove(place)),
        }
        Ok(())
    }

    fn look(&mut self, disk: &dyn Disk, paths: &[String], now_ns: i64) -> Result<bool, StoreError> {
        let mut is_news = false;
        for path in paths {
            let Some(file) = self.files.get(path) else { continue };
            let is_settled = !self.unsettled.contains(path);
            // What was changed again in the same moment shows once that is over; until then, to read it each time would not do.
            let is_awaited = file.refusal.is_none() && now_ns < settles_ns(file.signature);
            let is_known = (is_settled || is_awaited) && !self.doubted.contains(path);
            let (place, before) = (file.place, (file.signature, is_known));
            match disk.signature(path).map_err(|error| refused(path, error))? {
                None => {
                    self.forget(path);
                    is_news = true;
                }
                Some(found) if found == before.0 && before.1 => {}
                Some(found) => {
                    let held = file.entry.as_ref().map(|(conversation, id)| (conversation.clone(), id.clone()));
                    let former = held.and_then(|(conversation, id)| self.shelves.get(&conversation)?.get(&id).cloned());
                    self.read(disk, path, place, now_ns);
                    let now = self.files.get(path).and_then(|file| file.entry.as_ref());
                    let now = now.and_then(|(conversation, id)| self.shelves.get(conversation)?.get(id));
                    is_news |= found != before.0 && former.as_ref() != now;
                }
            }
        }
        Ok(is_news)
    }

    fn read(&mut self, disk: &dyn Disk, path: &str, place: &'static str, now_ns: i64) {
        let role = PLACES.into_iter().find(|(own, _)| *own == place).map_or(EntryRole::Memory, |(_, role)| role);
        let mut refusal = None;
        let (read, signature) = match disk.read(path) {
            Ok(None) => {
                self.forget(path);
                return;
            }
            Ok(Some((bytes, signature))) => (decode(path, &bytes, role, moment(signature.modified_ns)), Some(signature)),
            // One file that cannot be read is no reason not to read the others.
            Err(error) => {
                refusal = may_pass(&error).then(|| error.to_string());
                (Err(unreadable(path, &error)), disk.signature(path).ok().flatten())
            }
        };
        let Some(signature) = signature else {
            self.forget(path);
            return;
        };
        let is_settled = settles_ns(signature) <= now_ns && refusal.is_none();
        let former = self.files.get(path).and_then(|file| file.entry.clone());
        let entry = match read {
            Ok(entry) => {
                let key = (entry.conversation.clone(), entry.id.clone());
                if former.as_ref() != Some(&key) {
                    self.forget(path);
                }
                let held = self.shelves.entry(key.0.clone()).or_default();
                let is_same = held.get(&key.1).is_some_and(|own| **own == entry);
                if !is_same {
                    Arc::make_mut(held).put(entry);
                }
                self.places.insert(key.clone(), path.to_owned());
                self.report(path, None);
                Some(key)
            }
            Err(problem) => {
                self.forget(path);
                self.report(path, Some(&problem));
                None
            }
        };
        self.doubted.remove(path);
        if is_settled {
            self.unsettled.remove(path);
        } else {
            self.unsettled.insert(path.to_owned());
        }
        self.files.insert(path.to_owned(), File { signature, place, entry, refusal });
    }

    /// Forgets a file, and what it held.
    fn forget(&mut self, path: &str) {
        self.report(path, None);
        self.unsettled.remove(path);
        self.doubted.remove(path);
        let Some(File { entry: Some(key), .. }) = self.files.remove(path) else { return };
        // It may lie elsewhere by now.
        if self.places.get(&key).is_none_or(|place| place != path) {
            return;
        }
        self.places.remove(&key);
        if let Some(held) = self.shelves.get_mut(&key.0) {
            Arc::make_mut(held).remove(&key.1);
        }
        // Somebody may have made a copy of the file: then the other one holds it still, and is read again.
        let twin = self.files.iter().find(|(_, file)| file.entry.as_ref() == Some(&key)).map(|(path, _)| path.clone());
        self.doubted.extend(twin);
    }

    /// Says on every shelf of this folder what is wrong with a file, since nobody knows whose it is.
    fn report(&mut self, path: &str, problem: Option<&Problem>) {
        let has_any = |held: &Shelf| held.problems().any(|own| own.path == path);
        if problem.is_some() && self.shelves.is_empty() {
            let name = path.split('/').nth(1).and_then(|name| name.parse().ok()).unwrap_or_else(ConversationId::unnamed);
            self.shelves.insert(name, Arc::default());
        }
        for held in self.shelves.values_mut() {
            if problem.is_some() || has_any(held) {
                Arc::make_mut(held).report(path, problem.cloned());
            }
        }
    }
}

/// Returns from when on a further change of a file shows in its times.
fn settles_ns(signature: Signature) -> i64 {
    settled_ns(signature.modified_ns.max(signature.changed_ns))
}

/// Tells whether what the disk refuses now it may not refuse the next time, though the file stays the same.
fn may_pass(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, InvalidInput, PermissionDenied};
    !matches!(error.kind(), FileTooLarge | InvalidInput | PermissionDenied)
}

fn unreadable(path: &str, error: &io::Error) -> Problem {
    let code = if error.kind() == io::ErrorKind::FileTooLarge { Code::FileTooLarge } else { Code::FileDamaged };
    Problem { code, path: path.to_owned(), line: None, what: format!("it cannot be read: {error}"), hint: None }
}

pub(super) fn refused(path: &str, error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::InvalidInput => StoreError::Outside { path: path.to_owned() },
        _ => io_error(format!("read {path}"), error),
    }
}
