//! Stored memories, the parts of a home that contain them, and changes to them, as data.

use std::collections::BTreeMap;

use crate::{ContentHash, Memory, MemoryId, Operation, Problem};

/// The changes of one operation on memories.
#[derive(Debug, Clone)]
pub struct ChangeSet {
    /// The operation.
    pub operation: Operation,
    /// The handling of a new memory with a text that already exists.
    pub duplicates: Duplicates,
    /// The changes, in order. No memory occurs twice.
    pub changes: Vec<Change>,
    /// Reasons for changes of memories that the verb does not explain. The journal records them.
    pub reasons: BTreeMap<MemoryId, String>,
    /// The exported files of memories that come from an export.
    pub files: BTreeMap<MemoryId, ExportedFile>,
    /// The new lines of unrecognized front matter of replaced memories. They replace all such lines and comments.
    pub front_matter: BTreeMap<MemoryId, String>,
}

impl ChangeSet {
    /// Creates a set without changes, in which equal texts may occur twice.
    pub fn new(operation: Operation) -> Self {
        Self {
            operation,
            duplicates: Duplicates::Keep,
            changes: Vec::new(),
            reasons: BTreeMap::new(),
            files: BTreeMap::new(),
            front_matter: BTreeMap::new(),
        }
    }
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
        let name = path
            .filter(|path| path.starts_with("categories/"))
            .and_then(|path| path.rsplit('/').next());
        Self {
            name: name.filter(|name| is_file_name(name)).map(str::to_owned),
            text,
        }
    }
}

/// Maximum length of a file name in bytes.
///
/// It leaves room for a number suffix below the limit of all common file systems.
const MAX_NAME_BYTES: usize = 240;

fn is_file_name(name: &str) -> bool {
    let is_plain =
        |character: char| !character.is_control() && !matches!(character, '/' | '\\' | '\0');
    let stem = name.strip_suffix(".md").unwrap_or_default();
    !stem.is_empty()
        && !name.starts_with('.')
        && name.len() <= MAX_NAME_BYTES
        && name.chars().all(is_plain)
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

    /// Returns the memory that the change writes, if it writes one.
    pub fn memory(&self) -> Option<&Memory> {
        match self {
            Self::Create { memory, .. } | Self::Replace { memory, .. } => Some(memory),
            Self::Remove { .. } => None,
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

/// A stored memory, read from its current file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMemory {
    /// The memory.
    pub memory: Memory,
    /// The path below the home, with `/` as separator.
    pub path: String,
    /// The version of the file.
    pub stamp: FileVersion,
    /// The defect of the file, if any. Such a memory can be read and found but not changed.
    pub problem: Option<Problem>,
    /// The metadata in the file that belongs to other programs: names and values, in the order of the file.
    pub other_fields: Vec<(String, String)>,
}

/// The part of a home that contains a memory.
///
/// It is derived from the path. The source in the file is user input and does not determine it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HomeSection {
    /// The notes.
    Notes,
    /// Conversations and the facts derived from them.
    Conversations,
}

impl HomeSection {
    /// The folder of a home that contains conversations.
    pub const CONVERSATIONS: &str = "entries";

    /// Returns the part that contains the file at a path below the home.
    ///
    /// # Examples
    /// ```
    /// use memory_core::HomeSection;
    ///
    /// assert_eq!(HomeSection::of("entries/default/facts/1.md"), HomeSection::Conversations);
    /// assert_eq!(HomeSection::of("categories/people/entries.md"), HomeSection::Notes);
    /// ```
    pub fn of(path: &str) -> Self {
        let is_below = path
            .strip_prefix(Self::CONVERSATIONS)
            .is_some_and(|rest| rest.starts_with('/'));
        if is_below {
            Self::Conversations
        } else {
            Self::Notes
        }
    }

    /// Returns the name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Notes => "notes",
            Self::Conversations => "conversations",
        }
    }
}
