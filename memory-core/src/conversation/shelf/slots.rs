//! The entries of a shelf by numbers.

use std::cmp::Reverse;
use std::sync::Arc;

use super::super::claim::EntryClaims;
use crate::conversation::{Entry, EntryId};

/// So many slots lie together, and are copied together.
const TOGETHER: usize = 128;

/// Entries by numbers. A copy shares with its original those that neither has changed since.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    /// What was taken away leaves an empty place, which is used again.
    groups: Vec<Arc<Vec<Option<Slot>>>>,
    empty: Vec<u32>,
    count: u32,
}

/// An entry, and what is asked of it each time.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub entry: Arc<Entry>,
    pub rank: Rank,
    /// Number of distinct words.
    pub distinct: u32,
    /// Number of distinct words that state something.
    pub stated: u32,
    pub vector: Option<Arc<[f32]>>,
    pub claims: EntryClaims,
}

/// The order of entries that answer equally well: the newer first, then the smaller id, of which this is the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(Reverse<(i64, u32)>, u64);

impl Rank {
    pub(super) fn of(entry: &Entry) -> Self {
        let at = entry.created_at;
        Self(Reverse((at.timestamp(), at.timestamp_subsec_nanos())), beginning(&entry.id))
    }
}

fn beginning(id: &EntryId) -> u64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(id.as_str().bytes()).for_each(|(byte, own)| *byte = own);
    u64::from_be_bytes(bytes)
}

impl Slots {
    /// Puts a slot in an empty place, or behind all others, and returns its number.
    pub(super) fn put(&mut self, slot: Slot) -> u32 {
        let number = self.empty.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        let (group, place) = split(number);
        if group == self.groups.len() {
            self.groups.push(Arc::default());
        }
        let group = Arc::make_mut(&mut self.groups[group]);
        if place == group.len() {
            group.push(None);
        }
        group[place] = Some(slot);
        number
    }

    /// Takes a slot away.
    pub(super) fn take(&mut self, number: u32) -> Option<Slot> {
        let (group, place) = split(number);
        let slot = Arc::make_mut(self.groups.get_mut(group)?).get_mut(place)?.take()?;
        self.empty.push(number);
        Some(slot)
    }

    pub(super) fn get(&self, number: u32) -> Option<&Slot> {
        let (group, place) = split(number);
        self.groups.get(group)?.get(place)?.as_ref()
    }

    /// Returns how many numbers there are, those of empty places among them.
    pub(super) fn numbers(&self) -> usize {
        self.count as usize
    }

    /// Returns the slots, with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Slot)> {
        let all = self.groups.iter().flat_map(|group| group.iter());
        all.enumerate().filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    /// Changes every slot.
    pub(super) fn change(&mut self, mut each: impl FnMut(&mut Slot)) {
        let all = self.groups.iter_mut().flat_map(|group| Arc::make_mut(group).iter_mut());
        all.flatten().for_each(&mut each);
    }
}

fn split(number: u32) -> (usize, usize) {
    (number as usize / TOGETHER, number as usize % TOGETHER)
}
