//! Where what lies.

use std::path::Path;

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::conversation::{ConversationId, Entry, EntryRole};
use memory_core::{ContentHash, Place};

/// The folder of all conversations.
pub(super) const ENTRIES: &str = Place::CONVERSATIONS;

/// The folder of tombstones, within that of a conversation, or as others have it, beside all of them.
pub(super) const DELETED: &str = "deleted";

/// Where each kind of entry lies, within the folder of a conversation.
pub(super) const PLACES: [(&str, EntryRole); 4] = [
    ("facts", EntryRole::Memory),
    ("turns/user", EntryRole::User),
    ("turns/assistant", EntryRole::Assistant),
    ("summaries", EntryRole::Summary),
];

/// What begins the name of a file that waits for its place.
pub(super) const WAITING: &str = ".new-";

/// Returns the folder in which an entry lies, within that of its conversation.
pub(super) fn place(role: EntryRole) -> &'static str {
    match role {
        EntryRole::Memory => "facts",
        EntryRole::User => "turns/user",
        EntryRole::Assistant => "turns/assistant",
        EntryRole::Summary => "summaries",
    }
}

/// Returns the folder of a conversation.
pub(super) fn folder(conversation: &ConversationId) -> String {
    format!("{ENTRIES}/{}", conversation.folder())
}

/// Returns the folders in which tombstones of a conversation lie: ours first.
pub(super) fn tombstones(folder: &str) -> [String; 2] {
    let name = folder.rsplit('/').next().unwrap_or_default();
    [format!("{folder}/{DELETED}"), format!("{ENTRIES}/{DELETED}/{name}")]
}

/// Returns the name of the file of a new entry that is no summary.
pub(super) fn name(entry: &Entry) -> String {
    format!("{}__{}.md", file_moment(entry.created_at), entry.id)
}

/// Returns what the summary of a conversation is called where that of another one has the usual name.
pub(super) fn other_summary(conversation: &ConversationId) -> String {
    let digits = ContentHash::of(conversation.as_str()).to_string();
    let digits: String = digits.chars().filter(char::is_ascii_hexdigit).take(8).collect();
    format!("summary-{digits}.md")
}

/// Returns whether a file of this name holds an entry.
pub(super) fn is_entry(name: &str) -> bool {
    !name.starts_with('.') && Path::new(name).extension().is_some_and(|extension| extension == "md")
}

/// Returns a moment as entries name it.
pub(super) fn moment(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, false)
}

/// Returns a moment as names of files spell it.
pub(super) fn file_moment(at: DateTime<Utc>) -> String {
    let kept = |character: char| if character.is_alphanumeric() || "-._".contains(character) { character } else { '-' };
    moment(at).chars().map(kept).collect()
}

/// Returns the part of the name of a file that tells when its entry was made.
pub(super) fn moment_of(name: &str) -> &str {
    name.split_once("__").map_or(name, |(moment, _)| moment)
}

/// Returns the last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the folder of a path.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
