//! Finds the documents that have a vector.

use std::collections::HashMap;

use memory_core::ContentHash;

use super::open::ModelVectors;
use super::view::RowsView;

/// Size of the filter that skips most of the other keys, in bits.
const FILTER_BITS: usize = 1 << 16;

impl ModelVectors {
    /// Returns the number of documents with a vector.
    pub fn count(&self) -> usize {
        self.view.as_ref().map_or(0, |view| view.head.live_count())
    }

    /// Returns the keys of all documents with a vector, in arbitrary order.
    pub fn keys(&self) -> impl Iterator<Item = i64> {
        self.view.iter().flat_map(RowsView::live_rows).map(|(_, key)| key)
    }

    /// Returns those documents that have no vector for their current text.
    pub fn missing<'a>(
        &'a self,
        documents: impl Iterator<Item = (i64, ContentHash)> + 'a,
    ) -> impl Iterator<Item = (i64, ContentHash)> + 'a {
        let mut kept: Vec<(i64, usize)> = self.view.iter().flat_map(RowsView::live_rows).map(|(slot, key)| (key, slot)).collect();
        kept.sort_unstable();
        let text = move |key: i64| {
            let place = kept.binary_search_by_key(&key, |(key, _)| *key).ok()?;
            self.view.as_ref().map(|view| view.text(kept[place].1))
        };
        documents.filter(move |(key, hash)| text(*key).is_none_or(|kept| kept != *hash))
    }

    /// Reads every vector, and returns the keys of the damaged ones.
    ///
    /// Damaged vectors count as missing in a search, but [`Self::missing`] does not return them before they are removed.
    pub fn damaged(&self) -> Vec<i64> {
        let damaged = |view: &RowsView| -> Vec<i64> {
            view.live_rows().filter(|(slot, _)| view.row(*slot).is_none()).map(|(_, key)| key).collect()
        };
        self.view.as_ref().map(damaged).unwrap_or_default()
    }
}

impl RowsView {
    /// Returns the slots of the live rows with these keys.
    pub(super) fn slots(&self, keys: impl Iterator<Item = i64>) -> HashMap<i64, usize> {
        let mut wanted: HashMap<i64, Option<usize>> = keys.map(|key| (key, None)).collect();
        if wanted.is_empty() {
            return HashMap::new();
        }
        // A scan of all keys is cheaper than keeping them sorted; the bit filter avoids most of the hashing.
        let mut filter = vec![0_u64; FILTER_BITS / 64];
        for key in wanted.keys() {
            let bit = filter_bit(*key);
            filter[bit / 64] |= 1 << (bit % 64);
        }
        let may_be_wanted = |key: i64| {
            let bit = filter_bit(key);
            filter[bit / 64] >> (bit % 64) & 1 == 1
        };
        for (slot, key) in self.live_rows().filter(|(_, key)| may_be_wanted(*key)) {
            if let Some(place) = wanted.get_mut(&key) {
                *place = Some(slot);
            }
        }
        wanted.into_iter().filter_map(|(key, slot)| slot.map(|slot| (key, slot))).collect()
    }
}

/// Returns the bit of a key in the filter; consecutive keys are spread.
fn filter_bit(key: i64) -> usize {
    (key.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
}
