//! The git history of the home, if the settings enable it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use memory_agent::system::own_group;
use memory_core::StoreError;
use memory_store::conversation::{GitVersion, GitVersions, GitVersionsError};
use memory_store::lock_file_within;
use memory_store::system::{owner_only, private_folder_builder};
use memory_store::{is_trusted, trust_folders};

use crate::failure::Failure;

/// Argument that makes this program commit a home; the folder and the end of its journal follow.
const CHILD_ARGUMENT: &str = "keep-versions-of";

/// Last argument of the program if the user trusts the home.
const TRUST_ARGUMENT: &str = "trusted";

/// Message of the commits.
const COMMIT_MESSAGE: &str = "Update memories";

/// Time to wait for further changes before a commit.
const COMMIT_DELAY: Duration = Duration::from_millis(200);

/// Maximum time to wait for another process that commits.
const COMMIT_PATIENCE: Duration = Duration::from_mins(2);

/// The last error, and the last error that was reported to the user.
const ERROR_FILE: &str = "versions.trouble";
const REPORTED_FILE: &str = "versions.told";

/// The end of the journal at the last commit.
const MARK_FILE: &str = "versions.mark";

/// Returns the path of a state file: in the index of a home, else among the conversations.
fn state_path(root: &Path, name: &str) -> PathBuf {
    let index = root.join("index");
    if index.is_dir() {
        index.join(name)
    } else {
        root.join(".conversations").join(name)
    }
}

/// Writes a state file that only the user can read.
fn write_state(place: &Path, text: &str) -> io::Result<()> {
    owner_only(File::options().create(true).truncate(true).write(true))
        .open(place)?
        .write_all(text.as_bytes())
}

/// Repeats a commit that failed last time; returns a warning, unless the user received it before.
///
/// The journal ends at `end`.
pub(crate) fn retry_failed_commit(root: &Path, end: &str) -> Option<String> {
    let trouble = fs::read_to_string(state_path(root, ERROR_FILE)).ok()?;
    if fs::read_to_string(state_path(root, REPORTED_FILE)).is_ok_and(|told| told == trouble) {
        return None;
    }
    // Another process with the lock repeats the commit.
    let running = open_lock_file(root, "running").ok()?;
    running.try_lock().ok()?;
    let done = GitVersions::commit_home(root, COMMIT_MESSAGE);
    if done.is_ok() {
        let _ = write_state(&state_path(root, MARK_FILE), end);
    }
    take_warning(root, done)
}

/// Records the result of a commit; returns a warning for the user about an error, unless the user received it before.
pub(crate) fn take_warning(root: &Path, done: Result<(), GitVersionsError>) -> Option<String> {
    let told = state_path(root, REPORTED_FILE);
    let trouble = record_result(root, done)?;
    if fs::read_to_string(&told).is_ok_and(|told| told == trouble) {
        return None;
    }
    let _ = told
        .parent()
        .map(|folder| private_folder_builder().recursive(true).create(folder));
    let _ = write_state(&told, &trouble);
    Some(trouble)
}

/// Records an error or a success; returns the error.
fn record_result(root: &Path, done: Result<(), GitVersionsError>) -> Option<String> {
    let trouble = done.err().map(|error| error.to_string());
    match &trouble {
        None => [ERROR_FILE, REPORTED_FILE]
            .iter()
            .for_each(|name| drop(fs::remove_file(state_path(root, name)))),
        Some(trouble) => drop(write_state(&state_path(root, ERROR_FILE), trouble)),
    }
    trouble
}

/// Starts a detached process that commits the home, unless it is committed up to `end` of the journal.
pub(crate) fn commit_in_background(root: &Path, end: &str, program: Option<&Path>) {
    let Some(program) = program.filter(|_| {
        fs::read_to_string(state_path(root, MARK_FILE))
            .ok()
            .as_deref()
            != Some(end)
    }) else {
        return;
    };
    let mut command = Command::new(program);
    command
        .arg(CHILD_ARGUMENT)
        .arg(root)
        .arg(end)
        .args(is_trusted(root).then_some(TRUST_ARGUMENT))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // An interrupt of this process must not interrupt the commit.
    let Ok(mut child) = own_group(&mut command).spawn() else {
        return;
    };
    // A daemon runs for long, so the exit status must be collected to avoid zombie processes.
    let _ = thread::Builder::new()
        .name("versions".into())
        .spawn(move || child.wait());
}

/// Returns the home to commit and the end of its journal, if the arguments request a commit.
///
/// The child trusts the home if its parent does, which has read the settings.
pub(crate) fn is_child(arguments: &[OsString]) -> Option<(PathBuf, String)> {
    let (root, end) = match arguments {
        [_, what, root, end] if what == CHILD_ARGUMENT => (root, end),
        [_, what, root, end, trust] if what == CHILD_ARGUMENT && trust == TRUST_ARGUMENT => {
            trust_folders([PathBuf::from(root)]);
            (root, end)
        }
        _ => return None,
    };
    Some((PathBuf::from(root), end.to_string_lossy().into_owned()))
}

/// Commits a home after waiting for other processes that do the same.
pub(crate) fn commit_now(root: &Path, message: &str) -> Result<(), GitVersionsError> {
    let place = lock_place(root, "running");
    let locked =
        open_lock_file(root, "running").map(|file| lock_file_within(file, &place, COMMIT_PATIENCE));
    // If the lock is unavailable, git uses its own.
    let _running = match locked {
        Ok(Err(StoreError::Locked { holder, .. })) => {
            return Err(GitVersionsError::Locked {
                place: root.display().to_string(),
                holder,
                file: None,
            });
        }
        locked => locked,
    };
    GitVersions::commit_home(root, message)
}

/// Commits a home, unless another process is already waiting to do so.
pub(crate) fn commit_when_idle(root: &Path, end: &str) {
    let Ok(waiting) = open_lock_file(root, "waiting") else {
        return;
    };
    if waiting.try_lock().is_err() {
        return;
    }
    let (_nobody, more) = channel::<()>();
    let _ = more.recv_timeout(COMMIT_DELAY);
    // A later change must find no waiting process, so that it starts a new one.
    drop(waiting);
    if record_result(root, commit_now(root, COMMIT_MESSAGE)).is_none() {
        let _ = write_state(&state_path(root, MARK_FILE), end);
    }
}

/// Returns the last commits, newest first; a limit of 0 means all. Without a repository it is empty.
pub(crate) fn list_versions(
    root: &Path,
    limit: usize,
) -> Result<Vec<GitVersion>, GitVersionsError> {
    let limit = if limit == 0 { u32::MAX as usize } else { limit };
    if root.join(".git").exists() {
        GitVersions::list(root, limit)
    } else {
        Ok(Vec::new())
    }
}

/// Returns an error if the home has no git history.
pub(crate) fn check_has_history(root: &Path) -> Result<(), Failure> {
    if root.join(".git").exists() {
        Ok(())
    } else {
        let hint = "enable it for future changes: `memory config set git.enabled true`";
        Err(Failure::usage("this home is not versioned with git", hint))
    }
}

/// Returns the error for a failed git command.
pub(crate) fn git_error(error: &GitVersionsError) -> Failure {
    let hint = match error {
        // git there would execute what the repository names.
        GitVersionsError::Untrusted { .. } => {
            "MEMORY_TRUSTED_FOLDERS=FOLDER trusts it for one command"
        }
        GitVersionsError::NoGit
        | GitVersionsError::Locked { .. }
        | GitVersionsError::Unfinished { .. }
        | GitVersionsError::Refused { .. } => "run git in the home for details",
    };
    Failure::usage(error.to_string(), hint)
}

fn open_lock_file(root: &Path, what: &str) -> io::Result<File> {
    owner_only(File::options().create(true).truncate(false).write(true))
        .open(lock_place(root, what))
}

fn lock_place(root: &Path, what: &str) -> PathBuf {
    root.join(format!("index/versions.{what}"))
}
