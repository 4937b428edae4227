//! Runs git.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::conversation::GitVersionsError;
use crate::notifier::process::{run, run_with_streams};

/// The timeout of a git command.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// Variables that refer to another repository: this process may be started by a hook of it.
const REPOSITORY_VARIABLES: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// The author and committer for settings that the user has not made.
const DEFAULT_IDENTITY: [(&str, &str); 2] =
    [("user.name", "memory"), ("user.email", "memory@localhost")];

/// The repository of a folder, never one of a parent folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repository<'r> {
    /// The folder.
    pub root: &'r Path,
}

/// The output of git.
pub(super) type GitOutput = Vec<u8>;

impl Repository<'_> {
    /// Creates the repository with permissions for its owner only.
    ///
    /// It contains the content of the files, and other users may have access to the folder.
    pub(super) fn init(&self) -> Result<(), GitVersionsError> {
        // Given the path of the repository, git would record it, and the folder could not be moved.
        let mut command = Command::new("git");
        command
            .arg("init")
            .arg("--quiet")
            .arg("--shared=0600")
            .arg(".");
        run(self.isolate(&mut command), PATIENCE)
            .map_err(|why| self.git_failure("create a repository", why))
    }

    /// Runs git.
    pub(super) fn run(&self, action: &str, arguments: &[&str]) -> Result<(), GitVersionsError> {
        run(self.command().args(arguments), PATIENCE).map_err(|why| self.git_failure(action, why))
    }

    /// Runs git, and returns its output.
    pub(super) fn run_for_output(
        &self,
        action: &str,
        arguments: &[&str],
    ) -> Result<GitOutput, GitVersionsError> {
        self.run_on_index(None, action, arguments, b"")
    }

    /// Runs git with `bytes` as input, on another index if one is given, and returns its output.
    pub(super) fn run_on_index(
        &self,
        index: Option<&Path>,
        action: &str,
        arguments: &[&str],
        bytes: &[u8],
    ) -> Result<GitOutput, GitVersionsError> {
        let no_room = |error: io::Error| git_error(action, &error);
        let (from, mut to) = (
            temp_file_with(bytes).map_err(no_room)?,
            tempfile::tempfile().map_err(no_room)?,
        );
        let mut command = self.command();
        command.args(arguments);
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        let between = [
            Stdio::from(from),
            Stdio::from(to.try_clone().map_err(no_room)?),
        ];
        run_with_streams(&mut command, between, PATIENCE)
            .map_err(|why| self.git_failure(action, why))?;
        let mut said = Vec::new();
        to.rewind()
            .and_then(|()| to.read_to_end(&mut said))
            .map_err(no_room)?;
        Ok(said)
    }

    /// Returns the commit of `HEAD`; `None` if there is no commit yet.
    pub(super) fn head(&self) -> Option<String> {
        // The command fails without a message if there is no commit.
        let said = self
            .run_for_output(
                "read the last commit",
                &["rev-parse", "--quiet", "--verify", "HEAD^{commit}"],
            )
            .ok()?;
        Some(single_line(&said)).filter(|head| !head.is_empty())
    }

    /// Creates a commit that no reference points to yet, and returns its id.
    pub(super) fn commit(
        &self,
        tree: &str,
        parent: Option<&str>,
        message: &str,
    ) -> Result<String, GitVersionsError> {
        let is_said = |key: &str| {
            self.run_for_output("read the user settings", &["config", key])
                .is_ok_and(|said| !single_line(&said).is_empty())
        };
        let missing = DEFAULT_IDENTITY
            .into_iter()
            .filter(|(key, _)| !is_said(key))
            .map(|(key, value)| format!("{key}={value}"));
        let named: Vec<String> = missing
            .flat_map(|setting| ["-c".to_owned(), setting])
            .collect();
        let mut arguments: Vec<&str> = named.iter().map(String::as_str).collect();
        arguments.extend(["commit-tree", tree, "-m", message]);
        arguments.extend(parent.into_iter().flat_map(|parent| ["-p", parent]));
        self.run_for_output("commit", &arguments)
            .map(|said| single_line(&said))
    }

    /// Returns the output of `git log`.
    pub(super) fn log(&self, what: &[&str]) -> Result<String, GitVersionsError> {
        let mut command = self.command();
        let output = command
            .arg("log")
            .args(what)
            .output()
            .map_err(|_| GitVersionsError::NoGit)?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            if why.contains("does not have any commits yet") {
                return Ok(String::new());
            }
            return Err(GitVersionsError::Refused {
                action: "list changes".into(),
                why,
            });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command
            .arg("--git-dir")
            .arg(self.root.join(".git"))
            .arg("--work-tree")
            .arg(self.root);
        command.args(["-c", "core.hooksPath=/dev/null"]);
        self.isolate(&mut command);
        command
    }

    /// Restricts git to this folder and to its own settings.
    fn isolate<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        for name in REPOSITORY_VARIABLES {
            command.env_remove(name);
        }
        command
            .current_dir(self.root)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
    }

    fn git_failure(&self, action: &str, why: String) -> GitVersionsError {
        if why.contains("could not be started") {
            return GitVersionsError::NoGit;
        }
        // Another process holds the lock, or has updated the reference before.
        let is_another_at_work = [
            ".lock': File exists",
            "but expected",
            "reference already exists",
        ];
        if is_another_at_work.iter().any(|words| why.contains(words)) {
            return locked_error(self.root);
        }
        GitVersionsError::Refused {
            action: action.to_owned(),
            why,
        }
    }
}

/// Returns output that is a single line.
pub(super) fn single_line(said: &[u8]) -> String {
    String::from_utf8_lossy(said)
        .trim_end_matches('\n')
        .to_owned()
}

/// Returns a temporary file with these bytes, which is deleted when it is closed.
fn temp_file_with(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

pub(super) fn git_error(action: &str, error: &io::Error) -> GitVersionsError {
    GitVersionsError::Refused {
        action: action.into(),
        why: error.to_string(),
    }
}

pub(super) fn locked_error(root: &Path) -> GitVersionsError {
    GitVersionsError::Locked {
        place: root.display().to_string(),
    }
}
