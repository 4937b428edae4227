//! Identifies a repository by its remote or its first commit.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::access::{RepositoryFolders, follow_folders, read_link_file};
use super::isolation::IsolatedSettings;
use super::repository::{git_error, run_for_output, single_line};
use crate::conversation::GitVersionsError;
use crate::trust::check_owner;

/// Returns the address of the remote of the repository at `root`, as its settings state it: of `origin`, else of the only remote.
///
/// # Errors
/// If git is missing, or the settings cannot be read or can be changed by other users.
pub(crate) fn remote_address(
    root: &Path,
    patience: Duration,
) -> Result<Option<String>, GitVersionsError> {
    let Some((settings, _)) = read_settings(root, patience)? else {
        return Ok(None);
    };
    let is_remote = |key: &&str| {
        let name = key.strip_prefix("remote.");
        name.and_then(|name| name.strip_suffix(".url")).is_some()
    };
    let mut remotes = settings.keys().filter(is_remote);
    let key = match settings.of_repository("remote.origin.url") {
        Some(_) => Some("remote.origin.url"),
        None => remotes.next().filter(|_| remotes.next().is_none()),
    };
    Ok(key
        .and_then(|key| settings.of_repository(key))
        .map(str::to_owned))
}

/// Returns the hash of the first commit that `HEAD` of the repository at `root` stems from; of several, the oldest. `None` if there is no
/// commit.
///
/// # Errors
/// If git is missing, or the commits cannot be read within `patience`.
pub(crate) fn first_commit(
    root: &Path,
    patience: Duration,
) -> Result<Option<String>, GitVersionsError> {
    let Some((settings, folders)) = read_settings(root, patience)? else {
        return Ok(None);
    };
    if !has_commits(&folders).map_err(|error| git_error("read HEAD", &error))? {
        return Ok(None);
    }
    settings.write(root, &folders)?;
    let mut command = settings.command(root, &folders);
    command.env("GIT_NO_REPLACE_OBJECTS", "1").args([
        "rev-list",
        "--max-parents=0",
        "--date-order",
        "HEAD",
        "--",
    ]);
    let said = run_for_output(&mut command, root, "find the first commit", b"", patience)?;
    Ok(single_line(&said).lines().next_back().map(str::to_owned))
}

/// Returns whether the branch of `HEAD` may have a commit: not if its reference is missing.
fn has_commits(folders: &RepositoryFolders) -> io::Result<bool> {
    let head = match read_link_file(&folders.own.join("HEAD")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        head => head?,
    };
    let Some(branch) = head.strip_prefix("ref:").map(str::trim) else {
        return Ok(true);
    };
    // Packed references and tables of references are left to git.
    Ok([branch, "packed-refs", "reftable"]
        .iter()
        .any(|path| folders.common.join(path).symlink_metadata().is_ok()))
}

/// Returns the settings of the repository; `None` if it has none.
fn read_settings(
    root: &Path,
    patience: Duration,
) -> Result<Option<(IsolatedSettings, RepositoryFolders)>, GitVersionsError> {
    let unreadable = |error| git_error("read the repository", &error);
    let folders = follow_folders(root).map_err(unreadable)?;
    let config = folders.common.join("config");
    if !config.exists() {
        return Ok(None);
    }
    check_owner(&config).map_err(|foreign| unreadable(foreign.into()))?;
    let settings = IsolatedSettings::read(root, &folders, patience)?;
    Ok(Some((settings, folders)))
}
