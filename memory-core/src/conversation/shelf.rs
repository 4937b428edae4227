//! What is kept of one conversation, ready to be asked.

mod score;
mod slots;

pub(super) use score::cosine;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rpds::HashTrieMapSync;

use self::slots::{Rank, Slot, Slots};
use super::wanted::content_terms;
use super::{Candidate, Entry, EntryId, EntryRole, EntryVector, Wanted};
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
    words: HashTrieMapSync<Term, Arc<Vec<Place>>>,
    /// How many words all entries have.
    length: u64,
    summary: Option<Arc<Entry>>,
    problems: BTreeMap<String, Problem>,
    /// The model of the vectors.
    identity: String,
    vectors: HashTrieMapSync<ContentHash, Arc<[f32]>>,
}

/// Where a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    number: u32,
    /// How often it stands there.
    count: u16,
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
        let counts = counts(&entry.content);
        let length: u32 = counts.values().map(|count| u32::from(*count)).sum();
        let distinct = u32::try_from(counts.len()).unwrap_or(u32::MAX);
        let vector = if self.vectors.is_empty() { None } else { self.vectors.get(&ContentHash::of(&entry.content)).cloned() };
        let id = entry.id.clone();
        let number = self.slots.put(Slot { rank: Rank::of(&entry), entry: Arc::new(entry), length, distinct, vector });
        for (term, count) in counts {
            let place = Place { number, count, length: u16::try_from(length).unwrap_or(u16::MAX) };
            match self.words.get_mut(&term) {
                Some(places) => Arc::make_mut(places).push(place),
                None => self.words.insert_mut(term, Arc::new(vec![place])),
            }
        }
        self.length += u64::from(length);
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
        for term in counts(&slot.entry.content).into_keys() {
            let is_gone = self.words.get_mut(&term).is_some_and(|places| {
                let places = Arc::make_mut(places);
                places.retain(|place| place.number != number);
                places.is_empty()
            });
            if is_gone {
                self.words.remove_mut(&term);
            }
        }
        self.length -= u64::from(slot.length);
        Some(slot.entry)
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

    /// Returns the `limit` entries `of` a kind that answer best, best first; ties go to the newer, then to the smaller id. What has
    /// nothing to do with what is wanted is left out.
    pub fn candidates(&self, wanted: &Wanted<'_>, limit: usize, of: &dyn Fn(&Entry) -> bool) -> Vec<Candidate> {
        score::best(self, wanted, limit, of)
    }
}

/// Returns how often each word of a text stands in it.
fn counts(text: &str) -> HashMap<Term, u16> {
    let mut counts = HashMap::<Term, u16>::new();
    content_terms(text, &mut |term| {
        let count = counts.entry(term).or_default();
        *count = count.saturating_add(1);
    });
    counts
}

#[cfg(test)]
mod tests;
