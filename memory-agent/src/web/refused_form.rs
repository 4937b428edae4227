//! Shows the page of a refused form again, with what the person typed and the reason beside the field.
//!
//! The page is rendered as usual, and the values are then entered into its HTML. So no page needs code of its own for this, and a form that
//! was added later has the same behaviour.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use super::fields::Fields;
use super::html::{SafeHtml, escape};

/// Field of a form with the page that contains it, where the form has the address of a refused one.
pub(super) const FORM_PAGE: &str = "form-page";

/// Why a form was refused, as an extension of the response.
#[derive(Debug, Clone)]
pub(super) struct FormRefusal {
    pub(super) message: SafeHtml,
    pub(super) hint: Option<SafeHtml>,
    /// The field that is wrong, if it is one.
    pub(super) field: Option<&'static str>,
    /// Whether the object was changed after the form was opened. The form then has the version that is stored now, which the person sees
    /// next to the typed text, and may replace.
    pub(super) is_conflict: bool,
}

/// A start tag or an end tag of a page, whose text is escaped, so that each `<` begins a tag.
#[derive(Debug, Clone, Copy)]
struct Tag<'p> {
    text: &'p str,
    start: usize,
}

impl<'p> Tag<'p> {
    /// Iterates over the tags of a page.
    fn all(page: &'p str) -> impl Iterator<Item = Self> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = at + page[at..].find('<')?;
            let mut quote = None;
            let length = page[start..].bytes().position(|byte| {
                match (quote, byte) {
                    (None, b'>') => return true,
                    (None, b'"' | b'\'') => quote = Some(byte),
                    (Some(open), _) if open == byte => quote = None,
                    _ => {}
                }
                false
            })?;
            at = start + length + 1;
            Some(Self {
                text: &page[start..at],
                start,
            })
        })
    }

    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Returns the name, with `/` if it is an end tag.
    fn name(&self) -> &'p str {
        let inner = &self.text[1..];
        &inner[..inner.find([' ', '\n', '>']).unwrap_or(inner.len())]
    }

    /// Returns the attributes, with values as they are written.
    fn attributes(&self) -> Vec<(&'p str, Option<&'p str>)> {
        let mut rest = self.text.trim_end_matches('>').trim_start_matches('<');
        rest = &rest[self.name().len()..];
        let mut found = Vec::new();
        loop {
            rest = rest.trim_start();
            let Some(end) = rest
                .find([' ', '\n', '='])
                .or(Some(rest.len()).filter(|end| 0 < *end))
            else {
                return found;
            };
            let name = &rest[..end];
            rest = &rest[end..];
            let value = rest
                .strip_prefix("=\"")
                .and_then(|value| value.split_once('"'));
            found.push((name, value.map(|(value, _)| value)));
            rest = match value {
                Some((_, after)) => after,
                // Nothing else is written without quotation marks.
                None => rest.trim_start_matches('='),
            };
        }
    }

    /// Returns the value of an attribute; empty if it is missing.
    fn get(&self, name: &str) -> Cow<'p, str> {
        let own = self.attributes().into_iter().find(|(own, _)| *own == name);
        unescape(own.and_then(|(_, value)| value).unwrap_or_default())
    }

    fn has(&self, name: &str) -> bool {
        self.attributes().iter().any(|(own, _)| *own == name)
    }

    /// Returns the tag with other values of attributes; `None` removes one.
    fn with(&self, changes: &[(&str, Option<&str>)]) -> String {
        let mut html = format!("<{}", self.name());
        let kept = self
            .attributes()
            .into_iter()
            .filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        for (name, value) in kept {
            html.push(' ');
            html.push_str(name);
            if let Some(value) = value {
                write!(html, "=\"{value}\"").expect("a text grows");
            }
        }
        for (name, value) in changes
            .iter()
            .filter_map(|(name, value)| Some((name, (*value)?)))
        {
            write!(html, " {name}=\"{}\"", escape(value)).expect("a text grows");
        }
        html.push('>');
        html
    }

    /// Returns whether a person types or chooses the value of this control.
    fn is_typed(&self) -> bool {
        match self.name() {
            "textarea" | "select" => true,
            "input" => !matches!(
                &*self.get("type"),
                "hidden" | "submit" | "button" | "image" | "reset" | "file" | "password"
            ),
            _ => false,
        }
    }
}

/// Returns the text of an attribute.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let entities = [
        ("&#60;", "<"),
        ("&lt;", "<"),
        ("&#62;", ">"),
        ("&gt;", ">"),
        ("&#34;", "\""),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#38;", "&"),
        ("&amp;", "&"),
    ];
    entities
        .iter()
        .fold(text.to_owned(), |text, (entity, character)| {
            text.replace(entity, character)
        })
        .into()
}

/// A form of a page, and how many hidden fields have the values that were sent.
struct PageForm {
    span: Range<usize>,
    id: String,
    matching: usize,
    has_typed_field: bool,
    /// Whether it replaces a version that is stored.
    has_version: bool,
}

/// Returns the form of `page` that was sent to `path`. Of several, it is the one with the same hidden fields.
fn find_form(page: &str, path: &str, sent: &Fields) -> Option<PageForm> {
    let tags: Vec<Tag<'_>> = Tag::all(page).collect();
    let mut best: Option<PageForm> = None;
    for (number, tag) in tags.iter().enumerate() {
        if tag.name() != "form" || tag.get("method") != "post" || tag.get("action") != path {
            continue;
        }
        let end = tags[number..]
            .iter()
            .find(|tag| tag.name() == "/form")
            .map_or(page.len(), Tag::end);
        let mut form = PageForm {
            span: tag.start..end,
            id: tag.get("id").into_owned(),
            matching: 0,
            has_typed_field: false,
            has_version: false,
        };
        let controls: Vec<&Tag<'_>> = tags.iter().filter(|tag| form.contains(tag)).collect();
        for control in controls {
            let name = control.get("name");
            let is_sent = |value: &str| sent.all(&name).any(|own| own == value);
            let is_same =
                control.get("type") == "hidden" && name != "csrf" && is_sent(&control.get("value"));
            form.matching += usize::from(is_same);
            form.has_version |= name == "version";
            form.has_typed_field |= control.is_typed() && sent.all(&name).next().is_some();
        }
        if best
            .as_ref()
            .is_none_or(|best| best.matching < form.matching)
        {
            best = Some(form);
        }
    }
    best.filter(|form| form.has_typed_field)
}

impl PageForm {
    fn contains(&self, tag: &Tag<'_>) -> bool {
        self.span.contains(&tag.start) || !self.id.is_empty() && tag.get("form") == self.id
    }
}

/// Returns `page` with the fields `sent` in the form that was sent to `path`, and with the refusal; `None` if it has no such form with fields.
///
/// `page_path` is the path of the page, for another refusal of the same form.
pub(super) fn fill_in(
    page: &str,
    page_path: &str,
    path: &str,
    sent: &Fields,
    refusal: &FormRefusal,
) -> Option<String> {
    let form = find_form(page, path, sent)?;
    let reason = refusal.hint.as_ref().map_or_else(
        || refusal.message.as_str().to_owned(),
        |hint| format!("{} {}", refusal.message.as_str(), hint.as_str()),
    );
    let beside = format!("<p id=\"form-error\" class=\"error small\" role=\"alert\">{reason}</p>");
    let is_conflict = refusal.is_conflict && form.has_version;
    let has_field = Tag::all(page).any(|tag| {
        form.contains(&tag)
            && tag.is_typed()
            && refusal.field.is_some_and(|field| tag.get("name") == field)
    });
    let mut html = String::with_capacity(page.len() + page.len() / 8);
    let (mut done, mut choice, mut is_wrong_choice) = (0, None::<String>, false);
    let mut seen: Vec<String> = Vec::new();
    // The value and the label of the option of a select that is stored.
    let mut stored_choice: Option<(Cow<'_, str>, Cow<'_, str>)> = None;
    // The position in the new page of each open `details`.
    let mut opened = Vec::new();
    let mut tags = Tag::all(page).peekable();
    while let Some(tag) = tags.next() {
        html.push_str(&page[done..tag.start]);
        done = tag.end();
        match tag.name() {
            "details" => opened.push(html.len() + "<details".len()),
            "/details" => {
                opened.pop();
            }
            _ => {}
        }
        if tag.start == form.span.start {
            html.push_str(tag.text);
            write!(
                html,
                "<input type=\"hidden\" name=\"{FORM_PAGE}\" value=\"{}\">",
                escape(page_path)
            )
            .expect("a text grows");
            if !has_field {
                write!(
                    html,
                    "<div id=\"form-error\" class=\"notice failure\" role=\"alert\">{reason}</div>"
                )
                .expect("a text grows");
            }
            open_parts(&mut html, &mut opened);
            continue;
        }
        if !form.contains(&tag) {
            html.push_str(tag.text);
            continue;
        }
        let name = tag.get("name").into_owned();
        let number = seen.iter().filter(|own| **own == name).count();
        seen.push(name.clone());
        let value = sent.all(&name).nth(number).filter(|_| name != "csrf");
        let is_wrong = has_field && tag.is_typed() && refusal.field == Some(name.as_str());
        let marks: &[(&str, Option<&str>)] = if is_wrong {
            &[
                ("aria-invalid", Some("true")),
                ("aria-describedby", Some("form-error")),
                ("autofocus", Some("")),
            ]
        } else {
            &[]
        };
        let with = |changes: &[(&str, Option<&str>)]| tag.with(&[changes, marks].concat());
        match (tag.name(), &*tag.get("type")) {
            ("input", "checkbox" | "radio") => {
                let own = tag.get("value");
                let is_checked = sent.all(&name).any(|sent| sent == own || own.is_empty());
                html.push_str(&with(&[("checked", is_checked.then_some(""))]));
                let is_stored = tag.has("checked");
                if is_conflict && is_stored != is_checked {
                    push_stored(&mut html, if is_stored { "on" } else { "off" });
                }
            }
            ("input", "hidden") if is_conflict && name == "version" => {
                html.push_str(tag.text);
            }
            ("input", kind) if kind == "hidden" || tag.is_typed() => {
                html.push_str(&match value {
                    Some(value) => with(&[("value", Some(value))]),
                    None => with(&[]),
                });
                let stored = tag.get("value");
                if is_conflict && kind != "hidden" && value.is_some_and(|value| value != stored) {
                    push_stored(&mut html, &stored);
                }
            }
            ("textarea", _) => {
                html.push_str(&with(&[]));
                if let Some(end) = tags.next_if(|tag| tag.name() == "/textarea") {
                    match value {
                        // A browser ignores a line break at the beginning.
                        Some(value) => {
                            html.push('\n');
                            html.push_str(&escape(value));
                        }
                        None => html.push_str(&page[done..end.start]),
                    }
                    let stored = page[done..end.start].trim_start_matches('\n');
                    html.push_str(end.text);
                    let typed = value.unwrap_or_default().replace("\r\n", "\n");
                    if is_conflict && typed != unescape(stored) {
                        push_stored_text(&mut html, stored);
                    }
                    done = end.end();
                }
            }
            ("select", _) => {
                html.push_str(&with(&[]));
                (choice, is_wrong_choice) = (value.map(str::to_owned), is_wrong);
                stored_choice = None;
            }
            ("/select", _) => {
                html.push_str(tag.text);
                let typed = choice.take();
                if let (Some(typed), Some((stored, label))) = (typed, stored_choice.take())
                    && is_conflict
                    && typed != stored
                {
                    push_stored(&mut html, &label);
                }
                html.push_str(if std::mem::take(&mut is_wrong_choice) {
                    &beside
                } else {
                    ""
                });
            }
            ("option", _) if choice.is_some() => {
                let has_value = tag.attributes().iter().any(|(name, _)| *name == "value");
                let rest = &page[done..];
                let label = unescape(rest[..rest.find('<').unwrap_or(rest.len())].trim());
                let value = has_value.then(|| tag.get("value"));
                let own = value.unwrap_or_else(|| label.clone());
                // Without a selected option, the first one is chosen.
                if stored_choice.is_none() || tag.has("selected") {
                    stored_choice = Some((own.clone(), label));
                }
                let is_chosen = choice.as_deref() == Some(&*own);
                html.push_str(&tag.with(&[("selected", is_chosen.then_some(""))]));
            }
            _ => html.push_str(tag.text),
        }
        if is_wrong && tag.name() != "select" {
            open_parts(&mut html, &mut opened);
            html.push_str(&beside);
        }
    }
    html.push_str(&page[done..]);
    Some(html)
}

/// Adds what is stored in the field before, which another program changed.
fn push_stored(html: &mut String, stored: &str) {
    let stored = if stored.is_empty() { "nothing" } else { stored };
    write!(
        html,
        "<span class=\"muted small\">Stored now: <bdi dir=\"auto\">{}</bdi></span>",
        escape(stored)
    )
    .expect("a text grows");
}

/// Adds the text that is stored, as it is written in the page.
fn push_stored_text(html: &mut String, stored: &str) {
    write!(
        html,
        "<section class=\"panel\"><h2>What is stored now</h2><pre class=\"source\" dir=\"auto\" tabindex=\"0\">{stored}</pre></section>"
    )
    .expect("a text grows");
}

/// Opens the parts of the page at these positions, which would hide the reason.
fn open_parts(html: &mut String, positions: &mut Vec<usize>) {
    for at in positions.drain(..).rev() {
        if !html[at..].starts_with(" open") {
            html.insert_str(at, " open");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::web::fields::encode_pairs;

    const PAGE: &str = "<details><summary>A</summary><form action=\"/a\" method=\"post\"><input type=\"hidden\" name=\"id\" value=\"1\">\
        <input name=\"text\"></form></details>\
        <details><summary>B</summary><form action=\"/a\" method=\"post\" id=\"b\"><input type=\"hidden\" name=\"csrf\" value=\"new\">\
        <input type=\"hidden\" name=\"id\" value=\"2\"><textarea name=\"text\" rows=\"2\">\nold</textarea>\
        <select name=\"kind\"><option>x</option><option value=\"why\" selected>y</option></select></form></details>\
        <input type=\"checkbox\" form=\"b\" name=\"box\" value=\"1\" checked><input type=\"checkbox\" form=\"b\" name=\"box\" value=\"2\">";

    #[test]
    fn after_a_conflict_each_field_that_differs_shows_what_is_stored() {
        let page = "<form action=\"/a\" method=\"post\"><input type=\"hidden\" name=\"version\" value=\"2\"><textarea name=\"text\">\nsame</textarea>\
            <input name=\"ttl\" value=\"9\"><input name=\"tags\" value=\"a\"><input name=\"day\" value=\"\">\
            <select name=\"kind\"><option value=\"1\">one</option><option value=\"2\" selected>two</option></select>\
            <input type=\"checkbox\" name=\"pinned\" value=\"yes\" checked></form>";
        let refusal = FormRefusal {
            message: SafeHtml::from_text("No."),
            hint: None,
            field: None,
            is_conflict: true,
        };
        let sent = "version=1&text=same&ttl=&tags=a&day=2026-05-01&kind=1";
        let shown = |page: &str| {
            let html = fill_in(page, "/page", "/a", &Fields::parse(sent), &refusal).unwrap();
            let stored = html.split("<bdi dir=\"auto\">").skip(1);
            let stored = stored.map(|rest| rest.split('<').next().unwrap().to_owned());
            (stored.collect::<Vec<_>>(), html)
        };
        let (stored, html) = shown(page);
        assert_eq!(stored, ["9", "nothing", "two", "on"], "{html}");
        assert!(
            html.contains("name=\"version\" value=\"2\"") && !html.contains("What is stored now")
        );
        // A form that adds something replaces nothing.
        assert_eq!(
            shown(&page.replace("name=\"version\"", "name=\"id\"")).0,
            [""; 0]
        );
    }

    fn fill(sent: &[(&str, &str)], field: Option<&'static str>) -> Option<String> {
        let refusal = FormRefusal {
            message: SafeHtml::from_text("No."),
            hint: None,
            field,
            is_conflict: false,
        };
        fill_in(
            PAGE,
            "/page?a=1",
            "/a",
            &Fields::parse(&encode_pairs(sent.iter().copied())),
            &refusal,
        )
    }

    #[test]
    fn the_form_that_was_sent_has_its_values_again_and_is_visible() {
        let html = fill(
            &[
                ("csrf", "old"),
                ("id", "2"),
                ("text", "\n<b> & \"c\""),
                ("kind", "x"),
                ("box", "2"),
            ],
            None,
        )
        .unwrap();
        let (first, second) = html.split_once("</details>").unwrap();
        assert_eq!(first, PAGE.split_once("</details>").unwrap().0);
        assert_eq!(
            second,
            "<details open><summary>B</summary><form action=\"/a\" method=\"post\" id=\"b\">\
             <input type=\"hidden\" name=\"form-page\" value=\"/page?a=1\"><div id=\"form-error\" class=\"notice failure\" role=\"alert\">No.</div>\
             <input type=\"hidden\" name=\"csrf\" value=\"new\"><input type=\"hidden\" name=\"id\" value=\"2\">\
             <textarea name=\"text\" rows=\"2\">\n\n&lt;b&gt; &amp; &quot;c&quot;</textarea>\
             <select name=\"kind\"><option selected=\"\">x</option><option value=\"why\">y</option></select></form></details>\
             <input type=\"checkbox\" form=\"b\" name=\"box\" value=\"1\"><input type=\"checkbox\" form=\"b\" name=\"box\" value=\"2\" checked=\"\">"
        );
    }

    #[test]
    fn the_reason_is_beside_the_field_that_is_wrong() {
        let html = fill(&[("id", "1"), ("text", "x")], Some("text")).unwrap();
        assert!(
            html.contains(
                "<input name=\"text\" value=\"x\" aria-invalid=\"true\" aria-describedby=\"form-error\" autofocus=\"\">\
                 <p id=\"form-error\" class=\"error small\" role=\"alert\">No.</p></form>"
            ),
            "{html}"
        );
        assert_eq!(html.matches("form-error").count(), 2);
    }

    #[test]
    fn a_form_without_a_typed_field_is_not_shown_again() {
        assert_eq!(fill(&[("id", "1")], None), None);
        assert_eq!(
            fill_in(
                PAGE,
                "/",
                "/other",
                &Fields::parse("text=a"),
                &FormRefusal {
                    message: SafeHtml::default(),
                    hint: None,
                    field: None,
                    is_conflict: false,
                }
            ),
            None
        );
    }

    proptest! {
        #[test]
        fn no_typed_text_becomes_markup(text in "[<>\"'&a/= \n]{0,20}") {
            let html = fill(&[("id", "2"), ("text", &text), ("id", &text)], None).unwrap();
            let names = |html: &str| Tag::all(html).map(|tag| tag.name().to_owned()).filter(|name| name != "div" && name != "/div").collect::<Vec<_>>();
            let mut expected = names(PAGE);
            expected.insert(expected.iter().rposition(|name| name == "form").unwrap() + 1, "input".into());
            prop_assert_eq!(names(&html), expected);
        }
    }
}
