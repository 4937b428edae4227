//! What is kept of one conversation, ready to be asked.

mod score;
mod slots;

pub(super) use score::cosine;

use std::collections::BTreeMap;
use std::sync::Arc;

use rpds::HashTrieMapSync;

use self::slots::{Rank, Slot, Slots};
use super::claim::EntryClaims;
use super::indexed_text::IndexedText;
use super::{Candidate, CandidateKind, Entry, EntryId, EntryRole, EntryVector, Wanted};
use crate::text::Term;
use crate::{ContentHash, Problem};

/// What is kept of one conversation and was not deleted, with its words and vectors, so that a question costs little.
///
/// # Examples
/// ```
/// use memory_core::conversation::{Entry, EntryRole, Shelf, Wanted};
///
/// let mut shelf = Shelf::default();
/// let now = chrono::DateTime::UNIX_EPOCH;
/// for (id, text) in [("1", "The user's dog is Rex."), ("2", "The user lives in Ghent.")] {
///     shelf.put(Entry::new(id.parse()?, &"default".parse()?, EntryRole::Memory, text, now));
/// }
/// let best = shelf.candidates(&Wanted::of("What is my dog called?"), 5, &|_| true);
/// assert_eq!(best[0].entry.content, "The user's dog is Rex.");
/// # Ok::<(), memory_core::ParseError>(())
/// ```
///
/// A copy shares with its original what neither has changed since, so whoever asks one while another is made holds up nobody for long.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    slots: Slots,
    numbers: HashTrieMapSync<EntryId, u32>,
    /// Where each word stands, and how often.
    words: HashTrieMapSync<Term, Arc<Postings>>,
    /// The distinct statements, by their hashes, and how many entries make each. How common a word is follows from them, so that neither
    /// requests, nor answers, nor what is said again make the words of a fact count for less.
    statements: HashTrieMapSync<u64, Statement>,
    /// How many words the distinct statements have.
    stated_length: u64,
    summary: Option<Arc<Entry>>,
    /// Deleted facts that were drawn from a turn, by their ids.
    tombstones: HashTrieMapSync<EntryId, Tombstone>,
    /// The deleted facts of each turn.
    buried: HashTrieMapSync<EntryId, Arc<Vec<EntryId>>>,
    problems: BTreeMap<String, Problem>,
    /// The model of the vectors.
    identity: String,
    vectors: HashTrieMapSync<ContentHash, Arc<[f32]>>,
}

/// A statement that entries make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Statement {
    /// How many entries make it.
    entries: u32,
    /// How many words the first of them uses for it.
    length: u32,
}

/// A deleted fact.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tombstone {
    /// The turn from which it was drawn.
    source: EntryId,
    replaced_by: Option<EntryId>,
}

/// The entries that have a word.
#[derive(Debug, Clone, Default)]
struct Postings {
    places: Vec<Place>,
    /// Number of distinct statements with the word.
    statements: u32,
}

/// Where a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    number: u32,
    /// How often it stands there.
    count: u8,
    /// Whether it stands in a part that states something.
    is_stated: bool,
    /// How many words stand there, up to the largest number that there is.
    length: u16,
}

impl Shelf {
    /// Puts an entry in its place, or in that of the one with its id. Of summaries the latest is kept.
    pub fn put(&mut self, entry: Entry) {
        if entry.role == EntryRole::Summary {
            if !self.summary.as_ref().is_some_and(|own| own.id != entry.id && entry.is_before(own)) {
                self.summary = Some(Arc::new(entry));
            }
            return;
        }
        self.remove(&entry.id);
        let text = IndexedText::new(entry.role, &entry.content);
        let is_new_statement = text.statement.is_some_and(|statement| self.count_statement(statement, text.stated_length));
        let vector = if self.vectors.is_empty() { None } else { self.vectors.get(&ContentHash::of(&entry.content)).cloned() };
        let id = entry.id.clone();
        let distinct = u32::try_from(text.words.len()).unwrap_or(u32::MAX);
        let rank = Rank::of(&entry);
        let slot = Slot { rank, entry: Arc::new(entry), distinct, stated: text.stated, vector, claims: EntryClaims::default() };
        let number = self.slots.put(slot);
        let length = u16::try_from(text.length).unwrap_or(u16::MAX);
        for (term, used) in text.words {
            let place = Place { number, count: used.count, is_stated: used.is_stated, length };
            if self.words.get(&term).is_none() {
                self.words.insert_mut(term.clone(), Arc::default());
            }
            if let Some(postings) = self.words.get_mut(&term) {
                let postings = Arc::make_mut(postings);
                postings.places.push(place);
                postings.statements += u32::from(is_new_statement && used.is_stated);
            }
        }
        self.numbers.insert_mut(id, number);
    }

    /// Takes an entry away.
    pub fn remove(&mut self, id: &EntryId) -> Option<Arc<Entry>> {
        if self.summary.as_ref().is_some_and(|summary| summary.id == *id) {
            return self.summary.take();
        }
        let number = *self.numbers.get(id)?;
        self.numbers.remove_mut(id);
        let slot = self.slots.take(number)?;
        let text = IndexedText::new(slot.entry.role, &slot.entry.content);
        let is_last_statement = text.statement.is_some_and(|statement| self.uncount_statement(statement));
        for (term, used) in text.words {
            let is_gone = self.words.get_mut(&term).is_some_and(|postings| {
                let postings = Arc::make_mut(postings);
                postings.places.retain(|place| place.number != number);
                postings.statements -= u32::from(is_last_statement && used.is_stated);
                postings.places.is_empty()
            });
            if is_gone {
                self.words.remove_mut(&term);
            }
        }
        Some(slot.entry)
    }

    /// Takes in a deleted entry: a turn whose fact was deleted or replaced is superseded.
    pub fn bury(&mut self, tombstone: &Entry) {
        self.unbury(&tombstone.id);
        let Some(source) = tombstone.source_id.clone().filter(|_| tombstone.role == EntryRole::Memory) else { return };
        let mut own = self.buried.get(&source).map(|own| (**own).clone()).unwrap_or_default();
        own.push(tombstone.id.clone());
        self.buried.insert_mut(source.clone(), Arc::new(own));
        self.tombstones.insert_mut(tombstone.id.clone(), Tombstone { source, replaced_by: tombstone.replaced_by.clone() });
    }

    /// Forgets a deleted entry, as when it was restored.
    pub fn unbury(&mut self, id: &EntryId) {
        let Some(Tombstone { source, .. }) = self.tombstones.get(id).cloned() else { return };
        self.tombstones.remove_mut(id);
        let left: Vec<EntryId> =
            self.buried.get(&source).into_iter().flat_map(|own| own.iter()).filter(|own| *own != id).cloned().collect();
        if left.is_empty() {
            self.buried.remove_mut(&source);
        } else {
            self.buried.insert_mut(source, Arc::new(left));
        }
    }

    /// Tells whether a fact that was drawn from a turn was deleted, or replaced by one that was drawn from another turn.
    pub fn is_superseded(&self, turn: &EntryId) -> bool {
        let source = |fact: &EntryId| {
            let active = self.get(fact).and_then(|entry| entry.source_id.as_ref());
            active.or_else(|| self.tombstones.get(fact).map(|tombstone| &tombstone.source))
        };
        let is_outdated = |fact: &EntryId| {
            let replaced_by = self.tombstones.get(fact).and_then(|tombstone| tombstone.replaced_by.as_ref());
            replaced_by.is_none_or(|by| source(by) != Some(turn))
        };
        self.buried.get(turn).is_some_and(|facts| facts.iter().any(is_outdated))
    }

    /// Counts an entry that makes a statement of this length; returns whether it is the first.
    fn count_statement(&mut self, statement: u64, length: u32) -> bool {
        let known = self.statements.get(&statement).copied();
        let first = Statement { entries: 1, length };
        let own = known.map_or(first, |known| Statement { entries: known.entries + 1, ..known });
        self.statements.insert_mut(statement, own);
        if known.is_none() {
            self.stated_length += u64::from(length);
        }
        known.is_none()
    }

    /// No longer counts an entry that makes a statement; returns whether it was the last.
    fn uncount_statement(&mut self, statement: u64) -> bool {
        let Some(known) = self.statements.get(&statement).copied() else { return false };
        if 1 < known.entries {
            self.statements.insert_mut(statement, Statement { entries: known.entries - 1, ..known });
            return false;
        }
        // The same words may be used more often in the last entry than in the first.
        self.stated_length -= u64::from(known.length);
        self.statements.remove_mut(&statement)
    }

    /// Says what is wrong with a file, or that nothing is any longer.
    pub fn report(&mut self, path: &str, problem: Option<Problem>) {
        match problem {
            Some(problem) => drop(self.problems.insert(path.to_owned(), problem)),
            None => drop(self.problems.remove(path)),
        }
    }

    /// Returns what is wrong with files that were left out, by their paths.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.values()
    }

    /// Returns an entry.
    pub fn get(&self, id: &EntryId) -> Option<&Arc<Entry>> {
        let summary = self.summary.as_ref().filter(|summary| summary.id == *id);
        summary.or_else(|| self.slots.get(*self.numbers.get(id)?).map(|slot| &slot.entry))
    }

    /// Returns what an entry claims.
    pub(super) fn claims(&self, id: &EntryId) -> Option<&EntryClaims> {
        Some(&self.slots.get(*self.numbers.get(id)?)?.claims)
    }

    /// Returns the newest facts and turns of the user, at most so many, with what they claim.
    pub(super) fn newest_claims(&self, most: usize) -> impl Iterator<Item = (&Arc<Entry>, &EntryClaims)> {
        let slots = self.slots.iter().map(|(_, slot)| slot);
        let mut slots: Vec<_> = slots.filter(|slot| matches!(slot.entry.role, EntryRole::User | EntryRole::Memory)).collect();
        if most < slots.len() {
            slots.select_nth_unstable_by_key(most, |slot| std::cmp::Reverse(slot.entry.created_at));
            slots.truncate(most);
        }
        slots.into_iter().map(|slot| (&slot.entry, &slot.claims))
    }

    /// Returns the facts and turns of the user that hold a standing instruction.
    pub(super) fn instructions(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.slots.iter().map(|(_, slot)| slot).filter(|slot| slot.claims.is_instruction(&slot.entry)).map(|slot| &slot.entry)
    }

    /// Returns an entry as a candidate that answers by what it states.
    pub(super) fn statement(&self, id: &EntryId, relevance: f32) -> Option<Candidate> {
        let slot = self.slots.get(*self.numbers.get(id)?)?;
        Some(self.candidate(slot, CandidateKind::Statement, relevance))
    }

    fn candidate(&self, slot: &Slot, kind: CandidateKind, relevance: f32) -> Candidate {
        let (entry, vector, claims) = (Arc::clone(&slot.entry), slot.vector.clone(), slot.claims.clone());
        let is_superseded = entry.role == EntryRole::User && self.is_superseded(&entry.id);
        Candidate { entry, kind, relevance, vector, is_superseded, claims }
    }

    /// Returns what the conversation was about so far, if that was summed up.
    pub fn summary(&self) -> Option<&Arc<Entry>> {
        self.summary.as_ref()
    }

    /// Returns all but the summary, by time, then by id.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        let mut entries: Vec<Arc<Entry>> = self.slots.iter().map(|(_, slot)| Arc::clone(&slot.entry)).collect();
        entries.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        entries
    }

    /// Returns how many there are, without the summary.
    pub fn len(&self) -> usize {
        self.numbers.size()
    }

    /// Tells whether there is nothing but perhaps a summary.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Takes vectors of the model `identity`; those of another one are let go.
    pub fn give_vectors(&mut self, identity: &str, vectors: &[EntryVector]) {
        if self.identity != identity {
            identity.clone_into(&mut self.identity);
            self.vectors = HashTrieMapSync::default();
            self.slots.change(|slot| slot.vector = None);
        }
        for vector in vectors {
            self.vectors.insert_mut(vector.text, Arc::from(vector.vector.as_slice()));
        }
        let vectors = &self.vectors;
        self.slots.change(|slot| {
            if slot.vector.is_none() {
                slot.vector = vectors.get(&ContentHash::of(&slot.entry.content)).cloned();
            }
        });
    }

    /// Returns the vector of an entry's text, if the model `identity` has read it.
    pub fn vector(&self, id: &EntryId, identity: &str) -> Option<&Arc<[f32]>> {
        let number = *self.numbers.get(id).filter(|_| self.identity == identity)?;
        self.slots.get(number)?.vector.as_ref()
    }

    /// Returns the texts that the model `identity` has not read yet.
    pub fn lacking(&self, identity: &str) -> Vec<Arc<Entry>> {
        let is_read = |slot: &Slot| self.identity == identity && slot.vector.is_some();
        self.slots.iter().filter(|(_, slot)| !is_read(slot)).map(|(_, slot)| Arc::clone(&slot.entry)).collect()
    }

    /// Returns the model whose vectors there are; it is empty if there are none.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Returns the `limit` facts and statements `of` a kind that answer best, best first; then as many other turns. Ties go to the newer,
    /// then to the smaller id. What has nothing to do with what is wanted is left out.
    pub fn candidates(&self, wanted: &Wanted<'_>, limit: usize, of: &dyn Fn(&Entry) -> bool) -> Vec<Candidate> {
        score::best(self, wanted, limit, of)
    }
}

#[cfg(test)]
mod tests;
