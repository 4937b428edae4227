//! Recognizing the memories of notes: those of moved and copied notes, of equal notes from elsewhere, and of exports.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::{MemoryRelation, Survey, SurveyedNote};
use crate::ingest::findings::for_each_finding;
use crate::ingest::fingerprint::{
    ItemFingerprint, NoteFingerprint, fields_hash, is_export_of, memory_text_hash, text_hash,
};
use crate::ingest::plan::redact;
use crate::{
    ContentHash, Draft, Filter, Memory, MemoryId, NoteItem, Origin, Scope, Services, Source,
    SourceItem, StoreError, Verb,
};

/// The operations that delete a memory for good, unless its note changes.
const REMOVALS: [Verb; 4] = [Verb::Delete, Verb::Consolidate, Verb::Expire, Verb::Decay];

/// A note that is not the origin of a memory, with a memory that may be its own.
///
/// That memory has the same text or lists the note as another origin.
pub(super) struct UnmatchedNote {
    pub(super) number: usize,
    pub(super) twin: MemoryId,
    pub(super) origin: Origin,
}

/// A new note with a title and without text.
pub(super) struct EmptyNote {
    number: usize,
    origin: Origin,
    title: String,
    scope: Scope,
    fingerprint: ItemFingerprint,
}

impl EmptyNote {
    pub(super) fn of(number: usize, note: &NoteItem) -> Option<Self> {
        if !note.draft.content.trim().is_empty() {
            return None;
        }
        let (origin, title) = (note.draft.origin.clone()?, note.draft.title.clone()?);
        Some(Self {
            number,
            origin,
            title,
            scope: note.draft.scope.clone(),
            fingerprint: ItemFingerprint::of(note),
        })
    }

    /// Returns whether a memory was ingested from an equal note of the same program.
    fn is_of(&self, memory: &Memory) -> bool {
        let is_equal = memory.content.trim().is_empty()
            && memory.title.as_ref() == Some(&self.title)
            && memory.scope == self.scope;
        let origin = memory
            .origin
            .as_ref()
            .filter(|origin| origin.source == self.origin.source);
        is_equal
            && origin
                .and_then(|origin| origin.hash)
                .is_some_and(|hash| self.fingerprint.is_in(&hash))
    }
}

/// A memory that was edited since its last ingestion.
struct EditedMemory {
    id: MemoryId,
    /// The hash of the text and title that the source gave it.
    text: [u8; 12],
    /// The titles that the source may have given it: its own, and the name of its file.
    titles: [Option<String>; 2],
}

impl EditedMemory {
    /// Returns the memory if it belongs to the place of `place` and was edited.
    fn of(memory: &Memory, place: &Origin) -> Option<Self> {
        let origin = memory
            .origin
            .as_ref()
            .filter(|origin| (&origin.source, &origin.root) == (&place.source, &place.root))?;
        let known = NoteFingerprint::from_hash(&origin.hash?);
        let is_edited =
            known.text != memory_text_hash(memory) || known.fields != fields_hash(memory);
        let titles = [memory.title.clone(), file_stem(origin).map(str::to_owned)];
        is_edited.then_some(Self {
            id: memory.id,
            text: known.text,
            titles,
        })
    }

    /// Returns whether the source gave the memory the text of this note, under any of the titles.
    fn had_text(&self, draft: &Draft) -> bool {
        let titles = self.titles.iter().chain([&draft.title]);
        titles
            .into_iter()
            .any(|title| self.text == text_hash(&draft.content, title.as_deref()))
    }
}

impl Survey {
    /// Returns the memory of this home that a note is an export of, with its relation to the note.
    ///
    /// Of several edited notes with the same id, only the first one is an export.
    pub(super) fn exported_memory(
        &self,
        services: &Services,
        note: &NoteItem,
    ) -> Result<Option<(MemoryId, MemoryRelation)>, StoreError> {
        let Some(id) = note.id else { return Ok(None) };
        match services.store.get(&id) {
            Ok(stored) if is_export_of(note, &stored.memory) => {
                Ok(Some((id, MemoryRelation::AsTwin)))
            }
            Ok(_) if note.former.exported.is_some() && !self.former_ids.contains_key(&id) => {
                Ok(Some((id, MemoryRelation::AsExport)))
            }
            Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the new notes without text whose memory was ingested from an equal note of the same program at another place.
    pub(super) fn match_empty_notes(
        &mut self,
        services: &Services,
    ) -> Result<Vec<UnmatchedNote>, StoreError> {
        let empty = std::mem::take(&mut self.empty_notes);
        let Some(place) = self.place.as_ref().filter(|_| !empty.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut matched = HashMap::new();
        let filter = Filter {
            source: Some(place.source.clone()),
            ..Filter::all()
        };
        for stored in services.store.memories(&filter, services.clock.now()) {
            let memory = match stored {
                Ok(stored) => stored.memory,
                Err(StoreError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            };
            let mut equal = empty.iter().filter(|note| note.is_of(&memory)).peekable();
            if equal.peek().is_none() || !Self::is_accepted(services, &memory)? {
                continue;
            }
            for note in equal {
                matched.entry(note.number).or_insert(UnmatchedNote {
                    number: note.number,
                    twin: memory.id,
                    origin: note.origin.clone(),
                });
            }
        }
        let mut matched: Vec<_> = matched.into_values().collect();
        matched.sort_by_key(|note| note.number);
        Ok(matched)
    }

    /// Returns `former` if no memory has this id, otherwise a new id.
    pub(super) fn free_id(
        &self,
        services: &Services,
        former: Option<MemoryId>,
    ) -> Result<MemoryId, StoreError> {
        let Some(former) = former else {
            return Ok(services.ids.memory_id());
        };
        let is_taken = match services.store.get(&former) {
            Err(StoreError::NotFound { .. }) => self.former_ids.contains_key(&former),
            Err(StoreError::Damaged(_)) | Ok(_) => true,
            Err(error) => return Err(error),
        };
        Ok(if is_taken {
            services.ids.memory_id()
        } else {
            former
        })
    }

    /// Records the deleted memories of notes that have no memory, also those that were deleted because of their age.
    pub(super) fn mark_deleted(&mut self, services: &Services) -> Result<(), StoreError> {
        let Some(place) = self.place.clone() else {
            return Ok(());
        };
        if self
            .notes
            .iter()
            .all(|note| note.kept != MemoryRelation::Not)
        {
            return Ok(());
        }
        for change in REMOVALS
            .into_iter()
            .flat_map(|verb| services.history.changes_of(verb))
        {
            let change = change?;
            let Some(trash) = change
                .before
                .filter(|_| change.after.is_none())
                .and_then(|file| file.trash)
            else {
                continue;
            };
            // A file that cannot be read has no origin.
            let Ok(memory) = services.history.memory_in_trash(&trash) else {
                continue;
            };
            let Some(origin) = memory
                .origin
                .filter(|origin| (&origin.source, &origin.root) == (&place.source, &place.root))
            else {
                continue;
            };
            let (Some(number), Some(hash)) = (self.numbers.get(&origin.path), origin.hash) else {
                continue;
            };
            let note = &mut self.notes[*number];
            // The newest deletion comes first.
            if note.kept == MemoryRelation::Not && note.deleted.is_none() {
                note.deleted = Some((memory.id, hash));
            }
        }
        Ok(())
    }

    /// Assigns an existing memory to a note with an unrecorded origin, if it has one.
    ///
    /// The note was either moved within its source, or a memory from another source has its text.
    pub(super) fn match_memory(
        &mut self,
        services: &Services,
        stranger: &UnmatchedNote,
    ) -> Result<(), StoreError> {
        let id = stranger.twin;
        let twin = match services.store.get(&id) {
            Ok(twin) => twin,
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let origin = &stranger.origin;
        let is_sibling =
            |other: &Origin| (&other.source, &other.root) == (&origin.source, &origin.root);
        let kept = match &twin.memory.origin {
            // Only one note can continue a memory; other notes with the same text are copies.
            Some(other) if is_sibling(other) => {
                if let Some(first) = self
                    .numbers
                    .get(&other.path)
                    .or_else(|| self.taken.get(&id))
                    .copied()
                {
                    self.join_copy(stranger.number, first, origin);
                    return Ok(());
                }
                self.taken.insert(id, stranger.number);
                MemoryRelation::AsItself
            }
            _ => MemoryRelation::AsTwin,
        };
        let note = &mut self.notes[stranger.number];
        (note.id, note.kept) = (id, kept);
        Ok(())
    }

    /// Assigns a memory whose fields were edited to the new note with the text that its own note had, which was moved.
    ///
    /// The memory has another text than the note. The source is read again if there are such memories.
    pub(super) fn match_edited_memories(
        &mut self,
        services: &Services,
        source: &dyn Source,
    ) -> Result<(), StoreError> {
        let edited = self.edited_memories(services)?;
        if edited.is_empty() {
            return Ok(());
        }
        let match_note = |finding| {
            let SourceItem::Note(note) = finding else {
                return None;
            };
            let mut draft = note.draft;
            let origin = draft.origin.clone()?;
            let number = *self.numbers.get(&origin.path)?;
            if self.notes[number].kept != MemoryRelation::Not || draft.content.trim().is_empty() {
                return None;
            }
            redact(&mut draft);
            let twin = edited.iter().find(|memory| memory.had_text(&draft))?.id;
            Some(UnmatchedNote {
                number,
                twin,
                origin,
            })
        };
        let mut moved = Vec::new();
        for_each_finding(
            source,
            &services.default_scope(),
            &match_note,
            &mut |note| {
                moved.extend(note);
                Ok(())
            },
        )?;
        moved
            .iter()
            .try_for_each(|note| self.match_memory(services, note))
    }

    /// Returns the memories from the place of this source that were edited and that no note belongs to, if there are new notes.
    fn edited_memories(&self, services: &Services) -> Result<Vec<EditedMemory>, StoreError> {
        let has_new_notes = self
            .notes
            .iter()
            .any(|note| note.kept == MemoryRelation::Not);
        let Some(place) = self.place.as_ref().filter(|_| has_new_notes) else {
            return Ok(Vec::new());
        };
        let owned: HashSet<MemoryId> = self.notes.iter().map(|note| note.id).collect();
        let mut edited = Vec::new();
        let filter = Filter {
            source: Some(place.source.clone()),
            ..Filter::all()
        };
        for stored in services.store.memories(&filter, services.clock.now()) {
            let memory = match stored {
                Ok(stored) => stored.memory,
                Err(StoreError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            };
            if !owned.contains(&memory.id) && Self::is_accepted(services, &memory)? {
                edited.extend(
                    EditedMemory::of(&memory, place).filter(|_| !self.has_origin_of(&memory)),
                );
            }
        }
        Ok(edited)
    }

    fn has_origin_of(&self, memory: &Memory) -> bool {
        memory
            .origin
            .as_ref()
            .is_some_and(|origin| self.numbers.contains_key(&origin.path))
    }

    /// Assigns one memory to all new notes with the same content.
    pub(super) fn join_copies(&mut self) {
        let origins: HashMap<usize, String> = self
            .numbers
            .iter()
            .map(|(path, number)| (*number, path.clone()))
            .collect();
        let mut first = HashMap::new();
        for number in 0..self.notes.len() {
            let SurveyedNote {
                kept: MemoryRelation::Not,
                hash: Some(hash),
                ..
            } = self.notes[number]
            else {
                continue;
            };
            match first.get(&hash) {
                Some(first) => {
                    let place = self.place.clone().map(|place| Origin {
                        path: origins[&number].clone(),
                        ..place
                    });
                    if let Some(origin) = &place {
                        self.join_copy(number, *first, origin);
                    }
                }
                None => drop(first.insert(hash, number)),
            }
        }
    }

    /// Makes the note `number` a copy of the note `first`, if both files are equal.
    fn join_copy(&mut self, number: usize, first: usize, origin: &Origin) {
        let (id, kept, hash) = (
            self.notes[first].id,
            self.notes[first].kept,
            self.notes[first].hash,
        );
        if number == first
            || hash.is_none()
            || hash != self.notes[number].hash
            || kept == MemoryRelation::AsTwin
            || kept == MemoryRelation::AsCopy
        {
            return;
        }
        (self.notes[number].id, self.notes[number].kept) = (id, MemoryRelation::AsCopy);
        self.notes[first].copies.push(Origin {
            hash: None,
            ..origin.clone()
        });
    }
}

fn file_stem(origin: &Origin) -> Option<&str> {
    Path::new(&origin.path).file_stem()?.to_str()
}

/// Returns a hash of the whole file, excluding a title that equals the file name.
///
/// Returns `None` if the file has no text.
pub(super) fn file_hash(
    draft: &Draft,
    front_matter: &str,
    former_id: Option<MemoryId>,
) -> Option<ContentHash> {
    let former_id = former_id.map(|id| id.to_string()).unwrap_or_default();
    let more = format!("{}\0{former_id}\0{front_matter}", draft.scope);
    let name = draft.origin.as_ref().and_then(file_stem);
    let title = draft
        .title
        .clone()
        .filter(|title| Some(title.as_str()) != name);
    let nameless = Draft {
        title,
        ..draft.clone()
    };
    (!draft.content.trim().is_empty()).then(|| nameless.fingerprint(&more))
}
