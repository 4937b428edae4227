//! Errors of the index, and the remedy for each.

use std::io;

use memory_core::{Code, StoreError};
use rusqlite::ErrorCode;
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

use crate::error::{index_error, io_error};

/// An error of the index.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Text(#[from] TantivyError),
    /// The full text does not belong to the tables.
    #[error("the full-text index does not match the documents")]
    Mismatch,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The consequence of an error for the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The tables are damaged and must be rebuilt.
    TablesDamaged,
    /// The full text is damaged and the index must be rebuilt.
    TextDamaged,
    /// The folder of the index cannot be written.
    Refused,
    /// Any other error.
    Other,
}

impl Trouble {
    pub(super) fn meaning(&self) -> Meaning {
        match self {
            Self::Sql(error) => sql_meaning(error),
            Self::Text(error) => text_meaning(error),
            Self::Mismatch => Meaning::TextDamaged,
            Self::Io(error) => io_meaning(error, Meaning::Other),
            Self::Store(_) => Meaning::Other,
        }
    }

    /// Converts the error into the one of a failed `action`.
    pub(super) fn into_error(self, action: &str) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Io(error) => io_error(action, error),
            Self::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
                StoreError::Backend { action: action.into(), code: Code::DiskFull, source: Box::new(error) }
            }
            Self::Sql(error) => index_error(action, error),
            Self::Text(error) => index_error(action, error),
            Self::Mismatch => index_error(action, Self::Mismatch),
        }
    }
}

fn sql_meaning(error: &rusqlite::Error) -> Meaning {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Meaning::TablesDamaged,
            ErrorCode::SystemIoFailure if failure.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ => {
                Meaning::TablesDamaged
            }
            ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::FileLockingProtocolFailed => Meaning::Refused,
            _ if message.as_ref().is_some_and(|message| message.starts_with("no such")) => Meaning::TablesDamaged,
            _ => Meaning::Other,
        },
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::QueryReturnedNoRows
        | rusqlite::Error::Utf8Error(..) => Meaning::TablesDamaged,
        _ => Meaning::Other,
    }
}

fn text_meaning(error: &TantivyError) -> Meaning {
    match error {
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => {
            io_meaning(io_error, Meaning::TextDamaged)
        }
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => io_meaning(io_error, Meaning::TextDamaged),
        TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => io_meaning(io_error, Meaning::Other),
        TantivyError::LockFailure(LockError::IoError(error), _) => io_meaning(error, Meaning::Other),
        TantivyError::LockFailure(LockError::LockBusy, _) => Meaning::Other,
        TantivyError::IoError(error) => io_meaning(error, Meaning::TextDamaged),
        _ => Meaning::TextDamaged,
    }
}

fn io_meaning(error: &io::Error, otherwise: Meaning) -> Meaning {
    match error.kind() {
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::StorageFull
        | io::ErrorKind::QuotaExceeded
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::AlreadyExists => Meaning::Refused,
        // Another process is deleting the folder.
        io::ErrorKind::NotFound => Meaning::TextDamaged,
        _ => otherwise,
    }
}
