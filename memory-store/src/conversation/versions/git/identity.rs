//! The remote of a repository, and its folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::access::{RepositoryFolders, follow_folders, read_link_file};
use super::isolation::IsolatedSettings;
use super::repository::{PATIENCE, git_error};
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
    let folder = own_folders(root, PATIENCE)?.common;
    check_owner(&folder)?;
    Ok(folder)
}

/// Returns the folders of the repository at `root`, which is in `.git` or names this folder as its work tree.
///
/// Otherwise a file or a symlink could make any folder a part of another repository.
fn own_folders(root: &Path, patience: Duration) -> io::Result<RepositoryFolders> {
    let dot = root.join(".git");
    let kind = dot.symlink_metadata()?.file_type();
    let folders = follow_folders(root)?;
    let is_own = if kind.is_dir() {
        folders.common == dot
    } else {
        kind.is_file() && names_work_tree(&folders, root, &dot, patience)
    };
    let files = [
        folders.common.join("config"),
        folders.own.join("gitdir"),
        folders.own.join("commondir"),
    ];
    // The file of another repository could take its place.
    let is_irregular = |file: &PathBuf| file.symlink_metadata().is_ok_and(|found| !found.is_file());
    if is_own && !files.iter().any(is_irregular) {
        Ok(folders)
    } else {
        let reason = format!("{} leads to a repository of another folder", dot.display());
        Err(io::Error::other(reason))
    }
}

/// Returns whether a repository has `root` as a further work tree, or is that of a submodule at `root`.
fn names_work_tree(
    folders: &RepositoryFolders,
    root: &Path,
    dot: &Path,
    patience: Duration,
) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let is_same = |one: &Path, other: &Path| real(one).is_some_and(|one| Some(one) == real(other));
    if folders.own == folders.common {
        // A submodule at `a/b` has its repository in `.git/modules/a/b` or `.git/modules/NAME` of a folder above.
        let mut above = root.ancestors().skip(1);
        let modules = above.find_map(|folder| real(&folder.join(".git/modules")));
        let is_below =
            |modules: PathBuf| real(&folders.own).is_some_and(|own| own.starts_with(modules));
        let settings = IsolatedSettings::read(root, folders, patience);
        return modules.is_some_and(is_below)
            && settings.is_ok_and(|settings| {
                settings
                    .of_repository("core.worktree")
                    .is_some_and(|tree| is_same(&folders.own.join(tree), root))
            });
    }
    let trees = folders.common.join("worktrees");
    let Ok(named) = read_link_file(&folders.own.join("gitdir")) else {
        return false;
    };
    folders
        .own
        .parent()
        .is_some_and(|parent| is_same(parent, &trees))
        && is_same(&folders.own.join(named.trim()), dot)
}

/// Returns the settings of the repository; `None` if it has none.
fn read_settings(
    root: &Path,
    patience: Duration,
) -> Result<Option<IsolatedSettings>, GitVersionsError> {
    let unreadable = |error| git_error("read the repository", &error);
    let folders = own_folders(root, patience).map_err(unreadable)?;
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
