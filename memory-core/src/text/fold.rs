//! Folds text, so that different spellings of the same text become equal.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::simplification::to_simplified;

/// Folds `text`, so that spellings that readers consider the same become equal.
///
/// Folding applies NFKC and lower case; removes accents from letters (`café` becomes `cafe`, but kana retain their voicing marks, because か
/// and が are different letters); replaces a few Latin and Greek letters by their form on a plain keyboard (`ß` by `ss`, `ø` by `o`, `ς` by
/// `σ`), `’` by `'` and traditional Chinese characters by simplified ones; and removes invisible characters. Folding is idempotent.
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
    for_each_folded(text, |character, _| result.push(character));
    result
}

/// Calls `each` with every character of the folded text and its source bytes in `text`.
///
/// The bytes are those of a whole cluster: a character and all that join it. If a cluster folds to several characters, each of them is
/// reported with all bytes of the cluster.
pub(super) fn for_each_folded(text: &str, mut each: impl FnMut(char, Range<usize>)) {
    let bytes = text.as_bytes();
    let mut decomposed = String::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        // A non-ASCII character may join the byte before it; two ASCII characters never join.
        if byte.is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii) {
            each(char::from(byte.to_ascii_lowercase()), at..at + 1);
            at += 1;
        } else {
            at = fold_cluster(text, at, &mut decomposed, &mut each);
        }
    }
}

/// Folds the cluster of `text` at byte `start`, and returns its end.
fn fold_cluster(text: &str, start: usize, decomposed: &mut String, each: &mut impl FnMut(char, Range<usize>)) -> usize {
    let mut rest = text[start..].chars();
    let Some(first) = rest.next() else { return text.len() };
    let mut end = start + first.len_utf8();
    let alone = is_never_joined(first) || rest.clone().next().is_none_or(|next| !joins_previous(next));
    if alone && folds_to_itself(first) {
        each(to_simplified(first.to_ascii_lowercase()), start..end);
        return end;
    }
    decomposed.clear();
    decompose(first, decomposed);
    if !alone {
        for next in rest.take_while(|next| joins_previous(*next)) {
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

/// Returns whether `character` may change or join the one before it, so that both are folded together.
pub(super) fn joins_previous(character: char) -> bool {
    match character {
        // The first arms decide nearly all text without a table lookup: Latin, Greek and Cyrillic letters, typographic quotes and dashes,
        // full-width ASCII.
        '\0'..='\u{ac}' | '\u{ae}'..='\u{2ff}' | '\u{370}'..='\u{482}' | '\u{2010}'..='\u{2027}' | '\u{ff01}'..='\u{ff5e}' => {
            false
        }
        '\u{300}'..='\u{36f}' => true,
        _ if folds_to_itself(character) => false,
        _ if is_invisible(character) => true,
        // Two vowel signs of Kirat Rai compose although they are letters.
        '\u{16d63}' | '\u{16d67}' => true,
        _ => {
            let mut first = None;
            decompose_compatible(character, |part| first = first.or(Some(part)));
            first.is_some_and(|first| is_combining_mark(first) || is_medial_or_final_jamo(first))
        }
    }
}

/// Returns whether `character` is invisible and therefore absent from folded text.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(character,
        // The soft hyphen, the zero-width spaces and joiners, and the variation selectors.
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns whether no following character can join `character`.
///
/// Under compatibility folding Unicode also treats a mark after a space as separate; here it limits the spans.
fn is_never_joined(character: char) -> bool {
    character.is_ascii() && !character.is_ascii_alphanumeric()
}

/// Returns whether `character` alone folds to itself, except for ASCII case.
///
/// Such a character also never joins the one before it.
fn folds_to_itself(character: char) -> bool {
    matches!(character,
        '\0'..='\u{7f}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fe}' | '\u{3001}'..='\u{3029}' | '\u{3400}'..='\u{4dbf}')
}

/// Returns whether `character` is a Hangul vowel or final that composes with the jamo before it.
fn is_medial_or_final_jamo(character: char) -> bool {
    matches!(character, '\u{1161}'..='\u{1175}' | '\u{11a8}'..='\u{11c2}')
}

/// Appends the folded parts of `character` in decomposed form.
fn decompose(character: char, parts: &mut String) {
    decompose_compatible(character, |part| {
        if is_accent(part) || is_invisible(part) {
            return;
        }
        for lower in part.to_lowercase() {
            match keyboard_spelling(lower) {
                Some(letters) => parts.push_str(letters),
                None => parts.push(to_simplified(lower)),
            }
        }
    });
}

/// Returns whether folding removes `mark`: an accent, or an enclosing circle or keycap.
fn is_accent(mark: char) -> bool {
    matches!(mark, '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}')
}

/// Returns the plain-keyboard spelling of a letter that Unicode does not decompose.
fn keyboard_spelling(letter: char) -> Option<&'static str> {
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
