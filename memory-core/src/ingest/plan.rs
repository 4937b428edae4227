//! The decision about one note, by the fingerprints of its last ingestion.

use chrono::{DateTime, Utc};

use super::survey::{MemoryRelation, SurveyedNote};
use crate::{
    Change, ContentHash, Draft, Memory, MemoryId, NoteItem, Origin, Patch, Services, StoreError, StoredMemory, Tags, secret,
};

/// The input of the decision about one note.
pub(super) struct NotePlan<'a> {
    pub(super) note: &'a SurveyedNote,
    pub(super) links: &'a [MemoryId],
    pub(super) at: DateTime<Utc>,
}

/// The decision about one note.
pub(super) enum IngestDecision {
    /// The memory is up to date.
    Leave,
    /// The note is skipped for this reason.
    Skip(String),
    /// The store is changed.
    Do {
        /// The change.
        change: Change,
        /// The warnings to report.
        warnings: Vec<String>,
    },
}

/// The part of a decision that does not depend on the store.
pub(super) enum PartialDecision<'a> {
    /// The complete decision.
    Decided(IngestDecision),
    /// The decision depends on the stored memory, which may still change.
    Open(NotePlan<'a>, Box<NoteItem>),
}

impl PartialDecision<'_> {
    /// Completes the decision.
    pub(super) fn complete(self, services: &Services) -> Result<IngestDecision, StoreError> {
        match self {
            Self::Decided(decision) => Ok(decision),
            Self::Open(plan, note) => plan.decide(services, *note),
        }
    }
}

impl<'a> NotePlan<'a> {
    /// Decides about the note as far as possible without reading the store.
    pub(super) fn decide_early(self, note: Box<NoteItem>) -> PartialDecision<'a> {
        match self.note.kept {
            MemoryRelation::Not => PartialDecision::Decided(self.create(*note)),
            MemoryRelation::AsCopy => PartialDecision::Decided(IngestDecision::Leave),
            MemoryRelation::AsTwin if self.links.is_empty() => PartialDecision::Decided(IngestDecision::Leave),
            MemoryRelation::AsTwin | MemoryRelation::AsItself => PartialDecision::Open(self, note),
        }
    }

    fn decide(self, services: &Services, note: NoteItem) -> Result<IngestDecision, StoreError> {
        let stored = match services.store.get(&self.note.id) {
            Ok(stored) => stored,
            Err(error @ (StoreError::NotFound { .. } | StoreError::Damaged(_))) => {
                return Ok(IngestDecision::Skip(error.to_string()));
            }
            Err(error) => return Err(error),
        };
        let mut warnings = Vec::new();
        let links = Patch { add_links: self.links.to_vec(), ..Patch::default() };
        let patch = match self.note.kept {
            MemoryRelation::AsTwin | MemoryRelation::AsCopy => Ok(links),
            MemoryRelation::AsItself | MemoryRelation::Not => {
                let own = stored.memory.origin.as_ref();
                let is_elsewhere =
                    |other: &&Origin| own.is_some_and(|own| (&own.source, &own.root) != (&other.source, &other.root));
                let elsewhere = stored.memory.other_origins.iter().filter(is_elsewhere);
                let other_origins = self.note.copies.iter().chain(elsewhere).cloned().collect();
                let links = Patch { other_origins: Some(other_origins), ..links };
                extend_patch(note.draft, &note.front_matter, &stored, links, &mut warnings)
            }
        };
        Ok(match patch {
            Ok(patch) => self.replace(&stored, &patch, warnings),
            Err(reason) => IngestDecision::Skip(reason),
        })
    }

    fn create(self, note: NoteItem) -> IngestDecision {
        let NoteItem { mut draft, front_matter, updated_at, former, .. } = note;
        let (note, lines) = (note_hash(&draft), front_matter_hash(&front_matter));
        if let Some((id, hash)) = &self.note.deleted
            && NoteFingerprint::from_hash(hash).note == note
        {
            return IngestDecision::Skip(format!("its memory was deleted; `memory restore {}` brings it back", id.short()));
        }
        let mut kinds = redact(&mut draft);
        let front_matter = redact_front_matter(front_matter, &mut kinds);
        let text = draft_text_hash(&draft);
        if let Some(origin) = &mut draft.origin {
            origin.hash = Some(NoteFingerprint { note, front_matter: lines, text }.to_hash());
        }
        let created_at = draft.created_at;
        let mut memory = draft.into_memory(self.note.id, self.at);
        // A source that records only the creation has not recorded a change.
        memory.updated_at = updated_at.or(created_at).unwrap_or(memory.updated_at);
        memory.links = self.links.to_vec();
        memory.stated_at = former.stated_at;
        memory.access_count = former.access_count;
        memory.version = former.version.unwrap_or(1);
        memory.supersedes = former.supersedes;
        memory.superseded_by = former.superseded_by;
        memory.other_origins.clone_from(&self.note.copies);
        memory.other_origins.extend(former.other_origins);
        let warnings = redaction_warning(kinds).into_iter().collect();
        IngestDecision::Do { change: Change::Create { memory: Box::new(memory), front_matter }, warnings }
    }

    fn replace(self, stored: &StoredMemory, patch: &Patch, warnings: Vec<String>) -> IngestDecision {
        let Some(memory) = patch.apply(&stored.memory, self.at) else { return IngestDecision::Leave };
        if let Some(problem) = &stored.problem {
            return IngestDecision::Skip(format!("its memory must not be changed: {problem}"));
        }
        IngestDecision::Do { change: Change::Replace { expected: stored.stamp, memory: Box::new(memory) }, warnings }
    }
}

/// Adds the changes of a note since its last ingestion to `patch`.
///
/// # Errors
/// The reason why the memory must not be changed.
fn extend_patch(
    mut draft: Draft,
    front_matter: &str,
    stored: &StoredMemory,
    mut patch: Patch,
    warnings: &mut Vec<String>,
) -> Result<Patch, String> {
    let memory = &stored.memory;
    let Some(mut origin) = draft.origin.take() else { return Ok(patch) };
    let known = memory.origin.as_ref().and_then(|origin| origin.hash).map(|hash| NoteFingerprint::from_hash(&hash));
    let (note, lines) = (note_hash(&draft), front_matter_hash(front_matter));
    let is_same_note = known.is_some_and(|known| known.note == note);
    let are_same_lines = known.is_some_and(|known| known.front_matter == lines);
    let is_same_place = memory.origin.as_ref().is_some_and(|known: &Origin| known.is_same_place(&origin));
    if is_same_note && are_same_lines && is_same_place {
        return Ok(patch);
    }
    let kinds = redact(&mut draft);
    let text = draft_text_hash(&draft);
    origin.hash = Some(NoteFingerprint { note, front_matter: lines, text }.to_hash());
    patch.origin = Some(origin);
    if !is_same_note {
        let has_new_text = known.is_none_or(|known| known.text != text);
        if has_new_text {
            let here = memory_text_hash(memory);
            if known.is_some_and(|known| known.text != here) && here != text {
                return Err(format!("both it and its memory {} were changed; the memory remains unchanged", stored.path));
            }
            patch.content = Some(draft.content);
            patch.title = Some(draft.title);
            warnings.extend(redaction_warning(kinds));
        }
        patch.aliases = Some(merge_aliases(&memory.aliases, draft.aliases));
        patch.add_tags = draft.tags;
    }
    if known.is_some() && !are_same_lines {
        warnings.push(format!("its other properties were changed; its memory {} retains the previous ones", stored.path));
    }
    Ok(patch)
}

fn merge_aliases(aliases: &[String], more: Vec<String>) -> Vec<String> {
    let new = more.into_iter().filter(|alias| !aliases.contains(alias));
    aliases.iter().cloned().chain(new).collect()
}

/// Redacts credentials in a draft, and returns their kinds.
fn redact(draft: &mut Draft) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    let mut clean = |text: &mut String| {
        if let Some(redacted) = secret::redact(text) {
            *text = redacted.text;
            kinds.extend(redacted.kinds);
        }
    };
    clean(&mut draft.content);
    draft.title.iter_mut().chain(&mut draft.aliases).for_each(&mut clean);
    let mut tags = draft.tags.as_slice().to_vec();
    tags.iter_mut().for_each(&mut clean);
    draft.tags = tags.into_iter().collect::<Tags>();
    kinds
}

/// Redacts credentials in front matter. A property with a credential in its key is left out, since a redacted key may not be
/// valid or unique.
pub(super) fn redact_front_matter(lines: String, kinds: &mut Vec<&'static str>) -> String {
    if secret::find(&lines).is_empty() {
        return lines;
    }
    let (mut rest, mut is_left_out) = (String::with_capacity(lines.len()), false);
    for line in lines.split_inclusive('\n') {
        if !line.starts_with([' ', '\t', '-', '\n', '\r']) {
            let found = secret::find(line.split(": ").next().unwrap_or_default());
            is_left_out = !found.is_empty();
            kinds.extend(found.iter().map(|found| found.kind));
        }
        if !is_left_out {
            rest.push_str(line);
        }
    }
    let redacted = secret::redact(&rest);
    kinds.extend(redacted.iter().flat_map(|redacted| redacted.kinds.iter().copied()));
    redacted.map_or(rest, |redacted| redacted.text)
}

fn redaction_warning(mut kinds: Vec<&'static str>) -> Option<String> {
    kinds.sort_unstable();
    kinds.dedup();
    (!kinds.is_empty()).then(|| format!("redacted a credential ({})", kinds.join(", ")))
}

/// Fingerprints for detecting whether a note or its memory has changed since its ingestion.
///
/// They are stored as the hash of the memory's origin, so the three parts share 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NoteFingerprint {
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
fn note_hash(draft: &Draft) -> [u8; 12] {
    first(draft.fingerprint("").as_bytes())
}

/// Returns the fingerprint of unrecognized front matter.
fn front_matter_hash(lines: &str) -> [u8; 8] {
    first(ContentHash::of(lines).as_bytes())
}

/// Returns the fingerprint of the text and title of a draft.
fn draft_text_hash(draft: &Draft) -> [u8; 12] {
    text_hash(&draft.content, draft.title.as_deref())
}

/// Returns whether the text or the title of a memory was changed since its last ingestion.
pub(super) fn is_edited(memory: &Memory) -> bool {
    let known = memory.origin.as_ref().and_then(|origin| origin.hash).map(|hash| NoteFingerprint::from_hash(&hash));
    known.is_some_and(|known| known.text != memory_text_hash(memory))
}

/// Returns the fingerprint of the text and title of a memory.
fn memory_text_hash(memory: &Memory) -> [u8; 12] {
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
