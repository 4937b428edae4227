//! `MinHash` sketches of the shingles of a text, by which similar texts are found.

use memory_core::text::fold;

/// Size of a sketch in bytes.
pub const SKETCH_BYTES: usize = 2 * VALUE_COUNT;

/// Version of the sketch algorithm; sketches of another version must be recomputed.
pub const SKETCH_VERSION: u32 = 1;

/// Number of bands of a sketch; texts with an equal band are candidates.
pub(super) const BANDS: usize = 20;

/// Number of values in a band.
///
/// Texts with the Jaccard similarity j have one given band equal with probability j³, and so some band with probability 1 - (1 - j³)²⁰:
/// 0.98 at j = 0.56, 0.15 at j = 0.2.
const ROWS: usize = 3;

const VALUE_COUNT: usize = BANDS * ROWS;

/// The `MinHash` sketch of a text: the minimum of its shingles under each of sixty hash functions.
///
/// A shingle is a pair of adjacent words, or of characters in scripts without spaces, folded as the index does. So case, width, accents,
/// punctuation and traditional or simplified characters do not matter. The share of equal values estimates the Jaccard similarity of the
/// shingles, see Broder, "On the resemblance and containment of documents" (1997).
///
/// ```
/// use memory_dream::similar::MinHash;
///
/// assert_eq!(MinHash::of("Anna likes TEA."), MinHash::of("anna likes tea"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MinHash([u16; VALUE_COUNT]);

impl MinHash {
    /// Computes the sketch of a text.
    pub fn of(text: &str) -> Self {
        let mut smallest = [u32::MAX; VALUE_COUNT];
        for_each_shingle(text, &mut |shingle| {
            let [low, high] = split_halves(shingle);
            for ((smallest, factor), offset) in smallest.iter_mut().zip(FACTORS).zip(OFFSETS) {
                let hash = (low ^ offset).wrapping_mul(factor).wrapping_add(high);
                *smallest = (*smallest).min(hash ^ (hash >> 15));
            }
        });
        // The minimum is close to zero, so it is multiplied to spread its low bits before the upper half is used.
        Self(
            smallest
                .map(|value| value.wrapping_mul(0x9e37_79b1).to_le_bytes())
                .map(|[_, _, third, last]| u16::from_le_bytes([third, last])),
        )
    }

    /// Returns the estimated Jaccard similarity of the texts, from 0 to 1, with an error of about 0.1.
    #[expect(clippy::cast_precision_loss, reason = "there are sixty values")]
    pub fn resemblance(&self, other: &Self) -> f32 {
        let equal = self
            .0
            .iter()
            .zip(other.0)
            .filter(|(own, other)| **own == *other)
            .count();
        equal as f32 / VALUE_COUNT as f32
    }

    /// Encodes the sketch as bytes, the same on every machine.
    pub fn to_bytes(&self) -> [u8; SKETCH_BYTES] {
        let mut bytes = [0; SKETCH_BYTES];
        for (place, value) in bytes.chunks_exact_mut(2).zip(self.0) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// Decodes the result of [`MinHash::to_bytes`]; `None` if the length is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; SKETCH_BYTES] = bytes.try_into().ok()?;
        let mut values = [0; VALUE_COUNT];
        for (value, place) in values.iter_mut().zip(bytes.chunks_exact(2)) {
            *value = u16::from_le_bytes([place[0], place[1]]);
        }
        Some(Self(values))
    }

    /// Returns the values of a band as one number.
    pub(super) fn band(&self, band: usize) -> u64 {
        self.0[band * ROWS..(band + 1) * ROWS]
            .iter()
            .fold(0, |key, value| key << 16 | u64::from(*value))
    }

    /// Returns all values, starting with those of a band and wrapping around at the end.
    pub(super) fn values_from(&self, band: usize) -> impl Iterator<Item = u16> {
        let (before, from) = self.0.split_at(band * ROWS);
        from.iter().chain(before).copied()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "halves are wanted")]
const fn split_halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

/// The factors of the hash functions, all odd.
const FACTORS: [u32; VALUE_COUNT] = random_numbers(1, 1);

const OFFSETS: [u32; VALUE_COUNT] = random_numbers(2, 0);

/// Returns pseudo-random numbers that never change (`SplitMix64`).
const fn random_numbers(seed: u64, bits: u32) -> [u32; VALUE_COUNT] {
    let mut numbers = [0; VALUE_COUNT];
    let mut state = seed;
    let mut at = 0;
    while at < VALUE_COUNT {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        numbers[at] = split_halves(mixed)[1] | bits;
        at += 1;
    }
    numbers
}

/// Calls `each` with the hash of every shingle of `text`.
///
/// A single word is hashed alone, and a text without words is hashed as a whole. Words are not stemmed, which would take longer than all
/// other steps together.
pub(super) fn for_each_shingle(text: &str, each: &mut dyn FnMut(u64)) {
    let folded = fold(text);
    let (mut before, mut count) = (0, 0_usize);
    let mut take = |word: &str| {
        let own = hash_word(word);
        if 0 < count {
            each(hash_pair(before, own));
        }
        before = own;
        count += 1;
    };
    let mut start = None;
    for (at, character) in folded.char_indices() {
        let is_blankless = '\u{e00}' <= character && is_unspaced(character);
        let is_word = !is_blankless && character.is_alphanumeric();
        if !is_word && let Some(start) = start.take() {
            take(&folded[start..at]);
        }
        if is_blankless {
            take(&folded[at..at + character.len_utf8()]);
        } else if is_word {
            start.get_or_insert(at);
        }
    }
    if let Some(start) = start {
        take(&folded[start..]);
    }
    match count {
        0 => each(hash_word(folded.trim())),
        1 => each(before),
        _ => {}
    }
}

/// Returns whether `character` is a letter of a script without spaces between words, or is Korean.
fn is_unspaced(character: char) -> bool {
    let is_east_asian = matches!(character, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{1aff0}'..='\u{3fffd}');
    let is_south_east_asian = matches!(character, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}');
    (is_east_asian || is_south_east_asian) && character.is_alphanumeric()
}

/// Returns the hash of a folded word: FNV-1a, then mixed.
///
/// It is the same on every machine, and the format of sketches depends on it.
pub(super) fn hash_word(word: &str) -> u64 {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    mix_bits(word.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fnv))
}

fn hash_pair(first: u64, second: u64) -> u64 {
    mix_bits(first.rotate_left(23).wrapping_add(second))
}

/// Mixes the bits with the finalizer of `MurmurHash3`.
fn mix_bits(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ (bits >> 33)
}
