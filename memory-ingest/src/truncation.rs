//! Cutting texts that are too long for one memory.

use std::sync::LazyLock;

use regex::Regex;

/// Maximum number of characters of a text.
const MAX_CHARACTERS: usize = 5_000;

/// Returns the first part of a text that is too long, with a note about the cut as the last line.
///
/// `path` is the file with the whole text.
pub(crate) fn truncate_text(text: &str, path: &str) -> Option<String> {
    let (end, _) = text.char_indices().nth(MAX_CHARACTERS)?;
    Some(format!(
        "{}\n\n[cut: {} of {} characters; the rest is in {path}]",
        &text[..end],
        format_count(MAX_CHARACTERS),
        format_count(text.chars().count())
    ))
}

/// Returns the newest messages of a chat that is too long, with a note about the cut as the first line.
///
/// `path` is the file with the whole chat.
pub(crate) fn truncate_chat(chat: &str, path: &str) -> Option<String> {
    static MESSAGE: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r"(?m)^### \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] (?:User|Assistant|System)\r?$";
        Regex::new(pattern).expect("the pattern is right")
    });
    let (start, _) = chat
        .char_indices()
        .nth_back(MAX_CHARACTERS - 1)
        .filter(|(start, _)| 0 < *start)?;
    // A single message longer than the limit is cut in its middle.
    let start = MESSAGE
        .find_at(chat, start)
        .map_or(start, |message| message.start());
    let kept = &chat[start..];
    let (count, total) = (
        format_count(kept.chars().count()),
        format_count(chat.chars().count()),
    );
    Some(format!(
        "[cut: the newest {count} of {total} characters; the rest is in {path}]\n\n{kept}"
    ))
}

/// Formats a count with commas between the thousands.
fn format_count(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if 0 < index && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{truncate_chat, truncate_text};

    #[test]
    fn five_thousand_characters_are_not_cut() {
        assert_eq!(truncate_text(&"键".repeat(5_000), "p"), None);
        assert_eq!(truncate_chat(&"键".repeat(5_000), "p"), None);
    }

    #[test]
    fn a_cut_falls_between_characters_and_is_said() {
        let cut = truncate_text(&"键".repeat(12_345), "a/b.md").expect("it is long");
        assert_eq!(
            cut,
            "键".repeat(5_000) + "\n\n[cut: 5,000 of 12,345 characters; the rest is in a/b.md]"
        );
        let cut = truncate_chat(&"键".repeat(5_001), "c").expect("it is long");
        assert_eq!(
            cut,
            "[cut: the newest 5,000 of 5,001 characters; the rest is in c]\n\n".to_owned()
                + &"键".repeat(5_000)
        );
    }

    #[test]
    fn a_chat_is_cut_where_a_message_begins_and_not_at_its_headings() {
        let old = format!(
            "### [2026-01-01 00:00:00] User\n\n{}\n### Heading\n\n{}\n",
            "a".repeat(3_000),
            "b".repeat(2_000)
        );
        let new = format!(
            "### [2026-01-02 00:00:00] Assistant\n\n{}\n",
            "c".repeat(2_990)
        );
        let cut = truncate_chat(&(old + &new), "p").expect("it is long");
        assert!(cut.ends_with(&format!("]\n\n{new}")), "{cut}");
    }
}
