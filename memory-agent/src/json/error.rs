//! The JSON of errors.

use memory_core::ToolError;
use memory_core::secret::without_secrets;
use serde::Serialize;
use serde_json::Value;

use super::value;

#[derive(Serialize)]
struct ErrorEnvelope<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// Returns the JSON of an error: its permanent code, its message, and a hint if there is one. Credentials in it are redacted.
///
/// ```
/// let error = memory_agent::json::error("CONFLICT", "categories/inbox/a.md was changed in the meantime", None);
/// assert_eq!(
///     error.to_string(),
///     r#"{"error":{"code":"CONFLICT","message":"categories/inbox/a.md was changed in the meantime"}}"#
/// );
/// ```
pub fn error(code: &str, message: &str, hint: Option<&str>) -> Value {
    value(&ErrorEnvelope {
        error: Error {
            code,
            message: &without_secrets(message),
            hint: hint.map(without_secrets).as_deref(),
        },
    })
}

/// Returns the JSON of a failed call: like [`error()`], with the objects that the error is about.
///
/// For example `{"error": {code, message, bank, key, scope, hint}}`.
pub fn tool_error(failed: &ToolError) -> Value {
    let mut shape = error(failed.code.as_str(), &failed.message, None);
    for (name, what) in &failed.about {
        shape["error"][*name] = without_secrets(what).into();
    }
    if let Some(hint) = &failed.hint {
        shape["error"]["hint"] = without_secrets(hint).into();
    }
    shape
}
