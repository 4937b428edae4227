//! The interface of external sources of notes.

use std::fmt::Debug;
use std::iter;
use std::path::PathBuf;

use chrono::{DateTime, Utc};

use crate::instance::history::RecordDraft;
use crate::wikilink::WikilinkRule;
use crate::{Code, ContentHash, Draft, LocalZone, MemoryId, Origin, Scope};

/// An external source of notes, such as an Obsidian vault. It is read and never written.
pub trait Source: Debug + Send + Sync {
    /// Returns the name of the source, such as `obsidian`.
    fn name(&self) -> &str;

    /// Returns the rule for resolving links between its notes.
    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Paths
    }

    /// Iterates over the notes, ordered by path. Each call reads the source again.
    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_>;

    /// Returns whether the source contains all notes of its program, so that a note that is not among them was deleted.
    fn is_complete(&self) -> bool {
        true
    }

    /// Iterates over the conversations. Each call reads the source again; only one conversation is in memory at a time.
    ///
    /// A conversation may follow again in a newer state, with a later time of its last change.
    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        Box::new(iter::empty())
    }
}

/// A file or entry of a source, with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceItem {
    /// A note.
    Note(Box<NoteItem>),
    /// The path below the root of a file that is not a note but may be the target of links.
    Attachment(String),
    /// A file that was skipped.
    Skipped {
        /// The file.
        path: String,
        /// The reason.
        reason: String,
    },
}

/// A note of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteItem {
    /// The note as a draft, with `origin` set.
    pub draft: Draft,
    /// The id that the note had as a memory of a home. A new memory receives it, unless another memory has it.
    pub id: Option<MemoryId>,
    /// The paths that the note may have had in former states of the source, from the least to the most exact, if the source
    /// gives notes with equal paths more exact ones.
    ///
    /// The last one ends in the hash of the text: a space, eight hexadecimal digits and, if the file has a name, a hyphen
    /// and the number of the file among those with equal names. A changed note continues a memory with one of these paths
    /// that no note belongs to: the one of the same file, or else the one with the most similar text. A path before the last two
    /// alone does not identify the note: the memory has its title or a similar text as well.
    pub former_paths: Vec<String>,
    /// The time of the last change, if the source records it.
    pub updated_at: Option<DateTime<Utc>>,
    /// The time of the last change of the file, which a new memory has if the source records no time. A copy of a file may have another
    /// one, so that a difference is no change of the note.
    pub file_modified_at: Option<DateTime<Utc>>,
    /// The times that the source states without a zone, as if in UTC, and the midnights of days without a time. A time of the note that
    /// is one of them is a time in the zone of the person; whether the note was changed does not depend on the zone.
    pub local_times: Vec<DateTime<Utc>>,
    /// The other fields that the note had as a memory of a home. A new memory receives them.
    pub former: FormerFields,
    /// Unrecognized front-matter lines of the note, ending in a line break; usually empty.
    pub front_matter: String,
    /// The targets of its links, as written.
    pub links: Vec<String>,
    /// The targets of links that the source program does not recognize although they are intended.
    ///
    /// An example is `[[x]]` without quotes in a property. These links are resolved and stored, but not counted among the resolved ones.
    pub uncounted_links: Vec<String>,
    /// The links that an edit added to the list of links of an export, which the text does not contain: the target of each, and the item
    /// of the list. One that leads to no note is reported.
    pub listed_links: Vec<(String, String)>,
    /// The part of the note that could not be parsed, if any.
    pub warning: Option<String>,
    /// The folder of the project in whose scope the note is, if its source knows the folder. The name of the scope is the name of the
    /// folder, which other folders can have too.
    pub project_folder: Option<PathBuf>,
    /// The draft without the fields that an export of a home stated in the note, if there are any. Anybody can write such fields.
    pub unrestored: Option<Box<Draft>>,
}

impl NoteItem {
    /// Returns a note without links and other properties.
    pub fn new(draft: Draft) -> Self {
        let (links, uncounted_links, listed_links) = (Vec::new(), Vec::new(), Vec::new());
        let (front_matter, former) = (String::new(), FormerFields::default());
        let (id, former_paths, updated_at, warning) = (None, Vec::new(), None, None);
        Self {
            draft,
            id,
            former_paths,
            updated_at,
            file_modified_at: None,
            local_times: Vec::new(),
            former,
            front_matter,
            links,
            uncounted_links,
            listed_links,
            warning,
            project_folder: None,
            unrestored: None,
        }
    }

    /// Moves the times that are stated without a zone to `zone`.
    pub(crate) fn place_local_times(&mut self, zone: &LocalZone) {
        let draft = &mut self.draft;
        let times = [
            &mut draft.created_at,
            &mut self.updated_at,
            &mut draft.expires_at,
            &mut draft.valid_from,
            &mut draft.valid_until,
        ];
        for time in times.into_iter().flatten() {
            if self.local_times.contains(time) {
                *time = zone.at_local(time.naive_utc());
            }
        }
    }
}

/// The fields that a note had as a memory of a home, other than those of a draft. They come from an export of a home.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormerFields {
    /// The linked memories, by the ids that they had.
    pub links: Vec<MemoryId>,
    /// The time of the latest statement of the standing sentences.
    pub stated_at: Option<DateTime<Utc>>,
    /// The number of reads.
    pub access_count: u64,
    /// The version number.
    pub version: Option<u64>,
    /// The memories that this one supersedes.
    pub supersedes: Vec<MemoryId>,
    /// The memory that supersedes this one.
    pub superseded_by: Option<MemoryId>,
    /// The files that the memory was ingested from before.
    pub other_origins: Vec<Origin>,
    /// The version that was exported, with which the note is compared if the home has the memory.
    pub exported: Option<Box<ExportedVersion>>,
    /// The names of this note and of linked ones within their export.
    pub stated_links: StatedLinks,
}

/// The links that the notes of an export state by the ids of their memories, if these ids are no ids of this home.
///
/// Two notes of a source are linked if each states the link to the other one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatedLinks {
    /// The id by which the others state their links to this note.
    pub id: Option<MemoryId>,
    /// The linked notes.
    pub links: Vec<MemoryId>,
}

/// The version of a memory that an export contains, as it was before edits of the exported file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedVersion {
    /// The memory without its text.
    pub draft: Draft,
    /// The hash of its text.
    pub content_hash: ContentHash,
    /// The linked memories.
    pub links: Vec<MemoryId>,
}

/// A conversation of a source, or the reason why it was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceSessionItem {
    /// A conversation.
    Session(Box<SourceSession>),
    /// A conversation that was skipped.
    Skipped {
        /// The file, and the conversation in it if it has an id.
        path: String,
        /// The reason.
        reason: String,
    },
}

/// A conversation of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSession {
    /// The id in the source.
    pub id: String,
    /// The title, if it has one.
    pub title: Option<String>,
    /// The time of the last change, if the source records it.
    pub updated_at: Option<DateTime<Utc>>,
    /// The messages, in order. A message without a time in the source has none.
    pub records: Vec<RecordDraft>,
    /// The scope of the facts in the messages: the project in which the conversation took place, or all projects.
    pub scope: Scope,
    /// The folder of this project, if its source knows the folder, see [`NoteItem::project_folder`].
    pub project_folder: Option<PathBuf>,
}

impl SourceSession {
    /// Returns a conversation of no project, without a title.
    pub fn new(id: impl Into<String>, records: Vec<RecordDraft>) -> Self {
        Self {
            id: id.into(),
            title: None,
            updated_at: None,
            records,
            scope: Scope::Global,
            project_folder: None,
        }
    }
}

/// The error that a source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The folder does not exist.
    #[error("{path} does not exist")]
    Missing {
        /// The missing folder or file.
        path: String,
    },
    /// The folder cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The folder.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The files are not those of the program.
    #[error("{path} is not {expected}")]
    NotRecognized {
        /// The folder or file.
        path: String,
        /// The expected content, such as `an export of ChatGPT`.
        expected: String,
    },
    /// The map of fields does not fit the file.
    #[error("cannot map the fields of {path}: {problem}")]
    WrongMap {
        /// The file.
        path: String,
        /// The problem, with the keys or columns of the file.
        problem: String,
    },
}

impl SourceError {
    /// Returns the permanent code of the error.
    pub fn code(&self) -> Code {
        match self {
            Self::Missing { .. } => Code::PathNotFound,
            Self::Unreadable { .. } => Code::Io,
            Self::NotRecognized { .. } | Self::WrongMap { .. } => Code::InvalidInput,
        }
    }

    /// Returns advice for the user.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotRecognized { .. } => {
                "check the path; `--source markdown` imports any Markdown and text files".into()
            }
            Self::WrongMap { .. } => {
                "name the keys with --map FIELD=KEY, such as --map content=text".into()
            }
            Self::Unreadable { source, .. }
                if source.kind() == std::io::ErrorKind::NotADirectory =>
            {
                "this source reads a folder: give the folder of the file, or `--source markdown` for the file alone".into()
            }
            Self::Missing { .. } | Self::Unreadable { .. } => {
                "check the path; `memory import` takes it with --path".into()
            }
        })
    }
}
