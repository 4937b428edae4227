//! The normalisation that a `SentencePiece` model brings along: which parts of a text become which.

use unicode_segmentation::UnicodeSegmentation;

/// Longer graphemes are looked up character by character.
const LONGEST_GRAPHEME: usize = 5;

/// A map from characters to what they become: a trie as a double array of 32-bit units, and the texts its leaves lead to.
///
/// Each text ends with a zero byte. A unit is laid out as in Darts-clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Charsmap {
    units: Vec<u32>,
    texts: String,
}

impl Charsmap {
    /// Reads a map: the length of the trie in bytes, the trie, and the texts. Returns nothing if it is none.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (trie, texts) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        let units: Vec<u32> = trie.as_chunks().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        let texts = String::from_utf8(texts.to_vec()).ok()?;
        (!units.is_empty()).then_some(Self { units, texts })
    }

    /// Normalises a text as the crate `tokenizers` does: a short grapheme of which a beginning is in the map becomes what the
    /// shortest such beginning does; other graphemes are looked up character by character.
    pub(super) fn normalize(&self, text: &str) -> String {
        let mut normalized = String::with_capacity(text.len());
        for grapheme in text.graphemes(true) {
            if grapheme.len() <= LONGEST_GRAPHEME
                && let Some(replacement) = self.replacement(grapheme)
            {
                normalized.push_str(replacement);
                continue;
            }
            let mut buffer = [0; 4];
            for character in grapheme.chars() {
                let character = &*character.encode_utf8(&mut buffer);
                normalized.push_str(self.replacement(character).unwrap_or(character));
            }
        }
        normalized
    }

    /// Returns what the shortest beginning of `text` that is in the map becomes.
    fn replacement(&self, text: &str) -> Option<&str> {
        let mut place = offset(*self.units.first()?);
        for byte in text.bytes().take_while(|byte| *byte != 0) {
            place ^= usize::from(byte);
            let unit = *self.units.get(place)?;
            if label(unit) != u32::from(byte) {
                return None;
            }
            place ^= offset(unit);
            if has_leaf(unit) {
                let start = usize::try_from(*self.units.get(place)? & 0x7FFF_FFFF).ok()?;
                let rest = self.texts.get(start..)?;
                return rest.split('\0').next();
            }
        }
        None
    }
}

fn has_leaf(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

fn label(unit: u32) -> u32 {
    unit & (1 << 31 | 0xFF)
}

fn offset(unit: u32) -> usize {
    ((unit >> 10) as usize) << ((unit & 1 << 9) >> 6)
}
