//! The survey of a source: its notes, their memories, and the links between them.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

use super::fingerprint::{ItemFingerprint, is_export_of};
use super::{IngestReport, LinkCounts, Progress, SkippedFile, redact_text};
use crate::wikilink::{WikilinkCatalog, WikilinkDestination, WikilinkNameKind};
use crate::{
    ContentHash, Draft, Filter, Memory, MemoryId, NoteItem, Origin, Scope, Services, Source, SourceItem, StoreError, Tags, Verb,
    secret,
};

/// The result of surveying a source.
pub(super) struct Survey {
    notes: Vec<SurveyedNote>,
    /// The index of the note at each path.
    numbers: HashMap<String, usize>,
    catalog: WikilinkCatalog,
    /// An origin with the source and the root of all notes.
    place: Option<Origin>,
    /// The memories that belong to a note, with the index of the note.
    taken: HashMap<MemoryId, usize>,
    /// The ids that notes had as memories, with the index of the note.
    former_ids: HashMap<MemoryId, usize>,
    /// The existing and future memories of all notes.
    memories: HashSet<MemoryId>,
    /// The new notes with a title and without text.
    empty_notes: Vec<EmptyNote>,
}

/// One note of a source.
pub(super) struct SurveyedNote {
    /// The id of its existing or future memory.
    pub(super) id: MemoryId,
    /// The relation to an existing memory.
    pub(super) kept: MemoryRelation,
    /// The origins of other files of this source with the same text.
    pub(super) copies: Vec<Origin>,
    /// Whether the links of its memory are those of this note, if several notes have the same memory.
    pub(super) is_representative: bool,
    /// The hash for detecting equal files; `None` for a note without text.
    hash: Option<ContentHash>,
    /// The targets of its links; only the first `counted` of them are counted.
    links: Vec<String>,
    counted: usize,
    /// The linked memories, by their former ids.
    former_links: Vec<MemoryId>,
    /// The memories that an edit of an export no longer links, by their former ids.
    removed_links: Vec<MemoryId>,
    /// The memory that was ingested from the note and then deleted, if it is in the trash: its id and the hash of its origin.
    pub(super) deleted: Option<(MemoryId, ContentHash)>,
}

/// The relation of a note to an existing memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryRelation {
    /// The note has no memory.
    Not,
    /// The memory was ingested from this note, possibly from its previous path.
    AsItself,
    /// The memory has the same text, but another source; or the note is an unchanged export of the memory.
    AsTwin,
    /// The memory belongs to another note of this source with the same text.
    AsCopy,
    /// The note is an export of the memory, and one of both was edited since.
    AsExport,
}

/// A note that is not the origin of a memory, with a memory that may be its own.
///
/// That memory has the same text or lists the note as another origin.
struct UnmatchedNote {
    number: usize,
    twin: MemoryId,
    origin: Origin,
}

/// A new note with a title and without text.
struct EmptyNote {
    number: usize,
    origin: Origin,
    title: String,
    scope: Scope,
    fingerprint: ItemFingerprint,
}

impl EmptyNote {
    fn of(number: usize, note: &NoteItem) -> Option<Self> {
        if !note.draft.content.trim().is_empty() {
            return None;
        }
        let (origin, title) = (note.draft.origin.clone()?, note.draft.title.clone()?);
        Some(Self { number, origin, title, scope: note.draft.scope.clone(), fingerprint: ItemFingerprint::of(note) })
    }

    /// Returns whether a memory was ingested from an equal note of the same program.
    fn is_of(&self, memory: &Memory) -> bool {
        let is_equal =
            memory.content.trim().is_empty() && memory.title.as_ref() == Some(&self.title) && memory.scope == self.scope;
        let origin = memory.origin.as_ref().filter(|origin| origin.source == self.origin.source);
        is_equal && origin.and_then(|origin| origin.hash).is_some_and(|hash| self.fingerprint.is_in(&hash))
    }
}

impl Survey {
    pub(super) fn of(
        services: &Services,
        source: &dyn Source,
        report: &mut IngestReport,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, StoreError> {
        let mut survey = Self {
            notes: Vec::new(),
            numbers: HashMap::new(),
            catalog: WikilinkCatalog::new(source.rule()),
            place: None,
            taken: HashMap::new(),
            former_ids: HashMap::new(),
            memories: HashSet::new(),
            empty_notes: Vec::new(),
        };
        let mut tags = HashSet::new();
        let mut strangers = Vec::new();
        for_each_finding(source, &services.default_scope(), &|finding| finding, &mut |finding| {
            match finding {
                SourceItem::Note(mut note) => {
                    let Some(origin) = note.draft.origin.clone() else { return Ok(()) };
                    report.warnings.extend(note.warning.take().map(|reason| SkippedFile { path: origin.path.clone(), reason }));
                    tags.extend(note.draft.tags.iter().map(|tag| Tags::key(tag)));
                    match survey.add(services, *note) {
                        Ok(stranger) => strangers.extend(stranger),
                        Err(StoreError::Damaged(problem)) => report.skipped.push(skipped_note(&origin.path, &problem)),
                        Err(error) => return Err(error),
                    }
                    progress(Progress { done: survey.notes.len() as u64, total: None });
                }
                SourceItem::Attachment(path) => survey.catalog.add_attachment(&path),
                SourceItem::Skipped { path, reason } => report.skipped.push(SkippedFile { path, reason }),
            }
            Ok(())
        })?;
        report.tags = tags.len() as u64;
        strangers.extend(survey.match_empty_notes(services)?);
        for stranger in strangers {
            survey.match_memory(services, &stranger)?;
        }
        survey.join_copies();
        survey.mark_deleted(services)?;
        survey.memories = survey.notes.iter().map(|note| note.id).collect();
        Ok(survey)
    }

    /// Returns an origin with the source and the root of the notes.
    pub(super) fn place(&self) -> Option<&Origin> {
        self.place.as_ref()
    }

    /// Returns whether a memory belongs to a note.
    pub(super) fn has_memory(&self, id: &MemoryId) -> bool {
        self.memories.contains(id)
    }

    /// Returns the memories that belong to a note.
    pub(super) fn memories(&self) -> &HashSet<MemoryId> {
        &self.memories
    }

    /// Returns the number of notes.
    pub(super) fn len(&self) -> usize {
        self.notes.len()
    }

    /// Returns the index of the note at `path`, with the path borrowed from the survey.
    pub(super) fn find(&self, path: &str) -> Option<(&str, usize)> {
        self.numbers.get_key_value(path).map(|(path, number)| (path.as_str(), *number))
    }

    /// Returns the note with this index.
    pub(super) fn note(&self, number: usize) -> &SurveyedNote {
        &self.notes[number]
    }

    fn add(&mut self, services: &Services, note: NoteItem) -> Result<Option<UnmatchedNote>, StoreError> {
        let number = self.notes.len();
        let exported = self.exported_memory(services, &note)?;
        let empty = EmptyNote::of(number, &note);
        let NoteItem { draft, front_matter, mut links, uncounted_links, id: former_id, former, .. } = note;
        let counted = links.len();
        links.extend(uncounted_links);
        let Some(origin) = &draft.origin else { return Ok(None) };
        if self.numbers.contains_key(&origin.path) {
            return Ok(None);
        }
        let stored = services.store.by_origin(origin)?;
        let is_its_own = |memory: &Memory| memory.origin.as_ref().is_some_and(|own| own.is_same_place(origin));
        let (id, kept, copied) = match (exported, stored) {
            (Some((id, MemoryRelation::AsTwin)), _) => (id, MemoryRelation::AsTwin, None),
            (_, Some(stored)) if is_its_own(&stored.memory) => (stored.memory.id, MemoryRelation::AsItself, None),
            (Some((id, kept)), _) => (id, kept, None),
            (None, Some(stored)) => (services.ids.memory_id(), MemoryRelation::Not, Some(stored.memory.id)),
            (None, None) => (self.free_id(services, former_id)?, MemoryRelation::Not, None),
        };
        self.place.get_or_insert_with(|| origin.clone());
        self.numbers.insert(origin.path.clone(), number);
        self.catalog.add_note(&origin.path, draft.title.as_deref(), &draft.aliases);
        if let Some(former) = former_id {
            self.former_ids.entry(former).or_insert(number);
        }
        let hash = file_hash(&draft, &front_matter, former_id);
        let exported_links = former.exported.map(|exported| exported.links).unwrap_or_default();
        let removed_links = exported_links.into_iter().filter(|link| !former.links.contains(link)).collect();
        self.notes.push(SurveyedNote {
            id,
            kept,
            copies: Vec::new(),
            is_representative: true,
            hash,
            links,
            counted,
            former_links: former.links,
            removed_links,
            deleted: None,
        });
        if kept == MemoryRelation::AsItself {
            self.taken.entry(id).or_insert(number);
        }
        if let Some(twin) = copied {
            return Ok(Some(UnmatchedNote { number, twin, origin: origin.clone() }));
        }
        // Notes without text are all equal, but are not duplicates of each other.
        if kept != MemoryRelation::Not || draft.content.trim().is_empty() {
            self.empty_notes.extend(empty.filter(|_| kept == MemoryRelation::Not));
            return Ok(None);
        }
        let redacted = secret::redact(&draft.content);
        let hash = redacted.map_or_else(|| draft.content_hash(), |redacted| ContentHash::of(&redacted.text));
        let twin = services.store.by_content(&hash, &draft.scope)?;
        Ok(twin.map(|twin| UnmatchedNote { number, twin, origin: origin.clone() }))
    }

    /// Returns the memory of this home that a note is an export of, with its relation to the note.
    ///
    /// Of several edited notes with the same id, only the first one is an export.
    fn exported_memory(&self, services: &Services, note: &NoteItem) -> Result<Option<(MemoryId, MemoryRelation)>, StoreError> {
        let Some(id) = note.id else { return Ok(None) };
        match services.store.get(&id) {
            Ok(stored) if is_export_of(note, &stored.memory) => Ok(Some((id, MemoryRelation::AsTwin))),
            Ok(_) if note.former.exported.is_some() && !self.former_ids.contains_key(&id) => {
                Ok(Some((id, MemoryRelation::AsExport)))
            }
            Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the new notes without text whose memory was ingested from an equal note of the same program at another place.
    fn match_empty_notes(&mut self, services: &Services) -> Result<Vec<UnmatchedNote>, StoreError> {
        let empty = std::mem::take(&mut self.empty_notes);
        let Some(place) = self.place.as_ref().filter(|_| !empty.is_empty()) else { return Ok(Vec::new()) };
        let mut matched = HashMap::new();
        let filter = Filter { source: Some(place.source.clone()), ..Filter::all() };
        for stored in services.store.memories(&filter, services.clock.now()) {
            let memory = match stored {
                Ok(stored) => stored.memory,
                Err(StoreError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            };
            for note in empty.iter().filter(|note| note.is_of(&memory)) {
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
    fn free_id(&self, services: &Services, former: Option<MemoryId>) -> Result<MemoryId, StoreError> {
        let Some(former) = former else { return Ok(services.ids.memory_id()) };
        let is_taken = match services.store.get(&former) {
            Err(StoreError::NotFound { .. }) => self.former_ids.contains_key(&former),
            Err(StoreError::Damaged(_)) | Ok(_) => true,
            Err(error) => return Err(error),
        };
        Ok(if is_taken { services.ids.memory_id() } else { former })
    }

    /// Records the deleted memories of notes that have no memory.
    fn mark_deleted(&mut self, services: &Services) -> Result<(), StoreError> {
        let Some(place) = self.place.clone() else { return Ok(()) };
        if self.notes.iter().all(|note| note.kept != MemoryRelation::Not) {
            return Ok(());
        }
        for change in services.history.changes_of(Verb::Delete) {
            let Some(trash) = change?.before.and_then(|file| file.trash) else { continue };
            // A file that cannot be read has no origin.
            let Ok(memory) = services.history.memory_in_trash(&trash) else { continue };
            let Some(origin) = memory.origin.filter(|origin| (&origin.source, &origin.root) == (&place.source, &place.root))
            else {
                continue;
            };
            let (Some(number), Some(hash)) = (self.numbers.get(&origin.path), origin.hash) else { continue };
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
    fn match_memory(&mut self, services: &Services, stranger: &UnmatchedNote) -> Result<(), StoreError> {
        let id = stranger.twin;
        let twin = match services.store.get(&id) {
            Ok(twin) => twin,
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let origin = &stranger.origin;
        let is_sibling = |other: &Origin| (&other.source, &other.root) == (&origin.source, &origin.root);
        let kept = match &twin.memory.origin {
            // Only one note can continue a memory; other notes with the same text are copies.
            Some(other) if is_sibling(other) => {
                if let Some(first) = self.numbers.get(&other.path).or_else(|| self.taken.get(&id)).copied() {
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

    /// Assigns one memory to all new notes with the same content.
    fn join_copies(&mut self) {
        let origins: HashMap<usize, String> = self.numbers.iter().map(|(path, number)| (*number, path.clone())).collect();
        let mut first = HashMap::new();
        for number in 0..self.notes.len() {
            let SurveyedNote { kept: MemoryRelation::Not, hash: Some(hash), .. } = self.notes[number] else { continue };
            match first.get(&hash) {
                Some(first) => {
                    let place = self.place.clone().map(|place| Origin { path: origins[&number].clone(), ..place });
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
        let (id, kept, hash) = (self.notes[first].id, self.notes[first].kept, self.notes[first].hash);
        if number == first
            || hash.is_none()
            || hash != self.notes[number].hash
            || kept == MemoryRelation::AsTwin
            || kept == MemoryRelation::AsCopy
        {
            return;
        }
        (self.notes[number].id, self.notes[number].kept) = (id, MemoryRelation::AsCopy);
        self.notes[first].copies.push(Origin { hash: None, ..origin.clone() });
    }

    /// Returns the memories to link for each note, in both directions.
    ///
    /// Afterwards, the links and the catalog are released.
    pub(super) fn take_links(&mut self, counts: &mut LinkCounts) -> Vec<Vec<MemoryId>> {
        let speakers = self.speakers();
        for (number, note) in self.notes.iter_mut().enumerate() {
            note.is_representative = speakers.get(&note.id).is_none_or(|speaker| *speaker == number);
        }
        let joined = self.resolve_links(&speakers, counts);
        self.catalog = WikilinkCatalog::new(self.catalog.rule());
        for note in &mut self.notes {
            (note.links, note.former_links, note.removed_links) = (Vec::new(), Vec::new(), Vec::new());
        }
        joined
    }

    /// Returns the note that represents each memory of several notes: the one that is not a copy, or else the first.
    fn speakers(&self) -> HashMap<MemoryId, usize> {
        let mut speakers = HashMap::new();
        let is_speaker = |note: &SurveyedNote| note.kept == MemoryRelation::AsTwin || !note.copies.is_empty();
        for (number, note) in self.notes.iter().enumerate().filter(|(_, note)| is_speaker(note)) {
            speakers.entry(note.id).or_insert(number);
        }
        speakers
    }

    fn resolve_links(&self, speakers: &HashMap<MemoryId, usize>, counts: &mut LinkCounts) -> Vec<Vec<MemoryId>> {
        let mut joined = vec![Vec::new(); self.notes.len()];
        let speaker = |number: usize| speakers.get(&self.notes[number].id).copied().unwrap_or(number);
        // The links of a memory of a home are in its own order, and go both ways already.
        let current = |former: &MemoryId| self.former_ids.get(former).map_or(*former, |number| self.notes[*number].id);
        for (number, note) in self.notes.iter().enumerate() {
            joined[speaker(number)].extend(note.former_links.iter().map(current));
        }
        for note in &self.notes {
            for other in note.removed_links.iter().filter_map(|former| self.former_ids.get(former)) {
                joined[speaker(*other)].retain(|link| *link != note.id);
            }
        }
        for (number, note) in self.notes.iter().enumerate() {
            for (index, target) in note.links.iter().enumerate() {
                let found = self.catalog.resolve(target, number);
                if index < note.counted {
                    self.count(target, found.map(|(_, by)| by), counts);
                }
                let Some((WikilinkDestination::Note(other), _)) = found else { continue };
                let (one, other) = (speaker(number), speaker(other));
                if one != other {
                    joined[one].push(self.notes[other].id);
                    joined[other].push(self.notes[one].id);
                }
            }
        }
        for links in &mut joined {
            let mut seen = HashSet::new();
            links.retain(|link| seen.insert(*link));
        }
        joined
    }

    fn count(&self, target: &str, by: Option<WikilinkNameKind>, counts: &mut LinkCounts) {
        match by {
            Some(WikilinkNameKind::Title | WikilinkNameKind::Alias) if !self.catalog.aliases_resolve() => {
                counts.unresolved += 1;
                // A target that matches both an alias and a title counts as an alias.
                let only = if self.catalog.is_alias(target) { &mut counts.only_by_alias } else { &mut counts.only_by_title };
                *only += 1;
            }
            Some(_) => counts.resolved += 1,
            None => counts.unresolved += 1,
        }
    }
}

/// Returns a hash of the whole file, excluding a title that equals the file name.
///
/// Returns `None` if the file has no text.
fn file_hash(draft: &Draft, front_matter: &str, former_id: Option<MemoryId>) -> Option<ContentHash> {
    let former_id = former_id.map(|id| id.to_string()).unwrap_or_default();
    let more = format!("{}\0{former_id}\0{front_matter}", draft.scope);
    let name = draft.origin.as_ref().and_then(|origin| Path::new(&origin.path).file_stem()?.to_str());
    let title = draft.title.clone().filter(|title| Some(title.as_str()) != name);
    let nameless = Draft { title, ..draft.clone() };
    (!draft.content.trim().is_empty()).then(|| nameless.fingerprint(&more))
}

fn skipped_note(path: &str, problem: &crate::Problem) -> SkippedFile {
    SkippedFile { path: path.to_owned(), reason: format!("its memory must not be changed: {problem}") }
}

/// Maximum number of findings per portion; the next constant limits the bytes of text.
///
/// Portions reduce the number of thread wake-ups.
const PORTION: usize = 128;
const PORTION_BYTES: usize = 1 << 20;

/// Maximum number of portions in the queue.
///
/// It covers about one batch, so that reading continues while a batch is written.
const MAX_QUEUED_PORTIONS: usize = 16;

/// Redacts credentials in the names by which an item is found: the project of a note, and its place in the source.
fn redact_names(item: &mut SourceItem) {
    match item {
        SourceItem::Note(note) => {
            if let Scope::Project(project) = &mut note.draft.scope {
                redact_text(project);
            }
            if let Some(origin) = &mut note.draft.origin {
                redact_text(&mut origin.root);
                redact_text(&mut origin.path);
            }
        }
        // The path is compared with the redacted paths of notes.
        SourceItem::Skipped { path, reason } => {
            redact_text(path);
            redact_text(reason);
        }
        SourceItem::Attachment(_) => {}
    }
}

/// Gives a note without a scope of its own that of new memories: on the node of a principal, it is for the principal alone.
fn replace_global_scope(item: &mut SourceItem, default_scope: &Scope) {
    if let SourceItem::Note(note) = item
        && note.draft.scope == Scope::Global
    {
        note.draft.scope = default_scope.clone();
    }
}

/// Calls `take` with the result of `prepare` for each finding of `source`, in order.
///
/// A second thread reads the source and runs `prepare` ahead.
///
/// # Errors
/// The first error of `take`. Reading then stops.
pub(super) fn for_each_finding<T: Send>(
    source: &dyn Source,
    default_scope: &Scope,
    prepare: &(dyn Fn(SourceItem) -> T + Sync),
    take: &mut dyn FnMut(T) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(MAX_QUEUED_PORTIONS);
        scope.spawn(move || {
            let mut findings = source.items();
            loop {
                let (mut portion, mut bytes) = (Vec::with_capacity(PORTION), 0);
                while portion.len() < PORTION && bytes < PORTION_BYTES {
                    let Some(mut finding) = findings.next() else { break };
                    redact_names(&mut finding);
                    replace_global_scope(&mut finding, default_scope);
                    bytes += length(&finding);
                    portion.push(prepare(finding));
                }
                // The receiver is dropped after an error.
                if portion.is_empty() || sender.send(portion).is_err() {
                    return;
                }
            }
        });
        receiver.into_iter().flatten().try_for_each(take)
    })
}

/// Returns the length of the text of a finding in bytes.
fn length(finding: &SourceItem) -> usize {
    match finding {
        SourceItem::Note(note) => note.draft.content.len() + note.front_matter.len(),
        SourceItem::Attachment(_) | SourceItem::Skipped { .. } => 0,
    }
}
