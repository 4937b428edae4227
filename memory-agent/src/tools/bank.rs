//! The bank tools.
//!
//! Their parameters have the names and descriptions that clients of banks expect; [`super::ToolSet`] renames the tools for
//! clients that expect other tool names. The results are those of the corresponding commands, see
//! [`crate::json::bank`], and numbers keep every digit, see [`crate::exact_json`].

use std::sync::Arc;

use memory_core::bank::{
    BankError, BankErrorKind, BankName, BankQueryTarget, BankScope, BankSearchFields,
    BankWriteCondition, BankWriteRequest, Banks, Key, MissingKey, ScopeChoice,
};
use memory_core::json::JsonText;
use memory_core::text::format_error_chain;
use memory_core::{Code, Effect, SecretPolicy, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::built_in::BuiltInTool;
use super::input::invalid;
use crate::exact_json;
use crate::json::bank as shapes;
use crate::parameters::any_json;

/// Returns the bank tools.
pub(super) fn bank_tools() -> [Arc<dyn Tool>; 7] {
    [
        Arc::new(BANK_READ),
        Arc::new(BANK_WRITE),
        Arc::new(BANK_UPDATE),
        Arc::new(BANK_DELETE),
        Arc::new(BANK_LIST),
        Arc::new(BANK_QUERY),
        Arc::new(BANK_SEARCH),
    ]
}

/// The scopes of a bank.
const SCOPES: [&str; 2] = ["user", "project"];

/// The scopes of several banks.
const SCOPES_AND_ALL: [&str; 3] = ["user", "project", "all"];

/// Reads an entry, or a whole bank.
const BANK_READ: BuiltInTool<BankReadInput> = BuiltInTool {
    name: "bank_read",
    description: "Read from a memory bank",
    effect: Effect::Reads,
    execute: |context, input| {
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let bank = parse_bank(&input.bank)?;
            let found = match &input.key {
                Some(text) => {
                    let key = key(&bank, text)?;
                    memory_core::bank::read(banks, &bank, &key, choice)
                        .map(|reading| shapes::entry(&reading))
                }
                None => {
                    memory_core::bank::read_bank(banks, &bank, choice).and_then(|(_, found)| {
                        Ok(shapes::bank_with_warning(
                            &found,
                            &memory_core::bank::find_folders(banks, &bank, choice)?,
                        ))
                    })
                }
            };
            match (found, &input.default) {
                (Err(error), Some(default)) if is_missing(&error) => {
                    Ok(shapes::default_entry(default))
                }
                (found, _) => found,
            }
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BankReadInput {
    /// Memory bank name
    bank: String,
    /// Key to read (optional, reads all if omitted)
    key: Option<String>,
    #[schemars(extend("enum" = SCOPES))]
    scope: Option<String>,
    /// Default value if key not found
    #[serde(default, deserialize_with = "any_json")]
    #[schemars(with = "Option<Value>")]
    default: Option<JsonText>,
}

fn is_missing(error: &BankError) -> bool {
    matches!(
        error.trouble,
        BankErrorKind::BankNotFound | BankErrorKind::KeyNotFound | BankErrorKind::Expired
    )
}

/// Writes a value under a key.
const BANK_WRITE: BuiltInTool<BankWriteInput> = BuiltInTool {
    name: "bank_write",
    description: "Write to a memory bank",
    effect: Effect::Changes,
    execute: |context, input| {
        run_on_banks(context, input.scope.as_deref(), |banks, scope| {
            let bank = parse_bank(&input.bank)?;
            let (key, value) = (key(&bank, &input.key)?, input.value);
            let (ttl, condition, secrets) =
                (input.ttl, BankWriteCondition::Any, SecretPolicy::Refuse);
            let request = BankWriteRequest {
                bank,
                key,
                value,
                ttl,
                condition,
                scope,
                secrets,
            };
            Ok(shapes::write_result(&memory_core::bank::write(
                banks, &request,
            )?))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BankWriteInput {
    bank: String,
    key: String,
    /// Value to store (any JSON)
    #[serde(deserialize_with = "any_json")]
    #[schemars(with = "Value")]
    value: JsonText,
    #[schemars(extend("enum" = SCOPES))]
    scope: Option<String>,
    /// TTL in seconds
    ttl: Option<u64>,
}

/// Changes a value with a jq filter.
const BANK_UPDATE: BuiltInTool<BankUpdateInput> = BuiltInTool {
    name: "bank_update",
    description: "Update memory entry with jq filter",
    effect: Effect::Changes,
    execute: |context, input| {
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let bank = parse_bank(&input.bank)?;
            let (key, filter) = (key(&bank, &input.key)?, &input.filter);
            let done = memory_core::bank::update(
                banks,
                &bank,
                &key,
                filter,
                choice,
                MissingKey::Refuse,
                SecretPolicy::Refuse,
            );
            Ok(shapes::update_result(&done?))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BankUpdateInput {
    bank: String,
    key: String,
    /// jq filter to apply
    filter: String,
    #[schemars(extend("enum" = SCOPES))]
    scope: Option<String>,
}

/// Deletes an entry, or a whole bank.
const BANK_DELETE: BuiltInTool<BankDeleteInput> = BuiltInTool {
    name: "bank_delete",
    description: "Delete memory entry or bank",
    effect: Effect::Changes,
    execute: |context, input| {
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let bank = parse_bank(&input.bank)?;
            let key = input
                .key
                .as_deref()
                .map(|text| key(&bank, text))
                .transpose()?;
            let scope = match &key {
                Some(key) => memory_core::bank::delete(banks, &bank, key, choice)?,
                None => memory_core::bank::delete_bank(banks, &bank, choice)?,
            };
            Ok(shapes::delete_result(&bank, key.as_ref(), scope))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BankDeleteInput {
    bank: String,
    /// Key to delete (omit to delete entire bank)
    key: Option<String>,
    #[schemars(extend("enum" = SCOPES))]
    scope: Option<String>,
}

/// Lists banks, or the keys of a bank.
const BANK_LIST: BuiltInTool<BankListInput> = BuiltInTool {
    name: "bank_list",
    description: "List memory banks or keys",
    effect: Effect::Reads,
    execute: |context, input| {
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let Some(text) = &input.bank else {
                return Ok(shapes::listings(&memory_core::bank::list(banks, choice)?));
            };
            let bank = parse_bank(text)?;
            if input.scope.as_deref() == Some("all") {
                return Ok(shapes::keys_in_all_scopes(
                    &bank,
                    &memory_core::bank::keys_by_folder(banks, &bank)?,
                    false,
                ));
            }
            Ok(shapes::keys(
                &bank,
                &memory_core::bank::keys(banks, &bank, choice)?,
                false,
            ))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BankListInput {
    /// Bank to list keys from (omit to list banks)
    bank: Option<String>,
    #[schemars(extend("enum" = SCOPES_AND_ALL))]
    scope: Option<String>,
}

/// Applies a jq filter to an entry or a bank.
const BANK_QUERY: BuiltInTool<BankQueryInput> = BuiltInTool {
    name: "bank_query",
    description: "Query memory with jq filter",
    effect: Effect::Reads,
    execute: |context, input| {
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let bank = parse_bank(&input.bank)?;
            let key = input
                .key
                .as_deref()
                .map(|text| key(&bank, text))
                .transpose()?;
            let subject = key
                .as_ref()
                .map_or(BankQueryTarget::Bank, BankQueryTarget::Key);
            Ok(shapes::query_results(&memory_core::bank::query(
                banks,
                &bank,
                subject,
                &input.filter,
                choice,
            )?))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BankQueryInput {
    bank: String,
    key: Option<String>,
    /// jq filter expression
    filter: String,
    #[schemars(extend("enum" = SCOPES))]
    scope: Option<String>,
}

/// Searches keys and values with a pattern.
const BANK_SEARCH: BuiltInTool<BankSearchInput> = BuiltInTool {
    name: "bank_search",
    description: "Search across memory banks",
    effect: Effect::Reads,
    execute: |context, input| {
        let searched = if input.search_values {
            BankSearchFields::Values
        } else {
            BankSearchFields::Keys
        };
        run_on_banks(context, input.scope.as_deref(), |banks, choice| {
            let found = memory_core::bank::search(banks, &input.pattern, searched, choice)?;
            Ok(shapes::search_results(&found, searched))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BankSearchInput {
    /// Search pattern (regex)
    pattern: String,
    /// Search in values too
    #[serde(default)]
    search_values: bool,
    #[schemars(extend("enum" = SCOPES_AND_ALL))]
    scope: Option<String>,
}

/// Runs `work` on the banks of the caller in the given scope, and returns its result.
///
/// Every error names its scope.
fn run_on_banks(
    context: &ToolContext,
    scope: Option<&str>,
    work: impl FnOnce(&Banks, ScopeChoice) -> Result<String, BankError>,
) -> Result<Value, ToolError> {
    let Some(banks) = &context.services.banks else {
        return Err(ToolError::new(
            Code::ToolNotFound,
            "banks are not available",
            None,
        ));
    };
    let banks = Banks {
        actor: context.services.actor.clone(),
        ..banks.clone()
    };
    let choice = parse_scope(scope)?;
    match work(&banks, choice) {
        Ok(text) => parse_result(&text),
        Err(error) => Err(tool_error(error.with_scope(banks.effective_scope(choice)))),
    }
}

/// Parses the name of a bank.
fn parse_bank(text: &str) -> Result<BankName, BankError> {
    text.parse()
}

/// Parses a key of a bank.
fn key(bank: &BankName, text: &str) -> Result<Key, BankError> {
    text.parse()
        .map_err(|error: BankError| error.with_bank(bank.as_str(), None))
}

/// Parses the scope of a bank; `all` is the same as no scope.
fn parse_scope(text: Option<&str>) -> Result<ScopeChoice, ToolError> {
    match text {
        None | Some("all") => Ok(ScopeChoice::Detected),
        Some(text) => {
            let scope: BankScope = text
                .parse()
                .map_err(|error| invalid(format!("scope: {error}")))?;
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
    let about = about
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
    ToolError {
        about,
        ..ToolError::new(code, message, hint)
    }
}

/// Returns what a caller can do about an error, other than calling another tool.
fn error_hint(error: &BankError) -> Option<String> {
    match error.trouble {
        BankErrorKind::Symlink { .. } => {
            Some("scope \"user\" reads the bank of the user".to_owned())
        }
        BankErrorKind::NoProject => Some("scope \"user\" stores it for all projects".to_owned()),
        BankErrorKind::InvalidDocument { .. } | BankErrorKind::KeyExists => None,
        BankErrorKind::Damaged { .. } => {
            Some("nothing was changed; ask the user to repair the bank".to_owned())
        }
        _ => error.hint(),
    }
}

/// Converts a result into a value without losing digits.
fn parse_result(text: &str) -> Result<Value, ToolError> {
    let text: JsonText = text.parse().map_err(|error| {
        ToolError::new(
            Code::Internal,
            format!("the result is not JSON: {error}"),
            None,
        )
    })?;
    Ok(exact_json::to_value(&text))
}
