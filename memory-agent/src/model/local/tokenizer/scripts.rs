//! Detection of the scripts that a vocabulary covers.
//!
//! The vocabulary of an English model has a few hundred characters of other scripts, but hardly any piece with two of
//! their letters. The vectors of texts in these scripts are meaningless, because the texts become single letters or
//! unknown words.
//!
//! A model must not make a language worse. A text in an uncovered script therefore gets a vector of zeros, which
//! is stored so that the text is not read again, is similar to no other vector, and is excluded from the
//! statistics. A query with such a vector is searched without it.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use super::vocabulary::TokenVocabulary;

/// Minimum number of pieces of two or more letters of a covered script.
///
/// all-MiniLM-L6-v2 has 8 of Cyrillic and none of Japanese kana. For small vocabularies the minimum is one in
/// [`SHARE`].
const MIN_PIECES: usize = 100;
const SHARE: usize = 250;

/// Minimum number of pieces with Chinese characters.
///
/// A piece of one character counts, because it may be a word. all-MiniLM-L6-v2 has 488, BERT's multilingual models more than 8,000.
const MIN_IDEOGRAPHS: usize = 1500;
const IDEOGRAPHS_SHARE: usize = 20;

/// The scripts that a vocabulary covers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CoveredScripts(Vec<LetterScript>);

/// A set of letters that vocabularies contain together: Chinese, Korean, or a block of 128 code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum LetterScript {
    Ideographs,
    Korean,
    Block(u32),
}

impl CoveredScripts {
    /// Determines the covered scripts by the number of pieces of each.
    pub(super) fn of(vocabulary: &TokenVocabulary) -> Self {
        let mut counts: HashMap<LetterScript, usize> = HashMap::new();
        for index in 0..vocabulary.len() {
            let (piece, _) = vocabulary.piece(index);
            let letters = piece
                .chars()
                .filter(|character| character.is_alphabetic())
                .take(2)
                .count();
            let mut former = None;
            for script in piece.chars().filter_map(LetterScript::of) {
                let counts_alone = script == LetterScript::Ideographs;
                if former != Some(script) && (counts_alone || 1 < letters) {
                    *counts.entry(script).or_default() += 1;
                }
                former = Some(script);
            }
        }
        let least = |script: LetterScript| match script {
            LetterScript::Ideographs => MIN_IDEOGRAPHS
                .min(vocabulary.len() / IDEOGRAPHS_SHARE)
                .max(1),
            LetterScript::Korean | LetterScript::Block(_) => {
                MIN_PIECES.min(vocabulary.len() / SHARE).max(1)
            }
        };
        let mut scripts: Vec<LetterScript> = counts
            .into_iter()
            .filter(|(script, count)| least(*script) <= *count)
            .map(|(script, _)| script)
            .collect();
        scripts.sort_unstable();
        Self(scripts)
    }

    /// Returns whether at least half of the letters of the text are of covered scripts.
    ///
    /// A letter is weighted by its length in UTF-8, because a Chinese character carries more meaning than a Latin one.
    /// A text without letters is covered.
    pub(super) fn cover(&self, text: &str) -> bool {
        let (mut known, mut all) = (0, 0);
        let mut former = (None, false);
        // Half-width kana and full-width letters are letters of their scripts.
        for character in text.nfkc() {
            let Some(script) = LetterScript::of(character) else {
                continue;
            };
            if former.0 != Some(script) {
                former = (Some(script), self.0.binary_search(&script).is_ok());
            }
            all += character.len_utf8();
            known += if former.1 { character.len_utf8() } else { 0 };
        }
        all <= 2 * known
    }
}

impl LetterScript {
    /// Returns the script of a letter, or `None` for other characters.
    fn of(character: char) -> Option<Self> {
        if !character.is_alphabetic() {
            return None;
        }
        Some(match u32::from(character) {
            0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF => Self::Ideographs,
            0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF => Self::Korean,
            point => Self::Block(point >> 7),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(pieces: impl Iterator<Item = String>) -> CoveredScripts {
        let mut vocabulary = TokenVocabulary::default();
        for (number, piece) in (0..).zip(pieces) {
            vocabulary.push(&piece, number);
        }
        CoveredScripts::of(&vocabulary)
    }

    /// Returns `count` pieces of two letters, starting at `first`, each with `prefix`.
    fn pairs(prefix: &str, first: char, count: u32) -> impl Iterator<Item = String> {
        (0..count).map(move |number| {
            let letter = |at: u32| char::from_u32(u32::from(first) + at).expect("it is a letter");
            format!("{prefix}{}{}", letter(number / 20), letter(number % 20))
        })
    }

    #[test]
    fn a_vocabulary_covers_the_scripts_it_has_pieces_of() {
        let latin = || pairs("", 'a', 400).chain(pairs("##", 'a', 400));
        let cyrillic = (0..32).map(|at| {
            char::from_u32(0x430 + at)
                .expect("it is a letter")
                .to_string()
        });
        let english = scripts(
            latin()
                .chain(cyrillic)
                .chain("深色模式上下".chars().map(String::from)),
        );
        for (text, is_covered) in [
            ("dark mode", true),
            ("", true),
            ("14:30, 15 %", true),
            ("ＤＡＲＫ ＭＯＤＥ 𝓭𝓪𝓻𝓴", true),
            ("ﾀﾞｰｸﾓｰﾄﾞ", false),
            ("тёмная тема", false),
            ("深色模式", false),
            ("ダークモード", false),
            ("다크 모드", false),
            ("we met in the restaurant 北京", true),
            ("用户喜欢在 Code 里使用深色模式", false),
        ] {
            assert_eq!(english.cover(text), is_covered, "{text}");
        }
        let many = scripts(
            latin()
                .chain(pairs("▁", 'а', 100))
                .chain(pairs("", '가', 100))
                .chain((0..1500).map(|at| {
                    char::from_u32(0x4E00 + at)
                        .expect("it is a letter")
                        .to_string()
                })),
        );
        for text in ["dark mode", "тайна", "가나", "三上下一"] {
            assert!(many.cover(text), "{text}");
        }
        assert!(!many.cover("ダークモード"));
    }
}
