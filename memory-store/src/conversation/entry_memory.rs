//! Parts of conversations as results of a memory search.

use chrono::{DateTime, Utc};
use memory_core::conversation::{EntryRole, SOURCE};
use memory_core::{Draft, MemoryId, SpeakerRole};

use super::format::decode;
use super::layout::PLACES;
use crate::markdown::{DecodedFile, body};

/// Parses the file of an entry as a memory in the scope of its conversation.
///
/// Invalid files yield a memory with a problem.
pub(crate) fn decode_as_memory(path: &str, bytes: &[u8], modified: DateTime<Utc>) -> DecodedFile {
    let below = path.splitn(3, '/').nth(2).unwrap_or_default();
    let role =
        PLACES.into_iter().find(|(place, _)| below.starts_with(&format!("{place}/"))).map_or(EntryRole::Memory, |(_, role)| role);
    let speaker = match role {
        EntryRole::User => Some(SpeakerRole::Person),
        EntryRole::Assistant => Some(SpeakerRole::Assistant),
        EntryRole::Memory | EntryRole::Summary => None,
    };
    let draft = |content: &str| Draft { source: SOURCE.into(), role: speaker, ..Draft::new(content) };
    match decode(path, bytes, role, modified) {
        Ok(entry) => {
            let id = entry.id.as_str().parse().unwrap_or_else(|_| MemoryId::for_path(path));
            let draft = Draft { scope: entry.conversation.scope(), ..draft(&entry.content) };
            DecodedFile { memory: draft.into_memory(id, entry.created_at), problem: None }
        }
        Err(problem) => {
            let text = String::from_utf8_lossy(bytes);
            let scope = super::format::conversation_id(path, None).scope();
            let memory = Draft { scope, ..draft(body(&text).trim()) }.into_memory(MemoryId::for_path(path), modified);
            DecodedFile { memory, problem: Some(problem) }
        }
    }
}
