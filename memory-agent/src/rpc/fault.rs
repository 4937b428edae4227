//! Why a request was not done.

use memory_core::{Code, ToolError};
use serde_json::{Value, json};

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    number: i32,
    error: ToolError,
}

impl Fault {
    /// Says that a line is no JSON.
    pub(super) fn not_json(why: &serde_json::Error) -> Self {
        Self::new(-32_700, Code::InvalidInput, format!("the line is no JSON: {why}"))
    }

    /// Says that something is no request.
    pub fn no_request(why: impl Into<String>) -> Self {
        Self::new(-32_600, Code::InvalidInput, why.into())
    }

    /// Says that there is no such method.
    pub(super) fn no_method(name: &str) -> Self {
        let message = format!("there is neither a method nor a tool called {}", memory_core::text::one_line(name, 80));
        let hint = "tools/list with {\"all\": true} names all tools";
        Self::new(-32_601, Code::ToolNotFound, message).hinting(hint)
    }

    /// Says that the parameters are not what the method asks for.
    pub(super) fn parameters(why: impl Into<String>) -> Self {
        Self::new(-32_602, Code::InvalidInput, why.into())
    }

    /// Says that the system has no room for this now.
    pub(crate) fn no_room(why: impl Into<String>) -> Self {
        Self::new(-32_000, Code::Io, why.into()).hinting("close connections that nobody uses, or try again later")
    }

    fn new(number: i32, code: Code, message: String) -> Self {
        Self { number, error: ToolError::new(code, message, None) }
    }

    fn hinting(mut self, hint: &str) -> Self {
        self.error.hint = Some(hint.to_owned());
        self
    }

    /// Writes it as the answer to the request `id`; null if that is not known.
    pub fn answer(&self, id: &Value) -> Value {
        let ToolError { code, message, hint, about, .. } = &self.error;
        let mut data = json!({ "code": code.as_str() });
        if let Some(hint) = hint {
            data["hint"] = hint.as_str().into();
        }
        for (name, value) in about {
            data[*name] = value.as_str().into();
        }
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": self.number, "message": message, "data": data } })
    }
}

impl From<ToolError> for Fault {
    fn from(error: ToolError) -> Self {
        let number = match error.code {
            Code::ToolNotFound => -32_601,
            Code::InvalidInput => -32_602,
            _ => -32_000,
        };
        let hint = error.hint.as_deref().and_then(crate::tools::without_commands);
        Self { number, error: ToolError { hint, ..error } }
    }
}
