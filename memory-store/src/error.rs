//! Conversion of I/O and index errors to [`StoreError`].

use std::error::Error;
use std::io;
use std::path::Path;

use memory_core::{Code, StoreError};

use crate::oplog::OperationError;
use crate::system::is_symlink_error;
use crate::trust::ForeignFolder;

/// Returns the error for an `action` that failed with an I/O error.
///
/// `action` is a verb and a path, as in `read a/b.md`.
pub(crate) fn io_error(action: impl Into<String>, source: io::Error) -> StoreError {
    let inner = source.get_ref();
    if let Some(foreign) = inner.and_then(|inner| inner.downcast_ref::<ForeignFolder>()) {
        return foreign.into();
    }
    if is_symlink_error(&source) {
        let action = action.into();
        // `action` is a verb and a path; the error contains the path.
        return StoreError::Outside {
            path: action
                .split_once(' ')
                .map_or(action.as_str(), |(_, path)| path)
                .to_owned(),
        };
    }
    let code = match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Code::DiskFull,
        _ => Code::Io,
    };
    StoreError::Backend {
        action: action.into(),
        code,
        source: Box::new(source),
    }
}

/// Returns the error for the file or folder at `path` that cannot be read.
pub(crate) fn read_error(path: &str) -> impl Fn(io::Error) -> StoreError + Copy {
    move |source| path_error("read", path, source)
}

/// Returns the error for an `action`, such as `write to`, that failed on the file or folder at `path`.
pub(crate) fn path_error(action: &str, path: &str, source: io::Error) -> StoreError {
    match source.kind() {
        io::ErrorKind::InvalidInput => StoreError::Outside {
            path: path.to_owned(),
        },
        _ => io_error(format!("{action} {path}"), source),
    }
}

/// Returns the error for the file or folder at `path` that cannot be written.
pub(crate) fn write_error(path: &str) -> impl Fn(io::Error) -> StoreError + Copy {
    move |source| io_error(format!("write {path}"), source)
}

impl From<OperationError> for StoreError {
    fn from(error: OperationError) -> Self {
        match error {
            OperationError::ReadLog(folder, source) => read_error(folder)(source),
            OperationError::WriteLog(folder, source) => write_error(folder)(source),
            OperationError::Read(path, source) => read_error(&path)(source),
            OperationError::Write(path, source) => write_error(&path)(source),
            OperationError::Changed(what) => Self::Conflict { what },
        }
    }
}

/// Returns whether a file or folder could not be written because this process lacks the permission.
pub(crate) fn is_permission_denied(error: &StoreError) -> bool {
    let StoreError::Backend {
        source,
        code: Code::Io,
        ..
    } = error
    else {
        return false;
    };
    let source = source.downcast_ref::<io::Error>();
    source.is_some_and(|source| {
        matches!(
            source.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
        )
    })
}

/// Returns the error that a folder has other content than a replica of the database.
pub(crate) fn replica_folder_error(folder: &Path, why: &str, hint: &'static str) -> StoreError {
    let what = format!(
        "{} cannot be used as a replica of the database: {why}",
        folder.display()
    );
    StoreError::Database {
        what,
        code: Code::InvalidInput,
        hint,
        source: None,
    }
}

/// Returns the error for an `action` that failed in the index.
pub(crate) fn index_error(
    action: impl Into<String>,
    source: impl Error + Send + Sync + 'static,
) -> StoreError {
    StoreError::Backend {
        action: action.into(),
        code: Code::Io,
        source: Box::new(source),
    }
}
