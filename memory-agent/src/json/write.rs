//! The JSON of written and deleted memories.

use memory_core::{MemoryId, MergedFields, Neighbour, StoredMemory, WriteResult};
use serde::Serialize;
use serde_json::Value;

use super::proposal::{SimilarShape, similar_shape};
use super::{time, value};

#[derive(Serialize)]
struct WrittenMemoryShape<'a> {
    id: String,
    path: &'a str,
    created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<MergedShape<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ignored: &'a [&'static str],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    superseded: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    similar: Vec<SimilarShape>,
}

#[derive(Serialize)]
pub(super) struct MergedShape<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stated_at: Option<String>,
}

impl<'a> MergedShape<'a> {
    /// Returns the merged fields, or `None` if there are none.
    pub(super) fn of(merged: &'a MergedFields) -> Option<Self> {
        let MergedFields {
            tags,
            category,
            title,
            pinned,
            role,
            stated_at,
        } = merged;
        let category = category.map(memory_core::Category::as_str);
        (!merged.is_empty()).then(|| Self {
            tags,
            category,
            title: title.as_deref(),
            pinned: *pinned,
            role: role.map(memory_core::SpeakerRole::as_str),
            stated_at: stated_at.map(time::rfc3339),
        })
    }
}

#[derive(Serialize)]
struct DeletedMemoryShape<'a> {
    id: String,
    path: &'a str,
}

/// Returns the JSON of a write:
/// `{id, path, created, expires_at?, merged?, ignored?, superseded?: [id], similar?: [{relation, id, text}]}`.
///
/// `expires_at` is present if the memory expires: on its expiry date, or at the end of its time in the inbox. If the
/// text existed already, `merged` are the fields that its memory took over from the draft (`{tags?, category?, title?,
/// pinned?, role?, stated_at?}`), and `ignored` the names of fields that it did not. `similar` are `neighbours`, of which the text is cut
/// after 300 characters; `relation` is `updates`, `contradicts`, `duplicate` or `related`.
pub fn write_result(written: &WriteResult, neighbours: &[Neighbour]) -> Value {
    value(&WrittenMemoryShape {
        id: written.id.to_string(),
        path: &written.path,
        created: written.created,
        expires_at: written.expires_at.map(time::rfc3339),
        merged: MergedShape::of(&written.merged),
        ignored: &written.ignored,
        superseded: written.superseded.iter().map(MemoryId::to_string).collect(),
        similar: neighbours.iter().map(similar_shape).collect(),
    })
}

/// Returns the JSON of a deletion, with the previous path of the memory: `{id, path}`.
pub fn delete_result(stored: &StoredMemory) -> Value {
    value(&DeletedMemoryShape {
        id: stored.memory.id.to_string(),
        path: &stored.path,
    })
}
