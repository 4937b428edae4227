//! The values of the front matter keys.

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::{Memory, MemoryId, Origin, Reminder};

/// The keys that are written, in the order of the file format.
///
/// From `role` on, a key without a value is omitted.
pub(super) const KEYS: [&str; 29] = [
    "id",
    "content_hash",
    "phase",
    "category",
    "scope",
    "tags",
    "source",
    "created_at",
    "updated_at",
    "expires_at",
    "access_count",
    "links",
    "version",
    "role",
    "title",
    "aliases",
    "valid_from",
    "valid_until",
    "supersedes",
    "superseded_by",
    "summarised_by",
    "pinned",
    "due",
    "reminds",
    "notified_at",
    "done_at",
    "origin",
    "other_origins",
    VERSION_BESIDE,
];

/// The key for the memory's version in files where `version` is the user's own, such as `1.10`.
pub(super) const VERSION_BESIDE: &str = "memory_version";

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// No value; the key is omitted.
    Absent,
    /// An explicit `null`.
    Null,
    /// A word that needs no quotes.
    Word(String),
    /// Any text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
    /// A map of texts.
    Map(Vec<(&'static str, String)>),
}

/// Returns the value of a memory's key.
pub(super) fn value(key: &str, memory: &Memory) -> Value {
    match key {
        "id" => Value::Word(memory.id.to_string()),
        "content_hash" => Value::Word(memory.content_hash().to_string()),
        "phase" => Value::Word(memory.phase.to_string()),
        "category" => Value::Word(memory.category.to_string()),
        "scope" => Value::Text(memory.scope.to_string()),
        "tags" => Value::List(memory.tags.as_slice().to_vec()),
        "source" => Value::Text(memory.source.clone()),
        "created_at" => Value::Word(moment(memory.created_at)),
        "updated_at" => Value::Word(moment(memory.updated_at)),
        "expires_at" => memory.expires_at.map_or(Value::Null, |end| Value::Word(moment(end))),
        "access_count" => Value::Word(memory.access_count.to_string()),
        "links" => Value::List(memory.links.iter().map(MemoryId::to_string).collect()),
        "version" => Value::Word(memory.version.to_string()),
        "role" => memory.role.map_or(Value::Absent, |role| Value::Word(role.to_string())),
        "title" => memory.title.clone().map_or(Value::Absent, Value::Text),
        "aliases" => some_list(memory.aliases.clone()),
        "valid_from" => memory.valid_from.map_or(Value::Absent, |start| Value::Word(moment(start))),
        "valid_until" => memory.valid_until.map_or(Value::Absent, |end| Value::Word(moment(end))),
        "supersedes" => some_list(memory.supersedes.iter().map(MemoryId::to_string).collect()),
        "superseded_by" => memory.superseded_by.map_or(Value::Absent, |id| Value::Word(id.to_string())),
        "summarised_by" => memory.summarised_by.as_ref().map_or(Value::Absent, |id| Value::Text(id.to_string())),
        "pinned" if memory.pinned => Value::Word("true".into()),
        "due" => of_reminder(memory, |reminder| Some(moment(reminder.due))),
        "reminds" => of_reminder(memory, |reminder| reminder.of.map(|id| id.to_string())),
        "notified_at" => of_reminder(memory, |reminder| reminder.notified_at.map(moment)),
        "done_at" => of_reminder(memory, |reminder| reminder.done_at.map(moment)),
        "origin" => memory.origin.as_ref().map_or(Value::Absent, |origin| Value::Map(origin_map(origin))),
        "other_origins" => some_list(memory.other_origins.iter().map(Origin::to_text).collect()),
        _ => Value::Absent,
    }
}

fn of_reminder(memory: &Memory, word: impl FnOnce(&Reminder) -> Option<String>) -> Value {
    memory.reminder.as_ref().and_then(word).map_or(Value::Absent, Value::Word)
}

fn some_list(items: Vec<String>) -> Value {
    if items.is_empty() { Value::Absent } else { Value::List(items) }
}

fn origin_map(origin: &Origin) -> Vec<(&'static str, String)> {
    let place = [("source", &origin.source), ("root", &origin.root), ("path", &origin.path)];
    let hash = origin.hash.map(|hash| ("hash", hash.to_string()));
    place.into_iter().map(|(key, text)| (key, text.clone())).chain(hash).collect()
}

fn moment(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}
