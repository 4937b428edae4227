//! What can go wrong with banks.

use std::error::Error;
use std::fmt;

use super::{BankName, BankScope, FilterTrouble, Key};
use crate::json::JsonError;
use crate::{Code, StoreError};

/// Something that could not be done to a bank, and to which one.
#[derive(Debug)]
pub struct BankError {
    /// The bank, as it was named.
    pub bank: Option<String>,
    /// The key, as it was named.
    pub key: Option<String>,
    /// The scope, if it is known.
    pub scope: Option<BankScope>,
    /// What went wrong.
    pub trouble: Trouble,
}

/// What went wrong with a bank.
#[derive(Debug)]
#[non_exhaustive]
pub enum Trouble {
    /// There is no such bank.
    BankNotFound,
    /// There is no such key in the bank.
    KeyNotFound,
    /// The entry has expired.
    Expired,
    /// The key is there already.
    KeyExists,
    /// That is no name of a bank.
    InvalidBankName {
        /// Why not, as the end of a statement.
        why: &'static str,
    },
    /// That is no key.
    InvalidKey {
        /// Why not, as the end of a statement.
        why: &'static str,
    },
    /// That is no JSON.
    InvalidJson(JsonError),
    /// An argument other than the value is no JSON.
    InvalidArgument {
        /// The argument, as it is typed.
        argument: &'static str,
        /// What is wrong with it.
        error: JsonError,
    },
    /// The value, the bank or the number of keys is beyond its limit.
    TooLarge {
        /// What is too large, as a statement.
        what: String,
    },
    /// The folder or file must not be written.
    PermissionDenied {
        /// Where.
        place: String,
    },
    /// Others changed the bank each time we tried to.
    Conflict,
    /// What an operation left was changed since, so it cannot be taken back.
    ChangedSince,
    /// A filter gave no answer.
    Filter(FilterTrouble),
    /// An update must put out one value.
    NotOneValue {
        /// How many it put out.
        count: usize,
    },
    /// That is no schema.
    InvalidSchema {
        /// Why not.
        why: String,
    },
    /// The value does not fit the bank's schema.
    SchemaViolation {
        /// What does not fit.
        why: String,
    },
    /// That is no pattern to search for.
    InvalidPattern {
        /// Why not.
        why: String,
    },
    /// The bank or entry cannot be read as what it should be.
    Damaged {
        /// What is wrong, and where.
        what: String,
    },
    /// The document is no bank.
    InvalidDocument {
        /// Why not.
        why: String,
    },
    /// The folder of a project's banks is a symlink, which is not followed.
    Symlink {
        /// The symlink.
        path: String,
    },
    /// There is no project here whose bank it could be.
    NoProject,
    /// As with notes.
    Store(Box<StoreError>),
}

impl BankError {
    /// Reports a damaged entry of a bank; `why` is the end of a statement.
    pub fn damaged_entry(bank: &BankName, scope: BankScope, key: &str, why: &str) -> Self {
        let what = format!("The entry '{key}' of memory bank '{bank}' {why}");
        let error = Self::new(Trouble::Damaged { what }).about(bank.as_str(), Some(scope));
        Self { key: Some(key.to_owned()), ..error }
    }

    /// Says what went wrong; to which bank is yet to be said.
    pub fn new(trouble: Trouble) -> Self {
        Self { bank: None, key: None, scope: None, trouble }
    }

    /// Says of which bank and scope it is, where that was not said yet.
    #[must_use]
    pub fn about(mut self, bank: &str, scope: Option<BankScope>) -> Self {
        self.bank.get_or_insert_with(|| bank.to_owned());
        self.scope = self.scope.or(scope);
        self
    }

    /// Says of which scope it is, where that was not said yet.
    #[must_use]
    pub fn in_scope(mut self, scope: BankScope) -> Self {
        self.scope.get_or_insert(scope);
        self
    }

    /// Says of which key it is, where that was not said yet.
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

    /// Returns the permanent name.
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

    /// Returns what to do about it, if there is something to be said.
    pub fn hint(&self) -> Option<String> {
        let hint = match &self.trouble {
            Trouble::BankNotFound => "`memory bank list` shows the banks; `memory bank write` makes one",
            Trouble::KeyNotFound => "`memory bank list BANK` shows the keys",
            Trouble::Expired => "write it again; `memory bank gc` takes away what has expired",
            Trouble::KeyExists => "leave --create-only out to replace it",
            Trouble::InvalidBankName { .. } => "a name is a to z, then a to z, 0 to 9, _ and -, at most 64 characters",
            Trouble::InvalidJson(JsonError::Syntax { .. }) | Trouble::InvalidArgument { error: JsonError::Syntax { .. }, .. } => {
                "a text needs quotes of its own: '\"text\"'"
            }
            Trouble::ChangedSince => {
                "take back the later changes first; `memory log` names them, and `memory undo OPERATION` takes one"
            }
            Trouble::Conflict => "try again in a moment",
            Trouble::NotOneValue { .. } => "wrap the filter in [ ] to keep all that it puts out",
            Trouble::Damaged { .. } => "`memory bank repair` keeps what can be read, and sets the rest aside",
            Trouble::InvalidDocument { .. } => "`memory bank export BANK` writes one",
            Trouble::Symlink { .. } => "put a folder in its place; --scope user reads yours",
            Trouble::NoProject => "go to the folder of a project; --scope user keeps it for all of them",
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
            Trouble::KeyExists => write!(formatter, "Key '{key}' exists in memory bank '{bank}'"),
            Trouble::InvalidBankName { why } => write!(formatter, "The name '{bank}' {why}"),
            Trouble::InvalidKey { why } => write!(formatter, "The key '{key}' {why}"),
            Trouble::InvalidJson(error) => write!(formatter, "The value is not valid JSON: {error}"),
            Trouble::InvalidArgument { argument, error } => write!(formatter, "{argument} is not valid JSON: {error}"),
            Trouble::PermissionDenied { place } => write!(formatter, "Cannot write to {place}"),
            Trouble::Conflict => write!(formatter, "Memory bank '{bank}' was changed by others each time"),
            Trouble::ChangedSince => write!(formatter, "What that left in memory bank '{bank}' was changed since"),
            Trouble::Filter(trouble) => write!(formatter, "{trouble}"),
            Trouble::NotOneValue { count } => write!(formatter, "the filter puts out {count} values where one is needed"),
            Trouble::InvalidSchema { why } => write!(formatter, "That is no JSON Schema: {why}"),
            Trouble::SchemaViolation { why } => write!(formatter, "The value does not fit the schema of '{bank}': {why}"),
            Trouble::InvalidPattern { why } => write!(formatter, "That is no regular expression: {why}"),
            Trouble::TooLarge { what } | Trouble::Damaged { what } => write!(formatter, "{what}"),
            Trouble::InvalidDocument { why } => write!(formatter, "The document is no bank: {why}"),
            Trouble::Symlink { path } => write!(formatter, "{path} is a symlink, and might lead out of the project"),
            Trouble::NoProject => write!(formatter, "There is no project here"),
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
