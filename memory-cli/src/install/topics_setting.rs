//! The setting of Claude Code for the folder of its auto memory.

use serde_json::Value;

use super::command::Invocation;
use super::edit::ClientFileError;
use super::jsonc::{self, JsoncMember, JsoncStep};

/// The key of the setting. Source: <https://code.claude.com/docs/en/memory>.
const KEY: &str = "autoMemoryDirectory";

/// Sets the folder.
///
/// # Errors
/// If the file cannot be parsed, or another folder is set and must not be replaced.
pub(super) fn install(text: &str, own: &Invocation) -> Result<String, ClientFileError> {
    match is_set(text, own) {
        Ok(true) => Ok(text.to_owned()),
        Err(refusal) if !(refusal.is_foreign_entry() && own.replaces) => Err(refusal),
        _ => jsonc::set_value(text, &[JsoncStep::Key(KEY)], &own.topics.as_deref().into()),
    }
}

/// Removes the setting, or restores the value in the newest backup in `formers` that has another one or none.
pub(super) fn uninstall(
    text: &str,
    own: &Invocation,
    formers: &[&str],
) -> Result<String, ClientFileError> {
    let former = formers
        .iter()
        .find(|former| is_set(former, own) != Ok(true));
    match former.map(|former| setting(former)).transpose()?.flatten() {
        Some(former) => jsonc::set_value(text, &[JsoncStep::Key(KEY)], &former.value),
        None => jsonc::remove(text, &[JsoncStep::Key(KEY)]),
    }
}

/// Returns whether the folder is set.
///
/// # Errors
/// If the file cannot be parsed, or another folder is set.
pub(super) fn is_set(text: &str, own: &Invocation) -> Result<bool, ClientFileError> {
    let Some(JsoncMember { value, range, .. }) = setting(text)? else {
        return Ok(false);
    };
    if value.as_str() == own.topics.as_deref() {
        return Ok(true);
    }
    let content = if let Value::String(folder) = value {
        folder
    } else {
        value.to_string()
    };
    Err(ClientFileError::foreign_entry(
        text,
        range.start,
        KEY.to_owned(),
        content,
    ))
}

fn setting(text: &str) -> Result<Option<JsoncMember>, ClientFileError> {
    Ok(jsonc::members(text, &[])?
        .into_iter()
        .rfind(|member| member.key == KEY))
}
