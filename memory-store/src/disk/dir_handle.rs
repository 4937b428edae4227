//! Detects that a folder was moved while it is in use.
//!
//! A long-running process holds a handle to its folder: the daemon, open instances and conversations. If the
//! folder was moved or unmounted, no new one is created at its path. Writes are refused, reads are not silently
//! empty, and the daemon exits with a message.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::system::{identity_of_file, identity_of_path, is_deleted, open_folder};

/// An open handle to a folder, or to its nearest existing ancestor.
///
/// A path alone does not identify a folder. If the folder was moved, or its disk was unmounted, a write to the path would create
/// a new folder that no process reads.
#[derive(Debug)]
pub struct DirHandle {
    path: PathBuf,
    opened: File,
}

/// The state of the folder that an [`DirHandle`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DirState {
    /// The folder is at its path.
    Stayed,
    /// The folder was deleted.
    Removed,
    /// The folder is at another path, and another one on the same disk has its path.
    Replaced,
    /// The folder is at another path or inaccessible, for example because its disk was unmounted.
    Moved,
}

impl DirHandle {
    /// Opens the folder at `root`, or its nearest existing ancestor; `None` if it cannot be opened.
    pub fn of(root: &Path) -> Option<Self> {
        let path = root.ancestors().map(|path| {
            if path.as_os_str().is_empty() {
                Path::new(".")
            } else {
                path
            }
        });
        let path = path.into_iter().find(|path| path.is_dir())?;
        Some(Self {
            path: path.to_owned(),
            opened: open_folder(path).ok()?,
        })
    }

    /// Returns an error if the folder was moved, or if another one, even a copy, has its path.
    ///
    /// A folder that was deleted and not replaced is not an error.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the folder is not at its path.
    pub fn check(&self) -> io::Result<()> {
        match self.state() {
            DirState::Stayed => Ok(()),
            DirState::Removed if !self.path.exists() => Ok(()),
            DirState::Removed | DirState::Replaced => {
                Err(self.moved_error("another folder is at its path"))
            }
            DirState::Moved => Err(self.moved_error("it is not created again at its former path")),
        }
    }

    pub(super) fn moved_error(&self, and: &str) -> io::Error {
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{} was moved, and {and}", self.path.display()),
        )
    }

    pub(super) fn state(&self) -> DirState {
        let Ok(held) = identity_of_file(&self.opened) else {
            return DirState::Removed;
        };
        match identity_of_path(&self.path) {
            Ok(found) if found == held => DirState::Stayed,
            _ if is_deleted(&self.opened) => DirState::Removed,
            Ok(found) if found.is_on_same_volume(held) && self.path.is_dir() => DirState::Replaced,
            _ => DirState::Moved,
        }
    }

    pub(super) fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_that_was_moved_is_told_from_one_that_was_removed() {
        let home = tempfile::tempdir().unwrap();
        let (own, inner) = (home.path().join("own"), home.path().join("own/inner"));
        fs::create_dir(&own).unwrap();
        let (anchor, late) = (DirHandle::of(&own).unwrap(), DirHandle::of(&inner).unwrap());
        assert_eq!(
            (anchor.state(), late.state()),
            (DirState::Stayed, DirState::Stayed)
        );
        fs::rename(&own, home.path().join("moved")).unwrap();
        assert!(
            anchor.check().is_err() && late.check().is_err(),
            "what was not there yet goes along as well"
        );
        fs::create_dir(&own).unwrap();
        assert_eq!(
            anchor.state(),
            DirState::Replaced,
            "what took its place is another one"
        );
        assert!(anchor.check().is_err());
        fs::remove_dir(home.path().join("moved")).unwrap();
        // The standard library does not report whether an open folder was deleted.
        if cfg!(not(portable_system)) {
            assert_eq!(anchor.state(), DirState::Removed);
        }
        assert!(anchor.check().is_err(), "nor is a copy what it was");
        fs::remove_dir(&own).unwrap();
        assert_eq!(anchor.check().is_ok(), cfg!(not(portable_system)));
    }
}
