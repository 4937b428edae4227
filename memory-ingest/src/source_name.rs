//! The names of the sources, and their adapters.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use memory_core::{ParseError, Source, SourceError};

use crate::{CarAgent, Claude, Fingersaver, Logseq, Obsidian};

/// Defines the sources: for each its name, its default paths below the user's home folder, and its adapter.
///
/// `open` reads a path as files of the source. `recognizes` returns whether a path contains files that only this source
/// writes.
macro_rules! sources {
    ($($(#[$doc:meta])* $source:ident { name: $name:literal, paths: $paths:expr, open: $open:expr, recognizes: $recognizes:expr }),+ $(,)?) => {
        /// The name of a source.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum SourceName {
            $($(#[$doc])* $source),+
        }

        impl SourceName {
            /// All sources, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$source),+];

            /// Returns the name as it is written on the command line and in files.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$source => $name),+
                }
            }

            /// Returns the default paths of the source, relative to the user's home folder. The first that exists is read.
            const fn paths(self) -> &'static [&'static str] {
                match self {
                    $(Self::$source => &$paths),+
                }
            }

            /// Returns whether the files at `path` are recognized as files of this source.
            pub fn recognizes(self, path: &Path) -> bool {
                match self {
                    $(Self::$source => ($recognizes)(path)),+
                }
            }
        }

        const EXPECTED: &str = concat!("a source (one of" $(, " ", $name)+, ")");

        /// Opens the source `name` at `path`.
        ///
        /// # Errors
        /// [`SourceError::Missing`] if nothing exists there, [`SourceError::Unreadable`] if it cannot be read at all,
        /// [`SourceError::NotRecognized`] if it does not contain files of the source.
        pub fn open(name: SourceName, path: &Path, options: &SourceOptions) -> Result<Box<dyn Source>, SourceError> {
            Ok(match name {
                $(SourceName::$source => Box::new($open(path, options)?)),+
            })
        }
    };
}

sources! {
    /// Claude Code's folder of instructions and memories.
    Claude {
        name: "claude",
        paths: [".claude"],
        open: |path, _: &SourceOptions| Claude::open(path),
        recognizes: |path: &Path| path.join("projects").is_dir() && path.join("settings.json").is_file()
    },
    /// The folder of `car-agent`.
    CarAgent {
        name: "car-agent",
        paths: [".car-agent"],
        open: |path, _: &SourceOptions| CarAgent::open(path),
        recognizes: |_: &Path| false
    },
    /// The chat of `fingersaver`.
    Fingersaver {
        name: "fingersaver",
        paths: [".fingersaver"],
        open: |path, _: &SourceOptions| Fingersaver::open(path),
        recognizes: |_: &Path| false
    },
    /// A Logseq graph.
    Logseq {
        name: "logseq",
        paths: ["logseq"],
        open: |path, _: &SourceOptions| Logseq::open(path),
        recognizes: |path: &Path| path.join("logseq/config.edn").is_file()
    },
    /// An Obsidian vault.
    Obsidian {
        name: "obsidian",
        paths: ["my-vault"],
        open: |path, _: &SourceOptions| Obsidian::open(path),
        recognizes: |path: &Path| path.join(".obsidian").is_dir()
    },
}

/// Options of reading a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceOptions {
    /// The field of a memory, and the key or column that contains it, for sources without fixed names.
    pub fields: Vec<(String, String)>,
}

impl SourceName {
    /// Returns the default path of the source, given the user's home folder: the first that exists, or the first.
    ///
    /// Exports and files that a person saves anywhere have none.
    pub fn default_path(self, home: &Path) -> Option<PathBuf> {
        let mut paths = self.paths().iter().map(|path| home.join(path));
        let first = paths.next()?;
        if first.exists() { Some(first) } else { Some(paths.find(|path| path.exists()).unwrap_or(first)) }
    }

    /// Returns the sources that recognize the files at `path`.
    pub fn detect(path: &Path) -> Vec<Self> {
        Self::ALL.iter().copied().filter(|source| source.recognizes(path)).collect()
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
        let found = Self::ALL.iter().copied().find(|name| name.as_str() == text.trim());
        found.ok_or_else(|| ParseError::new(text, EXPECTED))
    }
}
