//! What can go wrong with topics.

use super::INDEX_FILE;
use super::TopicKind;
use crate::text::one_line;
use crate::{Code, StoreError};

/// So many characters of what was given are told.
const TOLD: usize = 80;

/// Something that could not be done to a topic.
#[derive(Debug, thiserror::Error)]
pub enum TopicError {
    /// There is no such topic or file.
    #[error("there is no topic {name}")]
    NotFound {
        /// As it was named.
        name: String,
    },
    /// More than one topic is called so.
    #[error("{name} is the name of {} topics: {}", candidates.len(), candidates.join(", "))]
    Ambiguous {
        /// As it was named.
        name: String,
        /// Their files.
        candidates: Vec<String>,
    },
    /// The place is taken.
    #[error("{name} is there already{}", other.as_ref().map_or_else(String::new, |other| format!(", as {other}")))]
    Taken {
        /// As it was named.
        name: String,
        /// What stands there, if it is called otherwise.
        other: Option<String>,
    },
    /// A file is where a folder should be.
    #[error("{name} is a file, in which nothing can lie")]
    InTheWay {
        /// The file.
        name: String,
    },
    /// A folder is where a file should be.
    #[error("{name} is a folder")]
    IsFolder {
        /// The folder.
        name: String,
    },
    /// That is no name.
    #[error("the name {name:?} {why}")]
    InvalidName {
        /// As it was given.
        name: String,
        /// Why not, as the end of a statement.
        why: &'static str,
    },
    /// The name leads out of the folder, here or on another system.
    #[error("{name:?} is no path within the folder: it {why}")]
    Outside {
        /// As it was given.
        name: String,
        /// Why not, as the end of a statement.
        why: &'static str,
    },
    /// The index is made from the topics.
    #[error("{INDEX_FILE} is the index, which is made from the topics")]
    Index,
    /// That is no type of topics.
    #[error("{given:?} is no type of topics")]
    InvalidType {
        /// As it was given.
        given: String,
    },
    /// What was asked for cannot be.
    #[error("{why}")]
    Invalid {
        /// Why not.
        why: String,
        /// What to ask for instead.
        hint: Option<&'static str>,
    },
    /// The text that was to be replaced is not there.
    #[error("{name} does not hold that text")]
    Absent {
        /// The file.
        name: String,
    },
    /// The text that was to be replaced is there more than once.
    #[error("{name} holds that text {} times, in lines {}", lines.len(), listed(lines))]
    Twice {
        /// The file.
        name: String,
        /// The lines in which it begins, counted from 1.
        lines: Vec<usize>,
    },
    /// It is beyond a limit.
    #[error("{what}")]
    TooLarge {
        /// What is too large, as a statement.
        what: String,
    },
    /// A file or the folder must not be written.
    #[error("cannot write to {place}")]
    PermissionDenied {
        /// Where.
        place: String,
    },
    /// Others changed the file each time.
    #[error("{name} was changed by others each time")]
    Conflict {
        /// The file.
        name: String,
    },
    /// What an operation left was changed since.
    #[error("what that left in {name} was changed since")]
    ChangedSince {
        /// The file.
        name: String,
    },
    /// A file cannot be read as what it should be.
    #[error("{name} cannot be read as it should be: {what}")]
    Damaged {
        /// The file.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// The header of a topic cannot be read, so that a part of it cannot be changed.
    #[error("the header of {name} cannot be changed: {what}")]
    UnreadableHeader {
        /// The file.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// There is no folder where topics were looked for.
    #[error("there is no folder {place}")]
    NoFolder {
        /// The folder.
        place: String,
    },
    /// As with notes.
    #[error(transparent)]
    Store(Box<StoreError>),
}

fn listed(lines: &[usize]) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl TopicError {
    pub(super) fn invalid(why: impl Into<String>, hint: &'static str) -> Self {
        Self::Invalid { why: why.into(), hint: Some(hint) }
    }

    pub(super) fn invalid_name(name: &str, why: &'static str) -> Self {
        Self::InvalidName { name: one_line(name, TOLD), why }
    }

    pub(super) fn outside(name: &str, why: &'static str) -> Self {
        Self::Outside { name: one_line(name, TOLD), why }
    }

    pub(super) fn invalid_type(given: &str) -> Self {
        Self::InvalidType { given: one_line(given, TOLD) }
    }

    /// Says that there is no such topic or file.
    pub fn not_found(name: &str) -> Self {
        Self::NotFound { name: one_line(name, TOLD) }
    }

    /// Returns the permanent name.
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound { .. } | Self::NoFolder { .. } => Code::PathNotFound,
            Self::Ambiguous { .. } => Code::MemoryAmbiguous,
            Self::Taken { .. } | Self::InTheWay { .. } | Self::Conflict { .. } | Self::ChangedSince { .. } => Code::Conflict,
            Self::Outside { .. } | Self::Index => Code::PathRefused,
            Self::InvalidName { .. }
            | Self::InvalidType { .. }
            | Self::Invalid { .. }
            | Self::Absent { .. }
            | Self::Twice { .. }
            | Self::IsFolder { .. } => Code::InvalidInput,
            Self::TooLarge { .. } => Code::LimitExceeded,
            Self::PermissionDenied { .. } => Code::PermissionDenied,
            Self::Damaged { .. } | Self::UnreadableHeader { .. } => Code::FileDamaged,
            Self::Store(error) => error.code(),
        }
    }

    /// Returns what to do about it, if there is something to be said.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotFound { .. } => "`memory topic list` shows the topics",
            Self::Ambiguous { .. } => "name the file",
            Self::Taken { other: Some(_), .. } => {
                "names that differ in case, in how their letters are composed or in invisible characters are one name on some systems or to people; use the one that is there"
            }
            Self::Taken { other: None, .. } | Self::InTheWay { .. } => "choose another name, or change what is there",
            Self::InvalidName { .. } | Self::Outside { .. } => "a name is that of a file in the folder, such as user_prefs.md",
            Self::Index => "write a topic; the index follows. Lines of your own in it stay where they are",
            Self::InvalidType { .. } => {
                return Some(format!("the types are {}", TopicKind::GIVEN.map(TopicKind::as_str).join(", ")));
            }
            Self::Absent { .. } => "read the topic, and give the text as it stands there, with its line breaks",
            Self::Twice { .. } => "give more of the text around it, so that it stands there once",
            Self::Conflict { .. } => "try again in a moment",
            Self::ChangedSince { .. } => {
                "take back the later changes first; `memory log` names them, and `memory undo OPERATION` takes one, both with the --dir of this one"
            }
            Self::Damaged { .. } => "mend the file by hand; until then it is left alone",
            Self::UnreadableHeader { .. } => {
                "mend the file by hand, or write the topic whole, with its type and its text; the former file goes to the trash"
            }
            Self::NoFolder { .. } => "check --dir; `memory topic write` makes the folder with its first topic",
            Self::Invalid { hint, .. } => return hint.map(str::to_owned),
            Self::Store(error) => return error.hint(),
            Self::TooLarge { .. } | Self::PermissionDenied { .. } | Self::IsFolder { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

impl From<StoreError> for TopicError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}
