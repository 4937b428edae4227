//! Classifies folded characters for the tokenizer.

use unicode_normalization::char::is_combining_mark;

/// The class of a folded character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharClass {
    /// A letter or digit of a script with spaces between words.
    Word,
    /// A letter of a script that is written without spaces, or searched by parts of words.
    Blankless,
    /// A mark that belongs to the preceding character.
    Mark,
    /// An apostrophe, which belongs to a word only inside it.
    Apostrophe,
    /// A separator of words.
    Break,
}

/// Returns the class of `character`, which must be folded.
pub(super) fn classify_char(character: char) -> CharClass {
    match character {
        'a'..='z' | '0'..='9' => CharClass::Word,
        '\'' => CharClass::Apostrophe,
        '\0'..='\u{7f}' => CharClass::Break,
        _ if is_east_asian(character) => CharClass::Blankless,
        _ if is_combining_mark(character) => CharClass::Mark,
        _ if !character.is_alphanumeric() => CharClass::Break,
        _ if is_south_east_asian(character) && !character.is_numeric() => CharClass::Blankless,
        _ => CharClass::Word,
    }
}

/// Returns whether `character` is a letter of Han, Kana, Hangul or Bopomofo.
fn is_east_asian(character: char) -> bool {
    matches!(character,
        // Han: iteration marks and numerals, then the blocks, then the two reserved planes.
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303c}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}'
        // Hiragana and Katakana with the prolonged sound mark, but without the middle dot, which separates words.
        | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}' | '\u{1aff0}'..='\u{1b16f}'
        // Hangul: jamo that did not compose, and syllables.
        | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97c}' | '\u{ac00}'..='\u{d7a3}' | '\u{d7b0}'..='\u{d7fb}'
        // Bopomofo.
        | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}')
}

/// Returns whether `character` is in a block of Thai, Lao, Myanmar or Khmer.
fn is_south_east_asian(character: char) -> bool {
    matches!(character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}')
}
