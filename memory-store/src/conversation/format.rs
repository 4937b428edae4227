//! The file format of entries.

use chrono::{DateTime, NaiveDateTime, NaiveTime, Utc};
use memory_core::conversation::{
    ConversationEntry, ConversationId, EntryId, EntryRole, MAX_CONTENT, SOURCE,
};
use memory_core::{
    Code, Draft, Memory, MemoryId, Problem, SpeakerRole, parse_day, parse_rfc3339, valid_time,
};

use super::layout::{PLACES, format_time, possible_folders};
use crate::disk::MAX_FILE;
use crate::markdown::{
    self, DecodedFile, PlainFrontMatter, body, double_quoted, lossy_text, set_values,
};

const REPAIR_HINT: &str = "correct the file by hand; it is not changed until then";

/// A file with the longest content and its front matter must stay below the read limit.
const _: () = assert!(MAX_CONTENT as u64 + 64 * 1024 < MAX_FILE);

/// Returns the file content of a new entry.
pub(super) fn encode(entry: &ConversationEntry) -> String {
    let mut text = String::from("---\n");
    let mut line = |key: &str, value: &str| text.extend([key, ": ", value, "\n"]);
    line("id", &quote_if_needed(entry.id.as_str()));
    line(
        "conversation_id",
        &quote_if_needed(entry.conversation.as_str()),
    );
    line("role", entry.role.as_str());
    line(
        "created_at",
        &format!("'{}'", format_time(entry.created_at)),
    );
    for (key, value) in [
        ("replaced_by", &entry.replaced_by),
        ("source_id", &entry.source_id),
    ] {
        if let Some(value) = value {
            line(key, &quote_if_needed(value.as_str()));
        }
    }
    if let Some(kind) = &entry.summary_kind {
        line("summary_kind", &quote_if_needed(kind));
    }
    text.push_str("---\n");
    text.push_str(&entry.content);
    text.push('\n');
    text
}

/// Quotes a value unless every YAML parser reads it as this string.
fn quote_if_needed(value: &str) -> String {
    let is_word = value.starts_with(|first: char| first.is_ascii_alphabetic())
        && value
            .chars()
            .all(|own| own.is_ascii_alphanumeric() || "-_./".contains(own));
    let is_other = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
        .contains(&value.to_ascii_lowercase().as_str());
    let is_uuid = value.len() == 36 && value.parse::<MemoryId>().is_ok();
    if is_uuid || is_word && !is_other {
        value.to_owned()
    } else {
        double_quoted(value)
    }
}

/// Parses the file at `path` in the folder of a conversation.
///
/// `role` is the role of its subfolder, and `modified` its modification time. Both replace missing values in the front matter.
pub(super) fn decode(
    path: &str,
    bytes: &[u8],
    role: EntryRole,
    modified: DateTime<Utc>,
) -> Result<ConversationEntry, Problem> {
    let damaged = |what: String| Problem {
        code: Code::FileDamaged,
        path: path.to_owned(),
        line: None,
        what,
        hint: Some(REPAIR_HINT),
    };
    let (text, fault) = lossy_text(bytes);
    let front = PlainFrontMatter::of(&text);
    if let Some(what) = fault.or_else(|| front.problem.clone()) {
        return Err(damaged(what));
    }
    let value = |key: &str| {
        front
            .value(key)
            .map(str::trim)
            .filter(|value| !value.is_empty() && *value != "null")
    };
    let parsed = |key: &str| {
        value(key)
            .map(str::parse::<EntryId>)
            .transpose()
            .map_err(|error| damaged(format!("`{key}`: {error}")))
    };
    let id = parsed("id")?.unwrap_or_else(|| MemoryId::for_path(path).into());
    let said = value("role")
        .map(str::parse::<EntryRole>)
        .transpose()
        .map_err(|error| damaged(error.to_string()))?;
    let created_at = match value("created_at") {
        None => modified,
        Some(said) => parse_time(said)
            .ok_or_else(|| damaged(format!("`created_at`: {said:?} is not a valid time")))?,
    };
    let entry = ConversationEntry::new(
        id,
        &conversation_id(path, value("conversation_id")),
        said.unwrap_or(role),
        body(&text),
        created_at,
    );
    Ok(ConversationEntry {
        source_id: parsed("source_id")?,
        summary_kind: value("summary_kind").map(str::to_owned),
        replaced_by: parsed("replaced_by")?,
        ..entry
    })
}

/// Returns the conversation of a file: the one it names, unless that has another folder.
pub(super) fn conversation_id(path: &str, said: Option<&str>) -> ConversationId {
    let is_in = |folder: &str| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    let own = |id: &ConversationId| possible_folders(id).iter().any(|folder| is_in(folder));
    let deleted =
        |id: &ConversationId| path.starts_with(&format!("entries/deleted/{}/", id.folder()));
    let said = said
        .and_then(|said| said.parse::<ConversationId>().ok())
        .filter(|id| own(id) || deleted(id));
    let mut parts = path.split('/').skip(1);
    let name = match parts.next() {
        Some("deleted") => parts.next(),
        name => name,
    };
    said.or_else(|| name?.parse().ok())
        .unwrap_or_else(ConversationId::default_conversation)
}

/// Returns a tombstone without the key of its replacement, otherwise unchanged.
pub(super) fn remove_replacement(bytes: &[u8]) -> Vec<u8> {
    let Ok(text) = str::from_utf8(bytes) else {
        return bytes.to_owned();
    };
    let mut fences = 0;
    let is_other = |line: &&str| {
        fences += usize::from(line.trim_end() == "---");
        fences != 1 || !line.starts_with("replaced_by:")
    };
    let without: String = text.split_inclusive('\n').filter(is_other).collect();
    // A front matter in another notation is left unchanged.
    let has_any = PlainFrontMatter::of(&without)
        .values
        .iter()
        .any(|(key, _)| key == "replaced_by");
    if has_any {
        bytes.to_owned()
    } else {
        without.into_bytes()
    }
}

fn parse_time(said: &str) -> Option<DateTime<Utc>> {
    let without = || {
        said.replacen(' ', "T", 1)
            .parse::<NaiveDateTime>()
            .ok()
            .and_then(|at| valid_time(at.and_utc()))
    };
    let day = || parse_day(said).map(|day| day.and_time(NaiveTime::MIN).and_utc());
    parse_rfc3339(said).or_else(without).or_else(day)
}

/// Returns a tombstone with the id of its replacement, otherwise unchanged.
pub(super) fn add_replacement(text: &str, by: &EntryId) -> Result<String, String> {
    set_values(text, &[("replaced_by", by.as_str())], None)
}

/// Parses the file of an entry as a memory in the scope of its conversation.
///
/// A fact may also have the fields of a memory, such as tags. Invalid files yield a memory with a problem.
pub(crate) fn decode_as_memory(path: &str, bytes: &[u8], modified: DateTime<Utc>) -> DecodedFile {
    let below = path.splitn(3, '/').nth(2).unwrap_or_default();
    let role = PLACES
        .into_iter()
        .find(|(place, _)| below.starts_with(&format!("{place}/")))
        .map_or(EntryRole::Memory, |(_, role)| role);
    let speaker = match role {
        EntryRole::User => Some(SpeakerRole::Person),
        EntryRole::Assistant => Some(SpeakerRole::Assistant),
        EntryRole::Memory | EntryRole::Summary => None,
    };
    let draft = |content: &str| Draft {
        source: SOURCE.into(),
        role: speaker,
        ..Draft::new(content)
    };
    match decode(path, bytes, role, modified) {
        Ok(entry) => {
            let id = entry
                .id
                .as_str()
                .parse()
                .unwrap_or_else(|_| MemoryId::for_path(path));
            let scope = entry.conversation.scope();
            let memory = if entry.role == EntryRole::Memory {
                let fields = markdown::decode(path, bytes, entry.created_at).memory;
                Memory {
                    id,
                    content: entry.content,
                    scope,
                    source: SOURCE.into(),
                    role: None,
                    created_at: entry.created_at,
                    ..fields
                }
            } else {
                let draft = Draft {
                    scope,
                    ..draft(&entry.content)
                };
                draft.into_memory(id, entry.created_at)
            };
            DecodedFile {
                memory,
                problem: None,
                other_fields: Vec::new(),
            }
        }
        Err(problem) => {
            let text = String::from_utf8_lossy(bytes);
            let scope = conversation_id(path, None).scope();
            let memory = Draft {
                scope,
                ..draft(body(&text).trim())
            }
            .into_memory(MemoryId::for_path(path), modified);
            DecodedFile {
                memory,
                problem: Some(problem),
                other_fields: Vec::new(),
            }
        }
    }
}
