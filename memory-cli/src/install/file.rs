//! Safe replacement of files that belong to other programs.
//!
//! A file is replaced atomically, only if it is unchanged since it was read, and after a backup.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::clients::InstallLevel;
use memory_store::system::owner_only;

/// Maximum number of symlinks to follow.
const MAX_SYMLINKS: usize = 40;

/// Suffix of a backup; a number follows from the second one on.
const BACKUP_SUFFIX: &str = ".before-memory";

/// A file at the time at which it was read.
#[derive(Debug)]
pub(super) struct ClientFileSnapshot {
    /// The path of the file.
    pub path: PathBuf,
    /// The path after symlinks are resolved.
    place: PathBuf,
    /// The content; `None` if the file does not exist.
    pub bytes: Option<Vec<u8>>,
    permissions: Option<Permissions>,
}

/// The reason why a file was not changed.
#[derive(Debug)]
pub(super) enum ReplaceError {
    /// Another program changed the file.
    Changed,
    /// The operating system returned an error.
    Refused(io::Error),
}

impl From<io::Error> for ReplaceError {
    fn from(error: io::Error) -> Self {
        Self::Refused(error)
    }
}

impl ClientFileSnapshot {
    /// Reads a file. In a file of the user, symlinks are followed; in a file of `project`, only those that stay in the project.
    pub(super) fn read(path: &Path, project: Option<&Path>) -> io::Result<Self> {
        let place = match project {
            Some(project) => resolve_within(project, path)?,
            None => resolve_symlinks(path)?,
        };
        let seen = |bytes, permissions| Self {
            path: path.to_owned(),
            place: place.clone(),
            bytes,
            permissions,
        };
        // A pipe would be waited for.
        let is_special =
            fs::metadata(&place).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if is_special {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is not a regular file",
            ));
        }
        let mut file = match File::open(&place) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(seen(None, None)),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(seen(Some(bytes), Some(file.metadata()?.permissions())))
    }

    /// Returns the backups of the file, the oldest first.
    pub(super) fn backups(&self) -> io::Result<Vec<PathBuf>> {
        Ok(self
            .numbered_backups()?
            .into_iter()
            .map(|(_, path)| path)
            .filter(|path| is_regular_file(path))
            .collect())
    }

    /// Writes a backup next to the file, unless one has the same bytes; returns the path of the backup.
    pub(super) fn back_up(&self) -> io::Result<Option<PathBuf>> {
        let Some(bytes) = &self.bytes else {
            return Ok(None);
        };
        let backups = self.numbered_backups()?;
        if let Some((_, path)) = backups.iter().find(|(_, path)| {
            is_regular_file(path) && fs::read(path).is_ok_and(|kept| kept == *bytes)
        }) {
            return Ok(Some(path.clone()));
        }
        let number = backups.last().map_or(1, |(number, _)| number + 1);
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(BACKUP_SUFFIX);
        if 1 < number {
            name.push(format!("-{number}"));
        }
        let path = self.backup_folder().join(name);
        let draft = self.write_temporary(&path, bytes, None)?;
        draft
            .persist_noclobber(&path)
            .map_err(|error| error.error)?;
        sync_folder(&path)?;
        Ok(Some(path))
    }

    /// Returns an error if the file is read-only, which a rename would ignore.
    pub(super) fn check_writable(&self) -> io::Result<()> {
        match &self.permissions {
            Some(permissions) if permissions.readonly() => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "the file is read-only",
            )),
            _ => Ok(()),
        }
    }

    /// Replaces the file with `bytes`, or deletes it for `None`, if it is unchanged since it was read.
    pub(super) fn replace(
        &self,
        bytes: Option<&[u8]>,
        level: InstallLevel,
    ) -> Result<(), ReplaceError> {
        let Some(bytes) = bytes else {
            self.check_unchanged()?;
            fs::remove_file(&self.place)?;
            return Ok(sync_folder(&self.place)?);
        };
        if let Some(folder) = self.place.parent() {
            fs::create_dir_all(folder)?;
        }
        let draft = self.write_temporary(&self.place, bytes, Some(level))?;
        self.check_unchanged()?;
        let done = if self.bytes.is_some() {
            draft.persist(&self.place)
        } else {
            draft.persist_noclobber(&self.place)
        };
        match done {
            Ok(_) => Ok(sync_folder(&self.place)?),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(ReplaceError::Changed)
            }
            Err(error) => Err(error.error.into()),
        }
    }

    /// Writes a temporary file that will become `path`, with the permissions of this file.
    ///
    /// Without such permissions, a file of the user is private, since secrets may be added to it later; a file of a project is shared.
    fn write_temporary(
        &self,
        path: &Path,
        bytes: &[u8],
        level: Option<InstallLevel>,
    ) -> io::Result<tempfile::NamedTempFile> {
        let make = |path: &Path| {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            let is_shared = level == Some(InstallLevel::Project);
            if is_shared {
                options.open(path)
            } else {
                owner_only(&mut options).open(path)
            }
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        let (mut file, path) = tempfile::Builder::new()
            .prefix(".memory-")
            .make_in(folder, make)?
            .into_parts();
        if let Some(permissions) = &self.permissions {
            file.set_permissions(permissions.clone())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(tempfile::NamedTempFile::from_parts(file, path))
    }

    fn check_unchanged(&self) -> Result<(), ReplaceError> {
        let now = match fs::read(&self.place) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        if now == self.bytes {
            Ok(())
        } else {
            Err(ReplaceError::Changed)
        }
    }

    fn backup_folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Returns the backups with their numbers, in order.
    fn numbered_backups(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let entries = match fs::read_dir(self.backup_folder()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let own = self
            .path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let number = |name: &str| match name.strip_prefix(own)?.strip_prefix(BACKUP_SUFFIX)? {
            "" => Some(1),
            rest => rest.strip_prefix('-')?.parse::<u64>().ok(),
        };
        let mut backups = Vec::new();
        for entry in entries {
            let entry = entry?;
            backups.extend(
                entry
                    .file_name()
                    .to_str()
                    .and_then(number)
                    .map(|number| (number, entry.path())),
            );
        }
        backups.sort();
        Ok(backups)
    }
}

/// Deletes a backup.
pub(super) fn delete_backup(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    sync_folder(path)
}

/// Resolves symlinks; the target does not have to exist.
fn resolve_symlinks(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MAX_SYMLINKS {
        match fs::read_link(&place) {
            Ok(target) => place = place.parent().unwrap_or(Path::new("")).join(target),
            // The path is not a symlink, or does not exist.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::NotFound
                ) =>
            {
                return Ok(place);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("its symlinks form a cycle"))
}

/// Resolves symlinks at and below `project`; the file does not have to exist.
///
/// The files of a project come from others, who may have put a symlink to a private file of the user there.
fn resolve_within(project: &Path, path: &Path) -> io::Result<PathBuf> {
    let project_folder = project.canonicalize()?;
    let mut place = project_folder.clone();
    for part in path.strip_prefix(project).unwrap_or(path) {
        place.push(part);
        if !place.is_symlink() {
            continue;
        }
        // The target of a symlink must exist: a file that is created in its place could be anywhere.
        place = place
            .canonicalize()
            .ok()
            .filter(|target| {
                let path = target.strip_prefix(&project_folder);
                path.is_ok_and(|path| path.iter().all(|part| part != ".git"))
            })
            .ok_or_else(|| {
                let why =
                    "it is, or is below, a symlink that does not lead to a file of the project";
                io::Error::new(io::ErrorKind::InvalidInput, why)
            })?;
    }
    Ok(place)
}

/// Returns whether there is a regular file at a path. A symlink is none.
fn is_regular_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// Makes a rename durable by syncing the folder.
fn sync_folder(path: &Path) -> io::Result<()> {
    memory_store::system::sync_folder(path.parent().unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests;
