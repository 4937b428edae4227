//! Runs git.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{locked, refused};
use crate::conversation::VersionsError;
use crate::notifier::run::{run, run_between};

/// The timeout of a git command.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// Variables that refer to another repository: this process may be started by a hook of it.
const ELSEWHERE: [&str; 7] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"];

/// The author and committer for settings that the user has not made.
const NOBODY: [(&str, &str); 2] = [("user.name", "memory"), ("user.email", "memory@localhost")];

/// The repository of a folder, never one of a parent folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repository<'r> {
    /// The folder.
    pub root: &'r Path,
}

/// The output of git.
pub(super) type Output = Vec<u8>;

impl Repository<'_> {
    /// Creates the repository with permissions for its owner only.
    ///
    /// It contains the content of the files, and other users may have access to the folder.
    pub(super) fn make(&self) -> Result<(), VersionsError> {
        // Given the path of the repository, git would record it, and the folder could not be moved.
        let mut command = Command::new("git");
        command.arg("init").arg("--quiet").arg("--shared=0600").arg(".");
        run(self.alone(&mut command), PATIENCE).map_err(|why| self.told("create a repository", why))
    }

    /// Runs git.
    pub(super) fn tell(&self, action: &str, arguments: &[&str]) -> Result<(), VersionsError> {
        run(self.command().args(arguments), PATIENCE).map_err(|why| self.told(action, why))
    }

    /// Runs git, and returns its output.
    pub(super) fn ask(&self, action: &str, arguments: &[&str]) -> Result<Output, VersionsError> {
        self.ask_on(None, action, arguments, b"")
    }

    /// Runs git with `bytes` as input, on another index if one is given, and returns its output.
    pub(super) fn ask_on(
        &self,
        index: Option<&Path>,
        action: &str,
        arguments: &[&str],
        bytes: &[u8],
    ) -> Result<Output, VersionsError> {
        let no_room = |error: io::Error| refused(action, &error);
        let (from, mut to) = (holding(bytes).map_err(no_room)?, tempfile::tempfile().map_err(no_room)?);
        let mut command = self.command();
        command.args(arguments);
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        let between = [Stdio::from(from), Stdio::from(to.try_clone().map_err(no_room)?)];
        run_between(&mut command, between, PATIENCE).map_err(|why| self.told(action, why))?;
        let mut said = Vec::new();
        to.rewind().and_then(|()| to.read_to_end(&mut said)).map_err(no_room)?;
        Ok(said)
    }

    /// Returns the commit of `HEAD`; `None` if there is no commit yet.
    pub(super) fn head(&self) -> Option<String> {
        // The command fails without a message if there is no commit.
        let said = self.ask("read the last commit", &["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]).ok()?;
        Some(line(&said)).filter(|head| !head.is_empty())
    }

    /// Creates a commit that no reference points to yet, and returns its id.
    pub(super) fn commit(&self, tree: &str, parent: Option<&str>, message: &str) -> Result<String, VersionsError> {
        let is_said = |key: &str| self.ask("read the user settings", &["config", key]).is_ok_and(|said| !line(&said).is_empty());
        let missing = NOBODY.into_iter().filter(|(key, _)| !is_said(key)).map(|(key, value)| format!("{key}={value}"));
        let named: Vec<String> = missing.flat_map(|setting| ["-c".to_owned(), setting]).collect();
        let mut arguments: Vec<&str> = named.iter().map(String::as_str).collect();
        arguments.extend(["commit-tree", tree, "-m", message]);
        arguments.extend(parent.into_iter().flat_map(|parent| ["-p", parent]));
        self.ask("commit", &arguments).map(|said| line(&said))
    }

    /// Returns the output of `git log`.
    pub(super) fn log(&self, what: &[&str]) -> Result<String, VersionsError> {
        let mut command = self.command();
        let output = command.arg("log").args(what).output().map_err(|_| VersionsError::NoGit)?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            if why.contains("does not have any commits yet") {
                return Ok(String::new());
            }
            return Err(VersionsError::Refused { action: "list changes".into(), why });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(self.root.join(".git")).arg("--work-tree").arg(self.root);
        command.args(["-c", "core.hooksPath=/dev/null"]);
        self.alone(&mut command);
        command
    }

    /// Restricts git to this folder and to its own settings.
    fn alone<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        for name in ELSEWHERE {
            command.env_remove(name);
        }
        command.current_dir(self.root).env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C")
    }

    fn told(&self, action: &str, why: String) -> VersionsError {
        if why.contains("could not be started") {
            return VersionsError::NoGit;
        }
        // Another process holds the lock, or has updated the reference before.
        let is_another_at_work = [".lock': File exists", "but expected", "reference already exists"];
        if is_another_at_work.iter().any(|words| why.contains(words)) {
            return locked(self.root);
        }
        VersionsError::Refused { action: action.to_owned(), why }
    }
}

/// Returns output that is a single line.
pub(super) fn line(said: &[u8]) -> String {
    String::from_utf8_lossy(said).trim_end_matches('\n').to_owned()
}

/// Returns a temporary file with these bytes, which is deleted when it is closed.
fn holding(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}
