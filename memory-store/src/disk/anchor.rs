//! Folders that somebody may move while they are in use.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Holds on to a folder, or to the nearest one above it while it is not there.
///
/// A path says where a folder was. Whoever writes to the path of a folder that was moved meanwhile, or whose disk is no longer mounted,
/// begins another one there, which nobody will look for.
#[derive(Debug)]
pub struct Anchor {
    path: PathBuf,
    opened: File,
}

/// What became of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is where it was.
    Stayed,
    /// It is no more.
    Removed,
    /// It is elsewhere, and another one on the same disk took its place.
    Replaced,
    /// It is elsewhere, or out of sight, as when its disk is no longer mounted.
    Moved,
}

impl Anchor {
    /// Holds on to the folder at `root`, or to the nearest one above it that is there. Nothing is returned if it may not be opened.
    pub fn of(root: &Path) -> Option<Self> {
        let path = root.ancestors().map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path });
        let path = path.into_iter().find(|path| path.is_dir())?;
        Some(Self { path: path.to_owned(), opened: File::open(path).ok()? })
    }

    /// Fails if the folder was moved away, or if another one took its place, though it be a copy.
    ///
    /// # Errors
    /// When it was, or cannot be seen any more where it was.
    pub fn check(&self) -> io::Result<()> {
        match self.fate() {
            Fate::Stayed => Ok(()),
            Fate::Removed if !self.path.exists() => Ok(()),
            Fate::Removed | Fate::Replaced => Err(self.moved("another folder took its place")),
            Fate::Moved => Err(self.moved("nothing is begun anew where it was")),
        }
    }

    pub(super) fn moved(&self, and: &str) -> io::Error {
        io::Error::new(io::ErrorKind::NotFound, format!("{} was moved away, and {and}", self.path.display()))
    }

    pub(super) fn fate(&self) -> Fate {
        let Ok(held) = self.opened.metadata() else { return Fate::Removed };
        match fs::metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) == (held.dev(), held.ino()) => Fate::Stayed,
            // A folder that was removed has no name any more.
            _ if held.nlink() == 0 => Fate::Removed,
            Ok(found) if found.is_dir() && found.dev() == held.dev() => Fate::Replaced,
            _ => Fate::Moved,
        }
    }

    pub(super) fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_moved_is_told_from_one_that_was_removed() {
        let home = tempfile::tempdir().unwrap();
        let (own, inner) = (home.path().join("own"), home.path().join("own/inner"));
        fs::create_dir(&own).unwrap();
        let (anchor, late) = (Anchor::of(&own).unwrap(), Anchor::of(&inner).unwrap());
        assert_eq!((anchor.fate(), late.fate()), (Fate::Stayed, Fate::Stayed));
        fs::rename(&own, home.path().join("moved")).unwrap();
        assert!(anchor.check().is_err() && late.check().is_err(), "what was not there yet goes along as well");
        fs::create_dir(&own).unwrap();
        assert_eq!(anchor.fate(), Fate::Replaced, "what took its place is another one");
        assert!(anchor.check().is_err());
        fs::remove_dir(home.path().join("moved")).unwrap();
        assert_eq!(anchor.fate(), Fate::Removed);
        assert!(anchor.check().is_err(), "nor is a copy what it was");
        fs::remove_dir(&own).unwrap();
        assert!(anchor.check().is_ok());
    }
}
