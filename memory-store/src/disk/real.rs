//! The implementation of [`Disk`] for the machine's disk.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{DirEntry, DirEntryKind, Disk, FileStat, MAX_FILE, check_path};
use crate::system::{self, EntryType, FileAccess, OpenFolder, file_stat, is_symlink_error};
use crate::trust;

/// A home folder on the machine's disk. Folders are created with mode 0700, files with 0600.
///
/// The folder is opened once, and all paths are relative to it, so another folder or a symlink that takes its place is not used.
#[derive(Debug)]
pub struct RealDisk {
    root: PathBuf,
    folder: Mutex<Arc<OpenFolder>>,
}

impl RealDisk {
    /// Opens the home at `root`, and creates the folder if it is missing. It may be a symlink.
    ///
    /// # Errors
    /// If it cannot be created or is not a folder; [`ForeignFolder`](crate::ForeignFolder) if other users can change it.
    pub fn open(root: &Path) -> io::Result<Self> {
        make_folders(root)?;
        let root = fs::canonicalize(root)?;
        Self::of_folder(OpenFolder::open_root(&root)?, root)
    }

    /// Opens the folder at `path` below `base`, without following symlinks below `base`, and creates it if it is missing.
    ///
    /// # Errors
    /// As for [`RealDisk::open`]; or if it is behind a symlink.
    pub(crate) fn open_below(base: &Path, path: &str) -> io::Result<Self> {
        let root = base.join(path);
        let base = Self::of_folder(OpenFolder::open_root(base)?, base.to_owned())?;
        Self::of_folder(base.create_folders(path)?, root)
    }

    fn of_folder(folder: OpenFolder, root: PathBuf) -> io::Result<Self> {
        trust::check_metadata(&root, &folder.metadata()?)?;
        Ok(Self {
            root,
            folder: Mutex::new(Arc::new(folder)),
        })
    }

    /// Uses the folder of `other` from now on, which is now at the path of this one.
    pub(super) fn replace_folder(&self, other: &Self) {
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = other.folder();
    }

    /// Returns the home folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn folder(&self) -> Arc<OpenFolder> {
        let folder = self.folder.lock();
        Arc::clone(&folder.unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens the folder at `path`; `""` is the home itself.
    fn open_folder(&self, path: &str) -> io::Result<Arc<OpenFolder>> {
        if path.is_empty() {
            return Ok(self.folder());
        }
        self.folder().open_below(path).map(Arc::new)
    }

    /// Opens the folder that contains the entry at `path`, and returns the name of the entry.
    fn parent<'a>(&self, path: &'a str) -> io::Result<(Arc<OpenFolder>, &'a str)> {
        check_path(path)?;
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        match self.open_folder(parent) {
            Err(error) if is_symlink_error(&error) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("a parent folder of {path} is a symlink"),
            )),
            folder => Ok((folder?, name)),
        }
    }

    fn open_file(&self, path: &str) -> io::Result<File> {
        let no_file = || {
            io::Error::new(
                io::ErrorKind::Unsupported,
                "not a regular file, but a pipe, a socket or a device",
            )
        };
        let (folder, name) = self.parent(path)?;
        let file = folder.open_file(name, FileAccess::Read)?;
        let kind = file.metadata()?.file_type();
        if kind.is_file() || kind.is_dir() {
            Ok(file)
        } else {
            Err(no_file())
        }
    }

    fn open_for_writing(&self, path: &str, access: FileAccess) -> io::Result<File> {
        let opened = self
            .parent(path)
            .and_then(|(folder, name)| folder.open_file(name, access));
        match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_parents(path)?;
                let (folder, name) = self.parent(path)?;
                folder.open_file(name, access)
            }
            opened => opened,
        }
    }

    /// Appends bytes to a file, which is created if missing, in one write.
    fn append_to_file(&self, path: &str, bytes: &[u8]) -> io::Result<File> {
        let mut file = self.open_for_writing(path, FileAccess::Append)?;
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
        path.rsplit_once('/').map_or(Ok(()), |(parents, _)| {
            self.create_folders(parents).map(drop)
        })
    }

    /// Opens the folder at `path`, after the missing folders are created durably.
    fn create_folders(&self, path: &str) -> io::Result<OpenFolder> {
        let mut opened: Option<OpenFolder> = None;
        let home = self.folder();
        for part in path.split('/') {
            let folder = opened.as_ref().unwrap_or(&home);
            opened = Some(match folder.open_below(part) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match folder.create_folder(part) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                            return Err(error);
                        }
                        _ => folder.sync()?,
                    }
                    folder.open_below(part)?
                }
                found => found?,
            });
        }
        opened.ok_or_else(|| io::ErrorKind::InvalidInput.into())
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
        match self
            .parent(path)
            .and_then(|(folder, name)| folder.stat_entry(name))
        {
            Err(error) if is_absent(&error) => Ok(None),
            Ok((_, EntryType::Symlink)) => Ok(None),
            found => Ok(Some(found?.0)),
        }
    }

    fn list_folder(&self, path: &str) -> io::Result<Vec<DirEntry>> {
        // The position in a listing belongs to the descriptor.
        let path_or_self = if path.is_empty() { "." } else { path };
        let folder = match self.folder().open_below(path_or_self) {
            Err(error) if is_symlink_error(&error) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{path} is a symlink"),
            )),
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            folder => folder,
        }?;
        let mut entries = Vec::new();
        folder.each_entry(&mut |name, kind, inode| {
            let (name, is_text) = match name.to_str() {
                Ok(name) => (name.to_owned(), true),
                Err(_) => (name.to_string_lossy().into_owned(), false),
            };
            let kind = match kind {
                EntryType::Folder if is_text => DirEntryKind::Folder,
                EntryType::File if is_text => DirEntryKind::File,
                _ => DirEntryKind::Other,
            };
            if !matches!(&*name, "." | "..") {
                entries.push(DirEntry { name, inode, kind });
            }
        })?;
        Ok(entries)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.open_for_writing(path, FileAccess::Replace)?
            .write_all(bytes)
    }

    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.append_to_file(path, bytes)?.sync_data()
    }

    fn append_unsynced(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.append_to_file(path, bytes).map(drop)
    }

    fn open_lock(&self, path: &str) -> io::Result<File> {
        self.open_for_writing(path, FileAccess::Lock)
    }

    fn truncate(&self, path: &str, length: u64) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        let file = folder.open_file(name, FileAccess::Write)?;
        file.set_len(length)?;
        file.sync_all()
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (source, name) = self.parent(from)?;
        let renamed = self
            .parent(to)
            .and_then(|(target, new_name)| source.rename(name, &target, new_name));
        match renamed {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && source.stat_entry(name).is_ok() =>
            {
                self.make_parents(to)?;
                let (target, new_name) = self.parent(to)?;
                source.rename(name, &target, new_name)
            }
            done => done,
        }
    }

    fn hard_link(&self, from: &str, to: &str) -> io::Result<()> {
        self.make_parents(to)?;
        let ((source, name), (target, new_name)) = (self.parent(from)?, self.parent(to)?);
        match source.hard_link(name, &target, new_name) {
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
                let mut copy = target.open_file(new_name, FileAccess::Replace)?;
                io::copy(&mut source.open_file(name, FileAccess::Read)?, &mut copy)?;
                target.copy_permissions(new_name, &source, name)?;
                copy.sync_all()
            }
        }
    }

    fn copy_permissions(&self, path: &str, of: &str) -> io::Result<()> {
        let ((folder, name), (other_folder, other)) = (self.parent(path)?, self.parent(of)?);
        match folder.copy_permissions(name, &other_folder, other) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{path} or {of} is not a regular file"),
            )),
            done => done,
        }
    }

    fn check_writable(&self, path: &str) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        match folder.open_file(name, FileAccess::Write) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
            _ => Ok(()),
        }
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        match self
            .parent(path)
            .and_then(|(folder, name)| folder.remove_file(name))
        {
            Err(error) if is_absent(&error) => Ok(()),
            done => done,
        }
    }

    fn remove_folder(&self, path: &str) -> io::Result<()> {
        match self
            .parent(path)
            .and_then(|(folder, name)| folder.remove_folder(name))
        {
            Err(error) if is_absent(&error) || error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                Ok(())
            }
            done => done,
        }
    }

    fn sync_file(&self, path: &str) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        folder.sync_file(name)
    }

    fn sync_folder(&self, path: &str) -> io::Result<()> {
        if !path.is_empty() {
            check_path(path)?;
        }
        self.open_folder(path)?.sync()
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

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(all(test, unix, not(portable_system)))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_that_is_replaced_by_a_symlink_is_neither_read_nor_written() {
        let base = tempfile::tempdir().unwrap();
        let path = |name: &str| base.path().join(name);
        for folder in ["project/.memory/deep", "private/deep"] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        fs::write(path("private/a.md"), "private").unwrap();
        fs::write(path("private/deep/a.md"), "private").unwrap();
        let disk = RealDisk::open_below(&path("project"), ".memory").unwrap();
        disk.write("a.md", b"own").unwrap();

        fs::rename(path("project/.memory"), path("moved")).unwrap();
        symlink(path("private"), path("project/.memory")).unwrap();
        assert_eq!(disk.read("a.md").unwrap().unwrap().0, b"own");
        disk.write("b.md", b"own").unwrap();
        disk.open_lock(".locks/one").unwrap();
        disk.rename("b.md", "c.md").unwrap();
        disk.hard_link("c.md", "new/d.md").unwrap();
        disk.remove("a.md").unwrap();

        fs::remove_dir(path("moved/deep")).unwrap();
        symlink(path("private/deep"), path("moved/deep")).unwrap();
        disk.read("deep/a.md").unwrap_err();
        disk.write("deep/b.md", b"own").unwrap_err();
        disk.remove("deep/a.md").unwrap_err();
        disk.rename("c.md", "deep/c.md").unwrap_err();
        disk.list_folder("deep").unwrap_err();
        let names = |folder: &str| {
            let mut names: Vec<_> = fs::read_dir(path(folder))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!(
            (names("private"), names("private/deep")),
            ("a.md deep".into(), "a.md".into())
        );
        assert_eq!(names("moved"), ".locks c.md deep new");
        RealDisk::open_below(&path("project"), ".memory").unwrap_err();
    }
}
