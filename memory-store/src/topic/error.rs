//! The conversion of errors of the disk to errors of topics.

use std::io;

use memory_core::StoreError;
use memory_core::topic::TopicError;

use crate::error::{io_error, is_permission_denied};
use crate::oplog::OperationError;
use crate::system::is_symlink_error;

/// Returns the error for a file that cannot be parsed.
pub(super) fn damaged_error(name: &str, what: impl Into<String>) -> TopicError {
    TopicError::Damaged {
        name: name.to_owned(),
        what: what.into(),
    }
}

impl From<OperationError> for TopicError {
    fn from(error: OperationError) -> Self {
        match error {
            OperationError::ReadLog(folder, source) => read_error(folder)(source),
            OperationError::WriteLog(folder, source) => write_error(folder)(source),
            OperationError::Read(path, source) if source.kind() == io::ErrorKind::NotFound => {
                damaged_error(&path, "it is missing")
            }
            OperationError::Read(path, source) => read_error(&path)(source),
            OperationError::Write(path, source) => write_error(&path)(source),
            OperationError::Changed(name) => Self::Conflict { name },
        }
    }
}

/// Returns the error for a file that could not be read.
pub(super) fn read_error(path: &str) -> impl Fn(io::Error) -> TopicError + Copy {
    move |error| match error.kind() {
        io::ErrorKind::InvalidInput => symlink_error(path),
        _ if is_symlink_error(&error) => symlink_error(path),
        io::ErrorKind::Unsupported => damaged_error(path, error.to_string()),
        io::ErrorKind::FileTooLarge => damaged_error(path, format!("it is too large: {error}")),
        _ => io_error(format!("read {path}"), error).into(),
    }
}

fn symlink_error(path: &str) -> TopicError {
    TopicError::Outside {
        name: path.to_owned(),
        why: "is a symlink or below one; symlinks are not followed",
    }
}

/// Why a file with a name outside of the folder is not read.
pub(super) const OUTSIDE_LINK: &str =
    "is a hard link with another name outside of the folder; such files are not read";

/// Returns the error for a file with a name outside of the folder.
pub(super) fn outside_link_error(path: &str) -> TopicError {
    TopicError::Outside {
        name: path.to_owned(),
        why: OUTSIDE_LINK,
    }
}

/// Returns the error for a file that could not be written.
pub(super) fn write_error(path: &str) -> impl Fn(io::Error) -> TopicError + Copy {
    move |error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            TopicError::PermissionDenied {
                place: path.to_owned(),
            }
        }
        io::ErrorKind::InvalidInput => symlink_error(path),
        _ => io_error(format!("write {path}"), error).into(),
    }
}

/// Adds the path `place` of the folder to an error of denied permission.
pub(super) fn with_full_path(place: &str, error: TopicError) -> TopicError {
    match error {
        // The user does not know the hidden files, so the folder is named.
        TopicError::PermissionDenied { place: path } if path.starts_with('.') => {
            TopicError::PermissionDenied {
                place: place.to_owned(),
            }
        }
        TopicError::PermissionDenied { place: path } => TopicError::PermissionDenied {
            place: format!("{place}/{path}"),
        },
        error => error,
    }
}

/// Returns the error for a folder that cannot be opened for writing.
pub(super) fn open_error(place: &str, error: StoreError) -> TopicError {
    if is_permission_denied(&error) {
        TopicError::PermissionDenied {
            place: place.to_owned(),
        }
    } else {
        error.into()
    }
}
