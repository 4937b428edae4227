//! Sets of documents of one segment, as bitmaps.

use tantivy::postings::BlockSegmentPostings;
use tantivy::{DocId, SegmentReader};

/// A set of documents of one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocumentSet(Vec<u64>);

impl DocumentSet {
    /// Returns the empty set for a segment with this number of documents.
    pub(super) fn empty(documents: DocId) -> Self {
        Self(vec![0; documents.div_ceil(64) as usize])
    }

    /// Returns the set of all documents of the segment that are not deleted.
    pub(super) fn alive(segment: &SegmentReader) -> Self {
        let documents = segment.max_doc();
        let mut bits = Self(vec![u64::MAX; documents.div_ceil(64) as usize]);
        if let Some(last) = bits.0.last_mut()
            && !documents.is_multiple_of(64)
        {
            *last = (1 << (documents % 64)) - 1;
        }
        if let Some(alive) = segment.alive_bitset() {
            bits.filter(|document| alive.is_alive(document));
        }
        bits
    }

    /// Adds the documents of a postings list.
    pub(super) fn insert_all(&mut self, mut postings: BlockSegmentPostings) {
        // Bits of one word are collected in a register: in dense lists, each write would wait for the store of the previous one.
        let (mut place, mut word) = (0, 0);
        while !postings.docs().is_empty() {
            for document in postings.docs() {
                let next = (document / 64) as usize;
                if next != place {
                    self.0[place] |= word;
                    (place, word) = (next, 0);
                }
                word |= 1 << (document % 64);
            }
            postings.advance();
        }
        if let Some(last) = self.0.get_mut(place) {
            *last |= word;
        }
    }

    /// Iterates over the documents in ascending order.
    pub(super) fn documents(&self) -> impl Iterator<Item = DocId> {
        (0..)
            .zip(&self.0)
            .filter(|(_, word)| **word != 0)
            .flat_map(|(number, word)| {
                let mut left = *word;
                std::iter::from_fn(move || {
                    let bit = left.trailing_zeros();
                    left &= left.checked_sub(1)?;
                    Some(number * 64 + bit)
                })
            })
    }

    /// Returns whether the set contains `document`; false if the number is out of range.
    pub(super) fn contains_checked(&self, document: DocId) -> bool {
        self.0
            .get((document / 64) as usize)
            .is_some_and(|word| word >> (document % 64) & 1 == 1)
    }

    /// Returns whether the set contains `document`.
    ///
    /// # Panics
    /// If the number is out of range.
    pub(super) fn contains(&self, document: DocId) -> bool {
        self.0[(document / 64) as usize] >> (document % 64) & 1 == 1
    }

    /// Retains only the documents that `other` contains as well.
    pub(super) fn intersect(&mut self, other: &Self) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(own, other)| *own &= other);
    }

    /// Removes the documents of `other`.
    pub(super) fn remove_all(&mut self, other: &Self) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(own, other)| *own &= !other);
    }

    /// Adds the documents of `other`.
    pub(super) fn extend(&mut self, other: &Self) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(own, other)| *own |= other);
    }

    /// Retains only the documents for which `passes` returns true.
    pub(super) fn filter(&mut self, passes: impl Fn(DocId) -> bool) {
        for (number, word) in (0..).zip(&mut self.0) {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !passes(number * 64 + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// Returns the number of documents of a postings list that are in the set.
    pub(super) fn count_in(&self, mut postings: BlockSegmentPostings) -> u64 {
        let mut count = 0;
        while !postings.docs().is_empty() {
            count += postings
                .docs()
                .iter()
                .map(|document| u64::from(self.contains(*document)))
                .sum::<u64>();
            postings.advance();
        }
        count
    }

    /// Returns whether a document is in both sets.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let mut words = self.0.iter().zip(&other.0);
        words.any(|(one, other)| one & other != 0)
    }

    /// Returns the number of documents in the set.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}
