//! The error type of bank operations.

use std::error::Error;
use std::fmt;

use super::{BankScope, JsonFilterError};
use crate::json::JsonError;
use crate::{Code, StoreError};

/// An error of an operation on banks.
#[derive(Debug)]
pub struct BankError {
    /// The bank, as the caller named it.
    pub bank: Option<String>,
    /// The key, as the caller named it.
    pub key: Option<String>,
    /// The scope, if it was determined.
    pub scope: Option<BankScope>,
    /// The cause.
    pub trouble: BankErrorKind,
}

/// The cause of a bank error.
#[derive(Debug)]
#[non_exhaustive]
pub enum BankErrorKind {
    /// The bank does not exist.
    BankNotFound,
    /// The key does not exist in the bank.
    KeyNotFound,
    /// The entry has expired.
    Expired,
    /// The key already exists.
    KeyExists,
    /// The bank name is not valid.
    InvalidBankName {
        /// The reason, as the end of a sentence.
        why: &'static str,
    },
    /// The key is not valid.
    InvalidKey {
        /// The reason, as the end of a sentence.
        why: &'static str,
    },
    /// The value is not valid JSON.
    InvalidJson(JsonError),
    /// An argument other than the value is not valid JSON.
    InvalidArgument {
        /// The argument, as the user types it.
        argument: &'static str,
        /// The JSON error.
        error: JsonError,
    },
    /// The value, the bank or the number of keys exceeds its limit.
    TooLarge {
        /// The violated limit, as a statement.
        what: String,
    },
    /// The folder or file is not writable.
    PermissionDenied {
        /// The folder or file, for display.
        place: String,
    },
    /// Another program changed the bank during each attempt.
    Conflict,
    /// The result of the operation was changed afterwards, so the operation cannot be undone.
    ChangedSince,
    /// The filter returned no result.
    Filter(JsonFilterError),
    /// The filter of an update must return exactly one value.
    NotOneValue {
        /// The number of values that it returned.
        count: usize,
    },
    /// The schema is not a valid JSON Schema.
    InvalidSchema {
        /// The reason.
        why: String,
    },
    /// The value does not satisfy the schema of the bank.
    SchemaViolation {
        /// The violation.
        why: String,
    },
    /// The search pattern is not a valid regular expression.
    InvalidPattern {
        /// The reason.
        why: String,
    },
    /// The bank or entry cannot be parsed.
    Damaged {
        /// The defect and its location, as a statement.
        what: String,
    },
    /// The imported document is not a bank.
    InvalidDocument {
        /// The reason.
        why: String,
    },
    /// The folder of a project's banks is a symlink, which is not followed.
    Symlink {
        /// The symlink.
        path: String,
    },
    /// The project scope was requested outside of a project.
    NoProject,
    /// An error that banks share with notes.
    Store(Box<StoreError>),
}

impl BankError {
    /// Returns the error for a damaged entry of a bank; `why` is the end of a sentence.
    pub fn damaged_entry(bank: &str, scope: BankScope, key: &str, why: &str) -> Self {
        let what = format!("The entry '{key}' of memory bank '{bank}' {why}");
        let error = Self::new(BankErrorKind::Damaged { what }).with_bank(bank, Some(scope));
        Self {
            key: Some(key.to_owned()),
            ..error
        }
    }

    /// Returns an error without a bank, key or scope.
    pub fn new(trouble: BankErrorKind) -> Self {
        Self {
            bank: None,
            key: None,
            scope: None,
            trouble,
        }
    }

    /// Sets the bank and the scope, unless they are already set.
    #[must_use]
    pub fn with_bank(mut self, bank: &str, scope: Option<BankScope>) -> Self {
        self.bank.get_or_insert_with(|| bank.to_owned());
        self.scope = self.scope.or(scope);
        self
    }

    /// Sets the scope, unless it is already set.
    #[must_use]
    pub fn with_scope(mut self, scope: BankScope) -> Self {
        self.scope.get_or_insert(scope);
        self
    }

    /// Sets the key, unless it is already set.
    #[must_use]
    pub fn with_key(mut self, key: &str) -> Self {
        self.key.get_or_insert_with(|| key.to_owned());
        self
    }

    pub(super) fn bank_not_found(name: &str, scope: Option<BankScope>) -> Self {
        Self::new(BankErrorKind::BankNotFound).with_bank(name, scope)
    }

    pub(super) fn key_not_found(name: &str, key: &str, scope: BankScope) -> Self {
        Self::new(BankErrorKind::KeyNotFound)
            .with_bank(name, Some(scope))
            .with_key(key)
    }

    /// Returns the permanent error code.
    pub fn code(&self) -> Code {
        match &self.trouble {
            BankErrorKind::BankNotFound => Code::BankNotFound,
            BankErrorKind::KeyNotFound => Code::KeyNotFound,
            BankErrorKind::Expired => Code::TtlExpired,
            BankErrorKind::KeyExists => Code::KeyExists,
            BankErrorKind::InvalidBankName { .. } => Code::InvalidBankName,
            BankErrorKind::InvalidKey { .. } => Code::InvalidKey,
            BankErrorKind::InvalidJson(_) | BankErrorKind::InvalidArgument { .. } => {
                Code::InvalidJson
            }
            BankErrorKind::TooLarge { .. } => Code::LimitExceeded,
            BankErrorKind::PermissionDenied { .. } => Code::PermissionDenied,
            BankErrorKind::Conflict | BankErrorKind::ChangedSince => Code::Conflict,
            BankErrorKind::Filter(JsonFilterError::Failed { .. })
            | BankErrorKind::NotOneValue { .. } => Code::FilterError,
            BankErrorKind::Filter(JsonFilterError::Timeout { .. }) => Code::FilterTimeout,
            BankErrorKind::Filter(JsonFilterError::TooLarge { .. }) => Code::FilterMemory,
            BankErrorKind::Filter(JsonFilterError::Busy { .. }) => Code::Overloaded,
            BankErrorKind::Filter(JsonFilterError::NotRun { .. }) => Code::Internal,
            BankErrorKind::InvalidSchema { .. } => Code::InvalidSchema,
            BankErrorKind::SchemaViolation { .. } => Code::SchemaViolation,
            BankErrorKind::InvalidPattern { .. }
            | BankErrorKind::InvalidDocument { .. }
            | BankErrorKind::NoProject => Code::InvalidInput,
            BankErrorKind::Damaged { .. } => Code::FileDamaged,
            BankErrorKind::Symlink { .. } => Code::PathRefused,
            BankErrorKind::Store(error) => error.code(),
        }
    }

    /// Returns the next step for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match &self.trouble {
            BankErrorKind::BankNotFound => {
                "`memory bank list` lists the banks; `memory bank write` creates one"
            }
            BankErrorKind::KeyNotFound => "`memory bank list BANK` lists the keys",
            BankErrorKind::Expired => {
                "write the value again; `memory bank gc` deletes expired entries"
            }
            BankErrorKind::KeyExists => "omit --create-only to replace the value",
            BankErrorKind::InvalidBankName { .. } => {
                "a bank name begins with a letter from a to z, followed by a to z, 0 to 9, _ or -; at most 64 characters"
            }
            BankErrorKind::InvalidJson(JsonError::Syntax { .. })
            | BankErrorKind::InvalidArgument {
                error: JsonError::Syntax { .. },
                ..
            } => "a JSON string needs its own quotes: '\"text\"'",
            BankErrorKind::ChangedSince => {
                "undo the later changes first; `memory log` lists them, and `memory undo OPERATION` undoes one"
            }
            BankErrorKind::Conflict | BankErrorKind::Filter(JsonFilterError::Busy { .. }) => {
                "try again in a moment"
            }
            BankErrorKind::NotOneValue { .. } => {
                "wrap the filter in [ ] to store all its outputs as one list"
            }
            BankErrorKind::Damaged { .. } => {
                "`memory bank repair` retains the readable entries and moves the damaged file to a new name"
            }
            BankErrorKind::InvalidDocument { .. } => {
                "`memory bank export BANK` writes a valid document"
            }
            BankErrorKind::Symlink { .. } => {
                "replace the symlink with a folder, or use --scope user for your own banks"
            }
            BankErrorKind::NoProject => {
                "change to the folder of a project, or use --scope user to store the bank for all projects"
            }
            BankErrorKind::Store(error) => return error.hint(),
            BankErrorKind::InvalidKey { .. }
            | BankErrorKind::InvalidJson(_)
            | BankErrorKind::InvalidArgument { .. }
            | BankErrorKind::TooLarge { .. }
            | BankErrorKind::PermissionDenied { .. }
            | BankErrorKind::Filter(_)
            | BankErrorKind::InvalidSchema { .. }
            | BankErrorKind::SchemaViolation { .. }
            | BankErrorKind::InvalidPattern { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

impl fmt::Display for BankError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bank = self.bank.as_deref().unwrap_or_default();
        let key = self.key.as_deref().unwrap_or_default();
        match &self.trouble {
            BankErrorKind::BankNotFound => write!(formatter, "Memory bank '{bank}' does not exist"),
            BankErrorKind::KeyNotFound => write!(
                formatter,
                "Key '{key}' does not exist in memory bank '{bank}'"
            ),
            BankErrorKind::Expired => {
                write!(formatter, "Key '{key}' in memory bank '{bank}' has expired")
            }
            BankErrorKind::KeyExists => write!(
                formatter,
                "Key '{key}' already exists in memory bank '{bank}'"
            ),
            BankErrorKind::InvalidBankName { why } => write!(formatter, "The name '{bank}' {why}"),
            BankErrorKind::InvalidKey { why } => write!(formatter, "The key '{key}' {why}"),
            BankErrorKind::InvalidJson(error) => {
                write!(formatter, "The value is not valid JSON: {error}")
            }
            BankErrorKind::InvalidArgument { argument, error } => {
                write!(formatter, "{argument} is not valid JSON: {error}")
            }
            BankErrorKind::PermissionDenied { place } => {
                write!(formatter, "Cannot write to {place}")
            }
            BankErrorKind::Conflict => {
                write!(
                    formatter,
                    "Memory bank '{bank}' was changed by another program during each attempt"
                )
            }
            BankErrorKind::ChangedSince => {
                write!(
                    formatter,
                    "The result of that operation in memory bank '{bank}' was changed afterwards"
                )
            }
            BankErrorKind::Filter(trouble) => write!(formatter, "{trouble}"),
            BankErrorKind::NotOneValue { count } => {
                write!(
                    formatter,
                    "the filter returned {count} values instead of exactly one"
                )
            }
            BankErrorKind::InvalidSchema { why } => {
                write!(formatter, "The schema is not a valid JSON Schema: {why}")
            }
            BankErrorKind::SchemaViolation { why } => {
                write!(
                    formatter,
                    "The value does not satisfy the schema of '{bank}': {why}"
                )
            }
            BankErrorKind::InvalidPattern { why } => write!(
                formatter,
                "The pattern is not a valid regular expression: {why}"
            ),
            BankErrorKind::TooLarge { what } | BankErrorKind::Damaged { what } => {
                write!(formatter, "{what}")
            }
            BankErrorKind::InvalidDocument { why } => {
                write!(formatter, "The document is not a bank: {why}")
            }
            BankErrorKind::Symlink { path } => write!(
                formatter,
                "{path} is a symlink and may lead out of the project"
            ),
            BankErrorKind::NoProject => write!(formatter, "The current folder is not in a project"),
            BankErrorKind::Store(error) => write!(formatter, "{error}"),
        }
    }
}

impl Error for BankError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.trouble {
            BankErrorKind::Store(error) => error.source(),
            _ => None,
        }
    }
}

impl From<StoreError> for BankError {
    fn from(error: StoreError) -> Self {
        Self::new(BankErrorKind::Store(Box::new(error)))
    }
}

impl From<JsonFilterError> for BankError {
    fn from(trouble: JsonFilterError) -> Self {
        Self::new(BankErrorKind::Filter(trouble))
    }
}

impl From<JsonError> for BankError {
    fn from(error: JsonError) -> Self {
        Self::new(BankErrorKind::InvalidJson(error))
    }
}
