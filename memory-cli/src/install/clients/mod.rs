//! The supported clients and their configuration files, one client per file.

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod opencode;
mod vscode;

use std::path::PathBuf;

use super::ClientFolders;
use super::plan::ClientEntry;

/// A program that can be configured to use the memories.
#[derive(Debug)]
pub(crate) struct Client {
    /// The name on the command line, and the agent name for memories that the client writes.
    pub name: &'static str,
    /// The name that its vendor uses.
    pub title: &'static str,
    /// Returns the configuration files of the client.
    pub files: fn(&ClientFolders, InstallLevel) -> Vec<ClientFile>,
    /// A note for the user about changes in project files; a restart of the client is always needed.
    pub project_note: Option<&'static str>,
}

/// Where the client is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstallLevel {
    /// For the user, in all projects.
    User,
    /// For one project and all its users.
    Project,
}

/// A configuration file of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientFile {
    /// The possible paths: the first that exists is used, else the last.
    pub paths: Vec<PathBuf>,
    /// The kind of entry in the file.
    pub part: ClientEntry,
}

impl Client {
    /// All clients, in the order of the help.
    pub(crate) const ALL: [&'static Self; 6] =
        [&claude_code::CLIENT, &codex::CLIENT, &cursor::CLIENT, &gemini::CLIENT, &vscode::CLIENT, &opencode::CLIENT];
}

impl InstallLevel {
    /// Returns the name of the level.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl ClientFile {
    fn new(path: PathBuf, part: ClientEntry) -> Self {
        Self { paths: vec![path], part }
    }
}

#[cfg(test)]
mod tests;
