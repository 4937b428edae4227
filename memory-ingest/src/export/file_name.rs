//! File names that all systems and programs accept.

use std::collections::HashSet;

use memory_core::text::{deceptive_characters, is_device_name};
use unicode_normalization::UnicodeNormalization;

/// Maximum length of a file name without its extension, in bytes. It leaves room for `.md` and for sync tools.
const MAX_BYTES: usize = 190;

/// Returns `text` as a file name without extension that ends in `suffix`.
///
/// Characters that a system, or a link of another program, gives a meaning become spaces.
pub(super) fn file_name(text: &str, suffix: &str) -> String {
    let is_special = |character: char| {
        character.is_control() || "/\\:*?\"<>|[]#^%`{}\u{fffd}".contains(character)
    };
    let normal: String = text.nfc().collect();
    let hidden: HashSet<usize> = deceptive_characters(&normal).map(|(at, _)| at).collect();
    let replace = |(at, character)| {
        if is_special(character) || hidden.contains(&at) {
            ' '
        } else {
            character
        }
    };
    let plain: String = normal.char_indices().map(replace).collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words.trim_start_matches(['.', '-', '~', ' ']);
    let mut end = words.len().min(MAX_BYTES - suffix.len());
    while !words.is_char_boundary(end) {
        end -= 1;
    }
    let name = words[..end].trim_end_matches(['.', ' ']);
    let name = if name.is_empty() { "memory" } else { name };
    format!(
        "{name}{}{suffix}",
        if is_device_name(name) { " note" } else { "" }
    )
}

/// Returns the form in which two equal names are one file on a system that ignores case.
pub(super) fn name_key(name: &str) -> String {
    name.to_lowercase()
        .nfkc()
        .collect::<String>()
        .to_lowercase()
}

#[cfg(test)]
mod tests {
    use memory_core::testing::any_text;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn special_names_are_changed_and_others_stay() {
        for (text, name) in [
            ("Café & 記憶", "Café & 記憶"),
            ("a/b: c? [x] #1 ^y", "a b c x 1 y"),
            ("..hidden. ", "hidden"),
            ("CON", "CON note"),
            ("com1.txt", "com1.txt note"),
            ("\u{202e}", "memory"),
            ("Cafe\u{301}", "Café"),
        ] {
            assert_eq!(file_name(text, ""), name, "{text:?}");
        }
        assert!(file_name(&"茶".repeat(300), " 12345678").ends_with("茶 12345678"));
    }

    proptest! {
        #[test]
        fn every_name_is_a_file_name(text in any_text(), is_long in any::<bool>()) {
            let text = if is_long { text.repeat(40) } else { text };
            let name = file_name(&text, " 12345678");
            prop_assert!(name.len() <= 200 && !name.starts_with(['.', ' ']) && !name.ends_with(['.', ' ']));
            prop_assert!(!name.contains(|character: char| character.is_control() || "/\\:*?\"<>|[]#^".contains(character)), "{name}");
            prop_assert!(name.nfc().eq(name.chars()));
        }
    }
}
