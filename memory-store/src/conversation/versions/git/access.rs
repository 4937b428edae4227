//! Decides whether the repository of a folder may be used, and finds its files.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::repository::git_error;
use crate::conversation::GitVersionsError;
use crate::system::read_small_file;
use crate::trust::{check_metadata, is_trusted};

/// Maximum size of a file that names another folder, in bytes.
const MAX_LINK_SIZE: u64 = 8 * 1024;

/// Entries of a repository that this program neither reads nor writes. The last one is a socket.
const UNUSED_ENTRIES: [&str; 5] = [
    "hooks",
    "lfs",
    "modules",
    "worktrees",
    "fsmonitor--daemon.ipc",
];

/// Files with the paths of other folders of objects.
const ALTERNATES: [&str; 2] = ["alternates", "http-alternates"];

/// The folders of a repository.
#[derive(Debug)]
pub(super) struct RepositoryFolders {
    /// The folder of the files of this work tree, such as the index.
    pub(super) own: PathBuf,
    /// The folder of the files that all work trees share, such as the settings and the objects.
    pub(super) common: PathBuf,
}

/// Returns whether the folder at `root` has a repository, whatever its state.
pub(super) fn has_repository(root: &Path) -> bool {
    root.join(".git").symlink_metadata().is_ok()
}

/// Fails if another user could put a repository into the folder at `root`.
pub(super) fn check_folder(root: &Path) -> Result<(), GitVersionsError> {
    let found = fs::metadata(root).map_err(|error| git_error("read the folder", &error))?;
    check_owner(root, root, &found)
}

/// Returns the folders of the repository in the folder at `root`.
///
/// Without trust in the folder, all files of the repository must be in its folder `.git` and belong to this user or to root, and no
/// other user may be able to change them.
pub(super) fn find_folders(root: &Path) -> Result<RepositoryFolders, GitVersionsError> {
    check_folder(root)?;
    let unreadable = |error: io::Error| git_error("read the repository", &error);
    let dot = root.join(".git");
    if is_trusted(root) {
        return follow_folders(root).map_err(unreadable);
    }
    let found = dot.symlink_metadata().map_err(unreadable)?;
    if !found.is_dir() || dot.join("commondir").exists() {
        return Err(untrusted(root, ".git leads to another folder"));
    }
    check_owner(root, &dot, &found)?;
    check_entries(root, &dot)?;
    if ALTERNATES
        .iter()
        .any(|name| dot.join("objects/info").join(name).exists())
    {
        return Err(untrusted(root, "it uses objects of another repository"));
    }
    Ok(RepositoryFolders {
        own: dot.clone(),
        common: dot,
    })
}

/// Returns the folders of the repository in the folder at `root`, wherever `.git` leads.
pub(super) fn follow_folders(root: &Path) -> io::Result<RepositoryFolders> {
    let dot = root.join(".git");
    let own = if fs::metadata(&dot)?.is_dir() {
        dot
    } else {
        let text = read_link_file(&dot)?;
        root.join(text.strip_prefix("gitdir:").unwrap_or(&text).trim())
    };
    let common = match read_link_file(&own.join("commondir")) {
        Ok(text) => own.join(text.trim()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => own.clone(),
        Err(error) => return Err(error),
    };
    Ok(RepositoryFolders { own, common })
}

/// Returns the error for the repository of a folder that is not used.
pub(super) fn untrusted(root: &Path, reason: &str) -> GitVersionsError {
    GitVersionsError::Untrusted {
        place: root.display().to_string(),
        reason: reason.to_owned(),
    }
}

/// Fails if an entry of the repository leads out of it, or if another user can change it.
///
/// git follows symlinks when it writes.
fn check_entries(root: &Path, folder: &Path) -> Result<(), GitVersionsError> {
    let unreadable = |error: io::Error| git_error("read the repository", &error);
    // git may remove a file or folder at any time.
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(unreadable)?,
    };
    for entry in entries {
        let entry = entry.map_err(unreadable)?;
        let (name, path) = (entry.file_name(), entry.path());
        if UNUSED_ENTRIES.iter().any(|unused| name == *unused) {
            continue;
        }
        let found = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.map_err(unreadable)?,
        };
        check_owner(root, &path, &found)?;
        if found.is_dir() {
            // The objects themselves are read only, and git verifies them.
            let is_object_folder = name.len() == 2 && folder.ends_with("objects");
            if !is_object_folder {
                check_entries(root, &path)?;
            }
        } else if !found.is_file() {
            let place = path.strip_prefix(root).unwrap_or(&path).display();
            return Err(untrusted(root, &format!("{place} is not a regular file")));
        }
    }
    Ok(())
}

/// Reads a small file that names something else.
pub(super) fn read_link_file(path: &Path) -> io::Result<String> {
    let bytes = read_small_file(path, MAX_LINK_SIZE)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Fails if another user owns or can change a file or folder.
fn check_owner(root: &Path, path: &Path, found: &Metadata) -> Result<(), GitVersionsError> {
    check_metadata(path, found).map_err(|foreign| untrusted(root, &foreign.to_string()))
}
