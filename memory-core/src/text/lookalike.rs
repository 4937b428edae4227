//! What letters and brackets look like, so that text in look-alike characters is recognized.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};
use unicode_security::skeleton;

use super::to_ascii_form;

/// Characters that look like `<` and that do not decompose to it.
///
/// They are the marks, brackets and letters that Unicode's confusables list, and other brackets with one angle.
const LOOKALIKES: [char; 13] = [
    '\u{2c2}',
    '\u{1438}',
    '\u{16b2}',
    '\u{2039}',
    '\u{2329}',
    '\u{276c}',
    '\u{276e}',
    '\u{2770}',
    '\u{27e8}',
    '\u{2991}',
    '\u{29fc}',
    '\u{3008}',
    '\u{1d236}',
];

/// Returns the letters of a name in the form in which letters that look alike are equal, without its hyphens.
pub(crate) fn similar_letters(name: &str) -> Vec<char> {
    let mut letters = Vec::new();
    for letter in name.chars().rev().filter(|letter| *letter != '-') {
        for_each_similar(letter, |similar| letters.push(similar));
    }
    letters.reverse();
    letters
}

/// Small capitals, and what Unicode considers similar to them or to Cyrillic and Greek letters, and the letters they look like.
const SMALL_CAPITALS: [&str; 2] = ["ᴀʙᴄᴅᴇꞓғɢʜɪᴊᴋĸʟᴍʍɴᴘʀᴛᴜᴠ", "abcdeefghijkklmmnprtuv"];

/// Returns what a character looks like: ASCII letters, if it looks like some.
pub(crate) fn visual_shape(character: char) -> Vec<char> {
    if character.is_ascii() {
        return vec![character];
    }
    let shape: Vec<char> = skeleton(character.encode_utf8(&mut [0; 4])).collect();
    let [small, letters] = SMALL_CAPITALS;
    let plain = |part: char| {
        let at = small.chars().position(|capital| capital == part);
        at.and_then(|at| letters.chars().nth(at)).unwrap_or(part)
    };
    shape.into_iter().map(plain).collect()
}

/// Calls `each` with the letters that a folded letter looks like, the last one first. Letters that look alike give the same ones.
pub(crate) fn for_each_similar(letter: char, mut each: impl FnMut(char)) {
    let mut plain = |letter: char| match letter {
        'm' => ['n', 'r'].into_iter().for_each(&mut each),
        '0' => each('o'),
        '1' | 'i' => each('l'),
        '3' => each('e'),
        '4' => each('a'),
        '5' => each('s'),
        '7' => each('t'),
        '6' | '8' => each('b'),
        '9' => each('g'),
        _ => each(letter),
    };
    if letter.is_ascii() {
        return plain(letter);
    }
    let letter = match letter {
        '\u{1f150}'..='\u{1f169}' | '\u{1f170}'..='\u{1f189}' => {
            // Letters in black circles and squares.
            char::from(b'a' + ((u32::from(letter) - 0x1f150) % 32) as u8)
        }
        _ => letter,
    };
    for similar in visual_shape(letter).into_iter().rev() {
        if similar.is_alphanumeric() && !is_combining_mark(similar) {
            plain(similar.to_ascii_lowercase());
        }
    }
}

/// Returns whether a character looks like `[`.
pub(crate) fn is_square_bracket(character: char) -> bool {
    to_ascii_form(character) == '['
}

/// Returns whether a character looks like `<`.
pub(crate) fn is_angle_bracket(character: char) -> bool {
    if character.is_ascii() {
        return character == '<';
    }
    let mut first = None;
    decompose_compatible(character, |part| first = first.or(Some(part)));
    let looks_alike = || skeleton(character.encode_utf8(&mut [0; 4])).eq(['<']);
    first == Some('<') || LOOKALIKES.contains(&character) || looks_alike()
}
