//! Recognizing the memories of notes: those of moved and copied notes, of equal notes from elsewhere, and of exports.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use chrono::{DateTime, Utc};

use super::{MemoryRelation, Survey, SurveyedNote};
use crate::ingest::findings::{for_each_finding, redact};
use crate::ingest::fingerprint::{
    ItemFingerprint, NoteFingerprint, fields_hash, is_export_of, memory_text_hash, note_hash,
    text_hash,
};
use crate::wikilink::WikilinkDestination;
use crate::{
    ContentHash, Draft, Filter, Memory, MemoryId, NoteItem, Origin, Scope, Services, Source,
    SourceItem, StoreError, Verb,
};

/// The operations that delete a memory for good, unless its note changes.
const REMOVALS: [Verb; 4] = [Verb::Delete, Verb::Consolidate, Verb::Expire, Verb::Decay];

/// A note that is not the origin of a memory, with a memory that may be its own: that memory lists the note as another origin, or is
/// equal to it.
pub(super) struct UnmatchedNote {
    pub(super) number: usize,
    pub(super) twin: MemoryId,
    pub(super) origin: Origin,
}

/// A new note with a text that a memory may have.
pub(super) struct KnownText {
    number: usize,
    origin: Origin,
    title: Option<String>,
    created_at: Option<DateTime<Utc>>,
    /// The hash of the text after redaction, and the scope.
    text: (ContentHash, Scope),
}

impl KnownText {
    /// Returns the note with the index `number`.
    pub(super) fn of(number: usize, mut draft: Draft) -> Option<Self> {
        redact(&mut draft);
        Some(Self {
            number,
            text: (draft.content_hash(), draft.scope),
            origin: draft.origin?,
            title: draft.title,
            created_at: draft.created_at,
        })
    }
}

/// A memory with the text of a new note.
pub(super) struct KnownMemory {
    id: MemoryId,
    origin: Option<Origin>,
    /// Its title, its aliases and the names of its files.
    names: Vec<String>,
    created_at: DateTime<Utc>,
}

/// The parts in which a memory is like a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    NameAndTime,
    Name,
    Text,
}

impl KnownMemory {
    fn of(memory: Memory) -> Self {
        let origins = memory.origin.iter().chain(&memory.other_origins);
        let files = origins.filter_map(file_stem).map(str::to_owned);
        let names = memory.title.into_iter().chain(memory.aliases);
        Self {
            id: memory.id,
            names: names.chain(files).collect(),
            created_at: memory.created_at,
            origin: memory.origin,
        }
    }

    fn is_like(&self, note: &KnownText, likeness: Likeness) -> bool {
        let has_name = || {
            note.title
                .as_ref()
                .is_none_or(|title| self.names.contains(title))
        };
        // A store may record less than milliseconds.
        let has_time = || {
            note.created_at
                .is_none_or(|at| at.timestamp() == self.created_at.timestamp())
        };
        match likeness {
            Likeness::NameAndTime => has_name() && has_time(),
            Likeness::Name => has_name(),
            Likeness::Text => true,
        }
    }
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

    /// Assigns an existing memory to a note with an unrecorded origin, if no other note belongs to it.
    ///
    /// The note was either moved within its source, or the memory comes from another source.
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
        let other = twin.memory.origin.as_ref();
        self.take_memory(stranger.number, id, other, &stranger.origin);
        Ok(())
    }

    /// Assigns the memory `id` from `other` to the note from `origin`. Only one note can continue a memory of its source.
    fn take_memory(
        &mut self,
        number: usize,
        id: MemoryId,
        other: Option<&Origin>,
        origin: &Origin,
    ) {
        let kept = if other.is_some_and(|other| is_sibling(other, origin)) {
            if self.is_taken(&id, other) {
                return;
            }
            self.taken.insert(id, number);
            MemoryRelation::AsItself
        } else {
            MemoryRelation::AsTwin
        };
        let note = &mut self.notes[number];
        (note.id, note.kept) = (id, kept);
    }

    /// Returns whether a note of this source belongs to the memory `id` from `origin`, a place of this source.
    fn is_taken(&self, id: &MemoryId, origin: Option<&Origin>) -> bool {
        self.taken.contains_key(id)
            || origin.is_some_and(|origin| self.numbers.contains_key(&origin.path))
    }

    /// Adds a new note to those with known texts, if a memory has its text.
    pub(super) fn add_known_text(
        &mut self,
        services: &Services,
        number: usize,
        draft: Draft,
    ) -> Result<(), StoreError> {
        let Some(note) = KnownText::of(number, draft) else {
            return Ok(());
        };
        if !self.known_memories.contains_key(&note.text) {
            let found = services.store.by_content(&note.text.0, &note.text.1)?;
            let mut known = Vec::with_capacity(found.len());
            for id in found {
                match services.store.get(&id) {
                    Ok(stored) => known.push(KnownMemory::of(stored.memory)),
                    Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            if known.is_empty() {
                return Ok(());
            }
            self.known_memories.insert(note.text.clone(), known);
        }
        self.known_texts.push(note);
        Ok(())
    }

    /// Assigns memories to new notes with the same text: the best one by name and time of creation to each.
    ///
    /// A memory of this source whose note was moved fits under any name. One from elsewhere has the name of the note, and several
    /// notes have it only if they are equal.
    pub(super) fn match_known_texts(&mut self) {
        let notes = std::mem::take(&mut self.known_texts);
        let memories = std::mem::take(&mut self.known_memories);
        let mut twins = HashMap::<MemoryId, ContentHash>::new();
        for likeness in [Likeness::NameAndTime, Likeness::Name, Likeness::Text] {
            for note in &notes {
                let SurveyedNote {
                    kept: MemoryRelation::Not,
                    hash: Some(hash),
                    ..
                } = self.notes[note.number]
                else {
                    continue;
                };
                let is_free = |memory: &&KnownMemory| {
                    let origin = memory.origin.as_ref();
                    if origin.is_some_and(|other| is_sibling(other, &note.origin)) {
                        !self.is_taken(&memory.id, origin)
                    } else {
                        likeness != Likeness::Text
                            && twins.get(&memory.id).is_none_or(|twin| *twin == hash)
                    }
                };
                let found = memories[&note.text]
                    .iter()
                    .filter(|memory| memory.is_like(note, likeness))
                    .find(is_free);
                if let Some(KnownMemory { id, origin, .. }) = found {
                    self.take_memory(note.number, *id, origin.as_ref(), &note.origin);
                    if self.notes[note.number].kept == MemoryRelation::AsTwin {
                        twins.insert(*id, hash);
                    }
                }
            }
        }
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
        for_each_finding(source, &services.own_scope(), &match_note, &mut |note| {
            moved.extend(note);
            Ok(())
        })?;
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

    /// Assigns one memory to all new notes that are equal, also in their links.
    pub(super) fn join_copies(&mut self) {
        let mut paths: Vec<(&String, usize)> = self
            .numbers
            .iter()
            .map(|(path, number)| (path, *number))
            .collect();
        // The note that has a memory, or else the first one, represents the others.
        paths.sort_by_key(|(_, number)| (self.notes[*number].kept == MemoryRelation::Not, *number));
        let mut first = HashMap::<ContentHash, usize>::new();
        let mut copies = Vec::new();
        for (path, number) in paths {
            let note = &self.notes[number];
            let (MemoryRelation::AsItself | MemoryRelation::Not, Some(hash)) =
                (note.kept, note.hash)
            else {
                continue;
            };
            let first = *first.entry(hash).or_insert(number);
            let is_copy = first != number && note.kept == MemoryRelation::Not;
            if is_copy && self.destinations(first) == self.destinations(number) {
                copies.push((number, first, path.clone()));
            }
        }
        for (number, first, path) in copies {
            let id = self.notes[first].id;
            (self.notes[number].id, self.notes[number].kept) = (id, MemoryRelation::AsCopy);
            let origin = self.place.clone().map(|place| Origin {
                path,
                hash: None,
                ..place
            });
            self.notes[first].copies.extend(origin);
        }
    }

    /// Returns the destinations of the links of a note; `None` is the note itself.
    fn destinations(&self, number: usize) -> Vec<Option<WikilinkDestination>> {
        let resolve = |target: &String| Some(self.catalog.resolve(target, number)?.0);
        let found = self.notes[number].links.iter().filter_map(resolve);
        found
            .map(|found| Some(found).filter(|found| *found != WikilinkDestination::Note(number)))
            .collect()
    }
}

/// Returns whether two origins are places of the same source.
fn is_sibling(one: &Origin, other: &Origin) -> bool {
    (&one.source, &one.root) == (&other.source, &other.root)
}

fn file_stem(origin: &Origin) -> Option<&str> {
    Path::new(&origin.path).file_stem()?.to_str()
}

/// Returns a hash of everything that a note contains, or `None` if it has no text. Names and dates are content.
pub(super) fn whole_hash(
    draft: &Draft,
    updated_at: Option<DateTime<Utc>>,
    front_matter: &str,
    former_id: Option<MemoryId>,
) -> Option<ContentHash> {
    let former_id = former_id.map(|id| id.to_string()).unwrap_or_default();
    let hash = note_hash(draft, updated_at);
    (!draft.content.trim().is_empty())
        .then(|| ContentHash::of(&format!("{hash}\0{former_id}\0{front_matter}")))
}
