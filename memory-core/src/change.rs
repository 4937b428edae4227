//! What is to be done to the memories, as data.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

use crate::{ContentHash, Memory, MemoryId, ParseError};

/// One operation: changes that happen together, that the journal keeps as one, and that one `undo` takes back.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Its name. The parts of a long operation, such as the batches of an import, share one.
    pub id: OperationId,
    /// What the person or agent asked for.
    pub verb: Verb,
    /// Who asked.
    pub by: String,
    /// When.
    pub at: DateTime<Utc>,
    /// What becomes of a new memory whose text is already kept.
    pub duplicates: Duplicates,
    /// The changes, in order. No memory occurs twice.
    pub changes: Vec<Change>,
    /// Why, for those memories of which the verb does not say it; the journal keeps it.
    pub reasons: BTreeMap<MemoryId, String>,
    /// The files that memories had elsewhere, for those that come from an export.
    pub files: BTreeMap<MemoryId, ExportedFile>,
}

/// The file that a memory had where it was exported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportedFile {
    /// Its name, without its folder. A store that keeps files gives a new file this name, if it is free.
    pub name: Option<String>,
    /// What it said. A store that keeps files keeps all of it that is not a field of the memory.
    pub text: Option<String>,
}

impl ExportedFile {
    /// Returns the file at `path`, if its name is one that a memory's file may have.
    pub fn new(path: Option<&str>, text: Option<String>) -> Self {
        let name = path.filter(|path| path.starts_with("categories/")).and_then(|path| path.rsplit('/').next());
        Self { name: name.filter(|name| is_file_name(name)).map(str::to_owned), text }
    }
}

/// Names of files have at most so many bytes everywhere; some are left for a number behind.
const LONGEST_NAME: usize = 240;

fn is_file_name(name: &str) -> bool {
    let is_plain = |character: char| !character.is_control() && !matches!(character, '/' | '\\' | '\0');
    let stem = name.strip_suffix(".md").unwrap_or_default();
    !stem.is_empty() && !name.starts_with('.') && name.len() <= LONGEST_NAME && name.chars().all(is_plain)
}

/// What becomes of one memory.
#[derive(Debug, Clone)]
pub enum Change {
    /// A new memory.
    Create {
        /// The memory.
        memory: Box<Memory>,
        /// Lines of foreign front matter that go along, ending in a line break; usually empty.
        front_matter: String,
    },
    /// A memory takes the place of its former version.
    Replace {
        /// The file the change was thought out for; any other is refused as a conflict.
        expected: Stamp,
        /// The new version.
        memory: Box<Memory>,
    },
    /// A memory goes to trash.
    Remove {
        /// Which one.
        id: MemoryId,
        /// The file the change was thought out for, or `None` for whichever is there.
        expected: Option<Stamp>,
    },
}

impl Change {
    /// Returns the memory that the change is about.
    pub fn id(&self) -> MemoryId {
        match self {
            Self::Create { memory, .. } | Self::Replace { memory, .. } => memory.id,
            Self::Remove { id, .. } => *id,
        }
    }
}

/// What became of one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A file was made or replaced.
    Kept {
        /// The memory.
        id: MemoryId,
        /// Where it is now, below the home.
        path: String,
    },
    /// Nothing was written, because this memory has the same text in the same scope, or its file is the one of the export already.
    Duplicate {
        /// The memory that was there before.
        id: MemoryId,
        /// Where it is, below the home.
        path: String,
    },
    /// The file went to trash.
    Removed {
        /// The memory that was there before.
        id: MemoryId,
        /// Where it was, below the home.
        path: String,
    },
}

/// What becomes of a new memory whose text is already kept in the same scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// It is not made; the outcome names the one that exists.
    Skip,
    /// It is made all the same.
    Keep,
}

/// Tells one state of a file from every other: the hash of all its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp(pub ContentHash);

/// The name of an operation: 12 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(String);

impl OperationId {
    /// Makes a name out of 48 random bits.
    pub fn from_random(bits: u64) -> Self {
        Self(format!("{:012x}", bits & 0xffff_ffff_ffff))
    }

    /// Returns the digits.
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

/// What the person or agent asked for; the journal's word for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// A memory was written.
    Write,
    /// A memory was changed.
    Update,
    /// Tags were added or taken away.
    Tag,
    /// Two memories were linked.
    Link,
    /// Two memories were parted.
    Unlink,
    /// Wikilinks were followed and recorded.
    ResolveLinks,
    /// A memory was filed.
    Upgrade,
    /// A memory was deleted.
    Delete,
    /// Memories were taken in from another program.
    Ingest,
    /// Memories were read from an export.
    Import,
    /// A reminder was made.
    Remind,
    /// A reminder was shown.
    Notify,
    /// A reminder was put off.
    Snooze,
    /// A reminder was done.
    Done,
    /// Memories were tidied while nobody looked.
    Dream,
    /// What waited in the inbox for too long went to trash.
    Expire,
    /// What nobody read went to trash.
    Decay,
    /// All of the daemon's tasks were done once.
    Consolidate,
    /// An operation was taken back.
    Undo,
    /// A file came back from trash.
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
        Self::ALL.into_iter().find(|verb| verb.as_str() == text).ok_or_else(|| ParseError::new(text, "a verb of the journal"))
    }
}
