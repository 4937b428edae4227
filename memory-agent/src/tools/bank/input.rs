//! Shared parameter parsing and error conversion of the bank tools.

use memory_core::bank::{BankError, BankErrorKind, BankName, BankScope, Banks, Key, ScopeChoice};
use memory_core::json::JsonText;
use memory_core::text::format_error_chain;
use memory_core::{Code, ToolContext, ToolError};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::input;
use crate::exact_json;

/// Runs `work` on the banks of the caller in the given scope, and returns its result.
///
/// Every error names its scope.
pub(super) fn run_on_banks(
    context: &ToolContext,
    scope: Option<&str>,
    work: impl FnOnce(&Banks, ScopeChoice) -> Result<String, BankError>,
) -> Result<Value, ToolError> {
    let Some(banks) = &context.services.banks else {
        return Err(ToolError::new(Code::ToolNotFound, "banks are not available", None));
    };
    let banks = Banks { actor: context.services.actor.clone(), ..banks.clone() };
    let choice = self::parse_scope(scope)?;
    match work(&banks, choice) {
        Ok(text) => parse_result(&text),
        Err(error) => Err(tool_error(error.with_scope(banks.effective_scope(choice)))),
    }
}

/// Parses parameters; an error names an unknown field.
pub(super) fn parse_input<T: DeserializeOwned>(parameters: &Value) -> Result<T, ToolError> {
    input::parse_input(parameters)
}

/// Parses the name of a bank.
pub(super) fn parse_bank(text: &str) -> Result<BankName, BankError> {
    text.parse()
}

/// Parses a key of a bank.
pub(super) fn key(bank: &BankName, text: &str) -> Result<Key, BankError> {
    text.parse().map_err(|error: BankError| error.with_bank(bank.as_str(), None))
}

/// Parses the scope of a bank; `all` is the same as no scope.
fn parse_scope(text: Option<&str>) -> Result<ScopeChoice, ToolError> {
    match text {
        None | Some("all") => Ok(ScopeChoice::Detected),
        Some(text) => {
            let scope: BankScope = text.parse().map_err(|error| input::invalid(format!("scope: {error}")))?;
            Ok(ScopeChoice::Only(scope))
        }
    }
}

/// Converts a bank error into a tool error.
fn tool_error(error: BankError) -> ToolError {
    let message = format_error_chain(&error);
    let (code, hint) = (error.code(), error_hint(&error));
    let scope = error.scope.map(|scope| scope.as_str().to_owned());
    let about = [("bank", error.bank), ("key", error.key), ("scope", scope)];
    let about = about.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    ToolError { about, ..ToolError::new(code, message, hint) }
}

/// Returns what a caller can do about an error, other than calling another tool.
fn error_hint(error: &BankError) -> Option<String> {
    match error.trouble {
        BankErrorKind::Symlink { .. } => Some("scope \"user\" reads the bank of the user".to_owned()),
        BankErrorKind::NoProject => Some("scope \"user\" stores it for all projects".to_owned()),
        BankErrorKind::InvalidDocument { .. } | BankErrorKind::KeyExists => None,
        BankErrorKind::Damaged { .. } => Some("nothing was changed; ask the user to repair the bank".to_owned()),
        _ => error.hint(),
    }
}

/// Converts a result into a value without losing digits.
fn parse_result(text: &str) -> Result<Value, ToolError> {
    let text: JsonText =
        text.parse().map_err(|error| ToolError::new(Code::Internal, format!("the result is not JSON: {error}"), None))?;
    Ok(exact_json::to_value(&text))
}

/// Returns the schema of an object with these properties.
pub(super) fn object_schema(properties: &Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}
