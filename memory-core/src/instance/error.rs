//! The error type of operations on instances.

use crate::json::JsonError;
use crate::text::to_one_line;
use crate::{Code, OperationId, StoreError};

/// Maximum number of characters of the user's input in an error message.
const MAX_SHOWN: usize = 80;

/// An error of an operation on an instance or its content.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// The backend (type of instances) does not exist.
    #[error("there is no backend {name}")]
    BackendNotFound {
        /// The name as given.
        name: String,
    },
    /// The instance does not exist.
    #[error("there is no instance {instance}")]
    InstanceNotFound {
        /// The name as given: `type/name`.
        instance: String,
    },
    /// The backend has no such action.
    #[error("{backend} has no action {action}")]
    ActionNotFound {
        /// The backend.
        backend: String,
        /// The name as given.
        action: String,
    },
    /// The session does not exist.
    #[error("there is no session {session}")]
    SessionNotFound {
        /// The name of the session.
        session: String,
    },
    /// The key has no value.
    #[error("the key {key} is not set")]
    KeyNotFound {
        /// The key.
        key: String,
    },
    /// The path of the key is occupied by something else.
    #[error("the key {key} cannot be set: {why}")]
    KeyTaken {
        /// The key.
        key: String,
        /// The obstacle.
        why: String,
    },
    /// The key is not valid.
    #[error("{key:?} is not a valid key: it {why}")]
    InvalidKey {
        /// The key as given.
        key: String,
        /// The reason, as the end of a sentence.
        why: &'static str,
    },
    /// The name is not valid.
    #[error("{what} {name:?} {why}")]
    InvalidName {
        /// The kind of object that was named.
        what: &'static str,
        /// The name as given.
        name: String,
        /// The reason, as the end of a sentence.
        why: &'static str,
    },
    /// The text is not valid JSON.
    #[error("{what} is not valid JSON")]
    InvalidJson {
        /// The text that was parsed.
        what: String,
        /// The parse error.
        source: JsonError,
    },
    /// The request is invalid.
    #[error("{why}")]
    Invalid {
        /// The reason.
        why: String,
        /// The correction to suggest.
        hint: Option<String>,
    },
    /// A purge request has no filter.
    #[error("the purge has no filter")]
    NoFilter,
    /// A size limit is exceeded.
    #[error("{what}")]
    TooLarge {
        /// A sentence that names the limit.
        what: String,
    },
    /// The path is outside the permitted folders.
    #[error("the path {path} {why}")]
    PathRefused {
        /// The path as given.
        path: String,
        /// The reason, as the end of a sentence.
        why: String,
    },
    /// A sealed credential cannot be decrypted.
    #[error("the field {field} of {place} cannot be decrypted: {why}")]
    NotOpened {
        /// The field.
        field: String,
        /// The file.
        place: String,
        /// The reason.
        why: &'static str,
    },
    /// The master key is missing although instances are sealed with it, so no new key is created.
    #[error(
        "there is no master key in {folder}, but {} sealed with one",
        sealed_instances(instances)
    )]
    KeyMissing {
        /// The folder of the key.
        folder: String,
        /// The sealed instances, as `type/name`.
        instances: Vec<String>,
    },
    /// The result of an operation was changed afterwards, so that it cannot be undone.
    #[error("{operation} cannot be undone: {why}")]
    ChangedSince {
        /// The operation.
        operation: OperationId,
        /// A sentence that names the change.
        why: String,
    },
    /// A file cannot be parsed.
    #[error("{place} is damaged: {what}")]
    Damaged {
        /// The path.
        place: String,
        /// The defect.
        what: String,
    },
    /// An error of the underlying store.
    #[error(transparent)]
    Store(Box<StoreError>),
}

impl InstanceError {
    /// Creates an [`InstanceError::Invalid`].
    pub fn invalid(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid {
            why: why.into(),
            hint: Some(hint.into()),
        }
    }

    /// Creates an [`InstanceError::InvalidName`], with a long name shortened.
    pub fn invalid_name(what: &'static str, name: &str, why: &'static str) -> Self {
        Self::InvalidName {
            what,
            name: to_one_line(name, MAX_SHOWN),
            why,
        }
    }

    /// Creates an [`InstanceError::InvalidKey`], with a long key shortened.
    pub fn invalid_key(key: &str, why: &'static str) -> Self {
        Self::InvalidKey {
            key: to_one_line(key, MAX_SHOWN),
            why,
        }
    }

    /// Returns the stable error code.
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

    /// Returns advice for the user, if there is any.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::BackendNotFound { .. } => "`memory instance backends` lists the backends",
            Self::InstanceNotFound { .. } => {
                "`memory instance instances` lists the instances; `memory instance connect` creates one"
            }
            Self::ActionNotFound { backend, .. } => {
                return Some(format!(
                    "`memory instance actions {backend}` lists the actions"
                ));
            }
            Self::SessionNotFound { .. } => "the action sessions lists the sessions",
            Self::KeyNotFound { .. } => "the action list lists the keys",
            Self::InvalidKey { .. } => {
                "a key consists of parts of A to Z, a to z, 0 to 9, '.', '_' and '-', separated by /"
            }
            Self::NoFilter => {
                "set role, not_role, before, after or older_than; the action delete deletes a whole session"
            }
            Self::NotOpened { .. } => {
                "nothing was changed; `memory instance connect` seals the field again with the current key"
            }
            Self::KeyMissing { .. } => {
                "nothing was changed; restore the file master.key, or set the key in MEMO_MASTER_KEY; \
                 `memory instance rm TYPE/NAME` removes an instance whose key is lost"
            }
            Self::ChangedSince { .. } => "nothing was changed; undo the later operations first",
            Self::Invalid { hint, .. } => return hint.clone(),
            Self::Store(error) if matches!(**error, StoreError::Secret { .. }) => {
                "remove it, or store it anyway with the parameter allow_secret"
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
    format!(
        "{} {}",
        instances.join(", "),
        if instances.len() == 1 { "is" } else { "are" }
    )
}

impl From<StoreError> for InstanceError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}
