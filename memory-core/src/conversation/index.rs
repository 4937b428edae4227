//! An in-memory index of one conversation.

mod score;
mod slots;

use std::collections::BTreeMap;
use std::sync::Arc;

use rpds::HashTrieMapSync;

use self::slots::{EntrySlot, EntrySlots, RecencyKey};
use super::claim::EntryClaims;
use super::indexed_text::IndexedText;
use super::{
    ConversationEntry, EntryId, EntryRole, EntryVector, RecallCandidate, RecallMatchKind,
    RecallQuery,
};
use crate::text::Term;
use crate::{ContentHash, Problem};

/// An in-memory index of the active entries of one conversation, with their words and vectors.
///
/// # Examples
/// ```
/// use memory_core::conversation::{ConversationEntry, ConversationIndex, EntryRole, RecallQuery};
///
/// let mut index = ConversationIndex::default();
/// let now = chrono::DateTime::UNIX_EPOCH;
/// for (id, text) in [("1", "The user's dog is Rex."), ("2", "The user lives in Ghent.")] {
///     index.put(ConversationEntry::new(id.parse()?, &"default".parse()?, EntryRole::Memory, text, now));
/// }
/// let best = index.candidates(&RecallQuery::of("What is my dog called?"), 5, &|_| true);
/// assert_eq!(best[0].entry.content, "The user's dog is Rex.");
/// # Ok::<(), memory_core::ParseError>(())
/// ```
///
/// A clone shares unchanged data with its original, so cloning for a concurrent read is cheap.
#[derive(Debug, Clone, Default)]
pub struct ConversationIndex {
    slots: EntrySlots,
    numbers: HashTrieMapSync<EntryId, u32>,
    /// The postings of each word.
    words: HashTrieMapSync<Term, Arc<WordPostings>>,
    /// The distinct statements by hash, with the number of entries for each.
    ///
    /// The word frequencies are counted in these statements, so that requests, turns of the model and repetitions do not lower the weight
    /// of the words of a fact.
    statements: HashTrieMapSync<u64, StatementCount>,
    /// The total length of the distinct statements in words.
    stated_length: u64,
    summary: Option<Arc<ConversationEntry>>,
    /// The deleted facts that were extracted from a turn, by id.
    tombstones: HashTrieMapSync<EntryId, FactTombstone>,
    /// The ids of the deleted facts of each turn.
    buried: HashTrieMapSync<EntryId, Arc<Vec<EntryId>>>,
    problems: BTreeMap<String, Problem>,
    /// The identity of the embedding model of the vectors.
    identity: String,
    vectors: HashTrieMapSync<ContentHash, Arc<[f32]>>,
}

/// A distinct statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StatementCount {
    /// The number of entries that make it.
    entries: u32,
    /// The number of word occurrences in the first of these entries.
    length: u32,
}

/// A deleted fact.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FactTombstone {
    /// The turn from which it was extracted.
    source: EntryId,
    replaced_by: Option<EntryId>,
}

/// The postings of a word.
#[derive(Debug, Clone, Default)]
struct WordPostings {
    places: Vec<WordPosting>,
    /// The number of distinct statements with the word.
    statements: u32,
}

/// A posting: the occurrences of a word in one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WordPosting {
    number: u32,
    /// The number of occurrences in the entry.
    count: u8,
    /// Whether the word occurs in a statement.
    is_stated: bool,
    /// The number of words in the entry, at most 65,535.
    length: u16,
}

impl ConversationIndex {
    /// Adds an entry, or replaces the one with the same id. Only the latest summary is retained.
    pub fn put(&mut self, entry: ConversationEntry) {
        if entry.role == EntryRole::Summary {
            if !self
                .summary
                .as_ref()
                .is_some_and(|own| own.id != entry.id && entry.is_before(own))
            {
                self.summary = Some(Arc::new(entry));
            }
            return;
        }
        self.remove(&entry.id);
        let text = IndexedText::new(entry.role, &entry.content);
        let is_new_statement = text
            .statement
            .is_some_and(|statement| self.count_statement(statement, text.stated_length));
        let vector = if self.vectors.is_empty() {
            None
        } else {
            self.vectors.get(&ContentHash::of(&entry.content)).cloned()
        };
        let id = entry.id.clone();
        let distinct = u32::try_from(text.words.len()).unwrap_or(u32::MAX);
        let rank = RecencyKey::of(&entry);
        let slot = EntrySlot {
            rank,
            entry: Arc::new(entry),
            distinct,
            stated: text.stated,
            vector,
            claims: EntryClaims::default(),
        };
        let number = self.slots.put(slot);
        let length = u16::try_from(text.length).unwrap_or(u16::MAX);
        for (term, used) in text.words {
            let place = WordPosting {
                number,
                count: used.count,
                is_stated: used.is_stated,
                length,
            };
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

    /// Removes an entry, and returns it.
    pub fn remove(&mut self, id: &EntryId) -> Option<Arc<ConversationEntry>> {
        if self
            .summary
            .as_ref()
            .is_some_and(|summary| summary.id == *id)
        {
            return self.summary.take();
        }
        let number = *self.numbers.get(id)?;
        self.numbers.remove_mut(id);
        let slot = self.slots.take(number)?;
        let text = IndexedText::new(slot.entry.role, &slot.entry.content);
        let is_last_statement = text
            .statement
            .is_some_and(|statement| self.uncount_statement(statement));
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

    /// Adds a deleted entry. The turn of a deleted or replaced fact counts as superseded.
    pub fn add_tombstone(&mut self, tombstone: &ConversationEntry) {
        self.remove_tombstone(&tombstone.id);
        let Some(source) = tombstone
            .source_id
            .clone()
            .filter(|_| tombstone.role == EntryRole::Memory)
        else {
            return;
        };
        let mut own = self
            .buried
            .get(&source)
            .map(|own| (**own).clone())
            .unwrap_or_default();
        own.push(tombstone.id.clone());
        self.buried.insert_mut(source.clone(), Arc::new(own));
        self.tombstones.insert_mut(
            tombstone.id.clone(),
            FactTombstone {
                source,
                replaced_by: tombstone.replaced_by.clone(),
            },
        );
    }

    /// Removes a deleted entry, for example after it was restored.
    pub fn remove_tombstone(&mut self, id: &EntryId) {
        let Some(FactTombstone { source, .. }) = self.tombstones.get(id).cloned() else {
            return;
        };
        self.tombstones.remove_mut(id);
        let left: Vec<EntryId> = self
            .buried
            .get(&source)
            .into_iter()
            .flat_map(|own| own.iter())
            .filter(|own| *own != id)
            .cloned()
            .collect();
        if left.is_empty() {
            self.buried.remove_mut(&source);
        } else {
            self.buried.insert_mut(source, Arc::new(left));
        }
    }

    /// Returns whether a fact of this turn was deleted, or replaced by a fact of another turn.
    pub fn is_superseded(&self, turn: &EntryId) -> bool {
        let source = |fact: &EntryId| {
            let active = self.get(fact).and_then(|entry| entry.source_id.as_ref());
            active.or_else(|| self.tombstones.get(fact).map(|tombstone| &tombstone.source))
        };
        let is_outdated = |fact: &EntryId| {
            let replaced_by = self
                .tombstones
                .get(fact)
                .and_then(|tombstone| tombstone.replaced_by.as_ref());
            replaced_by.is_none_or(|by| source(by) != Some(turn))
        };
        self.buried
            .get(turn)
            .is_some_and(|facts| facts.iter().any(is_outdated))
    }

    /// Counts an entry with this statement, and returns whether it is the first one.
    fn count_statement(&mut self, statement: u64, length: u32) -> bool {
        let known = self.statements.get(&statement).copied();
        let first = StatementCount { entries: 1, length };
        let own = known.map_or(first, |known| StatementCount {
            entries: known.entries + 1,
            ..known
        });
        self.statements.insert_mut(statement, own);
        if known.is_none() {
            self.stated_length += u64::from(length);
        }
        known.is_none()
    }

    /// Uncounts an entry with this statement, and returns whether it was the last one.
    fn uncount_statement(&mut self, statement: u64) -> bool {
        let Some(known) = self.statements.get(&statement).copied() else {
            return false;
        };
        if 1 < known.entries {
            self.statements.insert_mut(
                statement,
                StatementCount {
                    entries: known.entries - 1,
                    ..known
                },
            );
            return false;
        }
        // The first entry may have repeated the words less often than the last one, so the recorded length is subtracted.
        self.stated_length -= u64::from(known.length);
        self.statements.remove_mut(&statement)
    }

    /// Sets or clears the defect of a file.
    pub fn set_problem(&mut self, path: &str, problem: Option<Problem>) {
        match problem {
            Some(problem) => drop(self.problems.insert(path.to_owned(), problem)),
            None => drop(self.problems.remove(path)),
        }
    }

    /// Returns the defects of files that could not be read, by path.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.values()
    }

    /// Returns the entry with this id, which may be the summary.
    pub fn get(&self, id: &EntryId) -> Option<&Arc<ConversationEntry>> {
        let summary = self.summary.as_ref().filter(|summary| summary.id == *id);
        summary.or_else(|| {
            self.slots
                .get(*self.numbers.get(id)?)
                .map(|slot| &slot.entry)
        })
    }

    /// Returns the parsed claims of an entry.
    pub(super) fn claims(&self, id: &EntryId) -> Option<&EntryClaims> {
        Some(&self.slots.get(*self.numbers.get(id)?)?.claims)
    }

    /// Returns the newest `most` facts and turns of the user with their parsed claims.
    ///
    /// Their order is unspecified.
    pub(super) fn newest_claims(
        &self,
        most: usize,
    ) -> impl Iterator<Item = (&Arc<ConversationEntry>, &EntryClaims)> {
        let slots = self.slots.iter().map(|(_, slot)| slot);
        let mut slots: Vec<_> = slots
            .filter(|slot| matches!(slot.entry.role, EntryRole::User | EntryRole::Memory))
            .collect();
        if most < slots.len() {
            slots.select_nth_unstable_by_key(most, |slot| std::cmp::Reverse(slot.entry.created_at));
            slots.truncate(most);
        }
        slots.into_iter().map(|slot| (&slot.entry, &slot.claims))
    }

    /// Returns the facts and turns of the user with standing sentences, and their parsed claims.
    ///
    /// Superseded turns are left out.
    pub(super) fn standing_entries(
        &self,
    ) -> impl Iterator<Item = (&Arc<ConversationEntry>, &EntryClaims)> {
        let is_standing = |slot: &&EntrySlot| !slot.claims.standing(&slot.entry).is_empty();
        let is_superseded = |slot: &EntrySlot| {
            slot.entry.role == EntryRole::User && self.is_superseded(&slot.entry.id)
        };
        let slots = self
            .slots
            .iter()
            .map(|(_, slot)| slot)
            .filter(is_standing)
            .filter(move |slot| !is_superseded(slot));
        slots.map(|slot| (&slot.entry, &slot.claims))
    }

    /// Returns an entry as a candidate that matches by its statements.
    pub(super) fn statement_candidate(
        &self,
        id: &EntryId,
        relevance: f32,
    ) -> Option<RecallCandidate> {
        let slot = self.slots.get(*self.numbers.get(id)?)?;
        Some(self.candidate(slot, RecallMatchKind::Statement, relevance))
    }

    fn candidate(
        &self,
        slot: &EntrySlot,
        kind: RecallMatchKind,
        relevance: f32,
    ) -> RecallCandidate {
        let (entry, vector, claims) = (
            Arc::clone(&slot.entry),
            slot.vector.clone(),
            slot.claims.clone(),
        );
        let is_superseded = entry.role == EntryRole::User && self.is_superseded(&entry.id);
        RecallCandidate {
            entry,
            kind,
            relevance,
            vector,
            is_superseded,
            claims,
        }
    }

    /// Returns the summary of the conversation so far, if there is one.
    pub fn summary(&self) -> Option<&Arc<ConversationEntry>> {
        self.summary.as_ref()
    }

    /// Returns all entries except the summary, by time, then by id.
    pub fn entries(&self) -> Vec<Arc<ConversationEntry>> {
        let mut entries: Vec<Arc<ConversationEntry>> = self
            .slots
            .iter()
            .map(|(_, slot)| Arc::clone(&slot.entry))
            .collect();
        entries.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        entries
    }

    /// Returns the number of entries without the summary.
    pub fn len(&self) -> usize {
        self.numbers.size()
    }

    /// Returns whether there are no entries, except for a possible summary.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Adds vectors of the model `identity`, and drops those of any other model.
    pub fn add_vectors(&mut self, identity: &str, vectors: &[EntryVector]) {
        if self.identity != identity {
            identity.clone_into(&mut self.identity);
            self.vectors = HashTrieMapSync::default();
            self.slots.for_each_mut(|slot| slot.vector = None);
        }
        for vector in vectors {
            self.vectors
                .insert_mut(vector.text, Arc::from(vector.vector.as_slice()));
        }
        let vectors = &self.vectors;
        self.slots.for_each_mut(|slot| {
            if slot.vector.is_none() {
                slot.vector = vectors.get(&ContentHash::of(&slot.entry.content)).cloned();
            }
        });
    }

    /// Returns the vector of an entry's text, if there is one of the model `identity`.
    pub fn vector(&self, id: &EntryId, identity: &str) -> Option<&Arc<[f32]>> {
        let number = *self.numbers.get(id).filter(|_| self.identity == identity)?;
        self.slots.get(number)?.vector.as_ref()
    }

    /// Returns the entries without a vector of the model `identity`.
    pub fn entries_without_vector(&self, identity: &str) -> Vec<Arc<ConversationEntry>> {
        let is_read = |slot: &EntrySlot| self.identity == identity && slot.vector.is_some();
        self.slots
            .iter()
            .filter(|(_, slot)| !is_read(slot))
            .map(|(_, slot)| Arc::clone(&slot.entry))
            .collect()
    }

    /// Returns the identity of the model of the vectors, or an empty string without vectors.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Returns the best `limit` statements that match `of`, best first, then the best `limit` other turns.
    ///
    /// Statements include facts. Ties are resolved in favour of the newer entry, then of the smaller id. Entries with a relevance of 0 are
    /// left out.
    pub fn candidates(
        &self,
        wanted: &RecallQuery<'_>,
        limit: usize,
        of: &dyn Fn(&ConversationEntry) -> bool,
    ) -> Vec<RecallCandidate> {
        score::rank_candidates(self, wanted, limit, of)
    }
}

#[cfg(test)]
mod tests;
