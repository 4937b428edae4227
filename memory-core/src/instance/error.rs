//! What can go wrong with instances.

use super::history::SessionName;
use super::kv::ValueKey;
use crate::json::JsonError;
use crate::text::one_line;
use crate::{Code, OperationId, StoreError};

/// So many characters of what was given are told.
const TOLD: usize = 80;

/// Something that could not be done to an instance, or to what it holds.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// There is no such type of instances.
    #[error("no backend is called {name}")]
    BackendNotFound {
        /// As it was named.
        name: String,
    },
    /// There is no such instance.
    #[error("there is no instance {instance}")]
    InstanceNotFound {
        /// As it was named: `type/name`.
        instance: String,
    },
    /// The backend has no such action.
    #[error("{backend} has no action {action}")]
    ActionNotFound {
        /// The backend.
        backend: String,
        /// As it was named.
        action: String,
    },
    /// There is no such session.
    #[error("there is no session {session}")]
    SessionNotFound {
        /// Its name.
        session: String,
    },
    /// There is no value under the key.
    #[error("the key {key} is not set")]
    KeyNotFound {
        /// The key.
        key: String,
    },
    /// The place of the key is something else's.
    #[error("the key {key} cannot be set: {why}")]
    KeyTaken {
        /// The key.
        key: String,
        /// What is in the way.
        why: String,
    },
    /// That is no key.
    #[error("{key:?} is no key: it {why}")]
    InvalidKey {
        /// As it was given.
        key: String,
        /// Why not, as the end of a statement.
        why: &'static str,
    },
    /// That is no name.
    #[error("{what} {name:?} {why}")]
    InvalidName {
        /// Of what it should be the name.
        what: &'static str,
        /// As it was given.
        name: String,
        /// Why it is none, as the end of a statement.
        why: &'static str,
    },
    /// That is no JSON.
    #[error("{what} is not valid JSON")]
    InvalidJson {
        /// What should be.
        what: String,
        /// Why it is not.
        source: JsonError,
    },
    /// What was asked for cannot be.
    #[error("{why}")]
    Invalid {
        /// Why not.
        why: String,
        /// What to ask for instead.
        hint: Option<String>,
    },
    /// Nothing says which records to purge.
    #[error("nothing says which records to purge")]
    NoFilter,
    /// It is beyond a limit.
    #[error("{what}")]
    TooLarge {
        /// What is too large, as a statement.
        what: String,
    },
    /// A path leads where it must not.
    #[error("the path {path} {why}")]
    PathRefused {
        /// As it was given.
        path: String,
        /// Why not, as the end of a statement.
        why: String,
    },
    /// A credential that is sealed cannot be opened.
    #[error("the field {field} of {place} cannot be opened: {why}")]
    NotOpened {
        /// The field.
        field: String,
        /// The file.
        place: String,
        /// Why not.
        why: &'static str,
    },
    /// Instances are sealed under a master key that is missing, so no other key is created beside them.
    #[error("there is no master key in {folder}, and {} sealed under one", sealed_instances(instances))]
    KeyMissing {
        /// The folder of the key.
        folder: String,
        /// The instances, as `type/name`.
        instances: Vec<String>,
    },
    /// What an operation left was changed since, so that it cannot be taken back.
    #[error("{operation} cannot be taken back: {why}")]
    ChangedSince {
        /// The operation.
        operation: OperationId,
        /// What was changed, as a statement.
        why: String,
    },
    /// Something on disk is not as it should be.
    #[error("{place} cannot be read as it should be: {what}")]
    Damaged {
        /// Where.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// As with notes.
    #[error(transparent)]
    Store(Box<StoreError>),
}

impl InstanceError {
    /// Says that what was asked for cannot be.
    pub fn invalid(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid { why: why.into(), hint: Some(hint.into()) }
    }

    /// Says that nothing is called so.
    pub fn invalid_name(what: &'static str, name: &str, why: &'static str) -> Self {
        Self::InvalidName { what, name: one_line(name, TOLD), why }
    }

    /// Says that this is no key.
    pub fn invalid_key(key: &str, why: &'static str) -> Self {
        Self::InvalidKey { key: one_line(key, TOLD), why }
    }

    /// Says that there is no such session.
    pub fn no_session(session: &SessionName) -> Self {
        Self::SessionNotFound { session: session.as_str().to_owned() }
    }

    /// Says that there is no value under the key.
    pub fn no_key(key: &ValueKey) -> Self {
        Self::KeyNotFound { key: key.as_str().to_owned() }
    }

    /// Returns the permanent name.
    pub fn code(&self) -> Code {
        match self {
            Self::BackendNotFound { .. } => Code::BackendNotFound,
            Self::InstanceNotFound { .. } => Code::InstanceNotFound,
            Self::ActionNotFound { .. } => Code::ActionNotFound,
            Self::SessionNotFound { .. } => Code::SessionNotFound,
            Self::KeyNotFound { .. } => Code::KeyNotFound,
            Self::KeyTaken { .. } => Code::KeyExists,
            Self::InvalidKey { .. } => Code::InvalidKey,
            Self::InvalidName { .. } | Self::Invalid { .. } | Self::NoFilter => Code::InvalidInput,
            Self::InvalidJson { .. } => Code::InvalidJson,
            Self::TooLarge { .. } => Code::LimitExceeded,
            Self::PathRefused { .. } => Code::PathRefused,
            Self::NotOpened { .. } | Self::KeyMissing { .. } => Code::SealBroken,
            Self::ChangedSince { .. } => Code::Conflict,
            Self::Damaged { .. } => Code::FileDamaged,
            Self::Store(error) => error.code(),
        }
    }

    /// Returns what to do about it, if there is something to be said.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::BackendNotFound { .. } => "`memory instance backends` lists them",
            Self::InstanceNotFound { .. } => "`memory instance instances` lists them; `memory instance connect` makes one",
            Self::ActionNotFound { backend, .. } => return Some(format!("`memory instance actions {backend}` lists them")),
            Self::SessionNotFound { .. } => "the action sessions lists them",
            Self::KeyNotFound { .. } => "the action list shows the keys",
            Self::InvalidKey { .. } => "a key is parts of A to Z, a to z, 0 to 9, '.', '_' and '-', with / between them",
            Self::NoFilter => "say role, not_role, before, after or older_than; the action delete removes a whole session",
            Self::NotOpened { .. } => "nothing was changed; `memory instance connect` seals it anew under the key that there is",
            Self::KeyMissing { .. } => {
                "nothing was changed; put the file master.key back, or give the key with MEMO_MASTER_KEY; \
                 `memory instance rm TYPE/NAME` removes an instance whose key is lost"
            }
            Self::ChangedSince { .. } => "nothing was changed; take back first what was done since",
            Self::Invalid { hint, .. } => return hint.clone(),
            Self::Store(error) if matches!(**error, StoreError::Secret { .. }) => {
                "leave it out, or keep it with the parameter allow_secret"
            }
            Self::Store(error) => return error.hint(),
            Self::KeyTaken { .. }
            | Self::InvalidName { .. }
            | Self::InvalidJson { .. }
            | Self::TooLarge { .. }
            | Self::PathRefused { .. }
            | Self::Damaged { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

fn sealed_instances(instances: &[String]) -> String {
    format!("{} {}", instances.join(", "), if instances.len() == 1 { "is" } else { "are" })
}

impl From<StoreError> for InstanceError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}
