//! Errors of handlers, as pages.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use memory_core::bank::BankError;
use memory_core::html::{HiddenCharacterStyle, push_visible};
use memory_core::text::format_error_chain;
use memory_core::topic::TopicError;
use memory_core::{Code, LogError, ToolError};

use super::html::SafeHtml;
use super::layout::Layout;
use crate::http::status;

/// The error of a handler.
#[derive(Debug)]
pub(crate) struct PageError {
    pub(crate) error: ToolError,
    /// The frame of the page; without one, the page has no navigation.
    layout: Option<Box<Layout>>,
    /// The page from which the person came.
    previous: Option<String>,
}

impl PageError {
    /// Creates an error with the next step.
    pub(crate) fn new(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            error: ToolError::new(code, message, Some(hint.into())),
            layout: None,
            previous: None,
        }
    }

    /// Returns the error that a field of a form or of a query is invalid.
    pub(crate) fn invalid(message: impl std::fmt::Display) -> Self {
        Self::new(
            Code::InvalidInput,
            message.to_string(),
            "go back and correct the field",
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

    /// Shows the error within this frame, with a link to the page from which the person came.
    pub(crate) fn within(self, layout: Layout, previous: Option<String>) -> Self {
        Self {
            layout: Some(Box::new(layout)),
            previous,
            ..self
        }
    }
}

impl From<ToolError> for PageError {
    fn from(error: ToolError) -> Self {
        Self {
            error,
            layout: None,
            previous: None,
        }
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
    code: &'static str,
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
        let layout = self
            .layout
            .map_or_else(|| Layout::signed_out(heading), |layout| *layout);
        let ToolError {
            message,
            hint,
            code,
            ..
        } = self.error;
        let (message, hint) = (with_code(&message), hint.as_deref().map(with_code));
        let page = ErrorPage {
            layout: Layout {
                title: heading.to_owned(),
                ..layout
            },
            heading,
            message,
            hint,
            previous: self.previous,
            code: code.as_str(),
        };
        (status, render(&page)).into_response()
    }
}

/// Returns a message as HTML. Commands and values in it are between backticks.
fn with_code(message: &str) -> SafeHtml {
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
