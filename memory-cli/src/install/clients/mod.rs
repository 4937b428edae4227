//! The clients, one a file: what each is called and which files it reads.

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod opencode;
mod vscode;

use std::path::PathBuf;

use super::Folders;
use super::plan::Part;

/// A program that uses the memories.
#[derive(Debug)]
pub(crate) struct Client {
    /// What it is called on the command line, and by us when it writes.
    pub name: &'static str,
    /// What its makers call it.
    pub title: &'static str,
    /// The files that it reads.
    pub files: fn(&Folders, Level) -> Vec<Target>,
    /// What to do for it to see a change in the files of one project, beyond starting it anew.
    pub project_note: Option<&'static str>,
}

/// Whom the files are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// The person, in all projects.
    User,
    /// One project, whoever works on it.
    Project,
}

/// A file that a client reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// Its names: the first that exists counts, else the last.
    pub paths: Vec<PathBuf>,
    /// What the client keeps of us there.
    pub part: Part,
}

impl Client {
    /// All of them, in the order of the help.
    pub(crate) const ALL: [&'static Self; 6] =
        [&claude_code::CLIENT, &codex::CLIENT, &cursor::CLIENT, &gemini::CLIENT, &vscode::CLIENT, &opencode::CLIENT];
}

impl Level {
    /// Returns the word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl Target {
    fn new(path: PathBuf, part: Part) -> Self {
        Self { paths: vec![path], part }
    }
}

#[cfg(test)]
mod tests;
