//! How the machine's errors become those of the domain.

use std::error::Error;
use std::io;

use memory_core::{Code, StoreError};

/// Says that `action` failed because the disk refused.
pub(crate) fn io_error(action: impl Into<String>, source: io::Error) -> StoreError {
    let code = match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Code::DiskFull,
        _ => Code::Io,
    };
    StoreError::Backend { action: action.into(), code, source: Box::new(source) }
}

/// Says that `action` failed because the index refused.
pub(crate) fn index_error(action: impl Into<String>, source: impl Error + Send + Sync + 'static) -> StoreError {
    StoreError::Backend { action: action.into(), code: Code::Io, source: Box::new(source) }
}
