//! Changes to memories, as data.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

use crate::{ContentHash, Memory, MemoryId, ParseError};

/// One operation: changes that are made together, recorded as one journal entry, and undone together.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The id of the operation. The parts of a long operation, such as the batches of an import, share it.
    pub id: OperationId,
    /// The kind of request that the person or agent made.
    pub verb: Verb,
    /// The person or agent that made the request.
    pub by: String,
    /// The time of the operation.
    pub at: DateTime<Utc>,
    /// The handling of a new memory with a text that already exists.
    pub duplicates: Duplicates,
    /// The changes, in order. No memory occurs twice.
    pub changes: Vec<Change>,
    /// Reasons for changes of memories that the verb does not explain. The journal records them.
    pub reasons: BTreeMap<MemoryId, String>,
    /// The exported files of memories that come from an export.
    pub files: BTreeMap<MemoryId, ExportedFile>,
}

/// The file that a memory had in the store that exported it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportedFile {
    /// Its name, without its folder. A store of files gives a new file this name if the name is free.
    pub name: Option<String>,
    /// Its text. A store of files preserves every part of it that is not a field of the memory.
    pub text: Option<String>,
}

impl ExportedFile {
    /// Returns the exported file at `path`.
    ///
    /// The name is dropped unless the file is below `categories/` and the name is valid for the file of a memory.
    pub fn new(path: Option<&str>, text: Option<String>) -> Self {
        let name = path.filter(|path| path.starts_with("categories/")).and_then(|path| path.rsplit('/').next());
        Self { name: name.filter(|name| is_file_name(name)).map(str::to_owned), text }
    }
}

/// Maximum length of a file name in bytes.
///
/// It leaves room for a number suffix below the limit of all common file systems.
const MAX_NAME_BYTES: usize = 240;

fn is_file_name(name: &str) -> bool {
    let is_plain = |character: char| !character.is_control() && !matches!(character, '/' | '\\' | '\0');
    let stem = name.strip_suffix(".md").unwrap_or_default();
    !stem.is_empty() && !name.starts_with('.') && name.len() <= MAX_NAME_BYTES && name.chars().all(is_plain)
}

/// A change of one memory.
#[derive(Debug, Clone)]
pub enum Change {
    /// A new memory.
    Create {
        /// The memory.
        memory: Box<Memory>,
        /// Lines of unrecognized front matter to preserve, ending in a line break; usually empty.
        front_matter: String,
    },
    /// A new version of a memory replaces the previous one.
    Replace {
        /// The file version that the change is based on. A different one is refused as a conflict.
        expected: FileVersion,
        /// The new version.
        memory: Box<Memory>,
    },
    /// A memory moves to the trash.
    Remove {
        /// The memory.
        id: MemoryId,
        /// The file version that the change is based on, or `None` for any version.
        expected: Option<FileVersion>,
    },
}

impl Change {
    /// Returns the memory that the change affects.
    pub fn id(&self) -> MemoryId {
        match self {
            Self::Create { memory, .. } | Self::Replace { memory, .. } => memory.id,
            Self::Remove { id, .. } => *id,
        }
    }
}

/// The outcome of one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// The file was created or replaced.
    Kept {
        /// The memory.
        id: MemoryId,
        /// Its current path below the home.
        path: String,
    },
    /// Nothing was written.
    ///
    /// A memory with the same text exists in the same scope, or the existing file already equals the one of the export.
    Duplicate {
        /// The existing memory.
        id: MemoryId,
        /// Its path below the home.
        path: String,
    },
    /// The file moved to the trash.
    Removed {
        /// The removed memory.
        id: MemoryId,
        /// Its previous path below the home.
        path: String,
    },
}

/// The handling of a new memory with a text that already exists in the same scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// The memory is not created; the outcome names the existing one.
    Skip,
    /// The memory is created nevertheless.
    Keep,
}

/// The version of a file: the hash of all its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileVersion(pub ContentHash);

/// The id of an operation: 12 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(String);

impl OperationId {
    /// Returns an id made of the lower 48 bits of `bits`.
    pub fn from_random(bits: u64) -> Self {
        Self(format!("{:012x}", bits & 0xffff_ffff_ffff))
    }

    /// Returns the 12 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl FromStr for OperationId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 12 && text.bytes().all(is_digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseError::new(text, "an operation (12 hexadecimal digits)"))
        }
    }
}

/// The kind of an operation, as the journal records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// A memory was written.
    Write,
    /// A memory was changed.
    Update,
    /// Tags were added or removed.
    Tag,
    /// Two memories were linked.
    Link,
    /// The link between two memories was removed.
    Unlink,
    /// Wikilinks were resolved and recorded.
    ResolveLinks,
    /// A memory was moved from the inbox to a category.
    Upgrade,
    /// A memory was deleted.
    Delete,
    /// Memories were ingested from files of another program.
    Ingest,
    /// Memories were imported from an export.
    Import,
    /// A reminder was created.
    Remind,
    /// A reminder was delivered.
    Notify,
    /// A reminder was snoozed.
    Snooze,
    /// A reminder was marked as done.
    Done,
    /// The background consolidation changed memories.
    Dream,
    /// Memories that exceeded their time in the inbox moved to the trash.
    Expire,
    /// Memories without any reads moved to the trash.
    Decay,
    /// All tasks of the daemon ran once.
    Consolidate,
    /// An operation was undone.
    Undo,
    /// A file was restored from the trash.
    Restore,
    /// Files were repaired.
    Repair,
}

impl Verb {
    /// All verbs.
    pub const ALL: [Self; 21] = [
        Self::Write,
        Self::Update,
        Self::Tag,
        Self::Link,
        Self::Unlink,
        Self::ResolveLinks,
        Self::Upgrade,
        Self::Delete,
        Self::Ingest,
        Self::Import,
        Self::Remind,
        Self::Notify,
        Self::Snooze,
        Self::Done,
        Self::Dream,
        Self::Expire,
        Self::Decay,
        Self::Consolidate,
        Self::Undo,
        Self::Restore,
        Self::Repair,
    ];

    /// Returns the word used in the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Update => "update",
            Self::Tag => "tag",
            Self::Link => "link",
            Self::Unlink => "unlink",
            Self::ResolveLinks => "resolve-links",
            Self::Upgrade => "upgrade",
            Self::Delete => "delete",
            Self::Ingest => "ingest",
            Self::Import => "import",
            Self::Remind => "remind",
            Self::Notify => "notify",
            Self::Snooze => "snooze",
            Self::Done => "done",
            Self::Dream => "dream",
            Self::Expire => "expire",
            Self::Decay => "decay",
            Self::Consolidate => "consolidate",
            Self::Undo => "undo",
            Self::Restore => "restore",
            Self::Repair => "repair",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for Verb {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == text).ok_or_else(|| ParseError::new(text, "a journal verb"))
    }
}
