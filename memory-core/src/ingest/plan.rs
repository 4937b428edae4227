//! The decision about one note, by the fingerprints of its last ingestion and the changes of its memory since.

use chrono::{DateTime, Utc};

use super::export_edit::{edit_reason, last_file_links, last_file_version};
use super::findings::{redact, redact_front_matter};
use super::fingerprint::{
    ItemFingerprint, NoteFingerprint, draft_text_hash, fields_hash, is_same_text, memory_text_hash,
};
use super::merge::{merge_fields, merge_lists, with_scalars};
use super::source_state::{RecordedSteps, SourceState};
use super::survey::{MemoryRelation, Survey, SurveyedNote};
use crate::standing::has_new_statement;
use crate::{
    Change, Draft, LocalZone, Memory, MemoryId, NoteItem, Origin, StoreError, StoredMemory, Tags,
};

/// The input of the decision about one note.
pub(super) struct NotePlan<'a> {
    pub(super) survey: &'a Survey,
    pub(super) note: &'a SurveyedNote,
    pub(super) links: &'a [MemoryId],
    pub(super) at: DateTime<Utc>,
    /// The zone of the times that the source states without one.
    pub(super) zone: &'a LocalZone,
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
        /// The new unrecognized front matter of a replaced memory, if it changes.
        front_matter: Option<String>,
        /// The reason that the journal records, if the verb does not explain the change.
        reason: Option<String>,
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
    pub(super) fn complete(self, steps: &RecordedSteps<'_>) -> Result<IngestDecision, StoreError> {
        match self {
            Self::Decided(decision) => Ok(decision),
            Self::Open(plan, note) => plan.decide(steps, *note),
        }
    }
}

impl<'a> NotePlan<'a> {
    /// Decides about the note as far as possible without reading the store.
    pub(super) fn decide_early(self, note: Box<NoteItem>) -> PartialDecision<'a> {
        match self.note.kept {
            MemoryRelation::Not => PartialDecision::Decided(self.create(*note)),
            MemoryRelation::AsCopy => PartialDecision::Decided(IngestDecision::Leave),
            MemoryRelation::AsTwin if !self.note.is_representative => {
                PartialDecision::Decided(IngestDecision::Leave)
            }
            MemoryRelation::AsTwin | MemoryRelation::AsItself | MemoryRelation::AsExport => {
                PartialDecision::Open(self, note)
            }
        }
    }

    fn decide(
        self,
        steps: &RecordedSteps<'_>,
        note: NoteItem,
    ) -> Result<IngestDecision, StoreError> {
        let stored = match steps.services().store.get(&self.note.id) {
            Ok(stored) => stored,
            Err(error @ (StoreError::NotFound { .. } | StoreError::Damaged(_))) => {
                return Ok(IngestDecision::Skip(error.to_string()));
            }
            Err(error) => return Err(error),
        };
        let mut update = NoteUpdate::of(&stored.memory);
        let exported = note
            .former
            .exported
            .as_ref()
            .filter(|_| note.id == Some(stored.memory.id));
        let exported_links = exported
            .map(|exported| exported.links.clone())
            .unwrap_or_default();
        let is_edit = exported.is_some() && self.note.kept != MemoryRelation::AsItself;
        let edited = note.draft.origin.clone().filter(|_| is_edit);
        let exported_version = note.former.version.unwrap_or_default();
        update.reason = edited.as_ref().map(edit_reason);
        match self.note.kept {
            MemoryRelation::AsItself => {
                update.set_other_origins(&stored.memory, &self.note.copies);
                update.apply_note(note, &stored, steps, &self)?;
            }
            MemoryRelation::AsExport => update.apply_export(note, &stored, steps)?,
            MemoryRelation::Not | MemoryRelation::AsTwin | MemoryRelation::AsCopy => {}
        }
        if self.has_other_links(&stored.memory, &exported_links) {
            let known = if let Some(origin) = edited {
                last_file_links(
                    &exported_links,
                    &steps.export_edits(&origin, exported_version, &stored)?,
                )
            } else {
                let known = steps
                    .source_state(&stored)?
                    .links
                    .into_iter()
                    .filter(|link| self.survey.has_memory(link));
                known.chain(exported_links).collect()
            };
            update.memory.links = merge_lists(&known, self.links, &stored.memory.links);
            update.memory.links.retain(|link| *link != stored.memory.id);
        }
        Ok(update.finish(&stored, self.at))
    }

    /// Returns whether the links of a memory to memories of this source differ from those of the note. `exported` are those that
    /// an export gave the note.
    fn has_other_links(&self, memory: &Memory, exported: &[MemoryId]) -> bool {
        let is_new = |link: &MemoryId| *link != memory.id && !memory.links.contains(link);
        let is_gone = |link: &MemoryId| {
            !self.links.contains(link) && (self.survey.has_memory(link) || exported.contains(link))
        };
        self.links.iter().any(is_new) || memory.links.iter().any(is_gone)
    }

    fn create(self, mut note: NoteItem) -> IngestDecision {
        let item = ItemFingerprint::of(&note);
        note.place_local_times(self.zone);
        let NoteItem {
            mut draft,
            front_matter,
            updated_at,
            file_modified_at,
            former,
            ..
        } = note;
        if let Some((id, hash)) = &self.note.deleted
            && item.is_same_note(&NoteFingerprint::from_hash(hash))
        {
            return IngestDecision::Skip(format!(
                "its memory was deleted; `memory restore {}` brings it back",
                id.short()
            ));
        }
        if let Some(expired) = self
            .note
            .expires_at
            .filter(|expires_at| *expires_at <= self.at)
        {
            return IngestDecision::Skip(format!("expired on {}", expired.format("%Y-%m-%d")));
        }
        let mut kinds = redact(&mut draft);
        let front_matter = redact_front_matter(front_matter, &mut kinds);
        let text = draft_text_hash(&draft);
        // A note existed when it was changed, even if the source does not record its creation.
        let modified_at = file_modified_at.map(|modified_at| modified_at.min(self.at));
        draft.created_at = draft.created_at.or(updated_at).or(modified_at);
        let created_at = draft.created_at;
        let mut memory = draft.into_memory(self.note.id, self.at);
        let fields = fields_hash(&memory);
        if let Some(origin) = &mut memory.origin {
            origin.hash = Some(item.with_memory(fields, text).to_hash());
        }
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
        let change = Change::Create {
            memory: Box::new(memory),
            front_matter,
        };
        IngestDecision::Do {
            change,
            front_matter: None,
            reason: None,
            warnings,
        }
    }
}

/// The new version of a memory, and the results of its comparison with a note.
#[derive(Debug)]
struct NoteUpdate {
    memory: Memory,
    front_matter: Option<String>,
    /// Whether the source records the time of the last change.
    has_given_time: bool,
    /// The reason that the journal records, if the verb does not explain the change.
    reason: Option<String>,
    /// The reason why the text of the note does not replace the one of the memory.
    conflict: Option<String>,
    warnings: Vec<String>,
}

impl NoteUpdate {
    fn of(memory: &Memory) -> Self {
        let (memory, warnings) = (memory.clone(), Vec::new());
        Self {
            memory,
            front_matter: None,
            has_given_time: false,
            reason: None,
            conflict: None,
            warnings,
        }
    }

    /// Sets the other origins from the place of the source to those of `copies`.
    fn set_other_origins(&mut self, stored: &Memory, copies: &[Origin]) {
        let own = stored.origin.as_ref();
        let is_elsewhere = |other: &&Origin| {
            own.is_some_and(|own| (&own.source, &own.root) != (&other.source, &other.root))
        };
        let elsewhere = stored.other_origins.iter().filter(is_elsewhere);
        self.memory.other_origins = copies.iter().chain(elsewhere).cloned().collect();
    }

    /// Applies the changes of a note since its last ingestion. A field that was changed in the memory since remains as it is.
    fn apply_note(
        &mut self,
        mut note: NoteItem,
        stored: &StoredMemory,
        steps: &RecordedSteps<'_>,
        plan: &NotePlan<'_>,
    ) -> Result<(), StoreError> {
        let item = ItemFingerprint::of(&note);
        note.place_local_times(plan.zone);
        let NoteItem {
            mut draft,
            front_matter,
            updated_at,
            ..
        } = note;
        self.has_given_time = updated_at.is_some();
        let current = &stored.memory;
        let Some(mut origin) = draft.origin.take() else {
            return Ok(());
        };
        let known = current
            .origin
            .as_ref()
            .and_then(|origin| origin.hash)
            .map(|hash| NoteFingerprint::from_hash(&hash));
        let is_same_note = known.is_some_and(|known| item.is_same_note(&known));
        let are_same_lines = known.is_none_or(|known| known.front_matter == item.front_matter);
        let is_same_place = current
            .origin
            .as_ref()
            .is_some_and(|known: &Origin| known.is_same_place(&origin));
        if is_same_note && are_same_lines && is_same_place {
            return Ok(());
        }
        let mut kinds = redact(&mut draft);
        let text = draft_text_hash(&draft);
        let earliest = updated_at.map_or(current.created_at, |updated_at| {
            updated_at.min(current.created_at)
        });
        let mut new = Draft {
            created_at: draft.created_at.or(Some(earliest)),
            ..draft
        }
        .into_memory(current.id, plan.at);
        new.links.clone_from(&current.links);
        let state = steps.source_state(stored)?;
        let base = base_version(&state, known, current, &new);
        let here = memory_text_hash(current);
        let has_new_text = known.is_none_or(|known| known.text != text);
        if !has_new_text || here == text {
            (new.content, new.title) = (base.content.clone(), base.title.clone());
        }
        let is_edited =
            here != text && base.content != current.content && new.content != current.content;
        let has_conflict =
            has_new_text && is_edited && (state.memory.is_none() || new.content != base.content);
        let mut fingerprint = item.with_memory(fields_hash(&new), text);
        if let Some(known) = known.filter(|_| has_conflict) {
            // The note remains changed until both have the same text.
            (fingerprint.note, fingerprint.text) = (known.note, known.text);
            let reason = format!(
                "both it and its memory {} were changed; the memory retains its text",
                stored.path
            );
            self.conflict = Some(reason);
        }
        new.updated_at = current.updated_at;
        let merged = merge_fields(&base, &new, current);
        self.memory = Memory {
            other_origins: std::mem::take(&mut self.memory.other_origins),
            ..merged
        };
        if let Some(given) = updated_at {
            let is_untouched = state
                .memory
                .as_ref()
                .is_some_and(|memory| memory.updated_at == current.updated_at);
            self.memory.updated_at = if is_untouched {
                given
            } else {
                given.max(current.updated_at)
            };
        }
        origin.hash = Some(fingerprint.to_hash());
        self.memory.origin = Some(origin);
        if !are_same_lines {
            if state.has_own_front_matter {
                self.front_matter = Some(redact_front_matter(front_matter, &mut kinds));
            } else {
                let reason =
                    "its other properties were changed; its memory, whose file was edited,";
                self.warnings.push(format!(
                    "{reason} retains the previous ones: {}",
                    stored.path
                ));
            }
        }
        if has_new_text || self.front_matter.is_some() {
            self.warnings.extend(redaction_warning(kinds));
        }
        Ok(())
    }

    /// Applies the edits of an export of this home since it was last imported, or else exported. A field that was changed in
    /// the memory meanwhile remains as it is.
    fn apply_export(
        &mut self,
        note: NoteItem,
        stored: &StoredMemory,
        steps: &RecordedSteps<'_>,
    ) -> Result<(), StoreError> {
        let NoteItem {
            mut draft, former, ..
        } = note;
        let (Some(mut exported), Some(origin)) = (former.exported, draft.origin.take()) else {
            return Ok(());
        };
        let current = &stored.memory;
        let edits = steps.export_edits(&origin, former.version.unwrap_or_default(), stored)?;
        redact(&mut exported.draft);
        let unredacted = draft.clone().into_memory(current.id, current.updated_at);
        let mut base = last_file_version(*exported, &unredacted, current, edits);
        let has_new_text = !is_same_text(&base.content, &unredacted.content);
        let kinds = redact(&mut draft);
        let mut new = draft.into_memory(current.id, current.updated_at);
        if !has_new_text {
            new.content.clone_from(&base.content);
        } else if is_same_text(&new.content, &current.content) {
            new.content.clone_from(&current.content);
        }
        // Files of an export do not state these.
        for version in [&mut base, &mut new] {
            version.phase = current.phase;
            version.links.clone_from(&current.links);
        }
        let lost = [
            (
                "text",
                is_lost(&base.content, &new.content, &current.content),
            ),
            ("title", is_lost(&base.title, &new.title, &current.title)),
            (
                "category",
                is_lost(&base.category, &new.category, &current.category),
            ),
        ];
        let lost: Vec<_> = lost
            .into_iter()
            .filter_map(|(field, is_lost)| is_lost.then_some(field))
            .collect();
        if !lost.is_empty() {
            let path = &stored.path;
            let fields = lost.join(", ");
            self.conflict = Some(format!(
                "both it and its memory {path} were changed; the memory retains its {fields}"
            ));
        }
        self.memory = merge_fields(&base, &new, current);
        if has_new_text {
            self.warnings.extend(redaction_warning(kinds));
        }
        Ok(())
    }

    fn finish(self, stored: &StoredMemory, at: DateTime<Utc>) -> IngestDecision {
        let Self {
            mut memory,
            front_matter,
            has_given_time,
            reason,
            conflict,
            mut warnings,
        } = self;
        let current = &stored.memory;
        if memory == *current && front_matter.is_none() {
            return conflict.map_or(IngestDecision::Leave, IngestDecision::Skip);
        }
        if let Some(problem) = &stored.problem {
            return IngestDecision::Skip(format!("its memory must not be changed: {problem}"));
        }
        if memory.content != current.content && has_new_statement(current, &memory) {
            memory.stated_at = Some(at);
        }
        memory.version = current.version.saturating_add(1);
        if !has_given_time {
            memory.updated_at = at.max(current.updated_at);
        }
        warnings.extend(conflict);
        let change = Change::Replace {
            expected: stored.stamp,
            memory: Box::new(memory),
        };
        IngestDecision::Do {
            change,
            front_matter,
            reason,
            warnings,
        }
    }
}

/// Returns the version that a note and the current memory are compared with.
///
/// A field whose former value is unknown is equal to that of `new`, so that it remains as it is in the memory.
fn base_version(
    state: &SourceState,
    known: Option<NoteFingerprint>,
    current: &Memory,
    new: &Memory,
) -> Memory {
    let unknown = || Memory {
        tags: Tags::default(),
        aliases: Vec::new(),
        ..new.clone()
    };
    let mut base = state.memory.clone().unwrap_or_else(unknown);
    // The source may have received the text of the memory meanwhile.
    if known.is_none_or(|known| known.text == memory_text_hash(current)) {
        (base.content, base.title) = (current.content.clone(), current.title.clone());
    }
    if known.is_some_and(|known| known.fields == fields_hash(current)) {
        base = with_scalars(current, base);
    }
    base.links.clone_from(&current.links);
    base.updated_at = current.updated_at;
    base
}

/// Returns whether a field was changed in both versions, to different values.
fn is_lost<T: PartialEq>(base: &T, new: &T, current: &T) -> bool {
    new != base && current != base && new != current
}

fn redaction_warning(mut kinds: Vec<&'static str>) -> Option<String> {
    kinds.sort_unstable();
    kinds.dedup();
    (!kinds.is_empty()).then(|| format!("redacted a credential ({})", kinds.join(", ")))
}
