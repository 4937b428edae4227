//! Carries out the file changes of an operation: of several files, or of a single one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;

use memory_core::{ContentHash, Operation, OperationId, Recorded, RecordedFile};

use super::{LogPayload, OperationLog};
use crate::disk::{Disk, parent_folder};
use crate::lock::WriterLock;

/// Minimum number of files for which one sync of the file system is cheaper than a sync of each file.
const SYNC_ALL_MIN_FILES: usize = 8;

/// Maximum length of a file name on common file systems, in bytes.
pub(crate) const LONGEST_NAME: usize = 255;

/// The payload of operations on whole files.
pub(crate) trait FilePayload: LogPayload {
    /// Returns the changes of files, in order.
    fn files(&self) -> Vec<FileChange>;
}

/// The change of one file: creation, replacement, move or deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// The file before the operation, if it existed, with its path in the trash.
    pub before: Option<RecordedFile>,
    /// The file after the operation, if it then exists.
    pub after: Option<RecordedFile>,
}

/// The content of a new file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewContent<'a> {
    pub bytes: &'a [u8],
    /// The file from which the mode and the owner are copied, if there is one.
    pub like: Option<&'a str>,
}

/// Where new files wait, and how the next writer detects an interrupted operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Staging {
    /// Next to their final names, under hidden names with the id of the operation.
    ///
    /// The line of the operation is appended first, and the next writer checks the last line.
    BesideFiles,
    /// In this folder, together with a file that contains the id of the operation.
    ///
    /// The line is appended after the staging, and the next writer checks whether that file exists.
    Folder(&'static str),
}

/// Whether the steps of an operation are synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Each step is durable before the next one starts, and the operation is durable at its end.
    Synced,
    /// A power cut may lose steps in any order. The caller detects this, and has the files elsewhere.
    Unsynced,
}

/// The engine that carries out the operations of a store on whole files, and rolls back interrupted ones.
///
/// The caller holds the writer lock of the store.
#[derive(Debug)]
pub(crate) struct FileOperations<'d, P> {
    pub(super) disk: &'d dyn Disk,
    pub(super) log: OperationLog<'d, P>,
    pub(super) staging: Staging,
    durability: Durability,
}

/// The reason why an operation was not carried out.
#[derive(Debug)]
pub(crate) enum OperationError {
    /// The log in this folder cannot be read.
    ReadLog(&'static str, io::Error),
    /// The log in this folder cannot be written.
    WriteLog(&'static str, io::Error),
    /// The file at this path cannot be read.
    Read(String, io::Error),
    /// The file at this path cannot be written.
    Write(String, io::Error),
    /// The file at this path has changed since it was read.
    Changed(String),
}

impl<'d, P: FilePayload> FileOperations<'d, P> {
    /// Returns the engine for the files on `disk`.
    pub(crate) fn new(disk: &'d dyn Disk, staging: Staging) -> Self {
        Self {
            disk,
            log: OperationLog::new(disk),
            staging,
            durability: Durability::Synced,
        }
    }

    /// Returns the engine with this durability.
    pub(crate) fn with_durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Carries out an operation, and rolls it back on failure.
    ///
    /// `contents` are the contents of the new files of `record`, in the same order. Other programs may write without the lock, so each file
    /// is checked just before it is replaced.
    ///
    /// # Errors
    /// If the disk fails, or [`OperationError::Changed`]. All other files are in their previous state then.
    pub(crate) fn execute(
        &self,
        record: &Recorded<P>,
        contents: &[Option<NewContent<'_>>],
    ) -> Result<(), OperationError> {
        let done = self.perform(record, &record.subject.files(), contents);
        if let Err(error) = &done {
            // If this fails too, the next writer repeats it.
            let _ = match (self.staging, error) {
                (Staging::Folder(folder), _) => {
                    self.clear_folder(folder, |last| Ok(!last.subject.files().is_empty()))
                }
                // An operation without a line has done nothing.
                (Staging::BesideFiles, OperationError::WriteLog(..)) => Ok(()),
                (Staging::BesideFiles, _) => self.roll_back(record).map_err(P::Error::from),
            };
        }
        done
    }

    fn perform(
        &self,
        record: &Recorded<P>,
        files: &[FileChange],
        contents: &[Option<NewContent<'_>>],
    ) -> Result<(), OperationError> {
        let id = &record.operation.id;
        let log = || self.log.append(record, self.durability);
        match self.staging {
            Staging::BesideFiles => {
                log()?;
                self.stage(id, files, contents)?;
                self.link_into_trash(files)?;
            }
            Staging::Folder(folder) => {
                let mark = mark_path(folder);
                write(&mark, |path| self.disk.write(path, id.as_str().as_bytes()))?;
                write(&mark, |path| self.disk.sync_file(path))?;
                self.stage(id, files, contents)?;
                write(folder, |path| self.disk.sync_folder(path))?;
                self.link_into_trash(files)?;
                for FileChange { before, after } in files {
                    let Some(file) = before.as_ref().or(after.as_ref()) else {
                        continue;
                    };
                    self.check_unchanged(&file.path, before.as_ref())?;
                }
                log()?;
            }
        }
        self.place(id, files)?;
        if let Staging::Folder(folder) = self.staging {
            // If this fails, the next writer checks whether the operation is complete.
            let _ = self.disk.remove(&mark_path(folder));
        }
        Ok(())
    }

    /// Writes the new files under their temporary names.
    fn stage(
        &self,
        id: &OperationId,
        files: &[FileChange],
        contents: &[Option<NewContent<'_>>],
    ) -> Result<(), OperationError> {
        let mut staged = Vec::new();
        for (at, (change, content)) in files.iter().zip(contents).enumerate() {
            let (Some(after), Some(NewContent { bytes, like })) = (&change.after, content) else {
                continue;
            };
            let waiting = self.waiting_path(id, at, &after.path);
            write(&waiting, |path| self.disk.write(path, bytes))?;
            if let Some(like) = like {
                write(&waiting, |path| self.disk.copy_permissions(path, like))?;
            }
            staged.push(waiting);
        }
        if self.durability == Durability::Unsynced {
            return Ok(());
        }
        let is_batch = SYNC_ALL_MIN_FILES <= staged.len();
        if is_batch && write(&staged[0], |_| self.disk.sync_everything())? {
            return Ok(());
        }
        staged
            .iter()
            .try_for_each(|path| write(path, |path| self.disk.sync_file(path)))
    }

    /// Links the previous files into the trash.
    fn link_into_trash(&self, files: &[FileChange]) -> Result<(), OperationError> {
        let mut folders = BTreeSet::new();
        for former in files.iter().filter_map(|change| change.before.as_ref()) {
            let Some(trash) = &former.trash else { continue };
            write(trash, |trash| {
                // An aborted attempt of the same operation may have left an old copy.
                if self.disk.stat(trash)?.is_some() {
                    self.disk.remove(trash)?;
                }
                self.disk.hard_link(&former.path, trash)
            })?;
            folders.insert(parent_folder(trash));
        }
        self.sync_folders(folders)
    }

    /// Renames the staged files to their final names, and removes the previous names of moved and deleted files.
    fn place(&self, id: &OperationId, files: &[FileChange]) -> Result<(), OperationError> {
        let mut folders = BTreeSet::new();
        for (at, change) in files.iter().enumerate() {
            let Some(after) = &change.after else { continue };
            self.check_unchanged(
                &after.path,
                change
                    .before
                    .as_ref()
                    .filter(|former| former.path == after.path),
            )?;
            write(&after.path, |path| {
                self.disk.rename(&self.waiting_path(id, at, path), path)
            })?;
            folders.insert(parent_folder(&after.path));
        }
        // A file must be durable under its new name before its previous name is removed.
        self.sync_folders(std::mem::take(&mut folders))?;
        for FileChange { before, after } in files {
            let Some(former) = before else { continue };
            if after.as_ref().is_none_or(|next| next.path != former.path) {
                self.check_unchanged(&former.path, Some(former))?;
                write(&former.path, |path| self.disk.remove(path))?;
                folders.insert(parent_folder(&former.path));
            }
        }
        self.sync_folders(folders)
    }

    /// Checks that a file is in the state `seen`, or does not exist if that is `None`.
    pub(super) fn check_unchanged(
        &self,
        path: &str,
        seen: Option<&RecordedFile>,
    ) -> Result<(), OperationError> {
        let is_as_seen = if let Some(seen) = seen {
            file_hash(self.disk, path)? == Some(seen.hash)
        } else {
            // If no file is expected, every existing file belongs to another program. A symlink has no status, but cannot be read.
            let found = self.disk.stat(path).and_then(|found| match found {
                None => self.disk.read_part(path, 0, 1).map(|_| None),
                found => Ok(found),
            });
            found
                .map_err(|error| OperationError::Read(path.to_owned(), error))?
                .is_none()
        };
        if is_as_seen {
            Ok(())
        } else {
            Err(OperationError::Changed(path.to_owned()))
        }
    }

    /// Returns the temporary path of the new file of the change `at`.
    pub(super) fn waiting_path(&self, id: &OperationId, at: usize, path: &str) -> String {
        match self.staging {
            Staging::BesideFiles => temporary_path(path, id),
            Staging::Folder(folder) => format!("{folder}/{at}"),
        }
    }

    pub(super) fn sync_folders(&self, folders: BTreeSet<&str>) -> Result<(), OperationError> {
        match self.durability {
            Durability::Synced => folders
                .into_iter()
                .try_for_each(|folder| write(folder, |folder| self.disk.sync_folder(folder))),
            Durability::Unsynced => Ok(()),
        }
    }
}

/// The engine that carries out the operations of a store on a single file.
///
/// The new content waits under a temporary name, and the line of the operation is appended to the log before the file changes. An
/// interruption between the two is detected by the temporary file (banks and rewritten sessions), by the moved file (deleted sessions), or
/// by the hash of the value. The caller holds the lock of the file.
pub(crate) struct SingleFileOperation<'a, P: LogPayload> {
    pub disk: &'a dyn Disk,
    pub log: OperationLog<'a, P>,
    /// The temporary path of the new content.
    pub waiting: String,
    /// Waits for the lock of the log, if the writers of several files share it.
    pub lock: Box<dyn Fn() -> Result<Option<WriterLock>, P::Error> + 'a>,
}

impl<P: LogPayload> SingleFileOperation<'_, P> {
    /// Logs the operation, and changes the file with `place`.
    ///
    /// `place` makes its change completely or not at all, and returns whether it did; `false` means that another program has changed the
    /// file. If the change is not made, that is logged as well.
    pub(crate) fn commit(
        &self,
        record: &Recorded<P>,
        place: impl FnOnce() -> Result<bool, P::Error>,
    ) -> Result<bool, P::Error> {
        let placed = self
            .append(|log| log.append(record, Durability::Synced))
            .and_then(|()| place());
        if matches!(placed, Ok(true)) {
            return placed;
        }
        // If this fails too, the next writer or reader detects that the operation was not carried out.
        let aborted = self.abort(&record.operation);
        placed.and_then(|is_placed| aborted.map(|()| is_placed))
    }

    /// Logs that an operation was not carried out, and removes the temporary file.
    pub(crate) fn abort(&self, operation: &Operation) -> Result<(), P::Error> {
        self.append(|log| log.append_abort(operation))?;
        Ok(write(&self.waiting, |path| self.disk.remove(path))?)
    }

    fn append(
        &self,
        append: impl FnOnce(&OperationLog<'_, P>) -> Result<(), OperationError>,
    ) -> Result<(), P::Error> {
        let _lock = (self.lock)()?;
        Ok(append(&self.log)?)
    }
}

/// Calls `act`, which changes the file at `path`.
pub(super) fn write<T>(
    path: &str,
    act: impl FnOnce(&str) -> io::Result<T>,
) -> Result<T, OperationError> {
    act(path).map_err(|error| OperationError::Write(path.to_owned(), error))
}

/// Returns the path of the file with the id of the operation that has files in a staging folder.
pub(super) fn mark_path(folder: &str) -> String {
    format!("{folder}/operation")
}

/// Returns the hash of a file, if it exists.
pub(super) fn file_hash(
    disk: &dyn Disk,
    path: &str,
) -> Result<Option<ContentHash>, OperationError> {
    match disk.read(path) {
        Ok(read) => Ok(read.map(|(bytes, _)| ContentHash::from_bytes(&bytes))),
        // No store writes such a large file, so it belongs to another program.
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Ok(Some(ContentHash::from([0; 32])))
        }
        Err(error) => Err(OperationError::Read(path.to_owned(), error)),
    }
}

/// Returns the temporary path for the new content of `path`.
pub(super) fn temporary_path(path: &str, operation: &OperationId) -> String {
    let end = format!(".{operation}.tmp");
    match path.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/.{}{end}", shorten_name(name, 1 + end.len())),
        None => format!(".{}{end}", shorten_name(path, 1 + end.len())),
    }
}

/// Returns whether a file name is that of a temporary file.
pub(crate) fn is_temporary_name(name: &str) -> bool {
    name.strip_prefix('.')
        .and_then(|name| name.strip_suffix(".tmp"))
        .is_some()
}

/// Returns a name that `more` bytes can be added to. A shortened name ends in a hash of the full one.
pub(crate) fn shorten_name(name: &str, more: usize) -> Cow<'_, str> {
    if name.len() + more <= LONGEST_NAME {
        return Cow::Borrowed(name);
    }
    let mark: String = ContentHash::of(name).to_string().chars().take(16).collect();
    let start = &name[..name.floor_char_boundary(LONGEST_NAME - more - 1 - mark.len())];
    Cow::Owned(format!("{start}-{mark}"))
}
