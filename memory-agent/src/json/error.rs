//! What went wrong, in JSON.

use memory_core::ToolError;
use serde::Serialize;
use serde_json::Value;

use super::value;

#[derive(Serialize)]
struct Failed<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// Writes what went wrong: its permanent name, what happened to what, and what to do next if there is something to say.
///
/// ```
/// let error = memory_agent::json::error("CONFLICT", "categories/inbox/a.md was changed in the meantime", None);
/// assert_eq!(
///     error.to_string(),
///     r#"{"error":{"code":"CONFLICT","message":"categories/inbox/a.md was changed in the meantime"}}"#
/// );
/// ```
pub fn error(code: &str, message: &str, hint: Option<&str>) -> Value {
    value(&Failed { error: Error { code, message, hint } })
}

/// Writes what went wrong with a call: as [`error()`], and what it is about beside the message, as in `{"error": {code, message, bank, key,
/// scope, hint}}`.
pub fn tool_error(failed: &ToolError) -> Value {
    let mut shape = error(failed.code.as_str(), &failed.message, None);
    for (name, what) in &failed.about {
        shape["error"][*name] = what.as_str().into();
    }
    if let Some(hint) = &failed.hint {
        shape["error"]["hint"] = hint.as_str().into();
    }
    shape
}
