//! Extraction of `#tags` from text.

use super::blank_code;

/// Maximum length of emphasis in bytes.
const MAX_EMPHASIS: usize = 256;

/// Returns the inline tags of a text, in order and without `#`.
///
/// A tag starts a word and ends at whitespace or at punctuation other than `_`, `-` and `/`. Tags in code, bare numbers,
/// colours and emphasis are excluded.
///
/// ```
/// use memory_core::wikilink::inline_tags;
///
/// assert_eq!(inline_tags("#deploy and #项目/后端, not a#b, #1, #fff or `#c`"), ["deploy", "项目/后端"]);
/// ```
pub fn inline_tags(text: &str) -> Vec<String> {
    prose_tags(&blank_code(text))
}

/// Returns the inline tags of a text without code, such as the result of [`blank_code`].
pub fn prose_tags(prose: &str) -> Vec<String> {
    let mut tags = Vec::new();
    for (at, _) in prose.match_indices('#') {
        if !prose[..at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace)
        {
            continue;
        }
        let rest = &prose[at + 1..];
        // The emoji of the key is no tag.
        if rest.starts_with(['\u{fe0f}', '\u{20e3}']) {
            continue;
        }
        let end = rest
            .find(|character| !is_tag_character(character))
            .unwrap_or(rest.len());
        let tag = rest[..end].trim_end_matches(['/', '_']);
        if is_tag_name(tag) && !is_emphasis(rest) {
            tags.push(tag.to_owned());
        }
    }
    tags
}

/// Returns whether a word behind `#` is meant as a tag: it is neither a number, as of an issue, nor a colour, nor emphasis.
pub fn is_tag_name(word: &str) -> bool {
    let is_emphasis = word.starts_with('_') && word.ends_with('_');
    !word.chars().all(char::is_numeric) && !is_color(word) && !is_emphasis
}

/// Returns whether a word is a colour in hexadecimal digits, rather than a word with the same letters.
///
/// A word such as `cafe` or `decade` has vowels, and no two different consonants in a row. Greys such as `eee` and `fafafa` repeat one or
/// two letters. A 2 between two letters is read as a word, as in `b2b`.
fn is_color(word: &str) -> bool {
    let digits = word.to_ascii_lowercase().into_bytes();
    if !matches!(digits.len(), 3 | 4 | 6 | 8) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    if let [first, b'2', last] = digits[..] {
        return !(first.is_ascii_alphabetic() && last.is_ascii_alphabetic());
    }
    let is_vowel = |letter: u8| matches!(letter, b'a' | b'e');
    let joins_consonants =
        |pair: &[u8]| pair[0] != pair[1] && !is_vowel(pair[0]) && !is_vowel(pair[1]);
    let has_both =
        digits.iter().any(|digit| is_vowel(*digit)) && !digits.iter().all(|digit| is_vowel(*digit));
    let is_grey = 4 < digits.len() && digits.windows(3).all(|part| part[0] == part[2]);
    let are_pairs = 4 < digits.len() && digits.chunks(2).all(|pair| pair[0] == pair[1]);
    digits.iter().any(u8::is_ascii_digit)
        || !has_both
        || is_grey
        || are_pairs
        || digits.windows(2).any(joins_consonants)
}

/// Returns whether a text begins with emphasis by underscores, which end behind a word of its line.
fn is_emphasis(text: &str) -> bool {
    let inner = text.trim_start_matches('_');
    let line = &inner[..inner.floor_char_boundary(MAX_EMPHASIS)];
    let line = line.lines().next().unwrap_or_default();
    let mut ends = line.match_indices('_').filter(|(at, _)| {
        let is_word = |character: char| character.is_alphanumeric();
        let before = line[..*at].chars().next_back();
        let behind = inner[at + 1..].chars().next();
        before.is_some_and(|before| !before.is_whitespace()) && !behind.is_some_and(is_word)
    });
    inner.len() < text.len() && ends.next().is_some()
}

/// Returns whether a character is neither whitespace nor punctuation that ends a tag in Obsidian.
fn is_tag_character(character: char) -> bool {
    let is_punctuation = matches!(character, '\u{2000}'..='\u{206f}' | '\u{2e00}'..='\u{2e7f}')
        || "'!\"#$%&()*+,.:;<=>?@^`{|}~[]\\".contains(character);
    !is_punctuation && !character.is_whitespace()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::inline_tags;

    #[test]
    fn the_emoji_of_the_key_is_no_tag() {
        assert_eq!(inline_tags("press #\u{fe0f}\u{20e3} and #ok"), ["ok"]);
    }

    #[test]
    fn a_tag_begins_a_word_and_ends_at_punctuation() {
        assert_eq!(
            inline_tags("#a/b/ #c-d_e. (#no) x#no ##no #0🌲 # h"),
            ["a/b", "c-d_e", "0🌲"]
        );
    }

    #[test]
    fn numbers_are_none_in_any_script() {
        assert!(inline_tags("#12 #１２").is_empty());
        assert_eq!(inline_tags("#1a #2024-01"), ["1a", "2024-01"]);
    }

    #[test]
    fn colors_and_emphasis_are_none() {
        let colors = "#fff #FFF #eee #abc #0f0 #f00c #a1b2c3 #FFA07A #fafafa #aabbcc #abcdef #ff000080 #deadbeef";
        assert!(inline_tags(colors).is_empty());
        let words =
            "#cafe #bad #dad #Face #decade #facade #added #b2b #e2e #a1 #fffff #feature #1a2b3";
        assert_eq!(inline_tags(words).len(), words.split(' ').count());
        assert!(inline_tags("#_under_ #__strong__ #_two words_, #_a_. #__").is_empty());
        assert_eq!(
            inline_tags("#snake_case _see #tag_ #_inbox\n#_x\n_y_"),
            ["snake_case", "tag", "_inbox", "_x"]
        );
    }

    #[test]
    fn a_megabyte_of_marks_takes_no_time() {
        assert!(inline_tags(&"#".repeat(1_000_000)).is_empty());
        assert_eq!(inline_tags(&"#a ".repeat(300_000)).len(), 300_000);
        assert_eq!(inline_tags(&"#_a ".repeat(300_000)).len(), 300_000);
    }

    proptest! {
        #[test]
        fn tags_are_words_of_the_text(text in "([#`/ a1,]|\\n|键){0,40}") {
            for tag in inline_tags(&text) {
                let marked = format!("#{tag}");
                prop_assert!(text.contains(&marked));
                prop_assert!(!tag.contains(['#', ' ', '`', '\n']));
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            inline_tags(&text);
        }
    }
}
