//! A small summary of a text by which texts like it are found.

use super::shingle::shingles;

/// How many bytes a sketch takes.
pub const SKETCH_BYTES: usize = 2 * VALUES;

/// Changes whenever another sketch is made of the same text; one that was kept of another version must be made anew.
pub const SKETCH_VERSION: u32 = 1;

/// How many bands a sketch has: texts that are equal in one are candidates.
pub(super) const BANDS: usize = 20;

/// How many values a band has. Texts that share the fraction j of their shingles are equal in one with probability j³, and so in
/// some band with probability 1 - (1 - j³)²⁰: 0.98 at j = 0.56, 0.15 at j = 0.2.
pub(super) const ROWS: usize = 3;

const VALUES: usize = BANDS * ROWS;

/// A small summary of a text: the smallest hash of its shingles under each of sixty hash functions (`MinHash`).
///
/// The shingles are two neighbouring words, or characters of a script without blanks, folded as the index does; so
/// case, width, accents, punctuation and traditional or simplified characters do not matter. The share of equal values is an
/// estimate of the share of equal shingles, see Broder, "On the resemblance and containment of documents" (1997).
///
/// ```
/// use memory_dream::similar::Sketch;
///
/// assert_eq!(Sketch::of("Anna likes TEA."), Sketch::of("anna likes tea"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sketch([u16; VALUES]);

impl Sketch {
    /// Returns the sketch of a text.
    pub fn of(text: &str) -> Self {
        let mut smallest = [u32::MAX; VALUES];
        shingles(text, &mut |shingle| {
            let [low, high] = halves(shingle);
            for ((smallest, factor), offset) in smallest.iter_mut().zip(FACTORS).zip(OFFSETS) {
                let hash = (low ^ offset).wrapping_mul(factor).wrapping_add(high);
                *smallest = (*smallest).min(hash ^ (hash >> 15));
            }
        });
        // The smallest of many is small: its lower half still tells it from others.
        Self(
            smallest
                .map(|value| value.wrapping_mul(0x9e37_79b1).to_le_bytes())
                .map(|[_, _, third, last]| u16::from_le_bytes([third, last])),
        )
    }

    /// Returns which share of the shingles of either text both have, from 0 to 1, give or take a tenth.
    #[expect(clippy::cast_precision_loss, reason = "there are sixty values")]
    pub fn resemblance(&self, other: &Self) -> f32 {
        let equal = self.0.iter().zip(other.0).filter(|(own, other)| **own == *other).count();
        equal as f32 / VALUES as f32
    }

    /// Returns it as bytes, the same on every machine.
    pub fn to_bytes(&self) -> [u8; SKETCH_BYTES] {
        let mut bytes = [0; SKETCH_BYTES];
        for (place, value) in bytes.chunks_exact_mut(2).zip(self.0) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// Reads what [`Sketch::to_bytes`] returned; `None` if the bytes are not as many.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; SKETCH_BYTES] = bytes.try_into().ok()?;
        let mut values = [0; VALUES];
        for (value, place) in values.iter_mut().zip(bytes.chunks_exact(2)) {
            *value = u16::from_le_bytes([place[0], place[1]]);
        }
        Some(Self(values))
    }

    /// Returns the values of a band as one number.
    pub(super) fn band(&self, band: usize) -> u64 {
        self.0[band * ROWS..(band + 1) * ROWS].iter().fold(0, |key, value| key << 16 | u64::from(*value))
    }

    /// Returns all values, those of a band first and then on, around the end.
    pub(super) fn values_from(&self, band: usize) -> impl Iterator<Item = u16> {
        let (before, from) = self.0.split_at(band * ROWS);
        from.iter().chain(before).copied()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "halves are wanted")]
const fn halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

/// What each of the hash functions multiplies by: odd.
const FACTORS: [u32; VALUES] = numbers(1, 1);

const OFFSETS: [u32; VALUES] = numbers(2, 0);

/// Returns numbers that are the same for ever (`SplitMix64`).
const fn numbers(seed: u64, bits: u32) -> [u32; VALUES] {
    let mut numbers = [0; VALUES];
    let mut state = seed;
    let mut at = 0;
    while at < VALUES {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        numbers[at] = halves(mixed)[1] | bits;
        at += 1;
    }
    numbers
}
