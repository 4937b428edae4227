//! Loads a memory file from the disk.

use chrono::{DateTime, Utc};
use memory_core::{Code, ContentHash, FileVersion, HomeSection, Problem, StoreError, StoredMemory};
use std::io;

use crate::conversation;
use crate::disk::{Disk, FileStat};
use crate::error::read_error;
use crate::history::load_message;
use crate::markdown;

/// A memory file as read from the disk.
#[derive(Debug, Clone)]
pub(crate) struct MemoryFile {
    /// The parsed memory.
    pub stored: StoredMemory,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The signature of the file when it was read.
    pub signature: FileStat,
}

/// Reads the memory file at `path`, or the message of a session, or returns `None` if it does not exist.
///
/// # Errors
/// If the file is too large, outside the home or cannot be read. Every other defect is returned as the `problem` of the parsed
/// memory.
pub(crate) fn load(disk: &dyn Disk, path: &str) -> Result<Option<MemoryFile>, StoreError> {
    if let Some(message) = load_message(disk, path) {
        return message;
    }
    let (bytes, signature) = match disk.read(path) {
        Ok(Some(read)) => read,
        Ok(None) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let what = format!("the file is too large for a memory: {error}");
            let hint = Some("split it into several files, or move it out of the categories folder");
            return Err(StoreError::Damaged(Problem {
                code: Code::FileTooLarge,
                path: path.to_owned(),
                line: None,
                what,
                hint,
            }));
        }
        Err(error) => return Err(read_error(path)(error)),
    };
    let modified = time_from_nanos(signature.modified_ns);
    let parsed = if is_conversation_file(path) {
        conversation::decode_as_memory(path, &bytes, modified)
    } else {
        markdown::decode(path, &bytes, modified)
    };
    let stamp = FileVersion(ContentHash::from_bytes(&bytes));
    let stored = StoredMemory {
        memory: parsed.memory,
        path: path.to_owned(),
        stamp,
        problem: parsed.problem,
        other_fields: parsed.other_fields,
    };
    Ok(Some(MemoryFile {
        stored,
        bytes,
        signature,
    }))
}

/// Returns whether a file is part of a conversation, which has its own format.
pub(crate) fn is_conversation_file(path: &str) -> bool {
    HomeSection::of(path) == HomeSection::Conversations
}

/// Returns whether a file is a fact of a conversation, which has the fields of a memory too.
pub(crate) fn is_fact(path: &str) -> bool {
    is_conversation_file(path) && path.split('/').nth(2) == Some("facts")
}

/// Converts nanoseconds since 1970 to a time.
pub(crate) fn time_from_nanos(nanoseconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_nanos(nanoseconds)
}
