//! Identifies a repository by its remote or its first commit.

use std::path::Path;

use super::access::{RepositoryFolders, follow_folders};
use super::isolation::IsolatedSettings;
use super::repository::{git_error, run_for_output, single_line};
use crate::conversation::GitVersionsError;

/// Returns the address of the remote of the repository at `root`, as its settings state it: of `origin`, else of the only remote.
///
/// # Errors
/// If git is missing, or the settings cannot be read.
pub(crate) fn remote_address(root: &Path) -> Result<Option<String>, GitVersionsError> {
    let (settings, _) = read_settings(root)?;
    let mut remotes = settings
        .keys()
        .filter(|key| key.starts_with("remote.") && key.ends_with(".url"));
    let key = match settings.of_repository("remote.origin.url") {
        Some(_) => Some("remote.origin.url"),
        None => remotes.next().filter(|_| remotes.next().is_none()),
    };
    Ok(key
        .and_then(|key| settings.of_repository(key))
        .map(str::to_owned))
}

/// Returns the hash of the first commit that `HEAD` of the repository at `root` stems from; of several, the oldest.
///
/// # Errors
/// If git is missing, or there is no commit.
pub(crate) fn first_commit(root: &Path) -> Result<String, GitVersionsError> {
    let (settings, folders) = read_settings(root)?;
    settings.write(root, &folders)?;
    let mut command = settings.command(root, &folders);
    command.env("GIT_NO_REPLACE_OBJECTS", "1").args([
        "rev-list",
        "--max-parents=0",
        "--date-order",
        "HEAD",
    ]);
    let said = run_for_output(&mut command, root, "find the first commit", b"")?;
    let lines = single_line(&said);
    Ok(lines.lines().next_back().unwrap_or_default().to_owned())
}

fn read_settings(root: &Path) -> Result<(IsolatedSettings, RepositoryFolders), GitVersionsError> {
    let folders = follow_folders(root).map_err(|error| git_error("read the repository", &error))?;
    Ok((IsolatedSettings::read(root, &folders)?, folders))
}
