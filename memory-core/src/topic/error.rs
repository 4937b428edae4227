//! The error type of topic operations.

use super::INDEX_FILE;
use crate::text::to_one_line;
use crate::{Code, StoreError};

/// Maximum number of characters of the user's input in an error message.
const MAX_SHOWN: usize = 80;

/// An error of an operation on topics.
#[derive(Debug, thiserror::Error)]
pub enum TopicError {
    /// The topic or file does not exist.
    #[error("there is no topic {name}")]
    NotFound {
        /// The name as given.
        name: String,
    },
    /// More than one topic matches the name.
    #[error("{name} matches {} topics: {}", candidates.len(), candidates.join(", "))]
    Ambiguous {
        /// The name as given.
        name: String,
        /// The file names of the matching topics.
        candidates: Vec<String>,
    },
    /// The target already exists.
    #[error("{name} already exists{}", other.as_ref().map_or_else(String::new, |other| format!(", as {other}")))]
    Taken {
        /// The name as given.
        name: String,
        /// The existing name, if it differs from `name`.
        other: Option<String>,
    },
    /// A path component that must be a folder is a file.
    #[error("{name} is a file, not a folder")]
    InTheWay {
        /// The file.
        name: String,
    },
    /// A folder exists where a file is required.
    #[error("{name} is a folder")]
    IsFolder {
        /// The folder.
        name: String,
    },
    /// The name is not valid.
    #[error("the name {name:?} {why}")]
    InvalidName {
        /// The name as given.
        name: String,
        /// The reason, as the end of a sentence.
        why: &'static str,
    },
    /// The path leads out of the folder, on this or another operating system.
    #[error("{name:?} is not a path within the folder: it {why}")]
    Outside {
        /// The path as given.
        name: String,
        /// The reason, as the end of a sentence.
        why: &'static str,
    },
    /// The operation targets the index, which is generated from the topics.
    #[error(
        "{INDEX_FILE} cannot be used as a topic: it is the index, which is generated from the topics"
    )]
    Index,
    /// The topic type is not one of the valid types.
    #[error("{given:?} is not a topic type")]
    InvalidType {
        /// The type as given.
        given: String,
    },
    /// The request is invalid.
    #[error("{why}")]
    Invalid {
        /// The reason.
        why: String,
        /// The correction to suggest.
        hint: Option<&'static str>,
    },
    /// The text to replace does not occur in the file.
    #[error("{name} does not contain that text")]
    Absent {
        /// The file.
        name: String,
    },
    /// The text to replace occurs more than once.
    #[error("{name} contains that text {} times, in lines {}", lines.len(), join_lines(lines))]
    Twice {
        /// The file.
        name: String,
        /// The lines in which the occurrences start, counted from 1.
        lines: Vec<usize>,
    },
    /// A size limit is exceeded.
    #[error("{what}")]
    TooLarge {
        /// A sentence that names the limit.
        what: String,
    },
    /// A file or the folder is not writable.
    #[error("cannot write to {place}")]
    PermissionDenied {
        /// The path.
        place: String,
    },
    /// Concurrent writers changed the file on every attempt.
    #[error("{name} was changed by another program during each attempt")]
    Conflict {
        /// The file.
        name: String,
    },
    /// The result of the operation to undo was changed afterwards.
    #[error("the result of that operation in {name} was changed afterwards")]
    ChangedSince {
        /// The file.
        name: String,
    },
    /// A file cannot be parsed.
    #[error("{name} is damaged: {what}")]
    Damaged {
        /// The file.
        name: String,
        /// The defect.
        what: String,
    },
    /// The header of a topic cannot be parsed, so that single fields of it cannot be changed.
    #[error("the header of {name} cannot be changed: {what}")]
    UnreadableHeader {
        /// The file.
        name: String,
        /// The defect.
        what: String,
    },
    /// The folder of topics does not exist.
    #[error("there is no folder {place}")]
    NoFolder {
        /// The folder.
        place: String,
    },
    /// An error of the underlying store.
    #[error(transparent)]
    Store(Box<StoreError>),
}

fn join_lines(lines: &[usize]) -> String {
    lines
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

impl TopicError {
    pub(super) fn invalid(why: impl Into<String>, hint: &'static str) -> Self {
        Self::Invalid {
            why: why.into(),
            hint: Some(hint),
        }
    }

    pub(super) fn invalid_name(name: &str, why: &'static str) -> Self {
        Self::InvalidName {
            name: to_one_line(name, MAX_SHOWN),
            why,
        }
    }

    pub(super) fn outside_folder(name: &str, why: &'static str) -> Self {
        Self::Outside {
            name: to_one_line(name, MAX_SHOWN),
            why,
        }
    }

    pub(super) fn invalid_type(given: &str) -> Self {
        Self::InvalidType {
            given: to_one_line(given, MAX_SHOWN),
        }
    }

    /// Creates a [`TopicError::NotFound`], with a long name shortened.
    pub fn not_found(name: &str) -> Self {
        Self::NotFound {
            name: to_one_line(name, MAX_SHOWN),
        }
    }

    /// Returns the stable error code.
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound { .. } | Self::NoFolder { .. } => Code::PathNotFound,
            Self::Ambiguous { .. } => Code::MemoryAmbiguous,
            Self::Taken { .. }
            | Self::InTheWay { .. }
            | Self::Conflict { .. }
            | Self::ChangedSince { .. } => Code::Conflict,
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

    /// Returns advice for the user, if there is any.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotFound { .. } => "`memory topic list` lists the topics",
            Self::Ambiguous { .. } => "use the file name",
            Self::Taken { other: Some(_), .. } => {
                "names that differ only in case, in Unicode composition or in invisible characters count as the same name; use the existing one"
            }
            Self::Taken { other: None, .. } | Self::InTheWay { .. } => {
                "choose another name, or change the existing file"
            }
            Self::InvalidName { .. } | Self::Outside { .. } => {
                "use the name of a file in the folder, such as user_prefs.md"
            }
            Self::Index => {
                "write a topic; the index is updated with it. Your own lines in the index are preserved"
            }
            Self::InvalidType { .. } => "the types are user, feedback, project, reference",
            Self::Absent { .. } => {
                "read the topic, and copy the text verbatim, with its line breaks"
            }
            Self::Twice { .. } => {
                "include more of the surrounding text, so that it occurs only once"
            }
            Self::Conflict { .. } => "try again in a moment",
            Self::ChangedSince { .. } => {
                "undo the later changes first; `memory log` lists them, and `memory undo OPERATION` undoes one, both with the same --dir"
            }
            Self::Damaged { .. } => "repair the file by hand; until then it is not changed",
            Self::UnreadableHeader { .. } => {
                "repair the file by hand, or write the whole topic with its type and text; the previous file moves to the trash"
            }
            Self::NoFolder { .. } => {
                "check --dir; `memory topic write` creates the folder with its first topic"
            }
            Self::Invalid { hint, .. } => return hint.map(str::to_owned),
            Self::Store(error) => return error.hint(),
            Self::TooLarge { .. } | Self::PermissionDenied { .. } | Self::IsFolder { .. } => {
                return None;
            }
        };
        Some(hint.to_owned())
    }
}

impl From<StoreError> for TopicError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}
