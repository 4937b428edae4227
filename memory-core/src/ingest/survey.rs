//! The first look at a source: who is there, and who links to whom.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::ahead::each_finding;
use super::{IngestReport, LinkCounts, Progress, Skipped};
use crate::wikilink::{By, Catalog, Destination};
use crate::{ContentHash, Draft, Finding, Memory, MemoryId, Origin, Services, Source, StoreError, Tags, secret};

/// What the first look at a source found.
pub(super) struct Survey {
    notes: Vec<Note>,
    /// The number of the note at each path.
    numbers: HashMap<String, usize>,
    catalog: Catalog,
    /// The source and the root of all notes.
    place: Option<Origin>,
    /// The memories that have the place of notes already, and the numbers of these notes.
    taken: HashMap<MemoryId, usize>,
}

/// One note of a source.
pub(super) struct Note {
    /// The memory that it is or will be.
    pub(super) id: MemoryId,
    /// The memory that stands for it already, if any.
    pub(super) kept: Kept,
    /// Where else the same is said in this source.
    pub(super) copies: Vec<Origin>,
    /// What tells whether another file says the same; nothing for a note without a text.
    hash: Option<ContentHash>,
    /// The targets of its links; the first `counted` of them count.
    links: Vec<String>,
    counted: usize,
}

/// Whether a note is kept already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// It is not.
    Not,
    /// By a memory that came from this source.
    AsItself,
    /// By a memory with the same text that came from elsewhere.
    AsTwin,
    /// By the memory of another note of this source that says the same.
    AsCopy,
}

/// A note that is the origin of no memory, though one has its text or knows it as a copy.
struct Stranger {
    number: usize,
    twin: MemoryId,
    origin: Origin,
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
            catalog: Catalog::new(source.rule()),
            place: None,
            taken: HashMap::new(),
        };
        let mut tags = HashSet::new();
        let mut strangers = Vec::new();
        each_finding(source, &|finding| finding, &mut |finding| {
            match finding {
                Finding::Note { draft, front_matter, links, uncounted_links, warning } => {
                    let Some(origin) = &draft.origin else { return Ok(()) };
                    report.warnings.extend(warning.map(|reason| Skipped { path: origin.path.clone(), reason }));
                    tags.extend(draft.tags.iter().map(|tag| Tags::key(tag)));
                    let counted = links.len();
                    let links = links.into_iter().chain(uncounted_links).collect();
                    match survey.add(services, &draft, &front_matter, links, counted) {
                        Ok(stranger) => strangers.extend(stranger),
                        Err(StoreError::Damaged(problem)) => report.skipped.push(left_alone(&origin.path, &problem)),
                        Err(error) => return Err(error),
                    }
                    progress(Progress { done: survey.notes.len() as u64, total: None });
                }
                Finding::Attachment(path) => survey.catalog.add_attachment(&path),
                Finding::Skipped { path, reason } => report.skipped.push(Skipped { path, reason }),
            }
            Ok(())
        })?;
        report.tags = tags.len() as u64;
        for stranger in strangers {
            survey.recognise(services, &stranger)?;
        }
        survey.join_copies();
        Ok(survey)
    }

    /// Returns how many notes there are.
    pub(super) fn len(&self) -> usize {
        self.notes.len()
    }

    /// Returns the number of the note at `path`.
    pub(super) fn find(&self, path: &str) -> Option<(&str, usize)> {
        self.numbers.get_key_value(path).map(|(path, number)| (path.as_str(), *number))
    }

    /// Returns a note by its number.
    pub(super) fn note(&self, number: usize) -> &Note {
        &self.notes[number]
    }

    fn add(
        &mut self,
        services: &Services,
        draft: &Draft,
        front_matter: &str,
        links: Vec<String>,
        counted: usize,
    ) -> Result<Option<Stranger>, StoreError> {
        let Some(origin) = &draft.origin else { return Ok(None) };
        if self.numbers.contains_key(&origin.path) {
            return Ok(None);
        }
        let stored = services.store.by_origin(origin)?;
        let is_its_own = |memory: &Memory| memory.origin.as_ref().is_some_and(|own| own.is_same_place(origin));
        let (id, kept, copied) = match stored {
            Some(stored) if is_its_own(&stored.memory) => (stored.memory.id, Kept::AsItself, None),
            Some(stored) => (services.ids.memory_id(), Kept::Not, Some(stored.memory.id)),
            None => (services.ids.memory_id(), Kept::Not, None),
        };
        let number = self.notes.len();
        self.place.get_or_insert_with(|| origin.clone());
        self.numbers.insert(origin.path.clone(), number);
        self.catalog.add_note(&origin.path, draft.title.as_deref(), &draft.aliases);
        self.notes.push(Note { id, kept, copies: Vec::new(), hash: hash_of_file(draft, front_matter), links, counted });
        if kept == Kept::AsItself {
            self.taken.entry(id).or_insert(number);
        }
        if let Some(twin) = copied {
            return Ok(Some(Stranger { number, twin, origin: origin.clone() }));
        }
        // Notes without a text are all alike, and none is another.
        if kept != Kept::Not || draft.content.trim().is_empty() {
            return Ok(None);
        }
        let redacted = secret::redact(&draft.content);
        let hash = redacted.map_or_else(|| draft.content_hash(), |redacted| ContentHash::of(&redacted.text));
        let twin = services.store.by_content(&hash, &draft.scope)?;
        Ok(twin.map(|twin| Stranger { number, twin, origin: origin.clone() }))
    }

    /// Finds out whether a note with an unknown origin is a memory all the same: moved within its source, or kept from
    /// elsewhere.
    fn recognise(&mut self, services: &Services, stranger: &Stranger) -> Result<(), StoreError> {
        let id = stranger.twin;
        let twin = match services.store.get(&id) {
            Ok(twin) => twin,
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let origin = &stranger.origin;
        let is_sibling = |other: &Origin| (&other.source, &other.root) == (&origin.source, &origin.root);
        let kept = match &twin.memory.origin {
            // A memory can move to one note only; others that say the same are its copies.
            Some(other) if is_sibling(other) => {
                if let Some(first) = self.numbers.get(&other.path).or_else(|| self.taken.get(&id)).copied() {
                    self.join_copy(stranger.number, first, origin);
                    return Ok(());
                }
                self.taken.insert(id, stranger.number);
                Kept::AsItself
            }
            _ => Kept::AsTwin,
        };
        let note = &mut self.notes[stranger.number];
        (note.id, note.kept) = (id, kept);
        Ok(())
    }

    /// Makes one memory of all new notes that say the same.
    fn join_copies(&mut self) {
        let origins: HashMap<usize, String> = self.numbers.iter().map(|(path, number)| (*number, path.clone())).collect();
        let mut first = HashMap::new();
        for number in 0..self.notes.len() {
            let Note { kept: Kept::Not, hash: Some(hash), .. } = self.notes[number] else { continue };
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

    /// Lets the memory of the note `first` stand for another one too, if both files say the same.
    fn join_copy(&mut self, number: usize, first: usize, origin: &Origin) {
        let (id, kept, hash) = (self.notes[first].id, self.notes[first].kept, self.notes[first].hash);
        if number == first || hash.is_none() || hash != self.notes[number].hash || kept == Kept::AsTwin || kept == Kept::AsCopy {
            return;
        }
        (self.notes[number].id, self.notes[number].kept) = (id, Kept::AsCopy);
        self.notes[first].copies.push(Origin { hash: None, ..origin.clone() });
    }

    /// Returns, for each note, whom it links to or is linked from; then forgets the links and the names they use.
    pub(super) fn follow(&mut self, counts: &mut LinkCounts) -> Vec<Vec<MemoryId>> {
        let joined = self.join(counts);
        self.catalog = Catalog::new(self.catalog.rule());
        for note in &mut self.notes {
            note.links = Vec::new();
        }
        joined
    }

    fn join(&self, counts: &mut LinkCounts) -> Vec<Vec<MemoryId>> {
        let mut joined = vec![Vec::new(); self.notes.len()];
        // Several notes may stand for one memory; the first of them, or the one that is not a copy, speaks for all.
        let mut speakers = HashMap::new();
        let is_speaker = |note: &Note| note.kept == Kept::AsTwin || !note.copies.is_empty();
        for (number, note) in self.notes.iter().enumerate().filter(|(_, note)| is_speaker(note)) {
            speakers.entry(note.id).or_insert(number);
        }
        let speaker = |number: usize| speakers.get(&self.notes[number].id).copied().unwrap_or(number);
        for (number, note) in self.notes.iter().enumerate() {
            for (index, target) in note.links.iter().enumerate() {
                let found = self.catalog.resolve(target, number);
                if index < note.counted {
                    self.count(target, found.map(|(_, by)| by), counts);
                }
                let Some((Destination::Note(other), _)) = found else { continue };
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

    fn count(&self, target: &str, by: Option<By>, counts: &mut LinkCounts) {
        match by {
            Some(By::Title | By::Alias) if !self.catalog.aliases_resolve() => {
                counts.unresolved += 1;
                // Who is found by both counts as found by the alias.
                let only = if self.catalog.is_alias(target) { &mut counts.only_by_alias } else { &mut counts.only_by_title };
                *only += 1;
            }
            Some(_) => counts.resolved += 1,
            None => counts.unresolved += 1,
        }
    }
}

/// Returns a hash of the whole file, without a title that is the file's name; `None` if the file has no text.
fn hash_of_file(draft: &Draft, front_matter: &str) -> Option<ContentHash> {
    let more = format!("{}\0{front_matter}", draft.scope);
    let name = draft.origin.as_ref().and_then(|origin| Path::new(&origin.path).file_stem()?.to_str());
    let title = draft.title.clone().filter(|title| Some(title.as_str()) != name);
    let nameless = Draft { title, ..draft.clone() };
    (!draft.content.trim().is_empty()).then(|| nameless.fingerprint(&more))
}

fn left_alone(path: &str, problem: &crate::Problem) -> Skipped {
    Skipped { path: path.to_owned(), reason: format!("its memory must not be changed: {problem}") }
}
