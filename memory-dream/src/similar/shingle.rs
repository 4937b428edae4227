//! Splits a text into shingles: pairs of adjacent words, or of characters in scripts without spaces.

use memory_core::text::fold;

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
