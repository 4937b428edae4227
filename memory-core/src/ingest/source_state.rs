//! The state that a source gave a memory, derived from the journal.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::export_edit::{edit_reason, is_edit_reason};
use super::fingerprint::{NoteFingerprint, fields_hash, memory_text_hash};
use super::merge::{merge_fields, merge_lists};
use crate::{
    ContentHash, Memory, MemoryId, Origin, Recorded, RecordedChange, RecordedFile, Services,
    StoreError, StoredMemory, Verb,
};

/// The state that ingestions gave a memory, without the changes of a person and of other operations.
#[derive(Debug)]
pub(super) struct SourceState {
    /// The memory; `None` if the journal or the trash does not contain all versions that determine it.
    pub(super) memory: Option<Memory>,
    /// The links that ingestions added.
    pub(super) links: Vec<MemoryId>,
    /// Whether only operations that leave its unrecognized front matter as it is changed the file after the ingestions.
    pub(super) has_own_front_matter: bool,
}

/// The recorded changes of the memories of a source. The journal is read when they are first used.
#[derive(Debug)]
pub(super) struct RecordedSteps<'a> {
    services: &'a Services,
    ids: HashSet<MemoryId>,
    steps: OnceCell<HashMap<MemoryId, Vec<RecordedStep>>>,
}

/// A recorded change of a memory.
#[derive(Debug)]
struct RecordedStep {
    verb: Verb,
    /// Whether the change was undone, or undid another one.
    is_neutral: bool,
    before: Option<RecordedFile>,
    after: Option<ContentHash>,
    why: Option<String>,
}

impl RecordedStep {
    /// Returns whether the source gave the memory its version after this change.
    fn is_of_source(&self) -> bool {
        !self.is_neutral
            && self.verb == Verb::Ingest
            && !self.why.as_deref().is_some_and(is_edit_reason)
    }
}

impl<'a> RecordedSteps<'a> {
    /// Returns the recorded changes of the memories `ids`.
    pub(super) fn new(services: &'a Services, ids: HashSet<MemoryId>) -> Self {
        Self {
            services,
            ids,
            steps: OnceCell::new(),
        }
    }

    /// Returns the services that the changes are read from.
    pub(super) fn services(&self) -> &'a Services {
        self.services
    }

    /// Returns the state that the ingestions before this one gave a memory.
    pub(super) fn source_state(&self, current: &StoredMemory) -> Result<SourceState, StoreError> {
        Ok(self.replay(self.steps_of(current)?, current))
    }

    /// Returns the versions before and after each change of a memory, since its version `exported`, that was made through an
    /// export in the folder or file of `origin`; the oldest first.
    ///
    /// Changes whose versions are not in the trash are left out.
    pub(super) fn export_edits(
        &self,
        origin: &Origin,
        exported: u64,
        current: &StoredMemory,
    ) -> Result<Vec<(Memory, Memory)>, StoreError> {
        let (steps, reason) = (self.steps_of(current)?, edit_reason(origin));
        let is_edit = |step: &RecordedStep| !step.is_neutral && step.why.as_ref() == Some(&reason);
        let versions = steps
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, step)| is_edit(step))
            .filter_map(|(index, step)| {
                let before = self
                    .read_trash(step.before.as_ref()?)
                    .filter(|before| exported <= before.version)?;
                Some((before, self.version_after(steps, index, current)?))
            });
        Ok(versions.collect())
    }

    /// Returns the version of a memory after the step `index`, unless its file was edited before the next step.
    fn version_after(
        &self,
        steps: &[RecordedStep],
        index: usize,
        current: &StoredMemory,
    ) -> Option<Memory> {
        let after = steps[index].after;
        match index.checked_sub(1).map(|next| &steps[next]) {
            Some(next) => self.read_trash(
                next.before
                    .as_ref()
                    .filter(|before| Some(before.hash) == after)?,
            ),
            None => (after == Some(current.stamp.0)).then(|| current.memory.clone()),
        }
    }

    /// Returns the recorded changes of a memory, the newest first.
    fn steps_of(&self, current: &StoredMemory) -> Result<&[RecordedStep], StoreError> {
        let all = if let Some(steps) = self.steps.get() {
            steps
        } else {
            let steps = self.read()?;
            self.steps.get_or_init(|| steps)
        };
        Ok(all
            .get(&current.memory.id)
            .map(Vec::as_slice)
            .unwrap_or_default())
    }

    fn read_trash(&self, file: &RecordedFile) -> Option<Memory> {
        self.services
            .history
            .memory_in_trash(file.trash.as_deref()?)
            .ok()
    }

    /// Returns whether a field of a memory that a source gives differs from the value of its ingestion.
    ///
    /// If the journal does not contain its versions, tags, aliases and links are not compared. A link to a memory that was
    /// deleted is not compared either, since its deletion removed the link.
    pub(super) fn is_edited(&self, current: &StoredMemory) -> Result<bool, StoreError> {
        let memory = &current.memory;
        let known = memory
            .origin
            .as_ref()
            .and_then(|origin| origin.hash)
            .map(|hash| NoteFingerprint::from_hash(&hash));
        if known.is_some_and(|known| known.text != memory_text_hash(memory)) {
            return Ok(true);
        }
        let state = self.source_state(current)?;
        Ok(match state.memory {
            Some(base) => {
                let is_removed = |link: &MemoryId| {
                    !memory.links.contains(link) && self.services.store.get(link).is_ok()
                };
                (&base.tags, &base.aliases) != (&memory.tags, &memory.aliases)
                    || fields_hash(&base) != fields_hash(memory)
                    || memory.links.iter().any(|link| !state.links.contains(link))
                    || state.links.iter().any(is_removed)
            }
            None => known.is_some_and(|known| known.fields != fields_hash(memory)),
        })
    }

    fn read(&self) -> Result<HashMap<MemoryId, Vec<RecordedStep>>, StoreError> {
        let mut steps = HashMap::<MemoryId, Vec<RecordedStep>>::new();
        for change in self.services.history.all_changes() {
            let Recorded {
                operation,
                subject,
                undone_by,
                ..
            } = change?;
            if !self.ids.contains(&subject.id) || subject.is_placeholder() {
                continue;
            }
            let RecordedChange {
                id,
                before,
                after,
                why,
            } = subject;
            let is_neutral = undone_by.is_some() || operation.verb == Verb::Undo;
            let after = after.map(|file| file.hash);
            steps.entry(id).or_default().push(RecordedStep {
                verb: operation.verb,
                is_neutral,
                before,
                after,
                why,
            });
        }
        Ok(steps)
    }

    /// Applies the changes of the ingestions in `steps`, which are ordered newest first.
    fn replay(&self, steps: &[RecordedStep], current: &StoredMemory) -> SourceState {
        let read = |file: &RecordedFile| self.read_trash(file);
        let mut state = SourceState {
            memory: None,
            links: Vec::new(),
            has_own_front_matter: false,
        };
        state.has_own_front_matter = steps.last().is_some_and(|first| first.before.is_none());
        // Whether `state.memory` is the version that the next step replaces.
        let mut is_current = false;
        for (index, step) in steps.iter().enumerate().rev() {
            let next = index.checked_sub(1).map(|index| &steps[index]);
            let next_hash = next.map_or(Some(current.stamp.0), |next| {
                next.before.as_ref().map(|file| file.hash)
            });
            let is_unedited = next_hash == step.after;
            state.has_own_front_matter &=
                is_unedited && !matches!(step.verb, Verb::Import | Verb::Repair);
            if !step.is_of_source() {
                is_current = false;
                continue;
            }
            let after = self.version_after(steps, index, current);
            let (Some(former), Some(after)) = (&step.before, after.as_ref()) else {
                state.memory = after.filter(|_| step.before.is_none());
                state.links = state
                    .memory
                    .iter()
                    .flat_map(|memory| memory.links.iter().copied())
                    .collect();
                is_current = true;
                continue;
            };
            if is_current && let Some(memory) = &mut state.memory {
                (*memory, state.links) = (after.clone(), after.links.clone());
                continue;
            }
            match read(former) {
                Some(before) => {
                    state.links = merge_lists(&before.links, &after.links, &state.links);
                    state.memory = state
                        .memory
                        .map(|memory| merge_fields(&before, after, &memory));
                }
                None => state.memory = None,
            }
        }
        state
    }
}
