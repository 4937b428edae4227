//! Errors of JSON-RPC requests.

use memory_core::{Code, ToolError};
use serde_json::{Value, json};

/// The error of a JSON-RPC request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    number: i32,
    error: ToolError,
}

impl RpcError {
    /// Returns the error for a line that is not JSON.
    pub(super) fn not_json(why: &serde_json::Error) -> Self {
        Self::new(
            -32_700,
            Code::InvalidInput,
            format!("the line is not JSON: {why}"),
        )
    }

    /// Returns the error for JSON that is not a request.
    pub fn invalid_request(why: impl Into<String>) -> Self {
        Self::new(-32_600, Code::InvalidInput, why.into())
    }

    /// Returns the error for an unknown method.
    pub(super) fn method_not_found(name: &str) -> Self {
        let message = format!(
            "no method or tool is named {}",
            memory_core::text::to_one_line(name, 80)
        );
        let hint = "tools/list with {\"all\": true} lists all tools";
        Self::new(-32_601, Code::ToolNotFound, message).with_hint(hint)
    }

    /// Returns the error for invalid parameters.
    pub(super) fn invalid_parameters(why: impl Into<String>) -> Self {
        Self::new(-32_602, Code::InvalidInput, why.into())
    }

    /// Returns the error for a request that exceeds the free resources.
    #[cfg(feature = "server")]
    pub(crate) fn overloaded(why: impl Into<String>) -> Self {
        Self::new(-32_000, Code::Overloaded, why.into())
            .with_hint("close unused connections, or try again later")
    }

    fn new(number: i32, code: Code, message: String) -> Self {
        Self {
            number,
            error: ToolError::new(code, message, None),
        }
    }

    fn with_hint(mut self, hint: &str) -> Self {
        self.error.hint = Some(hint.to_owned());
        self
    }

    /// Adds to the hint of a refused scope how a connection sets its agent and project.
    pub(super) fn name_session_method(&mut self) {
        if self.error.code == Code::ScopeRefused {
            let own = "session/open with {\"agent\": NAME, \"project\": NAME} sets them";
            let hint = self.error.hint.take().map(|hint| format!("{hint}; {own}"));
            self.error.hint = Some(hint.unwrap_or_else(|| own.to_owned()));
        }
    }

    /// Builds the error response to the request `id`, which is null if unknown.
    pub fn to_response(&self, id: &Value) -> Value {
        let ToolError {
            code,
            message,
            hint,
            about,
            ..
        } = &self.error;
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

impl From<ToolError> for RpcError {
    fn from(error: ToolError) -> Self {
        let number = match error.code {
            Code::ToolNotFound => -32_601,
            Code::InvalidInput => -32_602,
            _ => -32_000,
        };
        let hint = error
            .hint
            .as_deref()
            .and_then(crate::tools::without_commands);
        Self {
            number,
            error: ToolError { hint, ..error },
        }
    }
}
