//! How the machine's errors become those of the domain.

use std::error::Error;
use std::io;

use memory_core::{Code, StoreError};

/// Says that `action` failed because the disk refused.
pub(crate) fn io_error(action: impl Into<String>, source: io::Error) -> StoreError {
    // Opening a symlink as if it were none is how the system says that it is one.
    if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        let action = action.into();
        // What was tried is a verb, and the path it was tried on.
        return StoreError::Outside { path: action.split_once(' ').map_or(action.as_str(), |(_, path)| path).to_owned() };
    }
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
