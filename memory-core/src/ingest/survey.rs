//! The survey of a source: its notes, their memories, and the links between them.

mod former_paths;
mod recognition;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use former_paths::{ChangedNote, is_same_note};
use recognition::{EmptyNote, KnownMemory, KnownText, UnmatchedNote, whole_hash};

use super::findings::for_each_finding;
use super::{IngestReport, LinkCounts, Progress, SkippedFile};
use crate::wikilink::{WikilinkCatalog, WikilinkDestination, WikilinkNameKind};
use crate::{
    ContentHash, Memory, MemoryId, NoteItem, Origin, Scope, Services, Source, SourceItem,
    StatedLinks, StoreError, Tags,
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
    /// The new notes with the text of a memory, and the memories with these texts and scopes.
    known_texts: Vec<KnownText>,
    known_memories: HashMap<(ContentHash, Scope), Vec<KnownMemory>>,
    /// The ids that notes had as memories, with the index of the note.
    former_ids: HashMap<MemoryId, usize>,
    /// The existing and future memories of all notes.
    memories: HashSet<MemoryId>,
    /// The new notes with a title and without text.
    empty_notes: Vec<EmptyNote>,
    /// The new notes whose memories may have other paths.
    changed_notes: Vec<ChangedNote>,
}

/// One note of a source.
pub(super) struct SurveyedNote {
    /// The path of its memory, if a memory of another note has the path of this one.
    pub(super) path: Option<String>,
    /// The id of its existing or future memory.
    pub(super) id: MemoryId,
    /// The relation to an existing memory.
    pub(super) kept: MemoryRelation,
    /// The origins of other notes of this source that are equal in every part.
    pub(super) copies: Vec<Origin>,
    /// Whether the links of its memory are those of this note, if several notes have the same memory.
    pub(super) is_representative: bool,
    /// The hash for detecting equal notes, see [`whole_hash`]; `None` for a note without text.
    hash: Option<ContentHash>,
    /// The targets of its links; only the first `counted` of them are counted.
    links: Vec<String>,
    counted: usize,
    /// The targets of the links in a list of the note, each with the item of the list.
    listed_links: Vec<(String, String)>,
    /// The linked memories, by their former ids.
    former_links: Vec<MemoryId>,
    /// The linked notes, by the ids that the notes state.
    stated_links: StatedLinks,
    /// The memories that an edit of an export no longer links, by their former ids.
    removed_links: Vec<MemoryId>,
    /// The time after which the note is not ingested. An export of a home has none: it contains expired memories as well.
    pub(super) expires_at: Option<DateTime<Utc>>,
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
    /// The memory has the same text and name, but another source; or the note is an unchanged export of the memory.
    AsTwin,
    /// The memory belongs to an equal note of this source.
    AsCopy,
    /// The note is an export of the memory, and one of both was edited since.
    AsExport,
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
            known_texts: Vec::new(),
            known_memories: HashMap::new(),
            former_ids: HashMap::new(),
            memories: HashSet::new(),
            empty_notes: Vec::new(),
            changed_notes: Vec::new(),
        };
        let mut tags = HashSet::new();
        let mut strangers = Vec::new();
        for_each_finding(
            source,
            &services.own_scope(),
            &|finding| finding,
            &mut |finding| {
                match finding {
                    SourceItem::Note(mut note) => {
                        let Some(origin) = note.draft.origin.clone() else {
                            return Ok(());
                        };
                        report
                            .warnings
                            .extend(note.warning.take().map(|reason| SkippedFile {
                                path: origin.path.clone(),
                                reason,
                            }));
                        tags.extend(note.draft.tags.iter().map(|tag| Tags::key(tag)));
                        match survey.add(services, *note) {
                            Ok(stranger) => strangers.extend(stranger),
                            Err(StoreError::Damaged(problem)) => {
                                report.skipped.push(skipped_note(&origin.path, &problem));
                            }
                            Err(error) => return Err(error),
                        }
                        progress(Progress {
                            done: survey.notes.len() as u64,
                            total: None,
                        });
                    }
                    SourceItem::Attachment(path) => survey.catalog.add_attachment(&path),
                    SourceItem::Skipped { path, reason } => {
                        report.skipped.push(SkippedFile { path, reason });
                    }
                }
                Ok(())
            },
        )?;
        report.tags = tags.len() as u64;
        strangers.extend(survey.match_empty_notes(services)?);
        for stranger in strangers {
            survey.match_memory(services, &stranger)?;
        }
        survey.match_known_texts();
        survey.match_edited_memories(services, source)?;
        survey.match_former_paths(services, source)?;
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
        self.numbers
            .get_key_value(path)
            .map(|(path, number)| (path.as_str(), *number))
    }

    /// Returns the note with this index.
    pub(super) fn note(&self, number: usize) -> &SurveyedNote {
        &self.notes[number]
    }

    /// Returns whether a memory may receive the text of a note that has another origin.
    ///
    /// On the node of a principal, the memories of others in other scopes may not.
    fn is_accepted(services: &Services, memory: &Memory) -> Result<bool, StoreError> {
        let scope = services.own_scope();
        match &memory.origin {
            Some(origin) if matches!(scope, Scope::Private(_)) && memory.scope != scope => {
                Ok(services
                    .store
                    .by_origin(origin, &scope)?
                    .is_some_and(|stored| stored.memory.id == memory.id))
            }
            _ => Ok(true),
        }
    }

    fn add(
        &mut self,
        services: &Services,
        mut note: NoteItem,
    ) -> Result<Option<UnmatchedNote>, StoreError> {
        let number = self.notes.len();
        let exported = self.exported_memory(services, &note)?;
        let empty = EmptyNote::of(number, &note);
        note.place_local_times(&services.clock.zone());
        let NoteItem {
            mut draft,
            front_matter,
            mut links,
            uncounted_links,
            listed_links,
            id: former_id,
            former_paths,
            updated_at,
            former,
            ..
        } = note;
        let counted = links.len();
        links.extend(uncounted_links);
        let Some(mut origin) = draft.origin.clone() else {
            return Ok(None);
        };
        let found_at = origin.path.clone();
        if self.numbers.contains_key(&found_at) {
            return Ok(None);
        }
        let mut stored = services.store.by_origin(&origin, &draft.scope)?;
        // Several notes may have the first of three paths.
        let mut own_path = None;
        if let [first, _, .., exact] = &former_paths[..]
            && *first == found_at
            && stored
                .as_ref()
                .is_some_and(|stored| !is_same_note(&draft, &stored.memory))
        {
            origin.path.clone_from(exact);
            draft.origin = Some(origin.clone());
            own_path = Some(exact.clone());
            stored = services.store.by_origin(&origin, &draft.scope)?;
        }
        let origin = &origin;
        let is_its_own = |memory: &Memory| {
            memory
                .origin
                .as_ref()
                .is_some_and(|own| own.is_same_place(origin))
        };
        let (id, kept, copied) = match (exported, stored) {
            (Some((id, MemoryRelation::AsTwin)), _) => (id, MemoryRelation::AsTwin, None),
            (_, Some(stored)) if is_its_own(&stored.memory) => {
                (stored.memory.id, MemoryRelation::AsItself, None)
            }
            (Some((id, kept)), _) => (id, kept, None),
            (None, Some(stored)) => (
                services.ids.memory_id(),
                MemoryRelation::Not,
                Some(stored.memory.id),
            ),
            (None, None) => (
                self.free_id(services, former_id)?,
                MemoryRelation::Not,
                None,
            ),
        };
        self.place.get_or_insert_with(|| origin.clone());
        self.numbers.insert(found_at, number);
        self.catalog
            .add_note(&origin.path, draft.title.as_deref(), &draft.aliases);
        if let Some(former) = former_id {
            self.former_ids.entry(former).or_insert(number);
        }
        let hash = whole_hash(&draft, updated_at, &front_matter, former_id);
        let exported_links = former
            .exported
            .map(|exported| exported.links)
            .unwrap_or_default();
        let removed_links = exported_links
            .into_iter()
            .filter(|link| !former.links.contains(link))
            .collect();
        self.notes.push(SurveyedNote {
            path: own_path,
            id,
            kept,
            copies: Vec::new(),
            is_representative: true,
            hash,
            links,
            counted,
            listed_links,
            former_links: former.links,
            stated_links: former.stated_links,
            removed_links,
            expires_at: draft.expires_at.filter(|_| former_id.is_none()),
            deleted: None,
        });
        match kept {
            MemoryRelation::AsItself => drop(self.taken.entry(id).or_insert(number)),
            MemoryRelation::Not => self
                .changed_notes
                .extend(ChangedNote::of(number, former_paths)),
            MemoryRelation::AsTwin | MemoryRelation::AsCopy | MemoryRelation::AsExport => {}
        }
        if let Some(twin) = copied {
            return Ok(Some(UnmatchedNote {
                number,
                twin,
                origin: origin.clone(),
            }));
        }
        // Notes without text are all equal, but are not duplicates of each other.
        if kept != MemoryRelation::Not || draft.content.trim().is_empty() {
            self.empty_notes
                .extend(empty.filter(|_| kept == MemoryRelation::Not));
            return Ok(None);
        }
        self.add_known_text(services, number, draft)?;
        Ok(None)
    }

    /// Returns the memories to link for each note, in both directions, and reports the items of lists without a note. A note that expired
    /// before `at` has no memory.
    ///
    /// Afterwards, the links and the catalog are released.
    pub(super) fn take_links(
        &mut self,
        at: DateTime<Utc>,
        report: &mut IngestReport,
    ) -> Vec<Vec<MemoryId>> {
        let speakers = self.speakers();
        for (number, note) in self.notes.iter_mut().enumerate() {
            note.is_representative = speakers
                .get(&note.id)
                .is_none_or(|speaker| *speaker == number);
        }
        let joined = self.resolve_links(&speakers, at, &mut report.links);
        let mut pairs = HashSet::new();
        for (note, links) in self.notes.iter().zip(&joined) {
            pairs.extend(
                links
                    .iter()
                    .map(|link| (note.id.min(*link), note.id.max(*link))),
            );
        }
        report.links.stored = pairs.len() as u64;
        report.warnings.extend(self.unresolved_items());
        self.catalog = WikilinkCatalog::new(self.catalog.rule());
        for note in &mut self.notes {
            (note.links, note.former_links, note.removed_links) =
                (Vec::new(), Vec::new(), Vec::new());
            note.listed_links = Vec::new();
            note.stated_links = StatedLinks::default();
        }
        joined
    }

    /// Returns the items of lists of links that lead to no note.
    fn unresolved_items(&self) -> Vec<SkippedFile> {
        let mut unresolved = Vec::new();
        for (path, number) in &self.numbers {
            for (target, item) in &self.notes[*number].listed_links {
                if self.catalog.resolve(target, *number).is_none() {
                    let reason =
                        format!("`{item}` in its list of links leads to no note and was left out");
                    unresolved.push(SkippedFile {
                        path: path.clone(),
                        reason,
                    });
                }
            }
        }
        unresolved
            .sort_by(|left, right| (&left.path, &left.reason).cmp(&(&right.path, &right.reason)));
        unresolved
    }

    /// Returns the note that represents each memory of several notes: the one that is not a copy, or else the first.
    fn speakers(&self) -> HashMap<MemoryId, usize> {
        let mut speakers = HashMap::new();
        let is_speaker =
            |note: &SurveyedNote| note.kept == MemoryRelation::AsTwin || !note.copies.is_empty();
        for (number, note) in self
            .notes
            .iter()
            .enumerate()
            .filter(|(_, note)| is_speaker(note))
        {
            speakers.entry(note.id).or_insert(number);
        }
        speakers
    }

    fn resolve_links(
        &self,
        speakers: &HashMap<MemoryId, usize>,
        at: DateTime<Utc>,
        counts: &mut LinkCounts,
    ) -> Vec<Vec<MemoryId>> {
        let is_expired = |note: &SurveyedNote| {
            note.kept == MemoryRelation::Not
                && note.expires_at.is_some_and(|expires_at| expires_at <= at)
        };
        let mut joined = vec![Vec::new(); self.notes.len()];
        let speaker = |number: usize| {
            speakers
                .get(&self.notes[number].id)
                .copied()
                .unwrap_or(number)
        };
        // The links of a memory of a home are in its own order, and go both ways already.
        let current = |former: &MemoryId| {
            self.former_ids
                .get(former)
                .map_or(*former, |number| self.notes[*number].id)
        };
        for (number, note) in self.notes.iter().enumerate() {
            joined[speaker(number)].extend(note.former_links.iter().map(current));
        }
        for note in &self.notes {
            for other in note
                .removed_links
                .iter()
                .filter_map(|former| self.former_ids.get(former))
            {
                joined[speaker(*other)].retain(|link| *link != note.id);
            }
        }
        let mut link = |number: usize, other: usize| {
            let (one, other) = (speaker(number), speaker(other));
            let is_expired = |number: usize| is_expired(&self.notes[number]);
            if one != other && !is_expired(number) && !is_expired(other) {
                joined[one].push(self.notes[other].id);
                joined[other].push(self.notes[one].id);
            }
        };
        for (number, other) in self.stated_pairs() {
            link(number, other);
        }
        for (number, note) in self.notes.iter().enumerate() {
            for (index, target) in note.links.iter().enumerate() {
                let found = self.catalog.resolve(target, number);
                if index < note.counted {
                    self.count(target, found.map(|(_, by)| by), counts);
                }
                let Some((WikilinkDestination::Note(other), _)) = found else {
                    continue;
                };
                link(number, other);
            }
        }
        for links in &mut joined {
            let mut seen = HashSet::new();
            links.retain(|link| seen.insert(*link));
        }
        joined
    }

    /// Returns the pairs of notes that state a link to each other, each pair once.
    fn stated_pairs(&self) -> Vec<(usize, usize)> {
        let mut numbers = HashMap::new();
        for (number, note) in self.notes.iter().enumerate() {
            if let Some(id) = note.stated_links.id {
                numbers.entry(id).or_insert(number);
            }
        }
        let pairs = self.notes.iter().enumerate().flat_map(|(number, note)| {
            let others = note.stated_links.links.iter();
            others
                .filter_map(|id| numbers.get(id))
                .map(move |other| (number, *other))
        });
        let stated: HashSet<_> = pairs.clone().collect();
        pairs
            .filter(|(number, other)| number < other && stated.contains(&(*other, *number)))
            .collect()
    }

    fn count(&self, target: &str, by: Option<WikilinkNameKind>, counts: &mut LinkCounts) {
        match by {
            Some(WikilinkNameKind::Title | WikilinkNameKind::Alias)
                if !self.catalog.aliases_resolve() =>
            {
                counts.unresolved += 1;
                // A target that matches both an alias and a title counts as an alias.
                let only = if self.catalog.is_alias(target) {
                    &mut counts.only_by_alias
                } else {
                    &mut counts.only_by_title
                };
                *only += 1;
            }
            Some(_) => counts.resolved += 1,
            None => counts.unresolved += 1,
        }
    }
}

fn skipped_note(path: &str, problem: &crate::Problem) -> SkippedFile {
    SkippedFile {
        path: path.to_owned(),
        reason: format!("its memory must not be changed: {problem}"),
    }
}
