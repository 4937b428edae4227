//! Errors of handlers, as pages.

use askama::Template;
use axum::Extension;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use memory_core::bank::BankError;
use memory_core::html::{HiddenCharacterStyle, push_visible};
use memory_core::text::format_error_chain;
use memory_core::topic::TopicError;
use memory_core::{Code, LogError, ToolError};

use super::error_text::{as_sentence, for_page};
use super::html::SafeHtml;
use super::layout::Layout;
use super::refused_form::FormRefusal;
use super::unsent_form::UnsentForm;
use crate::http::status;

/// The error of a handler.
#[derive(Debug)]
pub(crate) struct PageError {
    pub(crate) error: ToolError,
    /// The field of the form that is wrong, if it is one.
    field: Option<&'static str>,
    /// The frame of the page; without one, the page has no navigation.
    frame: Option<Box<ErrorFrame>>,
}

/// What surrounds an error on its page.
#[derive(Debug)]
struct ErrorFrame {
    layout: Layout,
    /// The page from which the person came.
    previous: Option<String>,
    /// The form that was refused.
    form: Option<UnsentForm>,
}

impl PageError {
    /// Creates an error with the next step.
    pub(crate) fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::shown(ToolError::new(code, message, Some(hint.into())))
    }

    /// Shows an error in its own words.
    pub(crate) fn shown(error: ToolError) -> Self {
        Self {
            error,
            field: None,
            frame: None,
        }
    }

    /// Returns the error that a field of a form or of a query is invalid.
    pub(crate) fn invalid(message: impl std::fmt::Display) -> Self {
        Self::new(
            Code::InvalidInput,
            message.to_string(),
            "Correct it, then send it again.",
        )
    }

    /// Returns the error that another program changed an object after its form was opened.
    pub(crate) fn changed(object: &str) -> Self {
        Self::new(
            Code::Conflict,
            format!("{object} was changed after you opened this form; nothing was saved"),
            "compare both texts, then save again",
        )
    }

    /// Returns the error that there is an object of this name already.
    pub(crate) fn exists(object: &str) -> Self {
        Self::new(
            Code::Conflict,
            format!("{object} exists already"),
            "choose another name, or open the existing one and edit it",
        )
    }

    /// Returns the error that this field of a form is wrong.
    pub(crate) fn of_field(field: &'static str, message: impl std::fmt::Display) -> Self {
        let error = ToolError::new(Code::InvalidInput, message.to_string(), None);
        Self::shown(error).in_field(field)
    }

    /// Shows the error beside this field of a form.
    pub(crate) fn in_field(self, field: &'static str) -> Self {
        Self {
            field: Some(field),
            ..self
        }
    }

    /// Shows an error with this code beside this field of a form.
    pub(crate) fn in_field_if(self, code: Code, field: &'static str) -> Self {
        if self.error.code == code {
            self.in_field(field)
        } else {
            self
        }
    }

    /// Shows the error within this frame, with a link to the page from which the person came, and with the text of the form that was sent.
    pub(crate) fn within(
        self,
        layout: Layout,
        previous: Option<String>,
        form: Option<UnsentForm>,
    ) -> Self {
        let form = form.and_then(UnsentForm::with_text);
        let frame = ErrorFrame {
            layout,
            previous,
            form,
        };
        Self {
            frame: Some(Box::new(frame)),
            ..self
        }
    }
}

impl From<ToolError> for PageError {
    fn from(error: ToolError) -> Self {
        Self::shown(for_page(error))
    }
}

impl From<memory_core::StoreError> for PageError {
    fn from(error: memory_core::StoreError) -> Self {
        ToolError::from(error).into()
    }
}

impl From<memory_core::instance::InstanceError> for PageError {
    fn from(error: memory_core::instance::InstanceError) -> Self {
        ToolError::from(error).into()
    }
}

impl From<BankError> for PageError {
    fn from(error: BankError) -> Self {
        ToolError::new(error.code(), format_error_chain(&error), error.hint()).into()
    }
}

impl From<TopicError> for PageError {
    fn from(error: TopicError) -> Self {
        ToolError::new(error.code(), format_error_chain(&error), error.hint()).into()
    }
}

impl From<LogError> for PageError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Bank(error) => error.into(),
            LogError::Topic(error) => error.into(),
            LogError::Instance(error) => error.into(),
        }
    }
}

impl From<memory_core::ParseError> for PageError {
    fn from(error: memory_core::ParseError) -> Self {
        Self::invalid(error)
    }
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    layout: Layout,
    heading: &'static str,
    message: SafeHtml,
    hint: Option<SafeHtml>,
    previous: Option<String>,
    form: Option<UnsentForm>,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let status = status(self.error.code);
        let heading = match status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::CONFLICT => "Changed since",
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => "Not allowed",
            status if status.is_client_error() => "This cannot be done",
            _ => "Something failed",
        };
        let frame = self.frame.map_or_else(
            || ErrorFrame {
                layout: Layout::signed_out(heading),
                previous: None,
                form: None,
            },
            |frame| *frame,
        );
        let words = |text: &str| with_code(&as_sentence(text));
        let (message, hint) = (
            words(&self.error.message),
            self.error.hint.as_deref().map(words),
        );
        let refusal = FormRefusal {
            message: message.clone(),
            hint: hint.clone(),
            field: self.field,
            is_conflict: self.error.code == Code::Conflict,
        };
        let page = ErrorPage {
            layout: Layout {
                title: heading.to_owned(),
                ..frame.layout
            },
            heading,
            message,
            hint,
            previous: frame.previous,
            form: frame.form,
        };
        (status, Extension(refusal), render(&page)).into_response()
    }
}

/// Returns a message as HTML. Commands and values in it are between backticks.
pub(super) fn with_code(message: &str) -> SafeHtml {
    let mut html = String::new();
    for (number, part) in message.split('`').enumerate() {
        if 0 < number {
            html.push_str(if number % 2 == 1 { "<code>" } else { "</code>" });
        }
        push_visible(&mut html, part, HiddenCharacterStyle::Element);
    }
    if message.matches('`').count() % 2 == 1 {
        html.push_str("</code>");
    }
    SafeHtml::from_escaped(html)
}

/// Renders a template as a response.
pub(crate) fn render(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => Html(html).into_response(),
        // Templates fail only if a value fails to format itself.
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backticks_of_a_message_mark_code() {
        assert_eq!(
            with_code("run `memory <x>`").as_str(),
            "run <code>memory &lt;x&gt;</code>"
        );
        assert_eq!(with_code("a ` b").as_str(), "a <code> b</code>");
        assert_eq!(with_code("").as_str(), "");
    }
}
