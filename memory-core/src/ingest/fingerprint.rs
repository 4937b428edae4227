//! Fingerprints that detect changes of a note or its memory.

use crate::{ContentHash, Draft, Memory};

/// Fingerprints for detecting whether a note or its memory has changed since its ingestion.
///
/// They are stored as the hash of the memory's origin, so the three parts share 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoteFingerprint {
    /// The hash of the parts of the note that correspond to fields of a memory.
    pub(super) note: [u8; 12],
    /// The hash of the remaining front matter.
    pub(super) front_matter: [u8; 8],
    /// The hash of the text and title written to the memory.
    pub(super) text: [u8; 12],
}

impl NoteFingerprint {
    /// Returns the fingerprints in the form of a hash, for storage.
    pub(super) fn to_hash(self) -> ContentHash {
        let mut bytes = [0; 32];
        bytes[..12].copy_from_slice(&self.note);
        bytes[12..20].copy_from_slice(&self.front_matter);
        bytes[20..].copy_from_slice(&self.text);
        ContentHash::from(bytes)
    }

    /// Extracts the fingerprints from a stored hash.
    pub(super) fn from_hash(hash: &ContentHash) -> Self {
        let bytes = hash.as_bytes();
        Self { note: first(bytes), front_matter: first(&bytes[12..]), text: first(&bytes[20..]) }
    }
}

/// Returns the fingerprint of a note, before redaction.
pub(super) fn note_hash(draft: &Draft) -> [u8; 12] {
    first(draft.fingerprint("").as_bytes())
}

/// Returns the fingerprint of unrecognized front matter.
pub(super) fn front_matter_hash(lines: &str) -> [u8; 8] {
    first(ContentHash::of(lines).as_bytes())
}

/// Returns the fingerprint of the text and title of a draft.
pub(super) fn draft_text_hash(draft: &Draft) -> [u8; 12] {
    text_hash(&draft.content, draft.title.as_deref())
}

/// Returns the fingerprint of the text and title of a memory.
pub(super) fn memory_text_hash(memory: &Memory) -> [u8; 12] {
    text_hash(&memory.content, memory.title.as_deref())
}

/// Returns the fingerprint of a text and a title.
///
/// Whitespace at the ends of lines and of the text is ignored, since a store may change it.
fn text_hash(content: &str, title: Option<&str>) -> [u8; 12] {
    let mut text = String::with_capacity(content.len());
    for line in content.lines() {
        text.extend([line.trim_end(), "\n"]);
    }
    first(ContentHash::of(&format!("{}\0{}", text.trim_end(), title.unwrap_or_default().trim())).as_bytes())
}

fn first<const COUNT: usize>(bytes: &[u8]) -> [u8; COUNT] {
    let mut first = [0; COUNT];
    first.copy_from_slice(&bytes[..COUNT]);
    first
}
