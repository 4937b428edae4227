//! The character normalization map of a `SentencePiece` model.

use unicode_segmentation::UnicodeSegmentation;

/// Maximum length of a grapheme that is looked up as a whole, in bytes.
const LONGEST_GRAPHEME: usize = 5;

/// A normalization map: a trie as a double array of 32-bit units, and the replacement texts.
///
/// Each replacement ends with a zero byte. The layout of a unit is that of Darts-clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Charsmap {
    units: Vec<u32>,
    texts: String,
}

impl Charsmap {
    /// Parses a map: the length of the trie in bytes, the trie, and the texts. Returns `None` if invalid.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (trie, texts) =
            rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        let units: Vec<u32> = trie
            .as_chunks()
            .0
            .iter()
            .map(|unit| u32::from_le_bytes(*unit))
            .collect();
        let texts = String::from_utf8(texts.to_vec()).ok()?;
        (!units.is_empty()).then_some(Self { units, texts })
    }

    /// Returns the parts of the normalized text, as the crate `tokenizers` normalizes it.
    ///
    /// If a short grapheme has a prefix in the map, the replacement of the shortest such prefix replaces the whole
    /// grapheme. Other graphemes are looked up character by character.
    pub(super) fn normalized_parts<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        text.graphemes(true).flat_map(|grapheme| {
            let whole = (grapheme.len() <= LONGEST_GRAPHEME)
                .then(|| self.replacement(grapheme))
                .flatten();
            let characters =
                if whole.is_some() { "" } else { grapheme }.split_inclusive(|_: char| true);
            whole
                .into_iter()
                .chain(characters.map(|character| self.replacement(character).unwrap_or(character)))
        })
    }

    /// Returns the replacement of the shortest prefix of `text` that is in the map.
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
