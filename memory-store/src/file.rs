//! A memory's file, as it stands now.

use chrono::{DateTime, Utc};
use memory_core::{Code, ContentHash, Place, Problem, Stamp, StoreError, Stored};
use std::io;

use crate::conversation;
use crate::disk::{Disk, Signature};
use crate::error::io_error;
use crate::markdown;

/// A memory's file, as it stands now.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    /// What it says.
    pub stored: Stored,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its signature when it was read.
    pub signature: Signature,
}

/// Reads the memory's file at `path`, or returns `None` if there is none. A file that is too large or may not be read
/// is an error; whatever else is wrong with it comes back as its `problem`.
pub(crate) fn load(disk: &dyn Disk, path: &str) -> Result<Option<Loaded>, StoreError> {
    let (bytes, signature) = match disk.read(path) {
        Ok(Some(read)) => read,
        Ok(None) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let what = format!("the file has {error}, more than a memory may have");
            let hint = Some("split it into several files, or move it out of the categories folder");
            return Err(StoreError::Damaged(Problem { code: Code::FileTooLarge, path: path.to_owned(), line: None, what, hint }));
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(StoreError::Outside { path: path.to_owned() }),
        Err(error) => return Err(io_error(format!("read {path}"), error)),
    };
    let modified = moment(signature.modified_ns);
    let parsed = if is_of_conversation(path) {
        conversation::found(path, &bytes, modified)
    } else {
        markdown::decode(path, &bytes, modified)
    };
    let stamp = Stamp(ContentHash::of_bytes(&bytes));
    let stored = Stored { memory: parsed.memory, path: path.to_owned(), stamp, problem: parsed.problem };
    Ok(Some(Loaded { stored, bytes, signature }))
}

/// Tells whether a file is part of a conversation, and changed as that is.
pub(crate) fn is_of_conversation(path: &str) -> bool {
    Place::of(path) == Place::Conversations
}

/// Returns the moment that lies so many nanoseconds after the start of 1970.
pub(crate) fn moment(nanoseconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_nanos(nanoseconds)
}
