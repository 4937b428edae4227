//! Converts titles to file names.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::fold::is_invisible;
use super::windows_name::is_device_name;

/// The maximum number of characters, without the suffix `-note` of reserved device names.
const MAX_CHARACTERS: usize = 60;

/// The maximum number of bytes.
///
/// File names have at most 255, some of which are left for suffixes, numbers and sync tools.
const MAX_BYTES: usize = 120;

/// The maximum number of characters to drop in order to end at a word boundary.
const MAX_TRIM: usize = 15;

/// Returns `text` as a file name: letters and digits of any script, separated by single `-`.
///
/// The slug is in lower case and NFKC, has at most 60 characters and 120 bytes, and has no extension. It is `memory` if no character is
/// left, and gets the suffix `-note` if it is a reserved device name of Windows. The function is idempotent.
///
/// ```
/// # use memory_core::text::slug;
/// assert_eq!(slug("Café & 記憶: what's new?"), "café-記憶-what-s-new");
/// assert_eq!(slug("CON"), "con-note");
/// ```
pub fn slug(text: &str) -> String {
    // Lower case of a normalized text is not always normalized.
    let normal = text
        .nfkc()
        .filter(|&character| !is_invisible(character))
        .flat_map(char::to_lowercase)
        .nfkc();
    let mut slug = String::new();
    for character in normal {
        if is_allowed(character, &slug) {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        // The loop collects more than the limit, so that the cut can inspect the following characters.
        if 2 * MAX_BYTES < slug.len() {
            break;
        }
    }
    slug.truncate(length_within_limits(&slug));
    slug.truncate(slug.trim_end_matches('-').len());
    if slug.is_empty() {
        slug.push_str("memory");
    } else if is_device_name(&slug) {
        slug.push_str("-note");
    }
    slug
}

/// Returns whether `character` may follow `before` in a slug.
fn is_allowed(character: char, before: &str) -> bool {
    if is_combining_mark(character) {
        return !before.is_empty() && !before.ends_with('-');
    }
    character.is_alphanumeric()
}

/// Returns the byte length at which `slug` is cut.
fn length_within_limits(slug: &str) -> usize {
    let fits = |&(count, (at, character)): &(usize, (usize, char))| {
        count < MAX_CHARACTERS && at + character.len_utf8() <= MAX_BYTES
    };
    let Some((at, character)) = slug
        .char_indices()
        .enumerate()
        .take_while(fits)
        .last()
        .map(|(_, last)| last)
    else {
        return 0;
    };
    let end = at + character.len_utf8();
    if slug[end..].chars().next().is_none_or(|next| next == '-') {
        return end;
    }
    if let Some((near, _)) = slug[..end]
        .char_indices()
        .rev()
        .take(MAX_TRIM)
        .find(|&(_, character)| character == '-')
    {
        return near;
    }
    // A letter must not lose its marks, because the rest may be a different letter.
    if slug[end..].starts_with(is_combining_mark) {
        return slug[..end]
            .rfind(|character| !is_combining_mark(character))
            .unwrap_or(0);
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::windows_name::windows_name_problem;
    use super::slug;

    #[test]
    fn letters_of_every_script_are_kept() {
        for (text, expected) in [
            ("Prefers dark mode", "prefers-dark-mode"),
            ("  --Hello,   World!-- ", "hello-world"),
            ("用Rust写", "用rust写"),
            ("ﾃﾞｰﾀﾍﾞｰｽ", "データベース"),
            ("नमस्ते दुनिया", "नमस्ते-दुनिया"),
            ("ที่นี่", "ที่นี่"),
            ("ÜBER", "über"),
            ("u\u{308}ber", "über"),
            ("../etc/passwd", "etc-passwd"),
            ("a\0b\nc", "a-b-c"),
            ("🦀", "memory"),
            ("", "memory"),
        ] {
            assert_eq!(slug(text), expected, "{text}");
        }
    }

    #[test]
    fn device_names_are_never_file_names() {
        for text in [
            "con",
            "Con.",
            "NUL",
            "aux",
            "prn",
            "COM1",
            "com¹",
            "lpt9",
            "ＣＯＮ",
        ] {
            assert!(slug(text).ends_with("-note"), "{text}");
        }
        assert_eq!(slug("console"), "console");
        assert_eq!(slug("com10"), "com10");
    }

    #[test]
    fn a_long_slug_ends_with_a_word_if_one_ends_nearby() {
        let words = format!("{} sixteen characters and more", "x".repeat(50));
        assert_eq!(slug(&words), format!("{}-sixteen", "x".repeat(50)));
        assert_eq!(slug(&"x".repeat(100)), "x".repeat(60));
        assert_eq!(slug(&"記".repeat(100)), "記".repeat(40));
    }

    proptest! {
        #[test]
        fn a_slug_is_its_own_slug_and_a_safe_name(text in prop_oneof![any::<String>(), "[a-z\u{300}記ก\u{e48} ]{0,200}"]) {
            let name = slug(&text);
            prop_assert_eq!(&slug(&name), &name);
            prop_assert!(!name.is_empty() && name.len() <= 125 && name.chars().count() <= 65);
            prop_assert!(!name.starts_with('-') && !name.ends_with('-') && !name.contains("--"));
            prop_assert_eq!(windows_name_problem(&name), None);
            prop_assert!(name.chars().all(|c| c == '-' || !(c.is_control() || c.is_whitespace() || c.is_ascii_punctuation())));
        }
    }
}
