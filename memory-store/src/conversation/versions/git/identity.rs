//! The remote of a repository, and its folder.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::access::follow_folders;
use super::isolation::IsolatedSettings;
use super::repository::git_error;
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
    let Some(settings) = read_settings(root, patience)? else {
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

/// Returns the folder of the repository at `root`, which its work trees share and which no clone and no archive of its files contains.
///
/// # Errors
/// If it cannot be read, or other users can change it.
pub(crate) fn repository_folder(root: &Path) -> io::Result<PathBuf> {
    let folder = follow_folders(root)?.common;
    check_owner(&folder)?;
    Ok(folder)
}

/// Returns the settings of the repository; `None` if it has none.
fn read_settings(
    root: &Path,
    patience: Duration,
) -> Result<Option<IsolatedSettings>, GitVersionsError> {
    let unreadable = |error| git_error("read the repository", &error);
    let folders = follow_folders(root).map_err(unreadable)?;
    let config = folders.common.join("config");
    if !config.exists() {
        return Ok(None);
    }
    check_owner(&config).map_err(|foreign| unreadable(foreign.into()))?;
    IsolatedSettings::read(root, &folders, patience).map(Some)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_that_are_endless_or_expand_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        let read = || remote_address(folder.path(), Duration::from_mins(1)).map_err(drop);
        symlink("/dev/zero", &git).unwrap();
        assert_eq!(read(), Err(()));
        fs::remove_file(&git).unwrap();
        fs::create_dir(&git).unwrap();
        fs::write(git.join("config"), "[remote \"origin\"]\nurl = a:b\n").unwrap();
        assert_eq!(read(), Ok(Some("a:b".to_owned())));
        symlink("/dev/zero", git.join("commondir")).unwrap();
        assert_eq!(read(), Err(()));
        fs::remove_file(git.join("commondir")).unwrap();
        // git lists the name of the section with each setting.
        let section = format!("[a \"{}\"]\n{}", "x".repeat(10_000), "k\n".repeat(10_000));
        fs::write(git.join("config"), section).unwrap();
        assert_eq!(read(), Err(()));
    }

    #[test]
    fn a_file_of_the_system_without_a_size_is_read_to_the_limit() {
        let path = Path::new("/proc/self/status");
        if path.exists() {
            let error = crate::system::read_small_file(path, 10).unwrap_err();
            assert!(error.to_string().ends_with("is too large"), "{error}");
        }
    }
}
