//! How the machine's errors become those of topics.

use std::io;

use memory_core::topic::TopicError;
use memory_core::{Code, StoreError};

use crate::error::io_error;

/// Says that a file cannot be read as it should be.
pub(super) fn damaged(name: &str, what: impl Into<String>) -> TopicError {
    TopicError::Damaged { name: name.to_owned(), what: what.into() }
}

/// Says that a file could not be read.
pub(super) fn refused(path: &str, error: io::Error) -> TopicError {
    match error.kind() {
        io::ErrorKind::InvalidInput => StoreError::Outside { path: path.to_owned() }.into(),
        io::ErrorKind::FileTooLarge => damaged(path, format!("it has {error}, more than is read")),
        _ => io_error(format!("read {path}"), error).into(),
    }
}

/// Says that a file could not be written.
pub(super) fn not_written(path: &str) -> impl Fn(io::Error) -> TopicError {
    let action = format!("write {path}");
    move |error| io_error(action.clone(), error).into()
}

/// Says that nothing may be written at `place` if that is what went wrong.
pub(super) fn at_place(place: &str, error: TopicError) -> TopicError {
    let is_denied =
        |source: &io::Error| matches!(source.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem);
    match &error {
        TopicError::Store(store) => match &**store {
            StoreError::Backend { source, code: Code::Io, .. } if source.downcast_ref::<io::Error>().is_some_and(is_denied) => {
                TopicError::PermissionDenied { place: place.to_owned() }
            }
            _ => error,
        },
        _ => error,
    }
}
