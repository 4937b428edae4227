//! Runs git.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use memory_core::StoreError;
use memory_core::text::format_error_chain;

use super::access::{RepositoryFolders, check_folder, find_folders, untrusted};
use super::has_own_ignore_file;
use super::isolation::{IsolatedSettings, create_command};
use crate::command::{run, run_with_streams};
use crate::conversation::GitVersionsError;
use crate::trust::is_trusted;

/// The timeout of a git command.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// The setting by which repositories of this program are recognised: [`Repository::create`] makes them so.
///
/// Another program can make one that looks the same. Nothing of it is executed, as of any other repository.
const OWN_PERMISSIONS: (&str, &str) = ("core.sharedrepository", "0600");

/// The repository of a folder, never one of a parent folder.
#[derive(Debug)]
pub(super) struct Repository<'r> {
    /// The folder.
    pub(super) root: &'r Path,
    folders: RepositoryFolders,
    settings: IsolatedSettings,
    is_own: bool,
}

/// The output of git.
pub(super) type GitOutput = Vec<u8>;

impl<'r> Repository<'r> {
    /// Creates the repository of the folder at `root`, with permissions for its owner only.
    ///
    /// It contains the content of the files, and other users may have access to the folder.
    pub(super) fn create(root: &Path) -> Result<(), GitVersionsError> {
        check_folder(root)?;
        // Given the path of the repository, git would record it, and the folder could not be moved.
        let mut command = create_command(root);
        command.args(["init", "--quiet", "--shared=0600", "."]);
        run(&mut command, PATIENCE).map_err(|why| git_failure(root, "create a repository", why))
    }

    /// Opens the repository of the folder at `root`.
    pub(super) fn open(root: &'r Path) -> Result<Self, GitVersionsError> {
        let folders = find_folders(root)?;
        let settings = IsolatedSettings::read(root, &folders, PATIENCE)?;
        let (key, value) = OWN_PERMISSIONS;
        let is_own = settings.of_repository(key) == Some(value) || has_own_ignore_file(root);
        if !is_own && !is_trusted(root) {
            return Err(untrusted(root, "this program did not create it"));
        }
        settings.write(root, &folders)?;
        Ok(Self {
            root,
            folders,
            settings,
            is_own,
        })
    }

    /// Collects garbage if git decides that it is due, as after any commit.
    ///
    /// Repositories of others, and those with several work trees, are left to the git commands of the user, because the settings and
    /// references that protect objects there are not read.
    pub(super) fn collect_garbage(&self) {
        let protects_objects = self
            .settings
            .of_repository("extensions.preciousobjects")
            .is_some();
        let has_work_trees = self.folders.common.join("worktrees").exists();
        if self.is_own && !protects_objects && !has_work_trees {
            let _ = self.run("collect garbage", &["gc", "--auto", "--quiet"]);
        }
    }

    /// Fails if this version of git stores references where they would be lost.
    pub(super) fn check_references(&self) -> Result<(), GitVersionsError> {
        let is_kept = self
            .settings
            .has_no_references()
            .map_err(|error| git_error("check the references", &error))?;
        if is_kept {
            return Ok(());
        }
        Err(GitVersionsError::Refused {
            action: "update HEAD".into(),
            why: "this version of git stores references outside of the repository".into(),
        })
    }

    /// Runs git.
    pub(super) fn run(&self, action: &str, arguments: &[&str]) -> Result<(), GitVersionsError> {
        run(self.command().args(arguments), PATIENCE)
            .map_err(|why| git_failure(self.root, action, why))
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
        let mut command = self.command();
        command.args(arguments);
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        run_for_output(&mut command, self.root, action, bytes, PATIENCE)
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
        let mut arguments = vec!["commit-tree", tree, "-m", message];
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
        self.settings.command(self.root, &self.folders)
    }
}

/// Runs git with `bytes` as input, and returns its output.
pub(super) fn run_for_output(
    command: &mut Command,
    root: &Path,
    action: &str,
    bytes: &[u8],
    patience: Duration,
) -> Result<GitOutput, GitVersionsError> {
    let no_room = |error: io::Error| git_error(action, &error);
    let (from, mut to) = (
        temp_file_with(bytes).map_err(no_room)?,
        tempfile::tempfile().map_err(no_room)?,
    );
    let between = [
        Stdio::from(from),
        Stdio::from(to.try_clone().map_err(no_room)?),
    ];
    run_with_streams(command, between, patience).map_err(|why| git_failure(root, action, why))?;
    let mut said = Vec::new();
    to.rewind()
        .and_then(|()| to.read_to_end(&mut said))
        .map_err(no_room)?;
    Ok(said)
}

fn git_failure(root: &Path, action: &str, why: String) -> GitVersionsError {
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
        return locked_error(root, named_lock(&why));
    }
    GitVersionsError::Refused {
        action: action.to_owned(),
        why,
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

/// Returns the error that git or another program uses the repository, with the lock file of git if there is one.
pub(super) fn locked_error(root: &Path, file: Option<&Path>) -> GitVersionsError {
    GitVersionsError::Locked {
        place: root.display().to_string(),
        holder: None,
        file: file.map(|file| file.display().to_string()),
    }
}

/// Returns the error that the repository at `root` could not be locked.
pub(super) fn lock_error(root: &Path, error: StoreError) -> GitVersionsError {
    match error {
        StoreError::Locked { holder, .. } => GitVersionsError::Locked {
            place: root.display().to_string(),
            holder,
            file: None,
        },
        error => GitVersionsError::Refused {
            action: "lock the repository".into(),
            why: format_error_chain(&error),
        },
    }
}

/// Returns the lock file in a message of git: `Unable to create '/a/.git/index.lock': File exists.`
fn named_lock(why: &str) -> Option<&Path> {
    let (before, _) = why.split_once("': File exists")?;
    let (_, path) = before.split_once("Unable to create '")?;
    Some(Path::new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_is_found_in_a_message_of_git() {
        let message =
            "fatal: Unable to create '/it's/.git/index.lock': File exists.\n\nAnother git process";
        assert_eq!(
            named_lock(message),
            Some(Path::new("/it's/.git/index.lock"))
        );
        assert_eq!(named_lock("fatal: cannot lock ref 'HEAD'"), None);
    }
}
