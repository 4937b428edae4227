//! Extraction of `#tags` from text.

use std::sync::LazyLock;

use regex::Regex;

use super::blank_code;

/// Returns the inline tags of a text, in order and without `#`.
///
/// A tag starts a word and ends at whitespace or at punctuation other than `_`, `-` and `/`. Tags in code and bare
/// numbers are excluded.
///
/// ```
/// use memory_core::wikilink::inline_tags;
///
/// assert_eq!(inline_tags("#deploy and #项目/后端, not a#b, #1 or `#c`"), ["deploy", "项目/后端"]);
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
        let end = rest
            .find(|character| !is_tag_character(character))
            .unwrap_or(rest.len());
        let tag = rest[..end].trim_end_matches('/');
        if !tag.is_empty() && !is_number(tag) {
            tags.push(tag.to_owned());
        }
    }
    tags
}

/// Returns whether a character is neither whitespace nor punctuation that ends a tag in Obsidian.
fn is_tag_character(character: char) -> bool {
    let is_punctuation = matches!(character, '\u{2000}'..='\u{206f}' | '\u{2e00}'..='\u{2e7f}')
        || "'!\"#$%&()*+,.:;<=>?@^`{|}~[]\\".contains(character);
    !is_punctuation && !character.is_whitespace()
}

fn is_number(tag: &str) -> bool {
    static DIGITS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\d+$").expect("the pattern is right"));
    DIGITS.is_match(tag)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::inline_tags;

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
    fn a_megabyte_of_marks_takes_no_time() {
        assert!(inline_tags(&"#".repeat(1_000_000)).is_empty());
        assert_eq!(inline_tags(&"#a ".repeat(300_000)).len(), 300_000);
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
