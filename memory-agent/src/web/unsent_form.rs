//! A form that had no effect yet: it waits for a sign-in, or it was refused. Its text is not lost.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use memory_core::text::to_one_line;

use super::error::render;
use super::fields::{Fields, local_path};
use super::html::{Label, SafeHtml};
use super::layout::Layout;
use super::refused_form::FORM_PAGE;

/// Field of the sign-in form with the path to which the other form is sent.
const PATH: &str = "unsent-path";

/// The beginning of the names of the fields of the other form within the sign-in form.
const PREFIX: &str = "unsent:";

/// The names of fields in which a person writes. The others are choices, or belong to the page.
const WRITTEN: [&str; 8] = [
    "content",
    "text",
    "title",
    "name",
    "value",
    "description",
    "tags",
    "when",
];

/// A form that had no effect yet.
#[derive(Debug, Clone)]
pub(crate) struct UnsentForm {
    pub(crate) path: String,
    /// The fields without the CSRF token.
    pub(crate) fields: Vec<(String, String)>,
    /// What the person wrote: name and text.
    pub(crate) texts: Vec<(Label, SafeHtml)>,
    /// The other fields that have a value.
    pub(crate) others: Vec<(Label, Label)>,
}

impl UnsentForm {
    /// Returns the form that was sent to `path`; `None` if it is empty.
    pub(crate) fn new(path: &str, form: &Fields) -> Option<Self> {
        let fields: Vec<_> = form.pairs().filter(|(name, _)| *name != "csrf").collect();
        let is_shown = |(name, value): &(&str, &str)| {
            !["next", FORM_PAGE].contains(name) && !value.trim().is_empty()
        };
        let (texts, others): (Vec<_>, Vec<_>) =
            fields
                .iter()
                .copied()
                .filter(is_shown)
                .partition(|(name, value)| {
                    let is_text =
                        WRITTEN.contains(name) || value.trim().contains(char::is_whitespace);
                    is_text && !is_secret(name)
                });
        (!fields.is_empty()).then(|| Self {
            path: local_path(path).to_owned(),
            texts: texts
                .into_iter()
                .map(|(name, value)| {
                    (
                        describe(name),
                        SafeHtml::from_text(&value.replace("\r\n", "\n")),
                    )
                })
                .collect(),
            others: others
                .into_iter()
                .map(|(name, value)| {
                    let shown = if is_secret(name) {
                        "set, and not shown"
                    } else {
                        value.trim()
                    };
                    (describe(name), Label::cut(shown, 200))
                })
                .collect(),
            fields: fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        })
    }

    /// Returns the form that a sign-in form contains.
    pub(super) fn in_sign_in(form: &Fields) -> Option<Self> {
        let path = form.text(PATH)?;
        Self::new(
            path,
            &form
                .pairs()
                .filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?, value)))
                .collect(),
        )
    }

    /// Returns the fields for a sign-in form, from which [`Self::in_sign_in`] returns this form.
    pub(super) fn for_sign_in(&self) -> Vec<(String, String)> {
        let fields = self
            .fields
            .iter()
            .map(|(name, value)| (format!("{PREFIX}{name}"), value.clone()));
        std::iter::once((PATH.to_owned(), self.path.clone()))
            .chain(fields)
            .collect()
    }

    pub(super) fn sent_fields(&self) -> Fields {
        self.fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    /// Returns the form if it has a text that would be lost.
    pub(super) fn with_text(self) -> Option<Self> {
        Some(self).filter(|form| !form.texts.is_empty())
    }
}

/// Returns whether a field contains a key of a language model, which is never shown.
fn is_secret(name: &str) -> bool {
    name.ends_with("api_key")
}

/// Returns the name of a field in words.
fn describe(name: &str) -> Label {
    let words = to_one_line(&name.replace(['-', '_', ':'], " "), 60);
    let mut letters = words.chars();
    let capital: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    Label::new(&(capital + letters.as_str()))
}

#[derive(Template)]
#[template(path = "confirm_form.html")]
struct ConfirmPage {
    layout: Layout,
    csrf: String,
    form: UnsentForm,
}

/// Returns the page to confirm that a form of an ended session is sent with the token `csrf` of the current session.
pub(super) fn confirm(form: UnsentForm, csrf: &str) -> Response {
    let page = ConfirmPage {
        layout: Layout::signed_out("Not saved yet"),
        csrf: csrf.to_owned(),
        form,
    };
    (StatusCode::FORBIDDEN, render(&page)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_passes_through_the_sign_in_form() {
        let sent = Fields::parse(
            "csrf=old&content=a+%26+b%0Ac&tag=x&tag=y&version=1&next=%2Finbox&empty=",
        );
        let form = UnsentForm::new("/memories/1/edit", &sent).unwrap();
        assert_eq!((form.texts.len(), form.others.len()), (1, 3), "{form:?}");
        let sign_in: Fields = form
            .for_sign_in()
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let again = UnsentForm::in_sign_in(&sign_in).unwrap();
        assert_eq!(
            (again.path.as_str(), &again.fields),
            ("/memories/1/edit", &form.fields)
        );
        assert_eq!(
            again.sent_fields().get("csrf"),
            "",
            "the token of the former session is left out"
        );
        assert!(UnsentForm::in_sign_in(&Fields::parse("code=1&unsent:a=b")).is_none());
        let foreign = Fields::parse("unsent-path=%2F%2Fevil.example&unsent:a=b");
        assert_eq!(UnsentForm::in_sign_in(&foreign).unwrap().path, "/");
    }
}
