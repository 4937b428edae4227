//! The paths of conversations and entries.

use std::path::Path;

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::conversation::{ConversationEntry, ConversationId, EntryRole};
use memory_core::text::{is_device_name, windows_name_problem};
use memory_core::{ContentHash, HomeSection, StoreError};

use crate::disk::{DirEntryKind, Disk};
use crate::error::read_error;

/// The folder of all conversations.
pub(super) const ENTRIES: &str = HomeSection::CONVERSATIONS;

/// The folder of tombstones: in each conversation, or in the layout of another program next to them.
pub(super) const DELETED: &str = "deleted";

/// The folder of each kind of entry, in the folder of a conversation.
pub(super) const PLACES: [(&str, EntryRole); 4] = [
    ("facts", EntryRole::Memory),
    ("turns/user", EntryRole::User),
    ("turns/assistant", EntryRole::Assistant),
    ("summaries", EntryRole::Summary),
];

/// Name prefix of a file that is not renamed to its final name yet.
pub(super) const WAITING: &str = ".new-";

/// Returns the folder for entries of this role, in the folder of a conversation.
pub(super) fn role_folder(role: EntryRole) -> &'static str {
    let place = PLACES.into_iter().find(|(_, own)| *own == role);
    place.expect("each role has a folder").0
}

/// Returns the folder of a conversation. A name that Windows does not allow gets a `_`, unless the folder exists.
pub(super) fn conversation_folder(disk: &dyn Disk, conversation: &ConversationId) -> String {
    let [plain, allowed] = possible_folders(conversation);
    // If the folder cannot be checked, its next use reports the error.
    let exists = || disk.stat(&plain).is_ok_and(|found| found.is_some());
    if plain == allowed || exists() {
        plain
    } else {
        allowed
    }
}

/// Returns the folder of a conversation with its plain name, and with one that Windows allows.
pub(super) fn possible_folders(conversation: &ConversationId) -> [String; 2] {
    let plain = conversation.folder();
    let mut allowed = plain.clone();
    if is_device_name(&plain) {
        // The part before an extension determines the device.
        allowed.insert(plain.find('.').unwrap_or(plain.len()), '_');
    }
    if windows_name_problem(&allowed).is_some() {
        allowed.push('_');
    }
    [plain, allowed].map(|name| format!("{ENTRIES}/{name}"))
}

/// Returns the folders of tombstones of a conversation; the first one is used for new tombstones.
pub(super) fn tombstone_folders(folder: &str) -> [String; 2] {
    let name = folder.rsplit('/').next().unwrap_or_default();
    [
        format!("{folder}/{DELETED}"),
        format!("{ENTRIES}/{DELETED}/{name}"),
    ]
}

/// Returns the paths of the entries in a folder of tombstones, each with the role of its subfolder.
pub(super) fn list_tombstones(
    disk: &dyn Disk,
    place: &str,
) -> Result<Vec<(String, EntryRole)>, StoreError> {
    let mut found = Vec::new();
    for (below, role) in PLACES {
        let folder = format!("{place}/{below}");
        let entries = disk.list_folder(&folder).map_err(read_error(&folder))?;
        let files = entries
            .into_iter()
            .filter(|entry| entry.kind == DirEntryKind::File && is_entry_file(&entry.name));
        found.extend(files.map(|entry| (format!("{folder}/{}", entry.name), role)));
    }
    Ok(found)
}

/// Returns the file name of a new entry that is not a summary.
pub(super) fn name(entry: &ConversationEntry) -> String {
    format!("{}__{}.md", format_file_time(entry.created_at), entry.id)
}

/// Returns the name of a summary if the usual name belongs to another conversation.
pub(super) fn alternative_summary_name(conversation: &ConversationId) -> String {
    let digits = ContentHash::of(conversation.as_str()).to_string();
    let digits: String = digits
        .chars()
        .filter(char::is_ascii_hexdigit)
        .take(8)
        .collect();
    format!("summary-{digits}.md")
}

/// Returns whether a file with this name contains an entry.
pub(super) fn is_entry_file(name: &str) -> bool {
    !name.starts_with('.')
        && Path::new(name)
            .extension()
            .is_some_and(|extension| extension == "md")
}

/// Formats a time for the front matter of entries.
pub(super) fn format_time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, false)
}

/// Formats a time for file names.
pub(super) fn format_file_time(at: DateTime<Utc>) -> String {
    let kept = |character: char| {
        if character.is_alphanumeric() || "-._".contains(character) {
            character
        } else {
            '-'
        }
    };
    format_time(at).chars().map(kept).collect()
}

/// Returns the time in the file name of an entry.
pub(super) fn time_prefix(name: &str) -> &str {
    name.split_once("__").map_or(name, |(moment, _)| moment)
}
