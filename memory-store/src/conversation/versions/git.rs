//! Asking git.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{fs, io};

use super::{Version, VersionsError};
use crate::notifier::run::run;

/// How long git may take for one step.
const PATIENCE: Duration = Duration::from_mins(1);

/// What is no part of what is remembered.
const IGNORED: &str = "chroma/\nmemory_index.json\n__pycache__/\n*.tmp\n.DS_Store\n/.conversations/\n/index/\n.lock\n*.sock\n";

/// What is kept.
const KEPT: [&str; 3] = ["entries", ".gitignore", "README.md"];

/// What of a home is not kept, whatever the list of a person says: it is derived, locked, a former state, or may hold a key.
const NOT_KEPT: &str = "# of memory\n/index/\n/trash/\n.trash/\n/.conversations/\n/config.yaml\n/daemon.log*\n*.sock\n*.lock\n*.tmp\n\
    /usage/\n/memory.md\n/pending.md\n";

pub(super) fn commit(root: &Path, message: &str) -> Result<(), VersionsError> {
    if !root.join(KEPT[0]).exists() && !root.join(".git").exists() {
        return Ok(());
    }
    begin(root)?;
    let there: Vec<&str> = KEPT.into_iter().filter(|name| root.join(name).exists()).collect();
    commit_of(root, &there, message)
}

pub(super) fn commit_home(root: &Path, message: &str) -> Result<(), VersionsError> {
    begin(root)?;
    commit_of(root, &["."], message)
}

pub(super) fn changes(root: &Path, path: &str, limit: usize) -> Result<String, VersionsError> {
    let limit = format!("--max-count={limit}");
    let what =
        ["--patch", "--no-color", "--no-ext-diff", "--follow", "--date=iso-strict", "--format=%h %ad %s", &limit, "--", path];
    told_by(root, &what)
}

pub(super) fn list(root: &Path, limit: usize) -> Result<Vec<Version>, VersionsError> {
    let text = told_by(root, &["--no-color", "--date=iso-strict", "--format=%h %ad %s", &format!("--max-count={limit}")])?;
    let version = |line: &str| {
        let mut parts = line.splitn(3, ' ').map(str::to_owned);
        Some(Version { id: parts.next()?, at: parts.next()?, message: parts.next().unwrap_or_default() })
    };
    Ok(text.lines().filter_map(version).collect())
}

/// Returns what `git log` says.
fn told_by(root: &Path, what: &[&str]) -> Result<String, VersionsError> {
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(root.join(".git")).arg("--work-tree").arg(root).arg("log").args(what);
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    let output = command.current_dir(root).env("LC_ALL", "C").output().map_err(|_| VersionsError::NoGit)?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if why.contains("does not have any commits yet") {
            return Ok(String::new());
        }
        return Err(VersionsError::Refused { action: "tell what changed".into(), why });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Commits what has changed in some places, if something has.
fn commit_of(root: &Path, places: &[&str], message: &str) -> Result<(), VersionsError> {
    git(root, "add what changed", &[&["add", "--all", "--"], places].concat())?;
    // It fails where something differs, and that is what is asked.
    if git(root, "compare", &[&["diff", "--cached", "--quiet", "--"], places].concat()).is_ok() {
        return Ok(());
    }
    let has_name = git(root, "tell who commits", &["config", "user.email"]).is_ok();
    let name: &[&str] = if has_name { &[] } else { &["-c", "user.name=memory", "-c", "user.email=memory@localhost"] };
    let quietly = ["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-m", message, "--"];
    // What a person is about to commit stays theirs.
    git(root, "commit", &[name, &quietly, places].concat())
}

/// Writes down, where no person keeps a list, what is not kept.
fn leave_out(root: &Path) -> io::Result<()> {
    let list = root.join(".git/info/exclude");
    let former = fs::read_to_string(&list).unwrap_or_default();
    if former.contains(NOT_KEPT) {
        return Ok(());
    }
    fs::create_dir_all(root.join(".git/info"))?;
    fs::write(list, format!("{former}{NOT_KEPT}"))
}

fn refused(action: &str, error: &io::Error) -> VersionsError {
    VersionsError::Refused { action: action.into(), why: error.to_string() }
}

/// Makes the repository and the list of what it ignores, where they are missing.
fn begin(root: &Path) -> Result<(), VersionsError> {
    if !root.join(".git").exists() {
        // Where it is told the place of the repository, it writes that down, and the folder could not be moved.
        let mut command = Command::new("git");
        command.arg("init").arg("--quiet").arg(".");
        asked(root, "make a repository", &mut command)?;
    }
    let ignored = root.join(".gitignore");
    let listed = if ignored.exists() { Ok(()) } else { fs::write(&ignored, IGNORED) };
    // A list of somebody else knows nothing of ours.
    listed.and_then(|()| leave_out(root)).map_err(|error| refused("be told what to leave out", &error))
}

/// Runs git in the repository of this folder, and in no other.
fn git(root: &Path, action: &str, arguments: &[&str]) -> Result<(), VersionsError> {
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(root.join(".git")).arg("--work-tree").arg(root).args(arguments);
    asked(root, action, &mut command)
}

/// What tells git of another repository, because whoever runs us may be a hook of that.
const ELSEWHERE: [&str; 7] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"];

fn asked(root: &Path, action: &str, command: &mut Command) -> Result<(), VersionsError> {
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    command.current_dir(root).env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    run(command, PATIENCE).map_err(|why| told(root, action, why))
}

fn told(root: &Path, action: &str, why: String) -> VersionsError {
    if why.contains("could not be started") {
        return VersionsError::NoGit;
    }
    if why.contains("index.lock") || why.contains("HEAD.lock") {
        return VersionsError::Locked { place: root.display().to_string() };
    }
    VersionsError::Refused { action: action.to_owned(), why }
}
