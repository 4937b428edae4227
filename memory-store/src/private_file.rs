//! Files about the devices that use the page of a home: who is paired, and the keys of certificates.
//!
//! They are in `devices/`, only for their owner, and neither synced nor part of the git history.

use std::path::Path;

use memory_core::{Code, StoreError};

use crate::disk::{LazyDisk, replace_file};
use crate::error::{io_error, read_error, write_error};
use crate::lock::{PATIENCE, WriterLock};
use crate::system::is_accessible_to_others;

/// The folder, below the home.
const FOLDER: &str = "devices";

/// A file that no other user can read.
#[derive(Debug)]
pub struct PrivateFile {
    folder: LazyDisk,
    name: String,
}

impl PrivateFile {
    /// Returns the file `name`, which is one component of a path, in the home at `root`.
    pub fn new(root: &Path, name: &str) -> Self {
        Self {
            folder: LazyDisk::in_project(root.join(FOLDER), 1),
            name: name.to_owned(),
        }
    }

    /// Returns the text, or `None` if the file does not exist.
    ///
    /// # Errors
    /// If it cannot be read, is not text, or other users can read it.
    pub fn read(&self) -> Result<Option<String>, StoreError> {
        let path = format!("{FOLDER}/{}", self.name);
        let Some(disk) = self.folder.get().map_err(read_error(FOLDER))? else {
            return Ok(None);
        };
        let Some((bytes, _)) = disk.read(&self.name).map_err(read_error(&path))? else {
            return Ok(None);
        };
        let place = self.folder.root().join(&self.name);
        let is_open = place
            .metadata()
            .is_ok_and(|found| is_accessible_to_others(&found));
        let refuse = |why: &str| StoreError::Backend {
            action: format!("read {path}"),
            code: Code::InvalidInput,
            source: why.into(),
        };
        if is_open {
            return Err(refuse("other users can read it; restrict its permissions"));
        }
        String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| refuse("it is not text"))
    }

    /// Replaces the text by what `change` makes of it. No other process changes the file meanwhile.
    ///
    /// # Errors
    /// Those of [`Self::read`] and of `change`, or if the file cannot be written.
    pub fn change<E: From<StoreError>>(
        &self,
        change: impl FnOnce(Option<String>) -> Result<String, E>,
    ) -> Result<(), E> {
        let path = format!("{FOLDER}/{}", self.name);
        let folder = self
            .folder
            .get_or_create()
            .map_err(|error| io_error(format!("create {FOLDER}"), error))?;
        let _lock = WriterLock::acquire_for_file(folder, self.folder.root(), &self.name, PATIENCE)?;
        let text = change(self.read()?)?;
        // Only the holder of the lock of this file writes its temporary file.
        let temporary = format!(".{}.tmp", self.name);
        replace_file(folder, &temporary, &self.name, text.as_bytes())
            .map_err(write_error(&path))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set(file: &PrivateFile, text: &str) -> Result<(), StoreError> {
        file.change(|_| Ok(text.to_owned()))
    }

    #[test]
    fn a_private_file_is_for_nobody_else_and_is_reached_through_no_symlink() {
        let home = tempfile::tempdir().unwrap();
        let file = PrivateFile::new(home.path(), "a.json");
        assert_eq!(file.read().unwrap(), None);
        set(&file, "one").unwrap();
        file.change::<StoreError>(|text| Ok(text.unwrap() + " two"))
            .unwrap();
        assert_eq!(file.read().unwrap().as_deref(), Some("one two"));
        let place = home.path().join("devices/a.json");
        let mode = |place: &Path| fs::metadata(place).unwrap().permissions().mode() & 0o777;
        assert!(cfg!(portable_system) || mode(&place) == 0o600);
        assert!(cfg!(portable_system) || mode(place.parent().unwrap()) == 0o700);
        fs::set_permissions(&place, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(cfg!(portable_system) || file.read().is_err());
        if cfg!(not(portable_system)) {
            let (other, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            symlink(outside.path(), other.path().join("devices")).unwrap();
            assert!(set(&PrivateFile::new(other.path(), "a.json"), "one").is_err());
            assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
        }
    }
}
