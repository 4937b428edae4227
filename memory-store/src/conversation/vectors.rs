//! Embedding vectors of conversations: derived files that may be deleted.
//!
//! Each conversation has one file with the vectors of one model: a line with the number of dimensions and the model, then the hash and the
//! vector of each text.

use std::collections::HashSet;

use memory_core::conversation::{ConversationId, EntryVector};
use memory_core::{ContentHash, StoreError};

use crate::disk::Disk;
use crate::error::{read_error, write_error};

/// The vectors of a conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct ConversationVectors {
    /// The model.
    pub(super) identity: String,
    /// The vectors.
    pub(super) vectors: Vec<EntryVector>,
}

/// Length of a hash in the file, in bytes.
const HASH_LENGTH: usize = 64;

/// Maximum number of dimensions.
const MAX_DIMENSIONS: usize = 1 << 16;

fn vectors_path(conversation: &ConversationId) -> String {
    format!(
        "index/conversations/{}.vectors",
        ContentHash::of(conversation.as_str())
    )
}

/// Returns the vectors of a conversation, if there are any.
pub(super) fn read(
    disk: &dyn Disk,
    conversation: &ConversationId,
) -> Result<Option<ConversationVectors>, StoreError> {
    let path = vectors_path(conversation);
    let told = read_error(&path);
    let Some(found) = disk.stat(&path).map_err(told)? else {
        return Ok(None);
    };
    let length = usize::try_from(found.size).unwrap_or(usize::MAX);
    let bytes = disk.read_part(&path, 0, length).map_err(told)?;
    Ok(parse_vectors(&bytes))
}

fn parse_vectors(bytes: &[u8]) -> Option<ConversationVectors> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let (dimensions, identity) = head.split_once(' ')?;
    let dimensions: usize = dimensions
        .parse()
        .ok()
        .filter(|dimensions| (1..=MAX_DIMENSIONS).contains(dimensions))?;
    let mut vectors = Vec::new();
    // An incomplete record at the end is ignored.
    for record in bytes[end + 1..].chunks_exact(HASH_LENGTH + 4 * dimensions) {
        let (hash, numbers) = record.split_at(HASH_LENGTH);
        let text = std::str::from_utf8(hash).ok()?.parse().ok()?;
        let number = |bytes: &[u8]| bytes.try_into().map(f32::from_le_bytes).unwrap_or_default();
        vectors.push(EntryVector {
            text,
            vector: numbers.chunks_exact(4).map(number).collect(),
        });
    }
    Some(ConversationVectors {
        identity: identity.to_owned(),
        vectors,
    })
}

/// Adds vectors of a model to those of a conversation, and returns all of them.
///
/// Vectors of another model are replaced.
pub(super) fn append(
    disk: &dyn Disk,
    conversation: &ConversationId,
    identity: &str,
    vectors: &[EntryVector],
) -> Result<ConversationVectors, StoreError> {
    let mut all = read(disk, conversation)?
        .filter(|own| own.identity == identity)
        .unwrap_or_default();
    identity.clone_into(&mut all.identity);
    let known: HashSet<ContentHash> = all.vectors.iter().map(|vector| vector.text).collect();
    all.vectors.extend(
        vectors
            .iter()
            .filter(|vector| !known.contains(&vector.text))
            .cloned(),
    );
    let dimensions = all.vectors.first().map_or(0, |vector| vector.vector.len());
    let is_sound = |vector: &EntryVector| {
        vector.vector.len() == dimensions && vector.vector.iter().all(|part| part.is_finite())
    };
    if identity.contains('\n')
        || identity.is_empty()
        || MAX_DIMENSIONS < dimensions
        || !all.vectors.iter().all(is_sound)
    {
        return Err(StoreError::Invalid {
            why: "the vector does not match the model".into(),
        });
    }
    if dimensions == 0 {
        return Ok(all);
    }
    let mut bytes = format!("{dimensions} {identity}\n").into_bytes();
    for vector in &all.vectors {
        bytes.extend_from_slice(vector.text.to_string().as_bytes());
        vector
            .vector
            .iter()
            .for_each(|part| bytes.extend_from_slice(&part.to_le_bytes()));
    }
    let path = vectors_path(conversation);
    let waiting = format!("{path}.tmp");
    let written = disk
        .write(&waiting, &bytes)
        .and_then(|()| disk.sync_file(&waiting))
        .and_then(|()| disk.rename(&waiting, &path));
    written.map_err(write_error(&path))?;
    Ok(all)
}
