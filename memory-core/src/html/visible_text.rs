//! Text in HTML, with hidden and control characters as code points.

use std::fmt::Write;

use crate::text::deceptive_characters;

/// How a hidden or control character is displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenCharacterStyle {
    /// In an element with the class `hidden-character`.
    Element,
    /// In brackets.
    Text,
}

/// Appends `text` with escaped markup, and with hidden and control characters as code points.
pub fn push_visible(html: &mut String, text: &str, style: HiddenCharacterStyle) {
    let (before, after) = match style {
        HiddenCharacterStyle::Element => ("<span class=\"hidden-character\">", "</span>"),
        HiddenCharacterStyle::Text => ("[", "]"),
    };
    let mut deceptive = deceptive_characters(text).map(|(at, _)| at).peekable();
    for (at, character) in text.char_indices() {
        let is_deceptive = deceptive.next_if_eq(&at).is_some();
        let is_control = character.is_control() && !matches!(character, '\n' | '\t');
        if is_deceptive || is_control {
            write!(html, "{before}U+{:04X}{after}", u32::from(character)).expect("a text grows");
        } else {
            push_escaped(html, character);
        }
    }
}

/// Appends a character of a text or of the value of an attribute.
pub fn push_escaped(html: &mut String, character: char) {
    match character {
        '<' => html.push_str("&lt;"),
        '>' => html.push_str("&gt;"),
        '&' => html.push_str("&amp;"),
        '"' => html.push_str("&quot;"),
        '\'' => html.push_str("&#39;"),
        other => html.push(other),
    }
}

/// Returns `text` with hidden and control characters as code points, for attributes and titles, which contain no elements.
pub fn visible_text(text: &str) -> String {
    let mut deceptive = deceptive_characters(text).map(|(at, _)| at).peekable();
    let mut visible = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if deceptive.next_if_eq(&at).is_some() || character.is_control() {
            write!(visible, "[U+{:04X}]", u32::from(character)).expect("a text grows");
        } else {
            visible.push(character);
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped_and_hidden_characters_are_displayed() {
        let text = "a<b c='x'>\u{202e}&\n\u{1b}";
        for (style, expected) in [
            (
                HiddenCharacterStyle::Element,
                "a&lt;b c=&#39;x&#39;&gt;<span class=\"hidden-character\">U+202E</span>&amp;\n<span class=\"hidden-character\">U+001B</span>",
            ),
            (
                HiddenCharacterStyle::Text,
                "a&lt;b c=&#39;x&#39;&gt;[U+202E]&amp;\n[U+001B]",
            ),
        ] {
            let mut html = String::new();
            push_visible(&mut html, text, style);
            assert_eq!(html, expected);
        }
        assert_eq!(visible_text("a\u{202e}\nb"), "a[U+202E][U+000A]b");
    }
}
