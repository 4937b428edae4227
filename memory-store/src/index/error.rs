//! Errors of the index, and the remedy for each.

use std::io;
use std::path::Path;

use memory_core::{Code, StoreError, UnsupportedDrive};
use rusqlite::ErrorCode;
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

use super::memory_index::MemoryIndex;
use super::schema;
use crate::error::{index_error, io_error};
use crate::system::{free_space, lock_holder};

/// Free space that the files of a few segments may need, in bytes.
const LITTLE_SPACE: u64 = 16 << 20;

/// An error of the index.
#[derive(Debug, thiserror::Error)]
pub(super) enum IndexError {
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
pub(super) enum IndexErrorKind {
    /// The tables are damaged and must be rebuilt.
    TablesDamaged,
    /// The full text is damaged and the index must be rebuilt.
    TextDamaged,
    /// The folder of the index cannot be written.
    Refused,
    /// Any other error.
    Other,
}

impl IndexError {
    pub(super) fn kind(&self) -> IndexErrorKind {
        match self {
            Self::Sql(error) => sql_error_kind(error),
            Self::Text(error) => text_error_kind(error),
            Self::Mismatch => IndexErrorKind::TextDamaged,
            Self::Io(error) => io_error_kind(error, IndexErrorKind::Other),
            // The lock of the folder of the index.
            Self::Store(StoreError::Backend { source, .. })
                if source
                    .downcast_ref()
                    .is_some_and(UnsupportedDrive::is_cause_of) =>
            {
                IndexErrorKind::Refused
            }
            Self::Store(_) => IndexErrorKind::Other,
        }
    }

    /// Returns the error of a full disk instead, if a thread that writes the full text failed and `place` has little space.
    ///
    /// The error of such a thread does not contain its cause. The files of a failed build must still exist.
    pub(super) fn or_full_disk(self, place: &Path) -> Self {
        let is_full = || matches!(free_space(place), Ok(Some(free)) if free < LITTLE_SPACE);
        match self {
            Self::Text(TantivyError::ErrorInThread(_)) if is_full() => {
                Self::Io(io::ErrorKind::StorageFull.into())
            }
            other => other,
        }
    }

    /// Converts the error into the one of a failed `action` on an index.
    pub(super) fn into_error(self, action: &str, index: &MemoryIndex) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Sql(error) if is_locked(&error) => tables_locked_error(index),
            Self::Io(error) => io_error(action, error),
            Self::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
                StoreError::Backend {
                    action: action.into(),
                    code: Code::DiskFull,
                    source: Box::new(error),
                }
            }
            Self::Sql(error) => index_error(action, error),
            Self::Text(TantivyError::LockFailure(LockError::IoError(error), _)) => {
                find_locked(&error).unwrap_or_else(|| index_error(action, error))
            }
            Self::Text(error) => index_error(action, error),
            Self::Mismatch => index_error(action, Self::Mismatch),
        }
    }
}

pub(super) fn is_locked(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Returns the error that another process has locked the tables of an index.
fn tables_locked_error(index: &MemoryIndex) -> StoreError {
    let place = &index.place;
    // SQLite locks its shared memory, or the file itself while there is none.
    let files = [format!("{}-shm", schema::FILE), schema::FILE.to_owned()];
    let mut holders = files.iter().filter_map(|name| {
        let found = place.join(name).symlink_metadata().ok()?;
        lock_holder(&found)
    });
    StoreError::Locked {
        home: place.display().to_string(),
        seconds: index.lock_timeout.as_secs(),
        holder: holders.next(),
    }
}

/// Returns the error [`StoreError::Locked`] that the folder of the full text returned.
fn find_locked(error: &io::Error) -> Option<StoreError> {
    match error.get_ref()?.downcast_ref()? {
        StoreError::Locked {
            home,
            seconds,
            holder,
        } => Some(StoreError::Locked {
            home: home.clone(),
            seconds: *seconds,
            holder: holder.clone(),
        }),
        _ => None,
    }
}

fn sql_error_kind(error: &rusqlite::Error) -> IndexErrorKind {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => IndexErrorKind::TablesDamaged,
            ErrorCode::SystemIoFailure
                if failure.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ =>
            {
                IndexErrorKind::TablesDamaged
            }
            ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::FileLockingProtocolFailed => IndexErrorKind::Refused,
            _ if message
                .as_ref()
                .is_some_and(|message| message.starts_with("no such")) =>
            {
                IndexErrorKind::TablesDamaged
            }
            _ => IndexErrorKind::Other,
        },
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::QueryReturnedNoRows
        | rusqlite::Error::Utf8Error(..) => IndexErrorKind::TablesDamaged,
        _ => IndexErrorKind::Other,
    }
}

fn text_error_kind(error: &TantivyError) -> IndexErrorKind {
    match error {
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. })
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
            io_error_kind(io_error, IndexErrorKind::TextDamaged)
        }
        TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => {
            io_error_kind(io_error, IndexErrorKind::Other)
        }
        TantivyError::LockFailure(LockError::IoError(error), _) => {
            io_error_kind(error, IndexErrorKind::Other)
        }
        TantivyError::LockFailure(LockError::LockBusy, _) => IndexErrorKind::Other,
        TantivyError::IoError(error) => io_error_kind(error, IndexErrorKind::TextDamaged),
        _ => IndexErrorKind::TextDamaged,
    }
}

fn io_error_kind(error: &io::Error, otherwise: IndexErrorKind) -> IndexErrorKind {
    match error.kind() {
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::StorageFull
        | io::ErrorKind::QuotaExceeded
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::AlreadyExists => IndexErrorKind::Refused,
        io::ErrorKind::Unsupported if UnsupportedDrive::is_cause_of(error) => {
            IndexErrorKind::Refused
        }
        // Another process is deleting the folder.
        io::ErrorKind::NotFound => IndexErrorKind::TextDamaged,
        _ => otherwise,
    }
}
