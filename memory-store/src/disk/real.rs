//! The implementation of [`Disk`] for the machine's disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{DirEntry, DirEntryKind, Disk, FileStat, MAX_FILE, check_path};
use crate::system::{self, file_stat};

/// A home folder on the machine's disk. Folders are created with mode 0700, files with 0600.
#[derive(Debug)]
pub struct RealDisk {
    root: PathBuf,
}

impl RealDisk {
    /// Opens the home at `root`, and creates the folder if it is missing.
    ///
    /// # Errors
    /// If it cannot be created or is not a folder.
    pub fn open(root: &Path) -> io::Result<Self> {
        make_folders(root)?;
        // The home itself may be a symlink; nothing below it may.
        Ok(Self {
            root: fs::canonicalize(root)?,
        })
    }

    /// Returns the home folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the absolute path for `path`, after a check that no parent is a symlink.
    fn absolute_path(&self, path: &str) -> io::Result<PathBuf> {
        check_path(path)?;
        let mut place = self.root.clone();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            place.push(part);
            // The last component is opened with `O_NOFOLLOW`, or renamed and deleted as a link.
            if parts.peek().is_some() && is_symlink(&place) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("a parent folder of {path} is a symlink"),
                ));
            }
        }
        Ok(place)
    }

    fn open_file(&self, path: &str) -> io::Result<File> {
        let no_file = || {
            io::Error::new(
                io::ErrorKind::Unsupported,
                "not a regular file, but a pipe, a socket or a device",
            )
        };
        let file = system::open_no_follow_nonblocking(
            OpenOptions::new().read(true),
            &self.absolute_path(path)?,
        )?;
        let kind = file.metadata()?.file_type();
        if kind.is_file() || kind.is_dir() {
            Ok(file)
        } else {
            Err(no_file())
        }
    }

    fn open_for_writing(&self, path: &str, options: &mut OpenOptions) -> io::Result<File> {
        let place = self.absolute_path(path)?;
        // Another process may have created a link to one of its own files under this name.
        let options = system::owner_only(options);
        match system::open_no_follow(options, &place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_parents(path)?;
                system::open_no_follow(options, &place)
            }
            opened => opened,
        }
    }

    /// Appends bytes to a file, which is created if missing, in one write.
    fn append_to_file(&self, path: &str, bytes: &[u8]) -> io::Result<File> {
        let mut file = self.open_for_writing(path, OpenOptions::new().append(true).create(true))?;
        let before = file.metadata()?.len();
        let mut written = 0;
        while written < bytes.len() {
            let more = match file.write(&bytes[written..]) {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                more => more,
            };
            written += more.inspect_err(|_| {
                // A full disk may have accepted a part, which readers would take for damage. If another process has appended
                // since, the part remains.
                let is_ours = file
                    .metadata()
                    .is_ok_and(|found| found.len() == before + written as u64);
                if is_ours && written != 0 {
                    let _ = file.set_len(before);
                }
            })?;
        }
        Ok(file)
    }

    fn make_parents(&self, path: &str) -> io::Result<()> {
        if !self.root.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("{} no longer exists", self.root.display()),
            ));
        }
        let Some((parents, _)) = path.rsplit_once('/') else {
            return Ok(());
        };
        make_folders(&self.absolute_path(parents)?)
    }
}

impl Disk for RealDisk {
    fn read(&self, path: &str) -> io::Result<Option<(Vec<u8>, FileStat)>> {
        let file = match self.open_file(path) {
            Err(error) if is_absent(&error) => return Ok(None),
            opened => opened?,
        };
        let signature = file_stat(&file.metadata()?);
        if signature.is_folder {
            return Ok(None);
        }
        if MAX_FILE < signature.size {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("{} bytes", signature.size),
            ));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(signature.size).unwrap_or_default() + 1);
        Read::take(&file, MAX_FILE + 1).read_to_end(&mut bytes)?;
        Ok(Some((bytes, signature)))
    }

    fn read_part(&self, path: &str, start: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut file = match self.open_file(path) {
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            opened => opened?,
        };
        file.seek(SeekFrom::Start(start))?;
        let rest = file.metadata()?.len().saturating_sub(start);
        let mut bytes = Vec::with_capacity(usize::try_from(rest).unwrap_or(usize::MAX).min(length));
        Read::take(&file, length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn open(&self, path: &str) -> io::Result<Option<File>> {
        match self.open_file(path) {
            Err(error) if is_absent(&error) => Ok(None),
            opened => opened.map(Some),
        }
    }

    fn stat(&self, path: &str) -> io::Result<Option<FileStat>> {
        match fs::symlink_metadata(self.absolute_path(path)?) {
            Err(error) if is_absent(&error) => Ok(None),
            Ok(found) if found.is_symlink() => Ok(None),
            found => Ok(Some(file_stat(&found?))),
        }
    }

    fn list_folder(&self, path: &str) -> io::Result<Vec<DirEntry>> {
        let place = if path.is_empty() {
            self.root.clone()
        } else {
            self.absolute_path(path)?
        };
        if is_symlink(&place) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{path} is a symlink"),
            ));
        }
        let entries = match fs::read_dir(place) {
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            entries => entries?,
        };
        entries
            .map(|entry| {
                let entry = entry?;
                let kind = entry.file_type()?;
                let (name, is_text) = match entry.file_name().into_string() {
                    Ok(name) => (name, true),
                    Err(name) => (name.to_string_lossy().into_owned(), false),
                };
                let kind = match kind {
                    _ if !is_text || kind.is_symlink() => DirEntryKind::Other,
                    _ if kind.is_dir() => DirEntryKind::Folder,
                    _ if kind.is_file() => DirEntryKind::File,
                    _ => DirEntryKind::Other,
                };
                Ok(DirEntry {
                    name,
                    inode: system::entry_inode(&entry)?,
                    kind,
                })
            })
            .collect()
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.open_for_writing(
            path,
            OpenOptions::new().write(true).create(true).truncate(true),
        )?
        .write_all(bytes)
    }

    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.append_to_file(path, bytes)?.sync_data()
    }

    fn append_unsynced(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.append_to_file(path, bytes).map(drop)
    }
    fn truncate(&self, path: &str, length: u64) -> io::Result<()> {
        let file =
            system::open_no_follow(OpenOptions::new().write(true), &self.absolute_path(path)?)?;
        file.set_len(length)?;
        file.sync_all()
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (source, target) = (self.absolute_path(from)?, self.absolute_path(to)?);
        match fs::rename(&source, &target) {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && source.symlink_metadata().is_ok() =>
            {
                self.make_parents(to)?;
                fs::rename(source, target)
            }
            done => done,
        }
    }

    fn hard_link(&self, from: &str, to: &str) -> io::Result<()> {
        self.make_parents(to)?;
        let (source, target) = (self.absolute_path(from)?, self.absolute_path(to)?);
        match fs::hard_link(&source, &target) {
            Ok(()) => Ok(()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::StorageFull
                ) =>
            {
                Err(error)
            }
            // The file system has no hard links.
            Err(_) => {
                fs::copy(&source, &target)?;
                system::sync_file(&target)
            }
        }
    }

    fn copy_permissions(&self, path: &str, of: &str) -> io::Result<()> {
        let (place, other) = (
            self.absolute_path(path)?,
            fs::symlink_metadata(self.absolute_path(of)?)?,
        );
        let own = fs::symlink_metadata(&place)?;
        if !own.is_file() || !other.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{path} or {of} is not a regular file"),
            ));
        }
        system::copy_owner_and_permissions(&place, &own, &other)
    }

    fn check_writable(&self, path: &str) -> io::Result<()> {
        match system::open_no_follow_nonblocking(
            OpenOptions::new().write(true),
            &self.absolute_path(path)?,
        ) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
            _ => Ok(()),
        }
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        match fs::remove_file(self.absolute_path(path)?) {
            Err(error) if is_absent(&error) => Ok(()),
            done => done,
        }
    }

    fn remove_folder(&self, path: &str) -> io::Result<()> {
        match fs::remove_dir(self.absolute_path(path)?) {
            Err(error) if is_absent(&error) || error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                Ok(())
            }
            done => done,
        }
    }

    fn sync_file(&self, path: &str) -> io::Result<()> {
        system::sync_file(&self.absolute_path(path)?)
    }

    fn sync_folder(&self, path: &str) -> io::Result<()> {
        let place = if path.is_empty() {
            self.root.clone()
        } else {
            self.absolute_path(path)?
        };
        system::sync_folder(&place)
    }

    fn sync_everything(&self) -> io::Result<bool> {
        system::sync_file_system(&self.root)
    }
}

fn make_folders(place: &Path) -> io::Result<()> {
    let missing = place
        .ancestors()
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
        .count();
    if missing == 0 {
        return Ok(());
    }
    system::private_folder_builder()
        .recursive(true)
        .create(place)?;
    // A new folder is durable only after its parent is synced.
    for parent in fs::canonicalize(place)?.ancestors().skip(1).take(missing) {
        system::sync_folder(parent)?;
    }
    Ok(())
}

fn is_symlink(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok_and(|found| found.is_symlink())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
