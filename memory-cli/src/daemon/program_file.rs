//! Detects that the file of the program was replaced, as by an update.

use memory_store::system::file_stat;
use std::cell::Cell;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file of the running program.
#[derive(Debug)]
pub(crate) struct ProgramFile {
    path: PathBuf,
    at_start: ProgramFileVersion,
    /// The file at the last check, if it was another one.
    other: Cell<Option<ProgramFileVersion>>,
}

/// Distinguishes the versions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProgramFileVersion {
    size: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

impl ProgramFile {
    /// Returns the file of the running program, or `None` if it cannot be read.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Some(Self {
            path: path.to_owned(),
            at_start: version(path)?,
            other: Cell::default(),
        })
    }

    /// Returns whether the file was replaced. A file that is still being written is not reported.
    pub(crate) fn is_replaced(&self) -> bool {
        let found = version(&self.path).filter(|found| *found != self.at_start);
        self.other.replace(found) == found && found.is_some()
    }
}

fn version(path: &Path) -> Option<ProgramFileVersion> {
    let found = fs::metadata(path).ok().filter(Metadata::is_file)?;
    Some(ProgramFileVersion {
        size: found.len(),
        modified: found.modified().ok(),
        inode: file_stat(&found).inode,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_is_reported_once_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory");
        fs::write(&path, "1").unwrap();
        let program = ProgramFile::of(&path).unwrap();
        assert!(!program.is_replaced());
        fs::remove_file(&path).unwrap();
        assert!(
            !program.is_replaced(),
            "an update may delete the file first"
        );
        fs::write(&path, "12").unwrap();
        assert!(!program.is_replaced());
        fs::write(&path, "123").unwrap();
        assert!(!program.is_replaced(), "the file was still being written");
        assert!(program.is_replaced());
    }
}
