//! Splitting of a text into words.

use std::iter::Peekable;
use std::str::Chars;

use unicode_normalization::{Decompositions, UnicodeNormalization};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Normalization options of a `WordPiece` model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "tokenizers have one switch for each"
)]
pub(super) struct WordNormalization {
    /// Removes control characters.
    pub(super) is_clean: bool,
    /// Treats each Chinese character as a word.
    pub(super) splits_chinese: bool,
    /// Removes accents.
    pub(super) drops_accents: bool,
    /// Converts to lower case.
    pub(super) is_lower: bool,
}

/// A word or punctuation mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NormalizedWord<'a> {
    /// The normalized word.
    Spelled(&'a str),
    /// A word longer than the maximum length.
    TooLong,
}

/// An iterator over the words of a text. A punctuation mark is a separate word.
pub(super) struct NormalizedWords<'a> {
    characters: Peekable<CharStream<'a>>,
    splits_chinese: bool,
    is_lower: bool,
    most_characters: usize,
    word: String,
}

enum CharStream<'a> {
    AsTheyStand(CleanChars<'a>),
    WithoutAccents(Decompositions<CleanChars<'a>>),
}

struct CleanChars<'a> {
    characters: Chars<'a>,
    is_clean: bool,
}

impl<'a> NormalizedWords<'a> {
    /// Creates an iterator; a word of more than `most_characters` is too long.
    pub(super) fn new(text: &'a str, spelling: WordNormalization, most_characters: usize) -> Self {
        let clean = CleanChars {
            characters: text.chars(),
            is_clean: spelling.is_clean,
        };
        let characters = if spelling.drops_accents {
            CharStream::WithoutAccents(clean.nfd())
        } else {
            CharStream::AsTheyStand(clean)
        };
        Self {
            characters: characters.peekable(),
            splits_chinese: spelling.splits_chinese,
            is_lower: spelling.is_lower,
            most_characters,
            word: String::new(),
        }
    }

    /// Returns the next word, or `None` at the end of the text.
    pub(super) fn next(&mut self) -> Option<NormalizedWord<'_>> {
        self.word.clear();
        let mut length = 0;
        while let Some(character) = self.characters.peek().copied() {
            let stands_alone = self.stands_alone(character);
            if 0 < length && (character.is_whitespace() || stands_alone) {
                break;
            }
            self.characters.next();
            if character.is_whitespace() {
                continue;
            }
            length += self.push(character, length);
            if stands_alone {
                break;
            }
        }
        if length == 0 {
            return None;
        }
        Some(if length <= self.most_characters {
            NormalizedWord::Spelled(&self.word)
        } else {
            NormalizedWord::TooLong
        })
    }

    /// Appends a character unless the word is already too long; returns the number of characters added.
    fn push(&mut self, character: char, length: usize) -> usize {
        if self.most_characters < length {
            return 1;
        }
        if !self.is_lower {
            self.word.push(character);
            return 1;
        }
        let lower = character.to_lowercase();
        let count = lower.len();
        self.word.extend(lower);
        count
    }

    fn stands_alone(&self, character: char) -> bool {
        is_punctuation(character) || (self.splits_chinese && is_chinese(character))
    }
}

impl Iterator for CharStream<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self {
            Self::AsTheyStand(clean) => clean.next(),
            Self::WithoutAccents(decomposed) => decomposed.find(|character| !is_accent(*character)),
        }
    }
}

impl Iterator for CleanChars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let is_clean = self.is_clean;
        self.characters
            .find(|character| !is_clean || !is_control(*character))
    }
}

fn is_accent(character: char) -> bool {
    !character.is_ascii() && character.general_category() == GeneralCategory::NonspacingMark
}

/// Returns whether the character is punctuation in Unicode or an ASCII symbol.
fn is_punctuation(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_punctuation();
    }
    !character.is_alphanumeric()
        && character.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// Returns whether cleaning removes the character. Tabs and line breaks separate words and remain.
fn is_control(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => false,
        '\0' | char::REPLACEMENT_CHARACTER => true,
        ' '..='~' => false,
        _ => matches!(
            character.general_category(),
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
        ),
    }
}

/// Returns whether the character is of a block that BERT's tokenizers call Chinese.
///
/// Kana and Hangul are not in these blocks; such texts are split at white space and punctuation only.
fn is_chinese(character: char) -> bool {
    matches!(
        character,
        '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{20000}'..='\u{2A6DF}'
            | '\u{2A700}'..='\u{2B73F}'
            | '\u{2B740}'..='\u{2B81F}'
            | '\u{2B820}'..='\u{2CEAF}'
            | '\u{2F800}'..='\u{2FA1F}'
    )
}
