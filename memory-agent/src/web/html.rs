//! HTML values for templates: rendered HTML, and labels with the text of people and programs.

use std::fmt;

use askama::filters::HtmlSafe;
use memory_core::html::{HiddenCharacterStyle, push_escaped, push_visible};

/// Returns a text for an attribute or the value of a field, with all its characters.
pub(super) fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 32);
    text.chars()
        .for_each(|character| push_escaped(&mut html, character));
    html
}

/// HTML that is safe to insert into a page without escaping.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SafeHtml(String);

impl SafeHtml {
    /// Marks `html` as safe. The caller has escaped all text in it.
    pub(crate) fn from_escaped(html: String) -> Self {
        Self(html)
    }

    /// Returns a value that is safe already, such as a label or a time.
    pub(crate) fn of(html: &impl HtmlSafe) -> Self {
        Self(html.to_string())
    }

    /// Escapes a text. Hidden and control characters are displayed as their code points.
    pub(crate) fn from_text(text: &str) -> Self {
        let mut html = String::with_capacity(text.len() + 32);
        push_visible(&mut html, text, HiddenCharacterStyle::Element);
        Self(html)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeHtml {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl HtmlSafe for SafeHtml {}

/// A short text of a person or a program, as an element with its own text direction.
///
/// Hidden and control characters are displayed as their code points, so that two labels that differ also look different.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Label(String);

impl Label {
    pub(crate) fn new(text: &str) -> Self {
        let mut html = String::with_capacity(text.len() + 32);
        html.push_str("<bdi dir=\"auto\">");
        push_visible(&mut html, text, HiddenCharacterStyle::Element);
        html.push_str("</bdi>");
        Self(html)
    }

    /// Returns a label with the first `longest` characters of `text`.
    pub(crate) fn cut(text: &str, longest: usize) -> Self {
        match text.char_indices().nth(longest) {
            Some((end, _)) => Self::new(&format!("{}…", text[..end].trim_end())),
            None => Self::new(text),
        }
    }

    /// Returns a label in which the byte ranges `marks` of `text` are highlighted.
    pub(crate) fn marked(text: &str, marks: &[std::ops::Range<usize>]) -> Self {
        let mut html = String::from("<bdi dir=\"auto\">");
        let mut end = 0;
        for mark in marks {
            let (Some(before), Some(found)) = (text.get(end..mark.start), text.get(mark.clone()))
            else {
                continue;
            };
            push_visible(&mut html, before, HiddenCharacterStyle::Element);
            html.push_str("<mark>");
            push_visible(&mut html, found, HiddenCharacterStyle::Element);
            html.push_str("</mark>");
            end = mark.end;
        }
        push_visible(
            &mut html,
            text.get(end..).unwrap_or_default(),
            HiddenCharacterStyle::Element,
        );
        html.push_str("</bdi>");
        Self(html)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl HtmlSafe for Label {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_escaped_and_hidden_characters_are_displayed() {
        let label = Label::new("a<b onclick='x'>\u{202e}&\u{200b}\u{1b}").to_string();
        assert_eq!(
            label,
            "<bdi dir=\"auto\">a&lt;b onclick=&#39;x&#39;&gt;<span class=\"hidden-character\">U+202E</span>&amp;\
             <span class=\"hidden-character\">U+200B</span><span class=\"hidden-character\">U+001B</span></bdi>"
        );
    }

    #[test]
    fn matches_are_highlighted_and_a_long_text_is_cut() {
        let found = std::ops::Range { start: 2, end: 5 };
        assert_eq!(
            Label::marked("a <b> c", &[found]).to_string(),
            "<bdi dir=\"auto\">a <mark>&lt;b&gt;</mark> c</bdi>"
        );
        assert_eq!(
            Label::cut("äöü", 2).to_string(),
            "<bdi dir=\"auto\">äö…</bdi>"
        );
    }

    proptest! {
        #[test]
        fn a_label_contains_no_markup_of_its_text(text in ".{0,60}") {
            let label = Label::new(&text).to_string();
            let inner = label.strip_prefix("<bdi dir=\"auto\">").and_then(|label| label.strip_suffix("</bdi>")).unwrap();
            let inner = inner.replace("<span class=\"hidden-character\">", "").replace("</span>", "");
            prop_assert!(!inner.contains(['<', '>', '"', '\'']));
        }
    }
}
