//! What tells whether a note or its memory has changed.

use crate::{ContentHash, Draft, Memory};

/// What tells, the next time, whether the note or its memory has changed since it was taken in. It is kept as the hash of
/// the memory's origin, so its three parts share 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// Of what the note says in fields that memories have.
    pub(super) note: [u8; 12],
    /// Of the rest of its front matter.
    pub(super) front_matter: [u8; 8],
    /// Of the text and title that its memory got.
    pub(super) text: [u8; 12],
}

impl Mark {
    /// Returns the hash as which the mark is kept.
    pub(super) fn to_hash(self) -> ContentHash {
        let mut bytes = [0; 32];
        bytes[..12].copy_from_slice(&self.note);
        bytes[12..20].copy_from_slice(&self.front_matter);
        bytes[20..].copy_from_slice(&self.text);
        ContentHash::from(bytes)
    }

    /// Reads a mark out of the hash as which it was kept.
    pub(super) fn from_hash(hash: &ContentHash) -> Self {
        let bytes = hash.as_bytes();
        Self { note: first(bytes), front_matter: first(&bytes[12..]), text: first(&bytes[20..]) }
    }
}

/// Returns the mark of what a note says, as it stands at the source.
pub(super) fn of_note(draft: &Draft) -> [u8; 12] {
    first(draft.fingerprint("").as_bytes())
}

/// Returns the mark of foreign front matter.
pub(super) fn of_front_matter(lines: &str) -> [u8; 8] {
    first(ContentHash::of(lines).as_bytes())
}

/// Returns the mark of the text and title that a draft gives its memory.
pub(super) fn of_draft(draft: &Draft) -> [u8; 12] {
    of_text(&draft.content, draft.title.as_deref())
}

/// Returns the mark of the text and title of a memory.
pub(super) fn of_memory(memory: &Memory) -> [u8; 12] {
    of_text(&memory.content, memory.title.as_deref())
}

/// Blanks at the ends of lines, and line breaks at the end, are left to whoever keeps the text.
fn of_text(content: &str, title: Option<&str>) -> [u8; 12] {
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
