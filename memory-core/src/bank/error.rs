//! The error type of bank operations.

use std::error::Error;
use std::fmt;

use super::{BankName, BankScope, FilterTrouble, Key};
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
    pub trouble: Trouble,
}

/// The cause of a bank error.
#[derive(Debug)]
#[non_exhaustive]
pub enum Trouble {
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
    Filter(FilterTrouble),
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
    pub fn damaged_entry(bank: &BankName, scope: BankScope, key: &str, why: &str) -> Self {
        let what = format!("The entry '{key}' of memory bank '{bank}' {why}");
        let error = Self::new(Trouble::Damaged { what }).about(bank.as_str(), Some(scope));
        Self { key: Some(key.to_owned()), ..error }
    }

    /// Returns an error without a bank, key or scope.
    pub fn new(trouble: Trouble) -> Self {
        Self { bank: None, key: None, scope: None, trouble }
    }

    /// Sets the bank and the scope, unless they are already set.
    #[must_use]
    pub fn about(mut self, bank: &str, scope: Option<BankScope>) -> Self {
        self.bank.get_or_insert_with(|| bank.to_owned());
        self.scope = self.scope.or(scope);
        self
    }

    /// Sets the scope, unless it is already set.
    #[must_use]
    pub fn in_scope(mut self, scope: BankScope) -> Self {
        self.scope.get_or_insert(scope);
        self
    }

    /// Sets the key, unless it is already set.
    #[must_use]
    pub fn of_key(mut self, key: &Key) -> Self {
        self.key.get_or_insert_with(|| key.as_str().to_owned());
        self
    }

    pub(super) fn no_bank(name: &BankName, scope: Option<BankScope>) -> Self {
        Self::new(Trouble::BankNotFound).about(name.as_str(), scope)
    }

    pub(super) fn no_key(name: &BankName, key: &Key, scope: BankScope) -> Self {
        Self::new(Trouble::KeyNotFound).about(name.as_str(), Some(scope)).of_key(key)
    }

    /// Returns the permanent error code.
    pub fn code(&self) -> Code {
        match &self.trouble {
            Trouble::BankNotFound => Code::BankNotFound,
            Trouble::KeyNotFound => Code::KeyNotFound,
            Trouble::Expired => Code::TtlExpired,
            Trouble::KeyExists => Code::KeyExists,
            Trouble::InvalidBankName { .. } => Code::InvalidBankName,
            Trouble::InvalidKey { .. } => Code::InvalidKey,
            Trouble::InvalidJson(_) | Trouble::InvalidArgument { .. } => Code::InvalidJson,
            Trouble::TooLarge { .. } => Code::LimitExceeded,
            Trouble::PermissionDenied { .. } => Code::PermissionDenied,
            Trouble::Conflict | Trouble::ChangedSince => Code::Conflict,
            Trouble::Filter(FilterTrouble::Failed { .. }) | Trouble::NotOneValue { .. } => Code::FilterError,
            Trouble::Filter(FilterTrouble::Timeout { .. }) => Code::FilterTimeout,
            Trouble::Filter(FilterTrouble::TooLarge { .. }) => Code::FilterMemory,
            Trouble::Filter(FilterTrouble::NotRun { .. }) => Code::Internal,
            Trouble::InvalidSchema { .. } => Code::InvalidSchema,
            Trouble::SchemaViolation { .. } => Code::SchemaViolation,
            Trouble::InvalidPattern { .. } | Trouble::InvalidDocument { .. } | Trouble::NoProject => Code::InvalidInput,
            Trouble::Damaged { .. } => Code::FileDamaged,
            Trouble::Symlink { .. } => Code::PathRefused,
            Trouble::Store(error) => error.code(),
        }
    }

    /// Returns the next step for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match &self.trouble {
            Trouble::BankNotFound => "`memory bank list` lists the banks; `memory bank write` creates one",
            Trouble::KeyNotFound => "`memory bank list BANK` lists the keys",
            Trouble::Expired => "write the value again; `memory bank gc` deletes expired entries",
            Trouble::KeyExists => "omit --create-only to replace the value",
            Trouble::InvalidBankName { .. } => {
                "a bank name begins with a letter from a to z, followed by a to z, 0 to 9, _ or -; at most 64 characters"
            }
            Trouble::InvalidJson(JsonError::Syntax { .. }) | Trouble::InvalidArgument { error: JsonError::Syntax { .. }, .. } => {
                "a JSON string needs its own quotes: '\"text\"'"
            }
            Trouble::ChangedSince => {
                "undo the later changes first; `memory log` lists them, and `memory undo OPERATION` undoes one"
            }
            Trouble::Conflict => "try again in a moment",
            Trouble::NotOneValue { .. } => "wrap the filter in [ ] to store all its outputs as one list",
            Trouble::Damaged { .. } => {
                "`memory bank repair` retains the readable entries and moves the damaged file to a new name"
            }
            Trouble::InvalidDocument { .. } => "`memory bank export BANK` writes a valid document",
            Trouble::Symlink { .. } => "replace the symlink with a folder, or use --scope user for your own banks",
            Trouble::NoProject => "change to the folder of a project, or use --scope user to store the bank for all projects",
            Trouble::Store(error) => return error.hint(),
            Trouble::InvalidKey { .. }
            | Trouble::InvalidJson(_)
            | Trouble::InvalidArgument { .. }
            | Trouble::TooLarge { .. }
            | Trouble::PermissionDenied { .. }
            | Trouble::Filter(_)
            | Trouble::InvalidSchema { .. }
            | Trouble::SchemaViolation { .. }
            | Trouble::InvalidPattern { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

impl fmt::Display for BankError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bank = self.bank.as_deref().unwrap_or_default();
        let key = self.key.as_deref().unwrap_or_default();
        match &self.trouble {
            Trouble::BankNotFound => write!(formatter, "Memory bank '{bank}' does not exist"),
            Trouble::KeyNotFound => write!(formatter, "Key '{key}' does not exist in memory bank '{bank}'"),
            Trouble::Expired => write!(formatter, "Key '{key}' in memory bank '{bank}' has expired"),
            Trouble::KeyExists => write!(formatter, "Key '{key}' already exists in memory bank '{bank}'"),
            Trouble::InvalidBankName { why } => write!(formatter, "The name '{bank}' {why}"),
            Trouble::InvalidKey { why } => write!(formatter, "The key '{key}' {why}"),
            Trouble::InvalidJson(error) => write!(formatter, "The value is not valid JSON: {error}"),
            Trouble::InvalidArgument { argument, error } => write!(formatter, "{argument} is not valid JSON: {error}"),
            Trouble::PermissionDenied { place } => write!(formatter, "Cannot write to {place}"),
            Trouble::Conflict => write!(formatter, "Memory bank '{bank}' was changed by another program during each attempt"),
            Trouble::ChangedSince => {
                write!(formatter, "The result of that operation in memory bank '{bank}' was changed afterwards")
            }
            Trouble::Filter(trouble) => write!(formatter, "{trouble}"),
            Trouble::NotOneValue { count } => write!(formatter, "the filter returned {count} values instead of exactly one"),
            Trouble::InvalidSchema { why } => write!(formatter, "The schema is not a valid JSON Schema: {why}"),
            Trouble::SchemaViolation { why } => write!(formatter, "The value does not satisfy the schema of '{bank}': {why}"),
            Trouble::InvalidPattern { why } => write!(formatter, "The pattern is not a valid regular expression: {why}"),
            Trouble::TooLarge { what } | Trouble::Damaged { what } => write!(formatter, "{what}"),
            Trouble::InvalidDocument { why } => write!(formatter, "The document is not a bank: {why}"),
            Trouble::Symlink { path } => write!(formatter, "{path} is a symlink and may lead out of the project"),
            Trouble::NoProject => write!(formatter, "The current folder is not in a project"),
            Trouble::Store(error) => write!(formatter, "{error}"),
        }
    }
}

impl Error for BankError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.trouble {
            Trouble::Store(error) => error.source(),
            _ => None,
        }
    }
}

impl From<StoreError> for BankError {
    fn from(error: StoreError) -> Self {
        Self::new(Trouble::Store(Box::new(error)))
    }
}

impl From<FilterTrouble> for BankError {
    fn from(trouble: FilterTrouble) -> Self {
        Self::new(Trouble::Filter(trouble))
    }
}

impl From<JsonError> for BankError {
    fn from(error: JsonError) -> Self {
        Self::new(Trouble::InvalidJson(error))
    }
}
