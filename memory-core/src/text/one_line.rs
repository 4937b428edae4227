//! Formats text as one line.

use std::error::Error;

use super::deceptive_characters;

/// Returns `text` as one line of at most `longest` characters, followed by `…` if it was longer.
///
/// Line breaks and tabs become spaces. Invisible tags and characters that control a terminal are removed.
pub fn to_one_line(text: &str, longest: usize) -> String {
    let tags: Vec<usize> = if text.contains(is_tag) {
        deceptive_characters(text)
            .filter(|(_, character)| is_tag(*character))
            .map(|(at, _)| at)
            .collect()
    } else {
        Vec::new()
    };
    let is_kept = |(at, character)| tags.binary_search(&at).is_err().then_some(character);
    let visible: String = text
        .char_indices()
        .filter_map(is_kept)
        .filter_map(visible_char)
        .collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!(
            "{}…",
            line[..end].trim_end_matches(|end: char| end.is_whitespace() || is_tag(end))
        ),
        None => line,
    }
}

/// Returns the character that one line shows for `character`, if any.
pub(crate) fn visible_char(character: char) -> Option<char> {
    match character {
        '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(' '),
        // These change the direction of the text.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
        _ if character.is_control() => None,
        _ => Some(character),
    }
}

/// Returns whether a character is a tag. Tags encode invisible text, except after a black flag.
fn is_tag(character: char) -> bool {
    matches!(character, '\u{e0000}'..='\u{e007f}')
}

/// Returns the messages of `error` and of its causes, separated by colons.
pub fn format_error_chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

/// Returns a number with its English noun, in the plural unless the number is 1.
///
/// ```
/// use memory_core::text::counted;
///
/// assert_eq!(counted(1, "key"), "1 key");
/// assert_eq!(counted(2, "key"), "2 keys");
/// assert_eq!(counted(0, "memory"), "0 memories");
/// assert_eq!(counted(3, "match"), "3 matches");
/// ```
pub fn counted(number: u64, noun: &str) -> String {
    let consonant_y = noun
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match consonant_y {
        _ if number == 1 => format!("{number} {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None if noun.ends_with("ch") || noun.ends_with("sh") || noun.ends_with(['s', 'x']) => {
            format!("{number} {noun}es")
        }
        None => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_what_a_reader_sees_and_nothing_else() {
        assert_eq!(
            to_one_line(" call\tAnna\r\n\u{1b}[31mnow\u{202e}\u{2028}ok\u{0}", 80),
            "call Anna [31mnow ok"
        );
        assert_eq!(to_one_line("明天下午三点开会", 4), "明天下午…");
        assert_eq!(to_one_line("\u{7}\n", 4), "");
        assert_eq!(
            to_one_line("a\u{e0061}\u{e007f} 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️", 80),
            "a 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️",
            "a flag needs its tags"
        );
        assert_eq!(to_one_line("🏴󠁧󠁢󠁥󠁮󠁧󠁿 England", 4), "🏴…");
    }
}
