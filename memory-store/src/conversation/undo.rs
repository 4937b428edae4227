//! Undo of operations on conversations, and the trash.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationOperations, ConversationRecord, DeletedEntry,
    EntryId, EntryRole,
};
use memory_core::{Operation, OperationId, Recorded, StoreError};

use super::change::{
    self, create_folder, free_path, move_to_tombstones, read_bytes, record_replacement, replace,
    sync_folders,
};
use super::folder::ConversationFolder;
use super::format::{decode, remove_replacement};
use super::journal::{self, ConversationPayload, JournaledEntry};
use super::layout::{self, DELETED, ENTRIES, conversation_folder};
use crate::disk::{DirEntryKind, Disk, FileStat, file_name, parent_folder};
use crate::error::{read_error, write_error};
use crate::memory_file::time_from_nanos;
use crate::oplog::{find_undoable, hash_bytes};

/// A step of an undo for one entry.
#[derive(Debug)]
enum UndoStep {
    /// A tombstone becomes an active entry.
    Restore {
        tombstone: String,
        path: String,
        bytes: Vec<u8>,
    },
    /// An active entry becomes a tombstone.
    Bury {
        path: String,
        replaced_by: Option<EntryId>,
    },
}

impl ConversationFolder {
    /// Performs the steps, restorations first. An interrupted attempt may have performed some of them.
    fn apply_steps(
        disk: &dyn Disk,
        conversation: &ConversationId,
        steps: &[UndoStep],
    ) -> Result<(), StoreError> {
        for step in steps {
            let UndoStep::Restore {
                tombstone,
                path,
                bytes,
            } = step
            else {
                continue;
            };
            create_folder(disk, parent_folder(path))?;
            replace(disk, path, bytes)?;
            disk.remove(tombstone)
                .and_then(|()| disk.sync_folder(parent_folder(tombstone)))
                .map_err(write_error(tombstone))?;
        }
        for step in steps {
            let UndoStep::Bury { path, replaced_by } = step else {
                continue;
            };
            let mut folders = BTreeSet::new();
            let tombstone = move_to_tombstones(disk, conversation, path, &mut folders)?;
            sync_folders(disk, &folders)?;
            if let Some(by) = replaced_by {
                record_replacement(disk, &tombstone, by)?;
            }
        }
        Ok(())
    }

    /// Returns the current path of an active entry.
    fn active_path(
        &self,
        conversation: &ConversationId,
        id: &EntryId,
    ) -> Result<Option<String>, StoreError> {
        let found = self.with_conversation(conversation, |_, kept| {
            Ok(kept.entry_path(conversation, id).map(str::to_owned))
        })?;
        Ok(found.flatten())
    }
}

impl ConversationOperations for ConversationFolder {
    fn operations(&self) -> Result<Vec<ConversationRecord>, StoreError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        journal::log(disk).records()
    }

    fn undo(
        &self,
        undone: &OperationId,
        operation: &Operation,
    ) -> Result<ConversationRecord, StoreError> {
        self.write(|disk| {
            let lines = journal::operations(disk, usize::MAX)?;
            let missing = |wanted: String| StoreError::OperationNotFound { wanted };
            let (logged, record) =
                find_undoable(lines.iter().cloned().map(Ok::<_, StoreError>), undone)?;
            let line = &logged.subject;
            let conversation = &record.subject.conversation;
            let mut own = ConversationPayload::new(conversation);
            let mut steps = Vec::new();
            for item in &line.deleted {
                let id: EntryId = item.id.parse()?;
                own.added.push(item.clone());
                // The entry was restored by other means, and may have changed since: it is left unchanged.
                if self.active_path(conversation, &id)?.is_some() {
                    continue;
                }
                let gone = || {
                    missing(format!(
                        "the entry deleted by {undone} was purged ({})",
                        item.path
                    ))
                };
                let tombstone =
                    find_tombstone(disk, conversation, &id, &item.path)?.ok_or_else(gone)?;
                let bytes = remove_replacement(&read_bytes(disk, &tombstone)?.ok_or_else(gone)?);
                if disk
                    .stat(&item.path)
                    .map_err(read_error(&item.path))?
                    .is_some()
                {
                    return Err(StoreError::Conflict {
                        what: item.path.clone(),
                    });
                }
                steps.push(UndoStep::Restore {
                    tombstone,
                    path: item.path.clone(),
                    bytes,
                });
            }
            for item in &line.added {
                let id: EntryId = item.id.parse()?;
                own.deleted.push(item.clone());
                let is_later = |later: &&Recorded<ConversationPayload>| {
                    later.undone_by.is_none()
                        && later.subject.conversation == line.conversation
                        && later.subject.deleted.iter().any(|own| own.id == item.id)
                };
                if let Some(later) = lines
                    .iter()
                    .take_while(|later| later.operation.id != *undone)
                    .find(is_later)
                {
                    let what = format!(
                        "the entry {id} of conversation {conversation} (undo {} first)",
                        later.operation.id
                    );
                    return Err(StoreError::Conflict { what });
                }
                // An entry that is not active needs no deletion.
                let Some(path) = self.active_path(conversation, &id)? else {
                    continue;
                };
                if read_bytes(disk, &path)?.is_none_or(|bytes| hash_bytes(&bytes) != item.hash) {
                    return Err(StoreError::Conflict { what: path });
                }
                let replaced_by = item.replaced_by.as_deref().map(str::parse).transpose()?;
                steps.push(UndoStep::Bury { path, replaced_by });
            }
            // The line is written last: an undo that is interrupted before is still pending, and a new attempt completes it.
            Self::apply_steps(disk, conversation, &steps)?;
            journal::append(disk, &Recorded::new(operation, own, Some(undone)))?;
            Ok(record)
        })
    }

    fn trashed(&self) -> Result<Vec<DeletedEntry>, StoreError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        let deletions = read_deletions(disk)?;
        let mut trashed = Vec::new();
        for (trash, signature, role) in list_tombstones(disk)? {
            let Some(entry) = read_tombstone(disk, &trash, signature, role) else {
                continue;
            };
            let operation = deletions.get(&(entry.conversation.to_string(), entry.id.to_string()));
            let at = deletion_time(signature, operation);
            let operation = operation.map(|operation| (operation.id.clone(), operation.verb));
            let (size, path) = (signature.size, original_path(&trash));
            let ConversationEntry {
                id,
                conversation,
                role,
                ..
            } = entry;
            trashed.push(DeletedEntry {
                id,
                conversation,
                role,
                path,
                trash,
                size,
                at,
                operation,
            });
        }
        trashed.sort_by(|one, other| (other.at, &other.trash).cmp(&(one.at, &one.trash)));
        Ok(trashed)
    }

    fn restore(&self, entry: &DeletedEntry, operation: &Operation) -> Result<String, StoreError> {
        if entry.role == EntryRole::Summary {
            let why = format!(
                "a summary is generated from the facts and cannot be restored; its previous text is in {}",
                entry.trash
            );
            return Err(StoreError::Invalid { why });
        }
        self.write(|disk| {
            if let Some(path) = self.active_path(&entry.conversation, &entry.id)? {
                return Err(StoreError::Invalid {
                    why: format!("the entry {} already exists: {path}", entry.id),
                });
            }
            let missing = || StoreError::TrashNotFound {
                reference: entry.trash.clone(),
                earlier: None,
            };
            let bytes = remove_replacement(&read_bytes(disk, &entry.trash)?.ok_or_else(missing)?);
            let path = free_path(disk, &entry.path)?;
            let mut line = ConversationPayload::new(&entry.conversation);
            let hash = hash_bytes(&bytes);
            line.added.push(JournaledEntry {
                id: entry.id.to_string(),
                path: path.clone(),
                hash,
                replaced_by: None,
            });
            let step = UndoStep::Restore {
                tombstone: entry.trash.clone(),
                path: path.clone(),
                bytes,
            };
            Self::apply_steps(disk, &entry.conversation, &[step])?;
            journal::append(disk, &Recorded::new(operation, line, None))?;
            Ok(path)
        })
    }

    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), StoreError> {
        if self.disk()?.is_none() {
            return Ok((0, 0));
        }
        self.write(|disk| {
            let deletions = read_deletions(disk)?;
            let (mut files, mut bytes) = journal::log(disk).purge(before)?;
            let mut folders = BTreeSet::new();
            for (path, signature, role) in list_tombstones(disk)? {
                let entry = if deletions.is_empty() {
                    None
                } else {
                    read_tombstone(disk, &path, signature, role)
                };
                let operation = entry.and_then(|entry| {
                    deletions.get(&(entry.conversation.to_string(), entry.id.to_string()))
                });
                if deletion_time(signature, operation) < before {
                    disk.remove(&path).map_err(write_error(&path))?;
                    folders.insert(parent_folder(&path).to_owned());
                    files += 1;
                    bytes += signature.size;
                }
            }
            sync_folders(disk, &folders)?;
            Ok((files, bytes))
        })
    }
}

/// Returns the operation that deleted each entry, by conversation and id.
fn read_deletions(disk: &dyn Disk) -> Result<HashMap<(String, String), Operation>, StoreError> {
    let mut last: HashMap<(String, String), Option<Operation>> = HashMap::new();
    for record in journal::operations(disk, usize::MAX)? {
        let ConversationPayload {
            conversation,
            added,
            deleted,
        } = record.subject;
        for item in deleted {
            last.entry((conversation.clone(), item.id))
                .or_insert_with(|| Some(record.operation.clone()));
        }
        for item in added {
            last.entry((conversation.clone(), item.id)).or_default();
        }
    }
    Ok(last
        .into_iter()
        .filter_map(|(entry, deleted)| Some((entry, deleted?)))
        .collect())
}

/// Returns the time of a deletion. The time of a file may be that of its copy.
fn deletion_time(signature: FileStat, operation: Option<&Operation>) -> DateTime<Utc> {
    operation.map_or_else(
        || time_from_nanos(signature.changed_ns),
        |operation| operation.at,
    )
}

/// Returns the entry in a tombstone, if it can be read.
fn read_tombstone(
    disk: &dyn Disk,
    path: &str,
    signature: FileStat,
    role: EntryRole,
) -> Option<ConversationEntry> {
    let (bytes, _) = disk.read(path).ok()??;
    decode(path, &bytes, role, time_from_nanos(signature.modified_ns)).ok()
}

/// Returns the tombstone of an entry that was active at `path`, if there is one.
fn find_tombstone(
    disk: &dyn Disk,
    conversation: &ConversationId,
    id: &EntryId,
    path: &str,
) -> Result<Option<String>, StoreError> {
    let own = conversation_folder(disk, conversation);
    if let Some(below) = path.strip_prefix(&format!("{own}/")) {
        let usual = format!("{own}/{DELETED}/{below}");
        if disk.stat(&usual).map_err(read_error(&usual))?.is_some() {
            return Ok(Some(usual));
        }
    }
    change::find_tombstone_by_id(disk, conversation, id)
}

/// Returns the files of all tombstones, each with the role of its folder.
fn list_tombstones(disk: &dyn Disk) -> Result<Vec<(String, FileStat, EntryRole)>, StoreError> {
    let below = |folder: &str| disk.list_folder(folder).map_err(read_error(folder));
    let mut places = Vec::new();
    for entry in below(ENTRIES)?
        .into_iter()
        .filter(|entry| entry.kind == DirEntryKind::Folder)
    {
        let own = format!("{ENTRIES}/{}", entry.name);
        if entry.name == DELETED {
            // Another program stores all tombstones in one folder next to the conversations.
            let folders = below(&own)?
                .into_iter()
                .filter(|entry| entry.kind == DirEntryKind::Folder);
            places.extend(folders.map(|entry| format!("{own}/{}", entry.name)));
        } else {
            places.push(format!("{own}/{DELETED}"));
        }
    }
    let mut found = Vec::new();
    for place in places {
        for (path, role) in layout::list_tombstones(disk, &place)? {
            if let Some(signature) = disk.stat(&path).map_err(read_error(&path))? {
                found.push((path, signature, role));
            }
        }
    }
    Ok(found)
}

/// Returns the path of the active entry of a tombstone.
fn original_path(trash: &str) -> String {
    match trash.split('/').collect::<Vec<_>>()[..] {
        [_, conversation, own, ref below @ ..] if own == DELETED => {
            format!("{ENTRIES}/{conversation}/{}", below.join("/"))
        }
        [_, own, conversation, ref below @ ..] if own == DELETED => {
            format!("{ENTRIES}/{conversation}/{}", below.join("/"))
        }
        _ => format!("{ENTRIES}/{}", file_name(trash)),
    }
}
