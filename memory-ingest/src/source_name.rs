//! The names of the sources.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use memory_core::{ParseError, Source, SourceError};

use crate::{CarAgent, Claude, Fingersaver, Logseq, Obsidian};

/// The name of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceName {
    /// Claude Code's folder of instructions and memories.
    Claude,
    /// The folder of `car-agent`.
    CarAgent,
    /// The chat of `fingersaver`.
    Fingersaver,
    /// A Logseq graph.
    Logseq,
    /// An Obsidian vault.
    Obsidian,
}

impl SourceName {
    /// All sources, in the order of the documentation.
    pub const ALL: [Self; 5] = [Self::Claude, Self::CarAgent, Self::Fingersaver, Self::Logseq, Self::Obsidian];

    /// Returns the name as it is written on the command line and in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::CarAgent => "car-agent",
            Self::Fingersaver => "fingersaver",
            Self::Logseq => "logseq",
            Self::Obsidian => "obsidian",
        }
    }

    /// Returns the default path of the source, given the user's home folder.
    pub fn default_path(self, home: &Path) -> PathBuf {
        home.join(match self {
            Self::Claude => ".claude",
            Self::CarAgent => ".car-agent",
            Self::Fingersaver => ".fingersaver",
            Self::Logseq => "logseq",
            Self::Obsidian => "my-vault",
        })
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for SourceName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::ALL
            .into_iter()
            .find(|name| name.as_str() == text.trim())
            .ok_or_else(|| ParseError::new(text, "a source (claude, car-agent, fingersaver, logseq or obsidian)"))
    }
}

/// Opens the source `name` at `path`.
///
/// # Errors
/// [`SourceError::Missing`] if nothing exists there, [`SourceError::Unreadable`] if it cannot be read at all.
pub fn open(name: SourceName, path: &Path) -> Result<Box<dyn Source>, SourceError> {
    Ok(match name {
        SourceName::Claude => Box::new(Claude::open(path)?),
        SourceName::CarAgent => Box::new(CarAgent::open(path)?),
        SourceName::Fingersaver => Box::new(Fingersaver::open(path)?),
        SourceName::Logseq => Box::new(Logseq::open(path)?),
        SourceName::Obsidian => Box::new(Obsidian::open(path)?),
    })
}
