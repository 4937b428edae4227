//! The storage interface of topics.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use super::{Topic, TopicError, TopicIndex, TopicKind, TopicName, TopicPath, TopicUsages};
use crate::secret::Checked;
use crate::{Operation, OperationId, Recorded};

/// The storage of one folder of topics. Every implementation passes `testing::topic_suite`.
///
/// All methods may be called from any thread and from multiple processes concurrently. Reads take no lock, and each
/// file is read as a consistent snapshot. Once a change has returned, it survives a crash and a power loss. A change
/// that fails or is interrupted has happened completely or not at all, however many files it affects. Every change
/// updates the index, and no reader observes a partial update.
pub trait TopicStore: Debug + Send + Sync {
    /// Returns the location, for display.
    fn location(&self) -> String;

    /// Returns the topics by name, with the current content of their files.
    ///
    /// # Errors
    /// If the folder cannot be read. A defect of a single file is reported in that topic.
    fn topics(&self) -> Result<TopicListing, TopicError>;

    /// Returns the whole text of a file, or `None` if it does not exist.
    ///
    /// # Errors
    /// If the file cannot be read as text.
    fn text(&self, path: &TopicPath) -> Result<Option<TopicText>, TopicError>;

    /// Returns all files and folders below `folder` that are not hidden, or `None` if it does not exist.
    ///
    /// A folder precedes its contents. Without `folder` it lists the whole folder of topics.
    ///
    /// # Errors
    /// If the folder cannot be read.
    fn entries(&self, folder: Option<&TopicPath>) -> Result<Option<Vec<PathEntry>>, TopicError>;

    /// Returns the stored index, or `None` if there is no index.
    ///
    /// If the record of the generated lines is missing, all lines count as written by the user.
    ///
    /// # Errors
    /// If the index cannot be read as text.
    fn index(&self) -> Result<Option<TopicIndex>, TopicError>;

    /// Returns the usage counts of topics. A topic without an entry was not used.
    fn usages(&self) -> TopicUsages;

    /// Counts a use of a topic. The count may be lost in a crash, and the method never fails.
    fn count_use(&self, name: &TopicName, at: DateTime<Utc>);

    /// Changes one file as `decide` determines from its current content, under the lock of all writers.
    ///
    /// If a program that does not use the lock changes the file in between, `decide` is called again, up to three
    /// times. The previous content is retained, and [`TopicStore::undo`] restores it.
    ///
    /// # Errors
    /// Those of `decide`; [`TopicError::Taken`] if the file is new and [`is_same_name`](super::is_same_name) holds for
    /// an existing one; [`TopicError::Conflict`] after the third attempt; or a disk error. Then nothing has changed.
    fn change(
        &self,
        path: &TopicPath,
        operation: &Operation,
        decide: &mut dyn FnMut(Option<&TopicText>) -> Result<TopicChange, TopicError>,
    ) -> Result<TopicChangeResult, TopicError>;

    /// Moves a file or folder to `to`, or to the trash if `to` is `None`.
    ///
    /// # Errors
    /// [`TopicError::NotFound`] if it does not exist, [`TopicError::Taken`] if `to` exists, or a disk error. Then
    /// nothing has changed.
    fn relocate(
        &self,
        from: &TopicPath,
        to: Option<Checked<&TopicPath>>,
        operation: &Operation,
    ) -> Result<(), TopicError>;

    /// Regenerates the index, and returns whether it changed.
    ///
    /// An index that another program wrote is moved to the trash before its first change, as for every other change;
    /// undo does not restore it.
    ///
    /// # Errors
    /// If the index cannot be read or written.
    fn rebuild(&self, operation: &Operation) -> Result<TopicChangeResult, TopicError>;

    /// Records changes of topics by programs that do not use this store, as one operation that can be undone.
    ///
    /// Returns whether there are such changes since the last operation. A store that does not watch for them returns
    /// `false`. `operation` is called at most once, and only if there are changes.
    ///
    /// # Errors
    /// If the topics cannot be read, or the operation cannot be recorded. Then the next call records the changes.
    fn record_external_changes(
        &self,
        operation: &mut dyn FnMut() -> Operation,
    ) -> Result<bool, TopicError>;

    /// Returns the operations on these files, newest first.
    ///
    /// # Errors
    /// If the log of operations cannot be read.
    fn history(&self) -> Result<Vec<TopicRecord>, TopicError>;

    /// Returns the files in the trash, newest first.
    ///
    /// # Errors
    /// If the trash cannot be read.
    fn trashed(&self) -> Result<Vec<TrashedTopic>, TopicError>;

    /// Undoes the operation `undone`.
    ///
    /// # Errors
    /// [`TopicError::ChangedSince`] if its result was changed afterwards.
    fn undo(&self, undone: &OperationId, operation: &Operation) -> Result<TopicRecord, TopicError>;

    /// Deletes the previous versions of changes in whole months that ended before `before`.
    ///
    /// Returns the number of files and bytes deleted. Those changes can no longer be undone.
    ///
    /// # Errors
    /// If the versions cannot be read or deleted.
    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), TopicError>;
}

/// The topics of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TopicListing {
    /// The topics by name, including those with defective files.
    pub topics: Vec<Topic>,
    /// Markdown files with a name that is not valid for a topic, each with the reason.
    pub misnamed: Vec<(String, String)>,
}

/// A text file, with the metadata of the topic if it is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicText {
    /// The path of the file.
    pub path: TopicPath,
    /// The whole text.
    pub text: String,
    /// The metadata, if the file is a topic.
    pub topic: Option<Topic>,
}

/// A file or folder in the folder of topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathEntry {
    /// The path of the entry.
    pub path: TopicPath,
    /// The size in bytes; for a folder the sum of its contents.
    pub size: u64,
    /// Whether the entry is a folder.
    pub is_folder: bool,
}

/// The change to make to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicChange {
    /// Leave the file unchanged.
    Keep,
    /// Write this text.
    Text(Checked<String>),
    /// Write this text, and set its modification date, if it has one, to the day of the operation.
    Revised(Checked<String>),
    /// Write this topic. Other header fields are preserved verbatim.
    ///
    /// If the existing header cannot be parsed, a complete draft replaces the file.
    Topic(Checked<TopicDraft>),
    /// Move the file to the trash.
    Remove,
}

/// The fields of a topic to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicDraft {
    /// The title.
    pub title: String,
    /// The description, on one line.
    pub description: String,
    /// The type; `None` leaves it unchanged.
    pub kind: Option<TopicKind>,
    /// The text; `None` leaves it unchanged.
    pub content: Option<String>,
}

impl TopicDraft {
    /// Returns whether the draft has all fields that a new file needs.
    pub fn is_whole(&self) -> bool {
        self.kind.is_some() && self.content.is_some()
    }
}

/// The outcome of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicChangeResult {
    /// The content changed.
    Yes {
        /// Why the index could not be updated, if so. The next change retries it.
        stale_index: Option<String>,
    },
    /// No change was necessary.
    No,
}

impl TopicChangeResult {
    /// Returns whether the content changed.
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Yes { .. })
    }

    /// Returns why the index could not be updated, if so.
    pub fn stale_index(self) -> Option<String> {
        match self {
            Self::Yes { stale_index } => stale_index,
            Self::No => None,
        }
    }
}

/// An operation on topics in the log.
pub type TopicRecord = Recorded<TopicSubject>;

/// The files that an operation changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSubject {
    /// The paths of the affected files.
    pub files: Vec<String>,
}

/// A file in the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashedTopic {
    /// The original path.
    pub path: String,
    /// The path in the trash, relative to the folder of topics.
    pub trash: String,
    /// Its size in bytes.
    pub size: u64,
    /// The operation that moved it to the trash.
    pub operation: Operation,
}
