//! What the tools of banks have in common.

use memory_core::bank::{BankError, BankName, BankScope, Banks, Key, ScopeChoice};
use memory_core::json::JsonText;
use memory_core::text::with_causes;
use memory_core::{Code, ToolContext, ToolError};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::input;

/// Returns the banks, as those of whoever asks.
pub(super) fn banks(context: &ToolContext) -> Result<Banks, ToolError> {
    let Some(banks) = &context.services.banks else {
        return Err(ToolError::new(Code::ToolNotFound, "there are no banks here", None));
    };
    Ok(Banks { actor: context.services.actor.clone(), ..banks.clone() })
}

/// Reads parameters; one that is not known is named.
pub(super) fn read<T: DeserializeOwned>(parameters: &Value) -> Result<T, ToolError> {
    input::read(parameters)
}

/// Reads the name of a bank.
pub(super) fn bank(text: &str) -> Result<BankName, ToolError> {
    text.parse().map_err(told)
}

/// Reads a key of a bank.
pub(super) fn key(bank: &BankName, text: &str) -> Result<Key, ToolError> {
    text.parse().map_err(|error: BankError| told(error.about(bank.as_str(), None)))
}

/// Reads whose bank is meant; `all` is as good as nothing.
pub(super) fn scope(text: Option<&str>) -> Result<ScopeChoice, ToolError> {
    match text {
        None | Some("all") => Ok(ScopeChoice::Detected),
        Some(text) => {
            let scope: BankScope = text.parse().map_err(|error| input::invalid(format!("scope: {error}")))?;
            Ok(ScopeChoice::Only(scope))
        }
    }
}

/// Says what went wrong, to which bank.
pub(super) fn told(error: BankError) -> ToolError {
    let message = with_causes(&error);
    let (code, hint) = (error.code(), error.hint());
    let scope = error.scope.map(|scope| scope.as_str().to_owned());
    let about = [("bank", error.bank), ("key", error.key), ("scope", scope)];
    let about = about.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    ToolError { about, ..ToolError::new(code, message, hint) }
}

/// Returns an answer as a value, with its own text beside it where that says more.
pub(super) fn answer(text: &str) -> Result<Value, ToolError> {
    let text: JsonText =
        text.parse().map_err(|error| ToolError::new(Code::Internal, format!("the answer is no JSON: {error}"), None))?;
    let mut value = text.to_value();
    if !text.is_exact_as_value() {
        value["text"] = text.as_str().into();
    }
    Ok(value)
}

/// Returns the schema of an object with these properties.
pub(super) fn schema(properties: &Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}
