//! Changing entries so that none is lost, whenever it is cut off.

use std::collections::BTreeSet;

use memory_core::conversation::{ConversationId, Entry, EntryChange, EntryId, EntryRole};
use memory_core::{Code, Problem, StoreError};

use super::format::{decode, encode, with_replacement};
use super::kept::{Known, refused};
use super::layout::{
    DELETED, PLACES, WAITING, file_moment, file_name, folder, folder_of, name, other_summary, place, tombstones,
};
use crate::commit::LONGEST_NAME;
use crate::disk::Disk;
use crate::error::io_error;
use crate::file::moment;
use crate::markdown::as_text;

/// The usual name of a summary.
const SUMMARY: &str = "summary.md";

/// Makes changes: what is new first; notes which files came and went. The caller holds the lock.
pub(super) fn carry_out(
    disk: &dyn Disk,
    conversation: &ConversationId,
    known: &Known,
    changes: &[EntryChange],
    touched: &mut Vec<String>,
) -> Result<(), StoreError> {
    for path in &known.leftovers {
        // It harms nobody.
        let _ = disk.remove(path);
    }
    let added = changes.iter().filter_map(|change| if let EntryChange::Add(entry) = change { Some(entry) } else { None });
    add(disk, conversation, known, &added.collect::<Vec<_>>(), touched)?;
    let mut folders = BTreeSet::new();
    let mut replaced = Vec::new();
    for change in changes {
        let EntryChange::Delete { id, replaced_by } = change else { continue };
        let tombstone = match known.places.get(id) {
            Some(path) => {
                touched.push(path.clone());
                Some(bury(disk, conversation, path, &mut folders)?)
            }
            None if replaced_by.is_some() => tombstone(disk, conversation, id)?,
            None => None,
        };
        replaced.extend(tombstone.zip(replaced_by.as_ref()));
    }
    sync(disk, &folders)?;
    replaced.into_iter().try_for_each(|(path, by)| tell_replacement(disk, &path, by))
}

/// Writes what is new under hidden names, and gives all of it its names once it is durable.
fn add(
    disk: &dyn Disk,
    conversation: &ConversationId,
    known: &Known,
    entries: &[&Entry],
    touched: &mut Vec<String>,
) -> Result<(), StoreError> {
    let own = folder(conversation);
    let (mut waiting, mut folders) = (Vec::new(), BTreeSet::new());
    for entry in entries {
        let folder = format!("{own}/{}", place(entry.role));
        if known.places.contains_key(&entry.id) {
            // Whoever asks again may do so because this is what failed.
            folders.insert(folder.clone());
        }
        let path = match entry.role {
            EntryRole::Summary => summary_path(disk, conversation, &folder)?,
            _ if is_kept(disk, known, conversation, entry)? => continue,
            _ => format!("{folder}/{}", name(entry)),
        };
        let text = encode(entry);
        if entry.role == EntryRole::Summary && read(disk, &path)?.is_some_and(|bytes| bytes == text.as_bytes()) {
            continue;
        }
        let hidden = format!("{folder}/{WAITING}{}.tmp", file_name(&path).trim_end_matches(".md"));
        disk.write(&hidden, text.as_bytes()).and_then(|()| disk.sync_file(&hidden)).map_err(not_written(&hidden))?;
        waiting.push((hidden, path, entry.role));
    }
    for (hidden, path, role) in waiting {
        if role == EntryRole::Summary {
            keep_former(disk, conversation, &path)?;
        }
        disk.rename(&hidden, &path).map_err(not_written(&path))?;
        folders.insert(folder_of(&path).to_owned());
        touched.push(path);
    }
    sync(disk, &folders)
}

/// Tells whether an entry is there already, or was and is a tombstone.
fn is_kept(disk: &dyn Disk, known: &Known, conversation: &ConversationId, entry: &Entry) -> Result<bool, StoreError> {
    if known.places.contains_key(&entry.id) {
        return Ok(true);
    }
    for folder in tombstones(&folder(conversation)) {
        let path = format!("{folder}/{}/{}", place(entry.role), name(entry));
        if disk.signature(&path).map_err(|error| refused(&path, error))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves a file to the tombstones of its conversation, and returns where it is.
fn bury(
    disk: &dyn Disk,
    conversation: &ConversationId,
    path: &str,
    folders: &mut BTreeSet<String>,
) -> Result<String, StoreError> {
    let own = folder(conversation);
    let below = path.strip_prefix(&format!("{own}/")).unwrap_or(path);
    let tombstone = free(disk, &format!("{own}/{DELETED}/{below}"))?;
    make_folder(disk, folder_of(&tombstone))?;
    disk.rename(path, &tombstone).map_err(not_written(&tombstone))?;
    folders.extend([folder_of(path).to_owned(), folder_of(&tombstone).to_owned()]);
    Ok(tombstone)
}

/// Gives a summary whose place will be taken a second name among the tombstones.
fn keep_former(disk: &dyn Disk, conversation: &ConversationId, path: &str) -> Result<(), StoreError> {
    let Some((bytes, signature)) = disk.read(path).map_err(|error| refused(path, error))? else { return Ok(()) };
    let at = decode(path, &bytes, EntryRole::Summary, moment(signature.modified_ns))
        .map_or_else(|_| moment(signature.modified_ns), |entry| entry.created_at);
    let wanted = format!("{}/{DELETED}/summaries/{}__{}", folder(conversation), file_moment(at), file_name(path));
    if read(disk, &wanted)?.is_some_and(|kept| kept == bytes) {
        return Ok(());
    }
    let tombstone = free(disk, &wanted)?;
    make_folder(disk, folder_of(&tombstone))?;
    disk.keep(path, &tombstone).map_err(not_written(&tombstone))?;
    sync(disk, &BTreeSet::from([folder_of(&tombstone).to_owned()]))
}

/// Makes a folder that may be missing: only calls that make files make folders.
fn make_folder(disk: &dyn Disk, folder: &str) -> Result<(), StoreError> {
    if disk.signature(folder).map_err(|error| refused(folder, error))?.is_some() {
        return Ok(());
    }
    let place = format!("{folder}/{WAITING}folder.tmp");
    disk.write(&place, b"").and_then(|()| disk.remove(&place)).map_err(not_written(folder))
}

/// Returns the path of the summary of a conversation: the usual one, unless that is the summary of another.
fn summary_path(disk: &dyn Disk, conversation: &ConversationId, folder: &str) -> Result<String, StoreError> {
    let usual = format!("{folder}/{SUMMARY}");
    let Some(bytes) = read(disk, &usual)? else { return Ok(usual) };
    // What cannot be read is left alone.
    let is_own = decode(&usual, &bytes, EntryRole::Summary, moment(0)).is_ok_and(|entry| entry.conversation == *conversation);
    Ok(if is_own { usual } else { format!("{folder}/{}", other_summary(conversation)) })
}

/// Returns the first path like this one at which nothing is.
fn free(disk: &dyn Disk, path: &str) -> Result<String, StoreError> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.trim_end_matches(".md");
    let mut candidate = path.to_owned();
    for number in 2.. {
        if disk.signature(&candidate).map_err(|error| refused(&candidate, error))?.is_none() {
            break;
        }
        let ending = format!("-{number}.md");
        // A long name begins later: what tells it from others stands at its end.
        let start = stem.ceil_char_boundary((stem.len() + ending.len()).saturating_sub(LONGEST_NAME));
        candidate = format!("{folder}/{}{ending}", &stem[start..]);
    }
    Ok(candidate)
}

/// Returns where the tombstone of an entry is, if there is one.
fn tombstone(disk: &dyn Disk, conversation: &ConversationId, id: &EntryId) -> Result<Option<String>, StoreError> {
    let ending = format!("__{id}.md");
    for folder in tombstones(&folder(conversation)) {
        for (below, _) in PLACES {
            let folder = format!("{folder}/{below}");
            let entries = disk.folder(&folder).map_err(|error| refused(&folder, error))?;
            if let Some(found) = entries.into_iter().find(|entry| entry.name.ends_with(&ending)) {
                return Ok(Some(format!("{folder}/{}", found.name)));
            }
        }
    }
    Ok(None)
}

/// Writes into a tombstone what took its place, unless it says so already.
fn tell_replacement(disk: &dyn Disk, path: &str, by: &EntryId) -> Result<(), StoreError> {
    let Some(bytes) = read(disk, path)? else { return Ok(()) };
    let text = as_text(&bytes).0;
    let new = with_replacement(&text, by).map_err(|what| {
        let problem = Problem { code: Code::FileDamaged, path: path.to_owned(), line: None, what, hint: None };
        StoreError::Damaged(problem)
    })?;
    if new.as_bytes() == bytes {
        return Ok(());
    }
    let folder = folder_of(path);
    let hidden = format!("{folder}/{WAITING}{}.tmp", file_name(path).trim_end_matches(".md"));
    disk.write(&hidden, new.as_bytes()).and_then(|()| disk.sync_file(&hidden)).map_err(not_written(&hidden))?;
    disk.rename(&hidden, path).map_err(not_written(path))?;
    sync(disk, &BTreeSet::from([folder.to_owned()]))
}

fn read(disk: &dyn Disk, path: &str) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(disk.read(path).map_err(|error| refused(path, error))?.map(|(bytes, _)| bytes))
}

fn sync(disk: &dyn Disk, folders: &BTreeSet<String>) -> Result<(), StoreError> {
    folders.iter().try_for_each(|folder| disk.sync_folder(folder).map_err(not_written(folder)))
}

fn not_written(path: &str) -> impl Fn(std::io::Error) -> StoreError {
    let action = format!("write {path}");
    move |error| io_error(action.clone(), error)
}
