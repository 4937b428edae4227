//! Which documents have a vector.

use std::collections::HashMap;

use memory_core::ContentHash;

use super::open::Vectors;
use super::view::View;

/// How many bits tell most keys that are not wanted from those that are.
const FILTER_BITS: usize = 1 << 16;

impl Vectors {
    /// Returns how many documents have a vector.
    pub fn count(&self) -> usize {
        self.view.as_ref().map_or(0, |view| view.head.live())
    }

    /// Returns the keys of all documents that have a vector, in no order.
    pub fn keys(&self) -> impl Iterator<Item = i64> {
        self.view.iter().flat_map(View::live).map(|(_, key)| key)
    }

    /// Returns those documents that have no vector for the text they have now.
    pub fn missing<'a>(
        &'a self,
        documents: impl Iterator<Item = (i64, ContentHash)> + 'a,
    ) -> impl Iterator<Item = (i64, ContentHash)> + 'a {
        let mut kept: Vec<(i64, usize)> = self.view.iter().flat_map(View::live).map(|(slot, key)| (key, slot)).collect();
        kept.sort_unstable();
        let text = move |key: i64| {
            let place = kept.binary_search_by_key(&key, |(key, _)| *key).ok()?;
            self.view.as_ref().map(|view| view.text(kept[place].1))
        };
        documents.filter(move |(key, hash)| text(*key).is_none_or(|kept| kept != *hash))
    }

    /// Reads every vector, and returns the keys of those that are damaged. They count as not there, but are not missing
    /// before they are removed.
    pub fn damaged(&self) -> Vec<i64> {
        let damaged =
            |view: &View| -> Vec<i64> { view.live().filter(|(slot, _)| view.row(*slot).is_none()).map(|(_, key)| key).collect() };
        self.view.as_ref().map(damaged).unwrap_or_default()
    }
}

impl View {
    /// Returns where the rows of these keys are, as far as they live.
    pub(super) fn slots(&self, keys: impl Iterator<Item = i64>) -> HashMap<i64, usize> {
        let mut wanted: HashMap<i64, Option<usize>> = keys.map(|key| (key, None)).collect();
        if wanted.is_empty() {
            return HashMap::new();
        }
        // To look at all keys in passing is cheaper than to keep them sorted; a few bits spare most of the hashing.
        let mut filter = vec![0_u64; FILTER_BITS / 64];
        for key in wanted.keys() {
            let bit = filter_bit(*key);
            filter[bit / 64] |= 1 << (bit % 64);
        }
        let may_be_wanted = |key: i64| {
            let bit = filter_bit(key);
            filter[bit / 64] >> (bit % 64) & 1 == 1
        };
        for (slot, key) in self.live().filter(|(_, key)| may_be_wanted(*key)) {
            if let Some(place) = wanted.get_mut(&key) {
                *place = Some(slot);
            }
        }
        wanted.into_iter().filter_map(|(key, slot)| slot.map(|slot| (key, slot))).collect()
    }
}

/// Spreads keys that follow each other.
fn filter_bit(key: i64) -> usize {
    (key.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}
