//! Where topics are kept.

use std::collections::HashMap;
use std::fmt::Debug;

use chrono::{DateTime, Utc};

use super::{Topic, TopicError, TopicKind, TopicName, TopicPath, Uses, WrittenIndex};
use crate::OperationId;

/// One folder of topics. Every implementation passes `testing::topic_suite`.
///
/// All methods may be called from any thread and from many processes at once. Reading takes no lock and sees each file as it was at
/// one moment. Once a change has returned, neither a crash nor a power cut loses it; one that fails, or is cut off, has happened whole
/// or not at all, however many files it is about. The index follows every change, and nobody sees half of it.
pub trait TopicStore: Debug + Send + Sync {
    /// Returns where it is, for people.
    fn place(&self) -> String;

    /// Returns the topics, by name, as their files say now.
    ///
    /// # Errors
    /// When the folder cannot be read. What is wrong with one file is said of that topic.
    fn topics(&self) -> Result<Listing, TopicError>;

    /// Returns the whole text of a file, or `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read as text.
    fn text(&self, path: &TopicPath) -> Result<Option<TopicText>, TopicError>;

    /// Returns all files and folders below `folder` that are not hidden, each folder before what is in it; or `None` if there is no
    /// such folder. Without one, it is about the whole.
    ///
    /// # Errors
    /// When it cannot be read.
    fn entries(&self, folder: Option<&TopicPath>) -> Result<Option<Vec<PathEntry>>, TopicError>;

    /// Returns the index as it lies there, or `None` if there is none. Where it is not known which of its lines we wrote, all are a
    /// person's.
    ///
    /// # Errors
    /// When it cannot be read as text.
    fn index(&self) -> Result<Option<WrittenIndex>, TopicError>;

    /// Returns how often which topic was used. What is not known was not used.
    fn uses(&self) -> Uses;

    /// Counts a use of a topic. That may be lost, and never fails.
    fn count_use(&self, name: &TopicName, at: DateTime<Utc>);

    /// Changes one file as `decide` says, who is shown what there is, under the lock of all writers. Where somebody who knows of no
    /// lock changes it in between, `decide` is asked again, up to three times.
    ///
    /// What was there before is kept, and [`TopicStore::undo`] brings it back.
    ///
    /// # Errors
    /// Those of `decide`; [`TopicError::Taken`] if the file is new and its name is one that some systems take for another's;
    /// [`TopicError::Conflict`] after the third time; whatever the disk refuses. Then all is as it was.
    fn change(
        &self,
        path: &TopicPath,
        operation: &TopicOperation,
        decide: &mut dyn FnMut(Option<&TopicText>) -> Result<TopicChange, TopicError>,
    ) -> Result<Changed, TopicError>;

    /// Moves a file or folder to `to`, or to the trash.
    ///
    /// # Errors
    /// [`TopicError::NotFound`] if there is none, [`TopicError::Taken`] if something is at `to`; whatever the disk refuses. Then all is
    /// as it was.
    fn relocate(&self, from: &TopicPath, to: Option<&TopicPath>, operation: &TopicOperation) -> Result<(), TopicError>;

    /// Makes the index anew, and tells whether that changed it. One that somebody else made goes to trash before it is first changed,
    /// as by every other change; no undo brings that back.
    ///
    /// # Errors
    /// When it cannot be read or written.
    fn rebuild(&self, operation: &TopicOperation) -> Result<Changed, TopicError>;

    /// Returns what was done to these files, newest first.
    ///
    /// # Errors
    /// When that cannot be read.
    fn history(&self) -> Result<Vec<TopicRecord>, TopicError>;

    /// Returns the files in the trash, newest first.
    ///
    /// # Errors
    /// When the trash cannot be read.
    fn trashed(&self) -> Result<Vec<Trashed>, TopicError>;

    /// Takes back the operation `undone`.
    ///
    /// # Errors
    /// [`TopicError::ChangedSince`] if what it left was changed since.
    fn undo(&self, undone: &OperationId, operation: &TopicOperation) -> Result<TopicRecord, TopicError>;

    /// Removes for good what was there before changes of long ago, by whole months that ended before `before`; returns how many files and
    /// bytes that was. Those changes cannot be taken back any more.
    ///
    /// # Errors
    /// When it cannot be read or removed.
    fn purge(&self, before: DateTime<Utc>) -> Result<(u64, u64), TopicError>;
}

/// What topics there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// The topics, by name. Those whose files are not as they should be are among them.
    pub topics: Vec<Topic>,
    /// The Markdown files that are no topics because of how they are called, each with why not.
    pub misnamed: Vec<(String, String)>,
}

/// A file of text, and what it says of itself if it is a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicText {
    /// Where it is.
    pub path: TopicPath,
    /// The whole of it.
    pub text: String,
    /// The topic that it is, if it is one.
    pub topic: Option<Topic>,
}

/// Something in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathEntry {
    /// Where it is.
    pub path: TopicPath,
    /// The size of a file in bytes; that of a folder is the sum of what is in it.
    pub size: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// What is to become of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicChange {
    /// It stays.
    Keep,
    /// It gets this text.
    Text(String),
    /// It gets this text, and where it says when it was changed, the day of the operation.
    Revised(String),
    /// It is a topic that says this. What else the file says of itself stays, as it is written there, unless it cannot be read; then the
    /// topic takes the place of the file if it is whole.
    Topic(TopicDraft),
    /// It goes to trash.
    Remove,
}

/// What a topic is to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicDraft {
    /// What people call it.
    pub title: String,
    /// What it is about, in a line.
    pub description: String,
    /// What kind of thing it is about; `None` leaves it as it is.
    pub kind: Option<TopicKind>,
    /// Its text; `None` leaves it as it is.
    pub content: Option<String>,
}

impl TopicDraft {
    /// Tells whether a file can be made of it that says nothing else.
    pub fn is_whole(&self) -> bool {
        self.kind.is_some() && self.content.is_some()
    }
}

/// What a change did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// Something is another now.
    Yes {
        /// Why the index does not follow, if it does not. The next change tries again.
        stale_index: Option<String>,
    },
    /// Nothing had to be done.
    No,
}

impl Changed {
    /// Tells whether something is another now.
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Yes { .. })
    }

    /// Returns why the index does not follow, if it does not.
    pub fn stale_index(self) -> Option<String> {
        match self {
            Self::Yes { stale_index } => stale_index,
            Self::No => None,
        }
    }
}

/// Who changes topics, when and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicOperation {
    /// Its name.
    pub id: OperationId,
    /// What was asked for.
    pub verb: TopicVerb,
    /// Who asked.
    pub by: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TopicVerb {
    /// A file was written.
    Write,
    /// A passage was replaced or inserted.
    Update,
    /// Files were deleted.
    Delete,
    /// Files were given other names.
    Rename,
    /// An operation was taken back.
    Undo,
}

impl TopicVerb {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Write, Self::Update, Self::Delete, Self::Rename, Self::Undo];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::Undo => "undo",
        }
    }
}

/// Something that was done to topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicRecord {
    /// What.
    pub operation: TopicOperation,
    /// To which files.
    pub files: Vec<String>,
    /// The operation that this one took back, if it is an undo.
    pub undoes: Option<OperationId>,
    /// The operation that took this one back, if any did.
    pub undone_by: Option<OperationId>,
}

/// A file in the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    /// Where it was.
    pub path: String,
    /// Where it is, below the folder.
    pub trash: String,
    /// Its size in bytes.
    pub size: u64,
    /// What put it there.
    pub operation: TopicOperation,
}

/// Says of each of `records`, which are newest first, which operation took it back. An undo that was itself taken back took nothing back.
pub fn mark_undone(records: &mut [TopicRecord]) {
    let mut undone = HashMap::new();
    for record in records {
        record.undone_by = undone.get(&record.operation.id).cloned();
        if let (None, Some(other)) = (&record.undone_by, &record.undoes) {
            undone.insert(other.clone(), record.operation.id.clone());
        }
    }
}
