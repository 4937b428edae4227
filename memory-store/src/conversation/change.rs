//! Changes entries without loss, even if a change is interrupted.

use std::collections::BTreeSet;
use std::io;
use std::panic::resume_unwind;
use std::thread;

use memory_core::conversation::{
    ConversationEntry, ConversationId, EntryChange, EntryId, EntryRole,
};
use memory_core::{Code, Problem, StoreError};

use super::folder_cache::WriterState;
use super::format::{add_replacement, decode, encode};
use super::layout::{
    DELETED, WAITING, alternative_summary_name, conversation_folder, format_file_time,
    list_tombstones, name, role_folder, tombstone_folders,
};
use crate::disk::{Disk, file_name, parent_folder, replace_file};
use crate::error::{read_error, write_error};
use crate::markdown::lossy_text;
use crate::memory_file::time_from_nanos;
use crate::oplog::LONGEST_NAME;

/// Maximum number of concurrent syncs.
const MAX_CONCURRENT_SYNCS: usize = 16;

/// The usual name of a summary.
const SUMMARY_FILE: &str = "summary.md";

/// The changes of one conversation.
#[derive(Debug)]
pub(super) struct ConversationCommit<'w> {
    pub(super) conversation: &'w ConversationId,
    pub(super) changes: &'w [EntryChange],
    pub(super) known: WriterState,
    /// Entries that must not be deleted, regardless of the changes.
    pub(super) kept_entries: BTreeSet<EntryId>,
    /// The files that were added or removed.
    pub(super) touched: Vec<String>,
}

/// A new file under its temporary name.
#[derive(Debug)]
struct NewFile {
    hidden: String,
    path: String,
    role: EntryRole,
}

/// Applies the changes of several conversations: additions first, then deletions.
///
/// All new files are synced together, and then all of their folders, so that a batch takes hardly longer than a single change. The caller
/// holds the lock.
pub(super) fn apply_changes(
    disk: &dyn Disk,
    works: &mut [ConversationCommit<'_>],
) -> Result<(), StoreError> {
    let (mut waiting, mut folders) = (Vec::new(), BTreeSet::new());
    for work in works.iter() {
        for path in &work.known.leftovers {
            // A leftover file is harmless.
            let _ = disk.remove(path);
        }
        waiting.push(write_new_files(disk, work, &mut folders)?);
    }
    let hidden: Vec<&str> = waiting
        .iter()
        .flatten()
        .map(|new| new.hidden.as_str())
        .collect();
    sync_paths(&hidden, &|path| disk.sync_file(path))?;
    for (work, new) in works.iter_mut().zip(waiting) {
        rename_new_files(disk, work, new, &mut folders)?;
    }
    sync_folders(disk, &folders)?;
    works.iter_mut().try_for_each(|work| delete(disk, work))
}

/// Applies the deletions, syncs their folders, and then records the replacements.
fn delete(disk: &dyn Disk, work: &mut ConversationCommit<'_>) -> Result<(), StoreError> {
    let ConversationCommit {
        conversation,
        changes,
        known,
        kept_entries,
        touched,
    } = work;
    let mut folders = BTreeSet::new();
    let mut replaced = Vec::new();
    for change in *changes {
        let EntryChange::Delete { id, replaced_by } = change else {
            continue;
        };
        if kept_entries.contains(id) {
            continue;
        }
        let tombstone = match known.places.get(id) {
            Some(path) => {
                touched.push(path.clone());
                let tombstone = move_to_tombstones(disk, conversation, path, &mut folders)?;
                touched.push(tombstone.clone());
                Some(tombstone)
            }
            None if replaced_by.is_some() => {
                let tombstone = find_tombstone_by_id(disk, conversation, id)?;
                touched.extend(tombstone.clone());
                tombstone
            }
            None => None,
        };
        replaced.extend(tombstone.zip(replaced_by.as_ref()));
    }
    sync_folders(disk, &folders)?;
    replaced
        .into_iter()
        .try_for_each(|(path, by)| record_replacement(disk, &path, by))
}

/// Writes new files under hidden names, without a sync.
fn write_new_files(
    disk: &dyn Disk,
    work: &ConversationCommit<'_>,
    folders: &mut BTreeSet<String>,
) -> Result<Vec<NewFile>, StoreError> {
    let ConversationCommit {
        conversation,
        known,
        ..
    } = work;
    let own = conversation_folder(disk, conversation);
    let mut waiting = Vec::new();
    let entries = work.changes.iter().filter_map(|change| {
        if let EntryChange::Add(entry) = change {
            Some(entry)
        } else {
            None
        }
    });
    for entry in entries {
        let folder = format!("{own}/{}", role_folder(entry.role));
        if known.places.contains_key(&entry.id) {
            // A repeated request may follow a failed sync of this folder.
            folders.insert(folder.clone());
        }
        let path = match entry.role {
            EntryRole::Summary => summary_path(disk, conversation, &folder)?,
            _ if entry_exists(disk, known, conversation, entry)? => continue,
            _ => format!("{folder}/{}", name(entry)),
        };
        let text = encode(entry);
        if entry.role == EntryRole::Summary
            && read_bytes(disk, &path)?.is_some_and(|bytes| bytes == text.as_bytes())
        {
            continue;
        }
        let hidden = format!(
            "{folder}/{WAITING}{}.tmp",
            file_name(&path).trim_end_matches(".md")
        );
        disk.write(&hidden, text.as_bytes())
            .map_err(write_error(&hidden))?;
        waiting.push(NewFile {
            hidden,
            path,
            role: entry.role,
        });
    }
    Ok(waiting)
}

/// Renames new files to their final names, after their sync.
fn rename_new_files(
    disk: &dyn Disk,
    work: &mut ConversationCommit<'_>,
    new: Vec<NewFile>,
    folders: &mut BTreeSet<String>,
) -> Result<(), StoreError> {
    for NewFile { hidden, path, role } in new {
        if role == EntryRole::Summary {
            link_previous_summary(disk, work.conversation, &path)?;
        }
        disk.rename(&hidden, &path).map_err(write_error(&path))?;
        folders.insert(parent_folder(&path).to_owned());
        work.touched.push(path);
    }
    Ok(())
}

/// Returns whether an entry exists, active or as a tombstone.
fn entry_exists(
    disk: &dyn Disk,
    known: &WriterState,
    conversation: &ConversationId,
    entry: &ConversationEntry,
) -> Result<bool, StoreError> {
    if known.places.contains_key(&entry.id) {
        return Ok(true);
    }
    for folder in tombstone_folders(&conversation_folder(disk, conversation)) {
        let path = format!("{folder}/{}/{}", role_folder(entry.role), name(entry));
        if disk.stat(&path).map_err(read_error(&path))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves a file to the tombstones of its conversation, and returns the new path.
pub(super) fn move_to_tombstones(
    disk: &dyn Disk,
    conversation: &ConversationId,
    path: &str,
    folders: &mut BTreeSet<String>,
) -> Result<String, StoreError> {
    let own = conversation_folder(disk, conversation);
    let below = path.strip_prefix(&format!("{own}/")).unwrap_or(path);
    let tombstone = free_path(disk, &format!("{own}/{DELETED}/{below}"))?;
    create_folder(disk, parent_folder(&tombstone))?;
    disk.rename(path, &tombstone)
        .map_err(write_error(&tombstone))?;
    folders.extend([
        parent_folder(path).to_owned(),
        parent_folder(&tombstone).to_owned(),
    ]);
    Ok(tombstone)
}

/// Links a summary that is about to be replaced into the tombstones.
fn link_previous_summary(
    disk: &dyn Disk,
    conversation: &ConversationId,
    path: &str,
) -> Result<(), StoreError> {
    let Some((bytes, signature)) = disk.read(path).map_err(read_error(path))? else {
        return Ok(());
    };
    let at = decode(
        path,
        &bytes,
        EntryRole::Summary,
        time_from_nanos(signature.modified_ns),
    )
    .map_or_else(
        |_| time_from_nanos(signature.modified_ns),
        |entry| entry.created_at,
    );
    let wanted = format!(
        "{}/{DELETED}/summaries/{}__{}",
        conversation_folder(disk, conversation),
        format_file_time(at),
        file_name(path)
    );
    if read_bytes(disk, &wanted)?.is_some_and(|kept| kept == bytes) {
        return Ok(());
    }
    let tombstone = free_path(disk, &wanted)?;
    create_folder(disk, parent_folder(&tombstone))?;
    disk.hard_link(path, &tombstone)
        .map_err(write_error(&tombstone))?;
    sync_folders(
        disk,
        &BTreeSet::from([parent_folder(&tombstone).to_owned()]),
    )
}

/// Creates a folder if it is missing. The disk creates folders only together with files.
pub(super) fn create_folder(disk: &dyn Disk, folder: &str) -> Result<(), StoreError> {
    if disk.stat(folder).map_err(read_error(folder))?.is_some() {
        return Ok(());
    }
    let place = format!("{folder}/{WAITING}folder.tmp");
    disk.write(&place, b"")
        .and_then(|()| disk.remove(&place))
        .map_err(write_error(folder))
}

/// Returns the path of the summary of a conversation.
///
/// This is the usual path, unless it belongs to the summary of another conversation.
fn summary_path(
    disk: &dyn Disk,
    conversation: &ConversationId,
    folder: &str,
) -> Result<String, StoreError> {
    let usual = format!("{folder}/{SUMMARY_FILE}");
    let Some(bytes) = read_bytes(disk, &usual)? else {
        return Ok(usual);
    };
    // A file that cannot be parsed is not replaced.
    let is_own = decode(&usual, &bytes, EntryRole::Summary, time_from_nanos(0))
        .is_ok_and(|entry| entry.conversation == *conversation);
    Ok(if is_own {
        usual
    } else {
        format!("{folder}/{}", alternative_summary_name(conversation))
    })
}

/// Returns the first free path derived from `path`.
pub(super) fn free_path(disk: &dyn Disk, path: &str) -> Result<String, StoreError> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.trim_end_matches(".md");
    let mut candidate = path.to_owned();
    for number in 2.. {
        if disk
            .stat(&candidate)
            .map_err(read_error(&candidate))?
            .is_none()
        {
            break;
        }
        let ending = format!("-{number}.md");
        // A long name is shortened at its start, because its distinctive part is at the end.
        let start =
            stem.ceil_char_boundary((stem.len() + ending.len()).saturating_sub(LONGEST_NAME));
        candidate = format!("{folder}/{}{ending}", &stem[start..]);
    }
    Ok(candidate)
}

/// Returns the path of the tombstone of an entry, if there is one.
pub(super) fn find_tombstone_by_id(
    disk: &dyn Disk,
    conversation: &ConversationId,
    id: &EntryId,
) -> Result<Option<String>, StoreError> {
    let ending = format!("__{id}.md");
    for folder in tombstone_folders(&conversation_folder(disk, conversation)) {
        let mut paths = list_tombstones(disk, &folder)?.into_iter();
        if let Some((path, _)) = paths.find(|(path, _)| path.ends_with(&ending)) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Records the replacement in a tombstone, unless it is recorded already.
pub(super) fn record_replacement(
    disk: &dyn Disk,
    path: &str,
    by: &EntryId,
) -> Result<(), StoreError> {
    let Some(bytes) = read_bytes(disk, path)? else {
        return Ok(());
    };
    let text = lossy_text(&bytes).0;
    let new = add_replacement(&text, by).map_err(|what| {
        let problem = Problem {
            code: Code::FileDamaged,
            path: path.to_owned(),
            line: None,
            what,
            hint: None,
        };
        StoreError::Damaged(problem)
    })?;
    if new.as_bytes() == bytes {
        return Ok(());
    }
    replace(disk, path, new.as_bytes())
}

/// Writes or replaces a file, durably and atomically.
pub(super) fn replace(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let hidden = format!(
        "{}/{WAITING}{}.tmp",
        parent_folder(path),
        file_name(path).trim_end_matches(".md")
    );
    replace_file(disk, &hidden, path, bytes).map_err(write_error(path))
}

pub(super) fn read_bytes(disk: &dyn Disk, path: &str) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(disk
        .read(path)
        .map_err(read_error(path))?
        .map(|(bytes, _)| bytes))
}

pub(super) fn sync_folders(disk: &dyn Disk, folders: &BTreeSet<String>) -> Result<(), StoreError> {
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    sync_paths(&folders, &|path| disk.sync_folder(path))
}

/// Syncs paths concurrently, which takes hardly longer than a single sync.
fn sync_paths(
    paths: &[&str],
    sync: &(dyn Fn(&str) -> io::Result<()> + Sync),
) -> Result<(), StoreError> {
    let sync_one = |path: &&str| sync(path).map_err(write_error(path));
    if paths.len() <= 1 {
        return paths.iter().try_for_each(sync_one);
    }
    let share = paths.len().div_ceil(MAX_CONCURRENT_SYNCS);
    thread::scope(|scope| {
        let begin = |share: &'_ [&str]| share.iter().try_for_each(sync_one);
        let mut shares = paths.chunks(share);
        let own = shares.next();
        // If no thread can be started, the current thread syncs the share.
        let threads: Vec<_> = shares
            .map(|share| {
                thread::Builder::new()
                    .spawn_scoped(scope, move || begin(share))
                    .map_err(|_| begin(share))
            })
            .collect();
        let own = own.map_or(Ok(()), begin);
        let done = threads.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(done) => done,
        });
        done.fold(own, Result::and)
    })
}
