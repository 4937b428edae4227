//! Short descriptions of memories.

use std::collections::HashSet;

use memory_core::Memory;

/// Maximum number of characters of a headline.
const MAX_HEADLINE: usize = 80;

/// Maximum number of characters of a description.
const MAX_DESCRIPTION: usize = 200;

/// Returns the title of a memory, or else the start of its first sentence.
pub(super) fn headline(memory: &Memory) -> String {
    let title = memory
        .title
        .as_deref()
        .map(one_line)
        .filter(|title| !title.is_empty());
    title.unwrap_or_else(|| cut(&first_sentence(&memory.content), MAX_HEADLINE))
}

/// Returns the first sentence of the text of a memory, or its title if it has no text.
pub(super) fn description(memory: &Memory) -> String {
    let sentence = cut(&first_sentence(&memory.content), MAX_DESCRIPTION);
    if sentence.is_empty() {
        headline(memory)
    } else {
        sentence
    }
}

/// Returns a text as one line with single spaces.
pub(super) fn one_line(text: &str) -> String {
    let plain = text.replace(char::is_control, " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the names that are not blank, each as one line and once.
pub(super) fn names<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = names.into_iter().map(|name| one_line(name));
    names
        .filter(|name| !name.is_empty() && seen.insert(name.clone()))
        .collect()
}

/// Returns the first sentence of Markdown as one line, without the marks at the start and the brackets of wikilinks.
fn first_sentence(content: &str) -> String {
    let is_mark = |character: char| character.is_whitespace() || "#>*-+|=`~".contains(character);
    let is_text = |line: &&str| line.chars().any(char::is_alphanumeric);
    let line = content
        .lines()
        .map(|line| line.trim_start_matches(is_mark))
        .find(is_text)
        .unwrap_or_default();
    let line = one_line(&line.replace("[[", "").replace("]]", "").replace("**", ""));
    let ends = line.char_indices().filter(|(at, character)| {
        let after = &line[at + character.len_utf8()..];
        matches!(character, '。' | '！' | '？')
            || (matches!(character, '.' | '!' | '?') && after.starts_with(' '))
    });
    // An abbreviation or a number of a list is not a sentence.
    let end = ends
        .map(|(at, character)| at + character.len_utf8())
        .find(|end| 20 <= *end || !line.is_char_boundary(*end));
    line[..end.unwrap_or(line.len())].trim().to_owned()
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => {
            let start = &text[..end];
            let word = start.rfind(' ').filter(|at| end / 2 < *at).unwrap_or(end);
            format!("{}…", start[..word].trim_end())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_has_no_marks() {
        for (content, sentence) in [
            ("# Tea\n\nGreen", "Tea"),
            (
                "- The user prefers [[Green tea]]. Always.",
                "The user prefers Green tea.",
            ),
            (
                "\n---\n> 我喜欢绿茶。也喜欢红茶。我每天早上都会喝一杯热茶。",
                "我喜欢绿茶。也喜欢红茶。",
            ),
            ("e.g. a test of Mr. Tea", "e.g. a test of Mr. Tea"),
            ("\r\n\t", ""),
        ] {
            assert_eq!(first_sentence(content), sentence, "{content:?}");
        }
        assert_eq!(cut("one two three", 9), "one two…");
    }
}
