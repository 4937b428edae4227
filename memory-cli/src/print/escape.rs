//! Escaping of control characters.

use std::borrow::Cow;
use std::fmt::Write;

use memory_core::text::deceptive_characters;

/// Escapes every control character except line breaks and tabs.
///
/// A carriage return is part of a following line feed. A single one is escaped, because it would let a line overwrite
/// itself.
///
/// Memories may contain text from any source, and a terminal must not interpret it.
pub(crate) fn escape_text(text: &str) -> Cow<'_, str> {
    escape_with(text, |character, next| match (character, next) {
        ('\n' | '\t', _) | ('\r', Some('\n')) => EscapeKind::Plain,
        _ => escape_kind(character),
    })
}

/// Converts `text` to one line.
///
/// Line breaks and tabs become blanks; other control characters are escaped.
pub(crate) fn escape_line(text: &str) -> Cow<'_, str> {
    escape_with(text, |character, _| match character {
        '\n' | '\t' | '\r' | '\u{2028}' | '\u{2029}' => EscapeKind::Blank,
        _ => escape_kind(character),
    })
}

/// Converts `text` to one line in which hidden characters are visible as well.
///
/// These are characters that a reader cannot see and a program or language model reads: zero-width characters, tags, overrides
/// of the writing direction and controls. Joiners within emoji and letters of a script stay.
pub(crate) fn escape_hidden(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut copied = 0;
    for (at, character) in deceptive_characters(text) {
        shown.push_str(&text[copied..at]);
        write!(shown, "{}", character.escape_unicode()).expect("a text grows");
        copied = at + character.len_utf8();
    }
    if copied == 0 {
        return escape_line(text);
    }
    shown.push_str(&text[copied..]);
    Cow::Owned(escape_line(&shown).into_owned())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeKind {
    Plain,
    Blank,
    Control,
}

fn escape_kind(character: char) -> EscapeKind {
    if character.is_control() || is_direction_override(character) {
        EscapeKind::Control
    } else {
        EscapeKind::Plain
    }
}

/// Returns whether the character overrides the writing direction, which can disguise a text.
fn is_direction_override(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes control and direction characters in JSON.
///
/// Programs parse the same value, and a terminal shows the text as it is. Such characters occur within JSON strings
/// only.
pub(crate) fn escape_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_bare_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_bare_control(character) {
            write!(shown, "\\u{:04x}", u32::from(character)).expect("a text grows");
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn is_bare_control(character: char) -> bool {
    let is_direction = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}');
    matches!(character, '\u{7f}'..='\u{9f}') || is_direction || is_direction_override(character)
}

fn escape_with(text: &str, kind: impl Fn(char, Option<char>) -> EscapeKind) -> Cow<'_, str> {
    let next = text.chars().skip(1).map(Some).chain([None]);
    let kinds = || {
        text.chars()
            .zip(next.clone())
            .map(|(character, next)| (character, kind(character, next)))
    };
    if kinds().all(|(_, kind)| kind == EscapeKind::Plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for (character, kind) in kinds() {
        match kind {
            EscapeKind::Plain => shown.push(character),
            EscapeKind::Blank => shown.push(' '),
            EscapeKind::Control => {
                write!(shown, "{}", character.escape_unicode()).expect("a text grows");
            }
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_never_told_what_to_do() {
        assert_eq!(
            escape_text("a\x1b[31mb\u{9b}2J\x07"),
            r"a\u{1b}[31mb\u{9b}2J\u{7}"
        );
        assert_eq!(escape_line("\u{202e}abc"), r"\u{202e}abc");
    }

    #[test]
    fn json_reads_as_what_it_is_and_says_the_same() {
        for character in ('\u{7f}'..='\u{9f}')
            .chain('\u{202a}'..='\u{202e}')
            .chain('\u{2066}'..='\u{2069}')
        {
            let value =
                serde_json::json!({ "text": format!("a{character}b\u{61c}\u{200e}\u{200f}") })
                    .to_string();
            let shown = escape_json(&value);
            let code = u32::from(character);
            assert_eq!(
                shown,
                format!(r#"{{"text":"a\u{code:04x}b\u061c\u200e\u200f"}}"#)
            );
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&shown)
                    .unwrap()
                    .to_string(),
                value
            );
        }
        let plain = r#"{"text":"深色\n👩‍💻 שלום"}"#;
        assert!(matches!(escape_json(plain), Cow::Borrowed(same) if same == plain));
    }

    #[test]
    fn a_line_break_of_windows_is_a_line_break() {
        assert_eq!(escape_text("one\r\ntwo\r\n"), "one\r\ntwo\r\n");
        assert_eq!(escape_text("one\rtwo\r"), r"one\u{d}two\u{d}");
    }

    #[test]
    fn hidden_characters_are_visible_in_a_review() {
        let hidden = "a\u{200b}b\u{202e}c\u{e0041}\u{e0042}d\u{feff}\x1b[2J\te";
        assert_eq!(
            escape_hidden(hidden),
            r"a\u{200b}b\u{202e}c\u{e0041}\u{e0042}d\u{feff}\u{1b}[2J e"
        );
        let plain = "偏好: dark 👩‍💻 naïve می‌خواهم";
        assert!(matches!(escape_hidden(plain), Cow::Borrowed(same) if same == plain));
    }

    #[test]
    fn prose_stays_as_it_is() {
        let text = "偏好:\tdark\n👩‍💻 naïve";
        assert!(matches!(escape_text(text), Cow::Borrowed(same) if same == text));
        assert_eq!(escape_line(text), "偏好: dark 👩‍💻 naïve");
    }
}
