//! The head: the number of rows, and the set of dead rows.

use memory_core::ContentHash;

use super::layout::{MOST_ROWS, RowLayout};

/// The name of the file.
pub(super) const FILE: &str = "head";

/// Identifies the file, its version and the byte order of the machine that wrote it.
const MAGIC: u64 = 0x4d45_4d56_4543_0003;

/// Number of bytes before the set of dead rows.
const HEADER_BYTES: usize = 88;

/// Maximum size of a head, in bytes.
pub(super) const LONGEST: usize = HEADER_BYTES + MOST_ROWS / 8 + 4;

/// The head of a file of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VectorHead {
    /// The file of the rows.
    pub(super) rows_file: RowsFile,
    /// Number of changes with this file; each head of a file has another one.
    pub(super) sequence: u64,
    /// Number of valid rows. Data after them belongs to an incomplete write.
    pub(super) rows: usize,
    /// Number of documents with live rows.
    pub(super) documents: usize,
    /// The dead rows among them.
    pub(super) dead: DeadRows,
}

/// The random letters and digits in the name of a file of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowsFile([u8; RowsFile::LENGTH]);

/// A set of dead rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DeadRows {
    words: Vec<u64>,
}

impl RowsFile {
    /// Number of random characters in a name.
    pub(super) const LENGTH: usize = 16;

    /// The common prefix of the names.
    pub(super) const PREFIX: &str = "rows-";

    /// Parses the name of a file.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::from_random(name.strip_prefix(Self::PREFIX)?.as_bytes())
    }

    /// Returns the name of the file.
    pub(super) fn name(&self) -> String {
        let random = self.0.iter().map(|&byte| char::from(byte));
        Self::PREFIX.chars().chain(random).collect()
    }

    fn from_random(random: &[u8]) -> Option<Self> {
        let random: [u8; Self::LENGTH] = random.try_into().ok()?;
        random
            .iter()
            .all(u8::is_ascii_alphanumeric)
            .then_some(Self(random))
    }
}

impl DeadRows {
    #[inline]
    pub(super) fn contains(&self, slot: usize) -> bool {
        self.words
            .get(slot / 64)
            .is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    pub(super) fn insert(&mut self, slot: usize) {
        if self.words.len() <= slot / 64 {
            self.words.resize(slot / 64 + 1, 0);
        }
        self.words[slot / 64] |= 1 << (slot % 64);
    }

    pub(super) fn count(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the slot after the last dead one.
    fn end(&self) -> usize {
        let last = self.words.iter().rposition(|word| *word != 0);
        last.map_or(0, |last| {
            last * 64 + 64 - self.words[last].leading_zeros() as usize
        })
    }
}

impl VectorHead {
    /// Encodes the head for vectors of this model.
    pub(super) fn encode(&self, model: &ContentHash, layout: RowLayout) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.dead.words.len() * 8 + 4);
        bytes.extend(MAGIC.to_ne_bytes());
        bytes.extend(model.as_bytes());
        bytes.extend((layout.dimensions as u64).to_ne_bytes());
        bytes.extend(self.sequence.to_ne_bytes());
        bytes.extend((self.rows as u64).to_ne_bytes());
        bytes.extend((self.documents as u64).to_ne_bytes());
        bytes.extend(self.rows_file.0);
        bytes.extend(self.dead.words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes.extend(crc32fast::hash(&bytes).to_ne_bytes());
        bytes
    }

    /// Decodes a head; `None` if it is damaged, or belongs to another model or layout.
    pub(super) fn decode(bytes: &[u8], model: &ContentHash, layout: RowLayout) -> Option<Self> {
        let (bytes, check) = bytes.split_last_chunk()?;
        if crc32fast::hash(bytes) != u32::from_ne_bytes(*check) {
            return None;
        }
        let (fixed, dead) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let number = |start: usize| {
            fixed[start..]
                .first_chunk()
                .map(|bytes| u64::from_ne_bytes(*bytes))
        };
        let is_ours = number(0)? == MAGIC
            && fixed[8..40] == *model.as_bytes()
            && number(40)? == layout.dimensions as u64;
        let rows = usize::try_from(number(56)?)
            .ok()
            .filter(|rows| *rows <= MOST_ROWS)?;
        let (words, rest) = dead.as_chunks();
        let dead = DeadRows {
            words: words.iter().map(|word| u64::from_ne_bytes(*word)).collect(),
        };
        let is_whole = is_ours && rest.is_empty() && dead.end() <= rows;
        is_whole.then_some(Self {
            rows_file: RowsFile::from_random(&fixed[72..])?,
            sequence: number(48)?,
            rows,
            documents: usize::try_from(number(64)?).ok()?,
            dead,
        })
    }

    /// Returns the number of dimensions in an encoded head of any model.
    pub(super) fn dimensions(bytes: &[u8]) -> Option<usize> {
        let number = |start: usize| {
            bytes
                .get(start..)?
                .first_chunk()
                .map(|bytes| u64::from_ne_bytes(*bytes))
        };
        number(40)
            .filter(|_| number(0) == Some(MAGIC))
            .and_then(|dimensions| usize::try_from(dimensions).ok())
    }

    /// Returns whether both are the same head of the same file.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.rows_file == other.rows_file && self.sequence == other.sequence
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LAYOUT: RowLayout = RowLayout { dimensions: 384 };

    fn head() -> VectorHead {
        let rows_file = RowsFile::from_name("rows-0123456789abcdef").unwrap();
        let mut dead = DeadRows::default();
        for slot in [3, 64, 699] {
            dead.insert(slot);
        }
        VectorHead {
            rows_file,
            sequence: 9,
            rows: 700,
            documents: 500,
            dead,
        }
    }

    #[test]
    fn a_head_comes_back_as_it_was_and_only_for_its_own_model() {
        let model = ContentHash::of("model");
        let bytes = head().encode(&model, LAYOUT);
        assert_eq!(VectorHead::decode(&bytes, &model, LAYOUT), Some(head()));
        assert_eq!(
            VectorHead::decode(&bytes, &ContentHash::of("another"), LAYOUT),
            None
        );
        assert_eq!(
            VectorHead::decode(&bytes, &model, RowLayout { dimensions: 383 }),
            None
        );
    }

    #[test]
    fn a_head_that_was_cut_or_changed_anywhere_is_none() {
        let model = ContentHash::of("model");
        let bytes = head().encode(&model, LAYOUT);
        for place in 0..bytes.len() {
            assert_eq!(
                VectorHead::decode(&bytes[..place], &model, LAYOUT),
                None,
                "cut at {place}"
            );
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[place] ^= 1 << bit;
                assert_eq!(
                    VectorHead::decode(&changed, &model, LAYOUT),
                    None,
                    "changed at {place}"
                );
            }
        }
    }

    #[test]
    fn a_head_whose_dead_never_lived_is_none() {
        let model = ContentHash::of("model");
        let head = VectorHead {
            rows: 699,
            ..head()
        };
        assert_eq!(
            VectorHead::decode(&head.encode(&model, LAYOUT), &model, LAYOUT),
            None
        );
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_none() {
        for name in [
            "rows-",
            "rows-../../../../etc/x",
            "rows-0123456789abcde/",
            "head",
            "rows-0123456789abcdef0",
        ] {
            assert_eq!(RowsFile::from_name(name), None, "{name}");
        }
        assert_eq!(head().rows_file.name(), "rows-0123456789abcdef");
    }

    proptest! {
        #[test]
        fn the_dead_are_those_that_were_named(slots in prop::collection::btree_set(0_usize..500, 0..60)) {
            let mut dead = DeadRows::default();
            for slot in &slots {
                dead.insert(*slot);
            }
            prop_assert_eq!(dead.count(), slots.len());
            prop_assert_eq!(dead.end(), slots.last().map_or(0, |last| last + 1));
            prop_assert!((0..600).all(|slot| dead.contains(slot) == slots.contains(&slot)));
        }

        #[test]
        fn any_bytes_can_be_looked_at(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(VectorHead::decode(&bytes, &ContentHash::of("model"), LAYOUT), None);
        }
    }
}
