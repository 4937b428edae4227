//! What is kept of one conversation, ready to be asked.

mod score;

pub(super) use score::cosine;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

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
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    /// What was taken away leaves an empty place, which is used again.
    slots: Vec<Option<Slot>>,
    empty: Vec<u32>,
    numbers: HashMap<EntryId, u32>,
    /// Where each word stands, and how often.
    words: HashMap<Term, Vec<(u32, u16)>>,
    /// How many words all entries have.
    length: u64,
    summary: Option<Arc<Entry>>,
    problems: BTreeMap<String, Problem>,
    /// The model of the vectors.
    identity: String,
    vectors: HashMap<ContentHash, Arc<[f32]>>,
}

#[derive(Debug, Clone)]
struct Slot {
    entry: Arc<Entry>,
    /// How many words it has.
    length: u32,
    /// How many different ones.
    distinct: u32,
    vector: Option<Arc<[f32]>>,
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
        let number = self.empty.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        let counts = counts(&entry.content);
        let length = counts.values().map(|count| u32::from(*count)).sum();
        let distinct = u32::try_from(counts.len()).unwrap_or(u32::MAX);
        for (term, count) in counts {
            self.words.entry(term).or_default().push((number, count));
        }
        self.length += u64::from(length);
        self.numbers.insert(entry.id.clone(), number);
        let vector = if self.vectors.is_empty() { None } else { self.vectors.get(&ContentHash::of(&entry.content)).cloned() };
        self.slots[number as usize] = Some(Slot { entry: Arc::new(entry), length, distinct, vector });
    }

    /// Takes an entry away.
    pub fn remove(&mut self, id: &EntryId) -> Option<Arc<Entry>> {
        if self.summary.as_ref().is_some_and(|summary| summary.id == *id) {
            return self.summary.take();
        }
        let number = self.numbers.remove(id)?;
        let slot = self.slots[number as usize].take()?;
        for term in counts(&slot.entry.content).into_keys() {
            let is_gone = self.words.get_mut(&term).is_some_and(|places| {
                places.retain(|(place, _)| *place != number);
                places.is_empty()
            });
            if is_gone {
                self.words.remove(&term);
            }
        }
        self.length -= u64::from(slot.length);
        self.empty.push(number);
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
        summary.or_else(|| self.slot(*self.numbers.get(id)?).map(|slot| &slot.entry))
    }

    /// Returns what the conversation was about so far, if that was summed up.
    pub fn summary(&self) -> Option<&Arc<Entry>> {
        self.summary.as_ref()
    }

    /// Returns all but the summary, by time, then by id.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        let mut entries: Vec<Arc<Entry>> = self.slots.iter().flatten().map(|slot| Arc::clone(&slot.entry)).collect();
        entries.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        entries
    }

    /// Returns how many there are, without the summary.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Tells whether there is nothing but perhaps a summary.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Takes vectors of the model `identity`; those of another one are let go.
    pub fn give_vectors(&mut self, identity: &str, vectors: &[EntryVector]) {
        if self.identity != identity {
            identity.clone_into(&mut self.identity);
            self.vectors.clear();
            self.slots.iter_mut().flatten().for_each(|slot| slot.vector = None);
        }
        self.vectors.extend(vectors.iter().map(|vector| (vector.text, Arc::from(vector.vector.as_slice()))));
        for slot in self.slots.iter_mut().flatten().filter(|slot| slot.vector.is_none()) {
            slot.vector = self.vectors.get(&ContentHash::of(&slot.entry.content)).cloned();
        }
    }

    /// Returns the vector of an entry's text, if the model `identity` has read it.
    pub fn vector(&self, id: &EntryId, identity: &str) -> Option<&Arc<[f32]>> {
        let number = *self.numbers.get(id).filter(|_| self.identity == identity)?;
        self.slot(number)?.vector.as_ref()
    }

    /// Returns the texts that the model `identity` has not read yet.
    pub fn lacking(&self, identity: &str) -> Vec<Arc<Entry>> {
        let is_read = |slot: &&Slot| self.identity == identity && slot.vector.is_some();
        self.slots.iter().flatten().filter(|slot| !is_read(slot)).map(|slot| Arc::clone(&slot.entry)).collect()
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

    fn slot(&self, number: u32) -> Option<&Slot> {
        self.slots.get(number as usize)?.as_ref()
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
