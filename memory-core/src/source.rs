//! The interface of external sources of notes.

use std::fmt::Debug;

use crate::wikilink::WikilinkRule;
use crate::{Code, Draft};

/// An external source of notes, such as an Obsidian vault. It is read and never written.
pub trait Source: Debug + Send + Sync {
    /// Returns the name of the source, such as `obsidian`.
    fn name(&self) -> &str;

    /// Returns the rule for resolving links between its notes.
    fn rule(&self) -> WikilinkRule;

    /// Iterates over the files, ordered by path. Each call reads the source again.
    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_>;
}

/// A file of a source, with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceItem {
    /// A note.
    Note {
        /// The note as a draft, with `origin` set.
        draft: Box<Draft>,
        /// Unrecognized front-matter lines of the note, ending in a line break; usually empty.
        front_matter: String,
        /// The targets of its links, as written.
        links: Vec<String>,
        /// The targets of links that the source program does not recognize although they are intended.
        ///
        /// An example is `[[x]]` without quotes in a property. These links are resolved but not counted.
        uncounted_links: Vec<String>,
        /// The part of the note that could not be parsed, if any.
        warning: Option<String>,
    },
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
}

impl SourceError {
    /// Returns the permanent code of the error.
    pub fn code(&self) -> Code {
        match self {
            Self::Missing { .. } => Code::PathNotFound,
            Self::Unreadable { .. } => Code::Io,
        }
    }

    /// Returns advice for the user.
    pub fn hint(&self) -> Option<String> {
        Some("set the folder with --path".into())
    }
}
