//! Words of Arabic with a small alef, for which modern spelling mostly has a letter.

use unicode_normalization::char::is_combining_mark;

use super::{Token, TokenKind, tokenize};

const SMALL_ALEF: char = '\u{670}';

const ALEF: char = '\u{627}';

/// Calls `each` with the words of `text` that have a small alef, as they are with the letter: كتٰب is also كتاب.
///
/// A و or ى that only carries the small alef inside a word is replaced: صلوٰة is also صلاة. The span of a token is that of the word.
///
/// ```
/// # use memory_core::text::for_each_alef_token;
/// let mut found = Vec::new();
/// for_each_alef_token("ٱلۡكِتَٰبُ كتاب", &mut |token| found.push(token.text.to_owned()));
/// assert_eq!(found, ["كتاب"]);
/// ```
pub fn for_each_alef_token(text: &str, each: &mut dyn FnMut(Token<'_>)) {
    if !text.contains(SMALL_ALEF) {
        return;
    }
    tokenize(text, &mut |token| {
        let word = &text[token.span.clone()];
        if token.kind == TokenKind::Word && word.contains(SMALL_ALEF) {
            tokenize(&with_written_alefs(word), &mut |own| {
                each(Token {
                    span: token.span.clone(),
                    ..own
                });
            });
        }
    });
}

fn with_written_alefs(word: &str) -> String {
    let mut written = String::with_capacity(word.len());
    let letters = word.trim_end_matches(is_combining_mark).len();
    for (at, character) in word.char_indices() {
        if character != SMALL_ALEF {
            written.push(character);
            continue;
        }
        let is_last = letters <= at;
        match written.chars().last() {
            Some('\u{648}' | '\u{649}' | '\u{64a}' | '\u{6cc}') if !is_last => {
                written.pop();
                written.push(ALEF);
            }
            // موسىٰ ends in the letter that is said as an alef.
            Some('\u{649}' | '\u{64a}' | '\u{6cc}' | ALEF) => {}
            _ => written.push(ALEF),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::for_each_alef_token;
    use crate::text::tokenize;

    #[test]
    fn a_small_alef_is_also_a_letter() {
        for (spelled, modern) in [
            ("تَبَٰرَكَ", "تبارك"),
            ("ٱلۡكِتَٰبُ", "الكتاب"),
            ("ٱلْكِتَـٰبُ", "الكتاب"),
            ("مَٰلِكِ", "مالك"),
            ("ٱلصَّلَوٰةَ", "الصلاة"),
            ("سَمَٰوَٰتٍ", "سماوات"),
            ("مَوْلَىٰنَا", "مولانا"),
            ("مُوسَىٰ", "موسى"),
            ("إِسْمَٰعِيلَ", "إسماعيل"),
        ] {
            let mut found = Vec::new();
            for_each_alef_token(spelled, &mut |token| {
                assert_eq!(token.span, 0..spelled.len());
                found.push(token.text.to_owned());
            });
            let mut expected = Vec::new();
            tokenize(modern, &mut |token| expected.push(token.text.to_owned()));
            assert_eq!(found, expected, "{spelled}");
        }
        for_each_alef_token("كتاب book 本", &mut |token| panic!("{token:?}"));
    }
}
