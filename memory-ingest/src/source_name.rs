//! The names of the sources, and their adapters.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use memory_core::{ParseError, Source, SourceError};

use crate::archive::{are_parts, is_zip};
use crate::basic_memory::DEFAULT_FOLDER;
use crate::field_map::SuggestedMap;
use crate::folder::{DEPENDENCY_FOLDERS, has_extension};
use crate::located_source::LocatedSource;
use crate::markdown;
use crate::program_folder::{
    begins_with_json, has_transcripts, is_codex, is_gemini, is_named_any, list,
};
use crate::project_rules::AGENTS;
use crate::{
    BasicMemory, CarAgent, ChatGpt, Claude, ClaudeAi, ClaudeMem, ClaudeSessions, Codex, CsvTable,
    Evernote, Fingersaver, Gemini, Jsonl, Keep, Letta, Logseq, Markdown, McpMemoryService, Mem0,
    Notion, Obsidian, Okf, ProjectRules, ServerMemory,
};

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
        recognizes: Claude::recognizes
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
    /// A folder of Markdown and text files, or one such file.
    Markdown {
        name: "markdown",
        paths: [],
        open: |path, _: &SourceOptions| Markdown::open(path),
        recognizes: |_: &Path| false
    },
    /// An Obsidian vault.
    Obsidian {
        name: "obsidian",
        paths: ["my-vault"],
        open: |path, _: &SourceOptions| Obsidian::open(path),
        recognizes: |path: &Path| path.join(".obsidian").is_dir()
    },
    /// An export of ChatGPT, or a list of its saved memories.
    ChatGpt {
        name: "chatgpt",
        paths: [],
        open: |path, _: &SourceOptions| ChatGpt::open(path),
        recognizes: ChatGpt::recognizes
    },
    /// An export of Claude.ai.
    ClaudeAi {
        name: "claude-ai",
        paths: [],
        open: |path, _: &SourceOptions| ClaudeAi::open(path),
        recognizes: ClaudeAi::recognizes
    },
    /// The transcripts of Claude Code.
    ClaudeSessions {
        name: "claude-sessions",
        paths: [".claude"],
        open: |path, _: &SourceOptions| ClaudeSessions::open(path),
        recognizes: has_transcripts
    },
    /// The sessions and memories of Codex.
    Codex {
        name: "codex",
        paths: [".codex"],
        open: |path, _: &SourceOptions| Codex::open(path),
        recognizes: is_codex
    },
    /// The sessions and memories of Gemini CLI.
    Gemini {
        name: "gemini",
        paths: [".gemini"],
        open: |path, _: &SourceOptions| Gemini::open(path),
        recognizes: is_gemini
    },
    /// The notes of `basic-memory`.
    BasicMemory {
        name: "basic-memory",
        paths: [DEFAULT_FOLDER],
        open: |path, _: &SourceOptions| BasicMemory::open(path),
        recognizes: BasicMemory::recognizes
    },
    /// A bundle of the Open Knowledge Format.
    Okf {
        name: "okf",
        paths: [],
        open: |path, _: &SourceOptions| Okf::open(path),
        recognizes: Okf::recognizes
    },
    /// The knowledge graph of the MCP server `memory`.
    ServerMemory {
        name: "server-memory",
        paths: [],
        open: |path, _: &SourceOptions| LocatedSource::open(path, ServerMemory::open),
        recognizes: ServerMemory::recognizes
    },
    /// Memories of mem0.
    Mem0 {
        name: "mem0",
        paths: [".mem0/history.db"],
        open: |path, _: &SourceOptions| Mem0::open(path),
        recognizes: Mem0::recognizes
    },
    /// Memories of `mcp-memory-service`.
    McpMemoryService {
        name: "mcp-memory-service",
        paths: [
            ".local/share/mcp-memory/sqlite_vec.db",
            "Library/Application Support/mcp-memory/sqlite_vec.db",
            "AppData/Local/mcp-memory/sqlite_vec.db",
        ],
        open: |path, _: &SourceOptions| McpMemoryService::open(path),
        recognizes: McpMemoryService::recognizes
    },
    /// Observations, summaries, rules and prompts of claude-mem.
    ClaudeMem {
        name: "claude-mem",
        paths: [".claude-mem/claude-mem.db"],
        open: |path, _: &SourceOptions| LocatedSource::open(path, ClaudeMem::open),
        recognizes: ClaudeMem::recognizes
    },
    /// An agent file of Letta.
    Letta {
        name: "letta",
        paths: [],
        open: |path, _: &SourceOptions| LocatedSource::open(path, Letta::open),
        recognizes: Letta::recognizes
    },
    /// JSON objects of any program.
    Jsonl {
        name: "jsonl",
        paths: [],
        open: |path, options: &SourceOptions| Jsonl::open(path, &options.fields),
        recognizes: |_: &Path| false
    },
    /// A table of any program.
    Csv {
        name: "csv",
        paths: [],
        open: |path, options: &SourceOptions| CsvTable::open(path, &options.fields),
        recognizes: |_: &Path| false
    },
    /// The memory bank of Cline in a project.
    Cline {
        name: "cline",
        paths: [],
        open: |path, _: &SourceOptions| ProjectRules::cline(path),
        recognizes: ProjectRules::is_of_cline
    },
    /// The memory bank of Roo Code in a project.
    Roo {
        name: "roo",
        paths: [],
        open: |path, _: &SourceOptions| ProjectRules::roo(path),
        recognizes: ProjectRules::is_of_roo
    },
    /// The rules of Cursor in a project.
    Cursor {
        name: "cursor",
        paths: [],
        open: |path, _: &SourceOptions| ProjectRules::cursor(path),
        recognizes: ProjectRules::is_of_cursor
    },
    /// Notebooks that Evernote exported.
    Evernote {
        name: "evernote",
        paths: [],
        open: |path, _: &SourceOptions| Evernote::open(path),
        recognizes: Evernote::recognizes
    },
    /// An export of Notion.
    Notion {
        name: "notion",
        paths: [],
        open: |path, _: &SourceOptions| Notion::open(path),
        recognizes: Notion::recognizes
    },
    /// An export of Google Keep.
    Keep {
        name: "keep",
        paths: [],
        open: |path, _: &SourceOptions| Keep::open(path),
        recognizes: Keep::recognizes
    },
    /// The rules of Windsurf, for all projects or in one.
    Windsurf {
        name: "windsurf",
        paths: [".codeium/windsurf"],
        open: |path, _: &SourceOptions| ProjectRules::windsurf(path),
        recognizes: ProjectRules::is_of_windsurf
    },
}

/// Maximum number of files and folders below a folder that are looked at.
const MAX_LISTED: usize = 1_000;

/// Maximum depth of the folders that are looked at.
const MAX_DEPTH: usize = 3;

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
        if first.exists() {
            Some(first)
        } else {
            Some(paths.find(|path| path.exists()).unwrap_or(first))
        }
    }

    /// Returns the sources that recognize the files at `path`.
    ///
    /// Files that any program can write are recognized only if no other source recognizes them.
    pub fn detect(path: &Path) -> Vec<Self> {
        let found: Vec<_> = Self::ALL
            .iter()
            .copied()
            .filter(|source| source.recognizes(path))
            .collect();
        if found.is_empty() && Okf::has_concepts(path) {
            return vec![Self::Okf];
        }
        found
    }

    /// Returns the source of a text file that no program has as its own, by its extension.
    pub fn of_text(path: &Path) -> Option<Self> {
        (path.is_file() && has_extension(&path.to_string_lossy(), &markdown::EXTENSIONS))
            .then_some(Self::Markdown)
    }

    /// Returns the sources whose default paths are below a home folder, or a copy of one, with these paths.
    pub fn detect_programs(home: &Path) -> Vec<(Self, PathBuf)> {
        let below = Self::ALL
            .iter()
            .filter_map(|source| Some((*source, source.default_path(home)?)));
        below
            .filter(|(source, path)| source.recognizes(path))
            .collect()
    }

    /// Returns the sources with files in a folder that is not of a source itself, with the path of the files.
    ///
    /// These are the exports, vaults and projects in the folder, or else below its folders, or else the rules for agents in a project. The
    /// archives of one export in several parts are read together.
    pub fn detect_within(folder: &Path) -> Vec<(Self, PathBuf)> {
        let mut left = MAX_LISTED;
        let mut found = Vec::new();
        // A project may contain files of any program as examples.
        let has_rules = |source: &Self| source.folder_part() == Some(Self::Cursor);
        let mut rules = Self::ALL.iter().filter(|source| has_rules(source));
        let is_project =
            folder.join(AGENTS).is_file() || rules.any(|source| source.recognizes(folder));
        let depth = if is_project { 1 } else { MAX_DEPTH };
        Self::add_within(folder, depth, &mut left, &mut found);
        if found.is_empty() && ProjectRules::cursor(folder).is_ok() {
            found.push((Self::Cursor, folder.to_owned()));
        }
        found
    }

    /// Returns the sources with files in a folder beside those of `of_folder`, which recognize the folder itself, with the path of the files.
    ///
    /// There are none in a folder that belongs to one program as a whole, as a vault or a project does.
    pub fn detect_beside(folder: &Path, of_folder: &[Self]) -> Vec<(Self, PathBuf)> {
        let is_shared = of_folder
            .iter()
            .all(|source| source.folder_part().is_some())
            && of_folder
                .iter()
                .any(|source| source.folder_part() != Some(Self::Cursor));
        if !is_shared {
            return Vec::new();
        }
        let mut found = Self::detect_within(folder);
        found.retain(|(source, place)| {
            !of_folder.contains(source) || !source.reads_in(folder, place)
        });
        found
    }

    /// Returns whether two sources that recognize the same folder read the same files in it.
    pub fn is_ambiguous_with(self, other: Self) -> bool {
        match (self.folder_part(), other.folder_part()) {
            (Some(own), Some(others)) => own == others,
            _ => true,
        }
    }

    /// Returns whether the text files in a folder that the source recognizes may belong to it.
    pub fn has_texts_in_folder(self) -> bool {
        !matches!(self.folder_part(), Some(part) if part != Self::Cursor && part != Self::Keep)
    }

    /// Returns the source that stands for the files that this one has in a folder it recognizes, if they are only a part of the folder.
    const fn folder_part(self) -> Option<Self> {
        match self {
            Self::ChatGpt | Self::ClaudeAi => Some(Self::ChatGpt),
            Self::Cline | Self::Roo | Self::Cursor | Self::Windsurf => Some(Self::Cursor),
            Self::ServerMemory
            | Self::Mem0
            | Self::McpMemoryService
            | Self::ClaudeMem
            | Self::Keep
            | Self::Evernote => Some(self),
            _ => None,
        }
    }

    /// Returns whether the source, which was detected in `folder`, reads only the parts of one export there.
    pub fn reads_parts_in(self, folder: &Path) -> bool {
        Self::IN_PARTS.contains(&self) && !self.recognizes(folder)
    }

    /// Returns whether archives of the source are parts of one export. Conversations may be in several exports.
    fn are_parts(self, archives: &[PathBuf]) -> bool {
        match self {
            Self::ChatGpt => 1 < archives.len(),
            Self::ClaudeAi => are_parts(archives, &ClaudeAi::has_notes),
            _ => are_parts(archives, &|name| {
                has_extension(name, &["json", "md", "csv"])
            }),
        }
    }

    /// Returns whether the source, which recognizes `folder`, reads the files at `place` in it.
    fn reads_in(self, folder: &Path, place: &Path) -> bool {
        match self {
            Self::ServerMemory => ServerMemory::is_file_of(folder, place),
            Self::Mem0 | Self::McpMemoryService | Self::ClaudeMem => {
                place.parent() == Some(folder) && place.is_file() && !begins_with_json(place)
            }
            _ => !is_zip(place).unwrap_or(false),
        }
    }

    fn add_within(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<(Self, PathBuf)>) {
        let items = list(folder);
        let detected: Vec<_> = items
            .into_iter()
            .filter(|item| !is_named_any(item, &DEPENDENCY_FOLDERS))
            .take(*left)
            .map(|item| (Self::detect(&item), item))
            .collect();
        *left -= detected.len();
        let is_only = |source: Self| {
            1 < detected.len()
                && detected
                    .iter()
                    .all(|(sources, item)| sources[..] == [source] && item.is_file())
        };
        if let Some(source) = Self::IN_PARTS.into_iter().find(|source| is_only(*source)) {
            return found.push((source, folder.to_owned()));
        }
        // Other files may be in the folder of the parts of an export.
        let in_parts = Self::IN_PARTS.map(|source| {
            let is_part = |item: &Path| is_zip(item).unwrap_or(false);
            let parts = detected
                .iter()
                .filter(|(sources, item)| sources[..] == [source] && is_part(item));
            let parts: Vec<_> = parts.map(|(_, item)| item.clone()).collect();
            let is_export = source.reads_parts_in(folder) && source.are_parts(&parts);
            (source, if is_export { parts } else { Vec::new() })
        });
        let joined = in_parts.iter().filter(|(_, parts)| !parts.is_empty());
        found.extend(joined.map(|(source, _)| (*source, folder.to_owned())));
        for (sources, item) in detected {
            if in_parts.iter().any(|(_, parts)| parts.contains(&item)) {
                continue;
            }
            if sources.is_empty() && 1 < depth && item.is_dir() {
                Self::add_within(&item, depth - 1, left, found);
            }
            // The notebooks of a folder are read together.
            let of_file = |source| match source {
                Self::Evernote if item.is_file() && !is_zip(&item).unwrap_or(false) => {
                    folder.to_owned()
                }
                _ => item.clone(),
            };
            let places = sources.into_iter().map(|source| (source, of_file(source)));
            found.extend(
                places
                    .filter(|place| !found.contains(place))
                    .collect::<Vec<_>>(),
            );
        }
    }

    /// Returns the source of a file that no program has as its own, by its extension or its first bytes.
    pub fn of_records(path: &Path) -> Option<Self> {
        if path.is_file() && has_extension(&path.to_string_lossy(), &["csv", "tsv"]) {
            return Some(Self::Csv);
        }
        begins_with_json(path).then_some(Self::Jsonl)
    }

    /// Returns a map of the keys or columns of a file of records, if it has a text.
    pub fn suggest_map(path: &Path) -> Option<SuggestedMap> {
        match Self::of_records(path)? {
            Self::Csv => CsvTable::suggest_map(path),
            _ => Jsonl::suggest_map(path),
        }
    }

    /// The sources whose exports may come in several archives.
    const IN_PARTS: [Self; 4] = [Self::ChatGpt, Self::ClaudeAi, Self::Notion, Self::Keep];
}

impl fmt::Display for SourceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for SourceName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = Self::ALL
            .iter()
            .copied()
            .find(|name| name.as_str() == text.trim());
        found.ok_or_else(|| ParseError::new(text, EXPECTED))
    }
}
