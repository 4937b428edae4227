//! Fingerprints that show whether a note or its memory was changed since its last ingestion.

use chrono::{DateTime, Utc};

use crate::{ContentHash, Draft, Memory, NoteItem};

/// Fingerprints for detecting whether a note or its memory has changed since its ingestion.
///
/// They are stored as the hash of the memory's origin, so the four parts share 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoteFingerprint {
    /// The hash of the parts of the note that correspond to fields of a memory.
    pub(super) note: [u8; 8],
    /// The hash of the fields that the note gave the memory, other than text and names.
    pub(super) fields: [u8; 4],
    /// The hash of the remaining front matter.
    pub(super) front_matter: [u8; 8],
    /// The hash of the text and title written to the memory.
    pub(super) text: [u8; 12],
}

impl NoteFingerprint {
    /// Returns the fingerprints in the form of a hash, for storage.
    pub(super) fn to_hash(self) -> ContentHash {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.note);
        bytes[8..12].copy_from_slice(&self.fields);
        bytes[12..20].copy_from_slice(&self.front_matter);
        bytes[20..].copy_from_slice(&self.text);
        ContentHash::from(bytes)
    }

    /// Extracts the fingerprints from a stored hash.
    pub(super) fn from_hash(hash: &ContentHash) -> Self {
        let bytes = hash.as_bytes();
        Self {
            note: first(bytes),
            fields: first(&bytes[8..]),
            front_matter: first(&bytes[12..]),
            text: first(&bytes[20..]),
        }
    }

    /// Returns the hash of a note in the older format, which has `note` and `fields` as one hash of text, names and tags.
    fn former_note(&self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.note);
        bytes[8..].copy_from_slice(&self.fields);
        bytes
    }
}

/// The fingerprints of a note and its unrecognized front matter, in the current and the older format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemFingerprint {
    note: [u8; 8],
    former_note: [u8; 12],
    pub(super) front_matter: [u8; 8],
}

impl ItemFingerprint {
    /// Returns the fingerprints of a note, before redaction.
    pub(super) fn of(note: &NoteItem) -> Self {
        let former_note = first(note.draft.fingerprint("").as_bytes());
        Self {
            note: first(note_hash(&note.draft, note.updated_at).as_bytes()),
            former_note,
            front_matter: front_matter_hash(&note.front_matter),
        }
    }

    /// Returns the fingerprints for storage, given those of the memory that the note gives.
    pub(super) fn with_memory(self, fields: [u8; 4], text: [u8; 12]) -> NoteFingerprint {
        NoteFingerprint {
            note: self.note,
            fields,
            front_matter: self.front_matter,
            text,
        }
    }

    /// Returns whether `known` is of a note with the same recognized parts.
    pub(super) fn is_same_note(&self, known: &NoteFingerprint) -> bool {
        self.note == known.note || self.former_note == known.former_note()
    }

    /// Returns whether the stored hash is of an equal note.
    pub(super) fn is_in(&self, hash: &ContentHash) -> bool {
        let known = NoteFingerprint::from_hash(hash);
        self.is_same_note(&known) && self.front_matter == known.front_matter
    }
}

/// Returns a hash of the parts of a note that correspond to fields of a memory, before redaction.
pub(super) fn note_hash(draft: &Draft, updated_at: Option<DateTime<Utc>>) -> ContentHash {
    let Draft {
        category,
        phase,
        scope,
        role,
        created_at,
        expires_at,
        valid_from,
        valid_until,
        pinned,
        reminder,
        ..
    } = draft;
    let due = reminder.as_ref().map(|reminder| reminder.due);
    let times = [
        *created_at,
        updated_at,
        *expires_at,
        *valid_from,
        *valid_until,
        due,
    ];
    let mut more = vec![
        category.map_or("", |category| category.as_str()).to_owned(),
        phase.map_or("", |phase| phase.as_str()).to_owned(),
        scope.to_string(),
        role.map_or("", |role| role.as_str()).to_owned(),
        pinned.to_string(),
    ];
    more.extend(
        times.map(|time| time.map_or_else(String::new, |time| time.timestamp_micros().to_string())),
    );
    draft.fingerprint(&more.join("\0"))
}

/// Returns the fingerprint of the fields of a memory that a note gives, other than text, names and the time of the change.
pub(super) fn fields_hash(memory: &Memory) -> [u8; 4] {
    let due = memory.reminder.as_ref().map(|reminder| reminder.due);
    let times = [
        Some(memory.created_at),
        memory.expires_at,
        memory.valid_from,
        memory.valid_until,
        due,
    ];
    let mut fields = vec![
        memory.category.as_str().to_owned(),
        memory.phase.as_str().to_owned(),
        memory.scope.to_string(),
        memory.role.map_or("", |role| role.as_str()).to_owned(),
        memory.pinned.to_string(),
    ];
    // A store may record less than milliseconds.
    fields.extend(
        times.map(|time| time.map_or_else(String::new, |time| time.timestamp().to_string())),
    );
    first(ContentHash::of(&fields.join("\0")).as_bytes())
}

/// Returns the fingerprint of unrecognized front matter.
fn front_matter_hash(lines: &str) -> [u8; 8] {
    first(ContentHash::of(lines).as_bytes())
}

/// Returns the fingerprint of the text and title of a draft.
pub(super) fn draft_text_hash(draft: &Draft) -> [u8; 12] {
    text_hash(&draft.content, draft.title.as_deref())
}

/// Returns whether a note of an export of this home has the text, the names and the fields of its memory.
pub(super) fn is_export_of(note: &NoteItem, memory: &Memory) -> bool {
    if note.id != Some(memory.id) || draft_text_hash(&note.draft) != memory_text_hash(memory) {
        return false;
    }
    let exported = note.draft.clone().into_memory(memory.id, memory.updated_at);
    (&exported.aliases, &exported.tags) == (&memory.aliases, &memory.tags)
        && fields_hash(&exported) == fields_hash(memory)
}

/// Returns the fingerprint of the text and title of a memory.
pub(super) fn memory_text_hash(memory: &Memory) -> [u8; 12] {
    text_hash(&memory.content, memory.title.as_deref())
}

/// Returns whether two texts differ at most in what a store may change.
pub(super) fn is_same_text(one: &str, other: &str) -> bool {
    one == other || text_hash(one, None) == text_hash(other, None)
}

/// Returns the fingerprint of a text and a title.
///
/// Whitespace at the ends of lines and of the text is ignored, since a store may change it.
pub(super) fn text_hash(content: &str, title: Option<&str>) -> [u8; 12] {
    let mut text = String::with_capacity(content.len());
    for line in content.lines() {
        text.extend([line.trim_end(), "\n"]);
    }
    first(
        ContentHash::of(&format!(
            "{}\0{}",
            text.trim_end(),
            title.unwrap_or_default().trim()
        ))
        .as_bytes(),
    )
}

fn first<const COUNT: usize>(bytes: &[u8]) -> [u8; COUNT] {
    let mut first = [0; COUNT];
    first.copy_from_slice(&bytes[..COUNT]);
    first
}
