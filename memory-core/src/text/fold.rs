//! Folding: different spellings of the same text become equal.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::simplified::simplified;

/// Folds `text` so that spellings people take for the same are equal.
///
/// That is NFKC, lower case, no accents on letters (`café` becomes `cafe`, but the voicing marks of kana stay, since か and
/// が are different letters), a few Latin and Greek letters as they are typed without a special keyboard (`ß` is `ss`, `ø`
/// is `o`, `ς` is `σ`), `’` as `'`, traditional Chinese characters as simplified ones, and nothing invisible. Folding twice
/// changes nothing more.
///
/// ```
/// # use memory_core::text::fold;
/// assert_eq!(fold("Ｃａｆé ＲＵＳＴ"), "cafe rust");
/// assert_eq!(fold("ｶﾞｲﾄﾞ"), "ガイド");
/// ```
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut result = String::with_capacity(text.len());
    each_folded(text, |character, _| result.push(character));
    result
}

/// Calls `each` with every character of the folded text and the bytes of `text` it came from.
///
/// The bytes are those of a whole cluster, that is of a character and of all that joins it; when a cluster folds to
/// several characters, each comes with all its bytes.
pub(super) fn each_folded(text: &str, mut each: impl FnMut(char, Range<usize>)) {
    let bytes = text.as_bytes();
    let mut decomposed = String::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        // What is not ASCII may join the byte before it; two of ASCII have nothing to do with each other.
        if byte.is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii) {
            each(char::from(byte.to_ascii_lowercase()), at..at + 1);
            at += 1;
        } else {
            at = cluster(text, at, &mut decomposed, &mut each);
        }
    }
}

/// Folds the cluster of `text` that begins at `start`; returns where it ends.
fn cluster(text: &str, start: usize, decomposed: &mut String, each: &mut impl FnMut(char, Range<usize>)) -> usize {
    let mut rest = text[start..].chars();
    let Some(first) = rest.next() else { return text.len() };
    let mut end = start + first.len_utf8();
    let alone = never_joined(first) || rest.clone().next().is_none_or(|next| !joins(next));
    if alone && is_settled(first) {
        each(simplified(first.to_ascii_lowercase()), start..end);
        return end;
    }
    decomposed.clear();
    decompose(first, decomposed);
    if !alone {
        for next in rest.take_while(|next| joins(*next)) {
            decompose(next, decomposed);
            end += next.len_utf8();
        }
    }
    let mut characters = decomposed.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) => each(only, start..end),
        _ => decomposed.nfc().for_each(|character| each(character, start..end)),
    }
    end
}

/// Tells whether `character` may change or belong to the one before it, so that they must be folded together.
pub(super) fn joins(character: char) -> bool {
    match character {
        // The first arms decide nearly all text without a look into the tables: Latin, Greek and Cyrillic letters, the
        // typographer's quotes and dashes, full-width ASCII.
        '\0'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\u{370}'..='\u{482}' | '\u{2010}'..='\u{2027}' | '\u{ff01}'..='\u{ff5e}' => {
            false
        }
        '\u{300}'..='\u{36f}' => true,
        _ if is_settled(character) => false,
        _ if is_invisible(character) => true,
        // Two vowel signs of Kirat Rai compose and yet are letters.
        '\u{16d63}' | '\u{16d67}' => true,
        _ => {
            let mut first = None;
            decompose_compatible(character, |part| first = first.or(Some(part)));
            first.is_some_and(|first| is_combining_mark(first) || is_medial_or_final_jamo(first))
        }
    }
}

/// Tells whether `character` is left out of folded text because nobody sees it.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(character,
        // Soft hyphen, the zero-width blanks and joiners, and what picks a glyph for the character before.
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Tells whether nothing that follows can be part of `character`.
///
/// Marks after a blank stand alone in Unicode's eyes too, once compatibility is folded; here it keeps the spans tight.
fn never_joined(character: char) -> bool {
    character.is_ascii() && !character.is_ascii_alphanumeric()
}

/// Tells whether `character` alone folds to itself, save for ASCII case, and never joins the one before it.
fn is_settled(character: char) -> bool {
    matches!(character,
        '\0'..='\u{7f}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fe}' | '\u{3001}'..='\u{3029}' | '\u{3400}'..='\u{4dbf}')
}

/// Tells whether `character` is a vowel or a final consonant that composes with the Hangul jamo before it.
fn is_medial_or_final_jamo(character: char) -> bool {
    matches!(character, '\u{1161}'..='\u{1175}' | '\u{11a8}'..='\u{11c2}')
}

/// Appends what is left of `character` after taking it apart, but not yet composed again.
fn decompose(character: char, parts: &mut String) {
    decompose_compatible(character, |part| {
        if is_accent(part) || is_invisible(part) {
            return;
        }
        for lower in part.to_lowercase() {
            match plain_letters(lower) {
                Some(letters) => parts.push_str(letters),
                None => parts.push(simplified(lower)),
            }
        }
    });
}

/// Tells whether `mark` is left out: an accent, or what draws a circle or a key around a character.
fn is_accent(mark: char) -> bool {
    matches!(mark, '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}')
}

/// Returns how people type `letter` when their keyboard lacks it, for those that Unicode does not take apart.
fn plain_letters(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' => "d",
        'ı' => "i",
        'ς' => "σ",
        '’' | 'ʼ' => "'",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    use super::fold;

    #[test]
    fn spellings_of_the_same_text_are_equal() {
        for (one, other) in [
            ("Café", "cafe"),
            ("cafe\u{301}", "café"),
            ("ＡＢＣ１２３", "abc123"),
            ("ｶﾞﾊﾟｰ", "ガパー"),
            ("か\u{3099}", "が"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("ﬁne ㎏", "fine kg"),
            ("İstanbul ISTANBUL", "istanbul istanbul"),
            ("Straße", "STRASSE"),
            ("ΟΔΟΣ", "οδός"),
            ("Łódź", "lodz"),
            ("memo\u{ad}ry", "memory"),
            ("葛\u{e0100}", "葛"),
            ("Anna’s", "anna's"),
            ("過敏", "过敏"),
        ] {
            assert_eq!(fold(one), fold(other), "{one} and {other}");
        }
    }

    #[test]
    fn different_kana_stay_different() {
        assert_ne!(fold("が"), fold("か"));
        assert_ne!(fold("パ"), fold("ハ"));
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing_more(text in any::<String>()) {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }

        #[test]
        fn composed_and_decomposed_text_fold_to_the_same(text in any::<String>()) {
            let decomposed: String = text.nfd().collect();
            prop_assert_eq!(fold(&decomposed), fold(&text));
        }
    }
}
