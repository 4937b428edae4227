//! Where drafts come from.

use std::fmt::Debug;

use crate::wikilink::Rule;
use crate::{Code, Draft};

/// A place outside that memories are taken in from, such as an Obsidian vault. It reads and never writes.
pub trait Source: Debug + Send + Sync {
    /// Returns the source's name, such as `obsidian`.
    fn name(&self) -> &str;

    /// Returns how links between its notes find their targets.
    fn rule(&self) -> Rule;

    /// Iterates over what is there, in the order of the paths. It may be called again and then reads again.
    fn findings(&self) -> Box<dyn Iterator<Item = Finding> + '_>;
}

/// What a source found at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A note.
    Note {
        /// The note as a draft; its `origin` is set.
        draft: Box<Draft>,
        /// Front-matter lines of the note that have no field of their own, ending in a line break; usually empty.
        front_matter: String,
        /// The targets of its links, as written.
        links: Vec<String>,
        /// The targets of what the program it comes from does not take for links though a person meant them so, such as
        /// `[[x]]` without quotes in a property. They are followed and not counted.
        uncounted_links: Vec<String>,
        /// What could not be understood though the note was taken, if anything.
        warning: Option<String>,
    },
    /// A file that is no note but that links may lead to; its path below the root.
    Attachment(String),
    /// Something that was not taken.
    Skipped {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
}

/// A source that cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There is no such folder.
    #[error("{path} is not there")]
    Missing {
        /// The folder or file that should be there.
        path: String,
    },
    /// The folder cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The folder.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

impl SourceError {
    /// Returns the permanent name.
    pub fn code(&self) -> Code {
        match self {
            Self::Missing { .. } => Code::PathNotFound,
            Self::Unreadable { .. } => Code::Io,
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        Some("name the folder with --path".into())
    }
}
