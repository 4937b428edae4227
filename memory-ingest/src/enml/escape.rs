//! Escapes of plain text that Markdown would read as markup.

/// The mark before a special character of plain text in an unfinished line. No text contains it.
const MARK: char = '\0';

/// Maximum length of the name of an entity, with the semicolon.
const MAX_ENTITY: usize = 40;

/// Returns whether Markdown may read a character as markup. A bracket that closes counts only within a link.
fn is_special(character: char, is_in_link: bool) -> bool {
    "\\`*_[<>&#+-=.)~!".contains(character) || (is_in_link && character == ']')
}

/// Adds a character of plain text to an unfinished line, with a mark if it is special.
pub(super) fn push_plain(line: &mut String, character: char, is_in_link: bool) {
    if is_special(character, is_in_link) {
        line.push(MARK);
    }
    line.push(character);
}

/// Returns plain text as one line of Markdown.
pub(crate) fn escape(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    text.chars()
        .for_each(|character| push_plain(&mut line, character, false));
    escape_marked(&line)
}

/// Returns a finished line, in which a backslash precedes each marked character that would be markup.
pub(super) fn escape_marked(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    // Whether the position is within an address of the web, which no backslash may change.
    let mut is_address = false;
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(MARK) {
        escaped.push_str(before);
        is_address = match before.rsplit_once(char::is_whitespace) {
            Some((_, word)) => word.contains("://"),
            None => is_address || before.contains("://"),
        };
        let mut characters = after.chars();
        let Some(character) = characters.next() else {
            return escaped;
        };
        rest = characters.as_str();
        if is_markup(character, &escaped, rest, is_address) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped + rest
}

/// Returns whether `character` is markup between `before`, which is escaped, and `after`, which has marks.
fn is_markup(character: char, before: &str, after: &str, is_address: bool) -> bool {
    let previous = before.chars().next_back();
    let next = after.chars().find(|next| *next != MARK);
    let is_spaced = |neighbour: Option<char>| neighbour.is_none_or(char::is_whitespace);
    let is_start = before.trim_start().is_empty();
    let is_rest = |of: &[char]| {
        after
            .chars()
            .all(|own| own == MARK || own == ' ' || of.contains(&own))
    };
    match character {
        '`' | '[' | ']' => true,
        '\\' => next.is_none_or(|next| next.is_ascii_punctuation()),
        '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(next)),
        '>' => is_start,
        '#' => {
            let marks = before.trim_start();
            let more = after.trim_start_matches(['#', MARK]);
            marks.is_empty() && is_spaced(more.chars().next())
        }
        '+' => is_start && is_spaced(next),
        '-' => is_start && (is_spaced(next) || is_rest(&['-'])),
        '=' => is_start && is_rest(&['=']),
        '.' | ')' => {
            let number = before.trim_start();
            !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && is_spaced(next)
        }
        // Before a link that the text contains, but not before an escaped bracket.
        '!' => after.starts_with('['),
        _ if is_address => false,
        '*' => is_start || !is_spaced(previous) || !is_spaced(next),
        '_' => {
            let is_word = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
            let is_free = !is_start && is_spaced(previous) && is_spaced(next);
            !(is_free || is_word(previous) && is_word(next))
        }
        '&' => {
            let start: String = after
                .chars()
                .filter(|own| *own != MARK)
                .take(MAX_ENTITY)
                .collect();
            let is_name = |name: &str| {
                name.bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'#')
            };
            start
                .split_once(';')
                .is_some_and(|(name, _)| !name.is_empty() && is_name(name))
        }
        '~' => previous == Some('~') || next == Some('~'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::escape;

    #[test]
    fn only_markup_is_escaped() {
        for (text, markdown) in [
            ("a *b* 2 * 3", r"a \*b\* 2 * 3"),
            ("snake_case _x_ __init__", r"snake_case \_x\_ \_\_init\_\_"),
            ("[a](b) [[c]] `d`", r"\[a](b) \[\[c]] \`d\`"),
            ("# title #5 ## x", r"\# title #5 ## x"),
            ("#tag", "#tag"),
            ("> x > y", r"\> x > y"),
            ("- x - y", r"\- x - y"),
            ("---", r"\---"),
            ("--help", "--help"),
            ("===", r"\==="),
            ("12. May 1.5", r"12\. May 1.5"),
            ("3) x", r"3\) x"),
            ("<b> a < b <3", r"\<b> a < b <3"),
            ("a&b &amp; &lt", r"a&b \&amp; &lt"),
            ("~~a~~ ~b", r"\~\~a\~\~ ~b"),
            (r"C:\dir \* end\", r"C:\dir \\\* end\\"),
            (
                "https://x.y/_a_*b?c=1&d;e *f*",
                r"https://x.y/_a_*b?c=1&d;e \*f\*",
            ),
            ("Hi! What?", "Hi! What?"),
        ] {
            assert_eq!(escape(text), markdown);
        }
    }

    proptest! {
        #[test]
        fn escaping_only_adds_backslashes(text in "[a-c *_`#<>&;~!\\[\\]().1+=-]{0,20}") {
            prop_assert_eq!(escape(&text).replace('\\', ""), text);
        }
    }
}
