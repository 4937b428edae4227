//! The storage of the entries of an index, by number.

use std::cmp::Reverse;
use std::sync::Arc;

use super::super::claim::EntryClaims;
use crate::conversation::{ConversationEntry, EntryId};

/// The number of slots per group; a group is copied as a whole on write.
const GROUP_SIZE: usize = 128;

/// A copy-on-write vector of entries. A clone shares unchanged groups with its original.
#[derive(Debug, Clone, Default)]
pub(super) struct EntrySlots {
    /// The groups of slots. A removed entry leaves an empty slot, which is reused.
    groups: Vec<Arc<Vec<Option<EntrySlot>>>>,
    empty: Vec<u32>,
    count: u32,
}

/// An entry with its precomputed features for queries.
#[derive(Debug, Clone)]
pub(super) struct EntrySlot {
    pub entry: Arc<ConversationEntry>,
    pub rank: RecencyKey,
    /// The number of distinct words.
    pub distinct: u32,
    /// The number of distinct words in statements.
    pub stated: u32,
    pub vector: Option<Arc<[f32]>>,
    pub claims: EntryClaims,
}

/// The sort key for equally relevant entries: the newer first, then the smaller id.
///
/// It contains only the first 8 bytes of the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecencyKey(Reverse<(i64, u32)>, u64);

impl RecencyKey {
    pub(super) fn of(entry: &ConversationEntry) -> Self {
        let at = entry.created_at;
        Self(
            Reverse((at.timestamp(), at.timestamp_subsec_nanos())),
            id_prefix(&entry.id),
        )
    }
}

fn id_prefix(id: &EntryId) -> u64 {
    let mut bytes = [0; 8];
    bytes
        .iter_mut()
        .zip(id.as_str().bytes())
        .for_each(|(byte, own)| *byte = own);
    u64::from_be_bytes(bytes)
}

impl EntrySlots {
    /// Stores a slot in an empty place or at the end, and returns its number.
    pub(super) fn put(&mut self, slot: EntrySlot) -> u32 {
        let number = self.empty.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        let (group, place) = split_number(number);
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

    /// Removes a slot, and returns it.
    pub(super) fn take(&mut self, number: u32) -> Option<EntrySlot> {
        let (group, place) = split_number(number);
        let slot = Arc::make_mut(self.groups.get_mut(group)?)
            .get_mut(place)?
            .take()?;
        self.empty.push(number);
        Some(slot)
    }

    pub(super) fn get(&self, number: u32) -> Option<&EntrySlot> {
        let (group, place) = split_number(number);
        self.groups.get(group)?.get(place)?.as_ref()
    }

    /// Returns the number of slots, including empty ones.
    pub(super) fn slot_count(&self) -> usize {
        self.count as usize
    }

    /// Returns the occupied slots with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &EntrySlot)> {
        let all = self.groups.iter().flat_map(|group| group.iter());
        all.enumerate()
            .filter_map(|(number, slot)| Some((number, slot.as_ref()?)))
    }

    /// Applies `each` to every occupied slot.
    pub(super) fn for_each_mut(&mut self, mut each: impl FnMut(&mut EntrySlot)) {
        let all = self
            .groups
            .iter_mut()
            .flat_map(|group| Arc::make_mut(group).iter_mut());
        all.flatten().for_each(&mut each);
    }
}

fn split_number(number: u32) -> (usize, usize) {
    (number as usize / GROUP_SIZE, number as usize % GROUP_SIZE)
}
