//! Rolls back interrupted operations on whole files.

use std::collections::BTreeSet;
use std::io;

use memory_core::{OperationId, Recorded, RecordedFile};

use super::LogPosition;
use super::execution::{
    FileChange, FileOperations, FilePayload, OperationError, Staging, file_hash, mark_path,
    temporary_path, write,
};
use crate::disk::{DirEntryKind, Disk, parent_folder};

/// The progress of a change, judged only by the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeProgress {
    /// Every file is in the previous state.
    Open,
    /// The new file exists, and the previous one still does.
    Halfway,
    /// Every file is in the new state.
    Done,
    /// Another program has changed the file since.
    Foreign,
}

impl<P: FilePayload> FileOperations<'_, P> {
    /// Rolls back the last operation if it was interrupted.
    ///
    /// The operations up to `position`, if it is given, are known to be complete. No operation is in progress, because the caller holds the
    /// writer lock, and only the last operation can be incomplete, because each writer recovers before it starts.
    pub(crate) fn recover(&self, position: Option<&LogPosition>) -> Result<(), P::Error> {
        match self.staging {
            Staging::BesideFiles => match self.log.last_after(position)? {
                Some(last) if self.was_interrupted(&last)? => Ok(self.roll_back(&last)?),
                _ => Ok(()),
            },
            Staging::Folder(folder) if self.has_mark()? => {
                self.clear_folder(folder, |last| self.was_interrupted(last))
            }
            Staging::Folder(_) => Ok(()),
        }
    }

    /// Rolls back the operation that the staging folder names, if it is logged and `is_incomplete`, and removes the staged files.
    pub(super) fn clear_folder(
        &self,
        folder: &str,
        is_incomplete: impl Fn(&Recorded<P>) -> Result<bool, OperationError>,
    ) -> Result<(), P::Error> {
        let mark = mark_path(folder);
        let read = self
            .disk
            .read(&mark)
            .map_err(|error| OperationError::Read(mark.clone(), error))?;
        let name = read.map_or_else(Vec::new, |(bytes, _)| bytes);
        let last = self.log.operations()?.next().transpose()?;
        let last = last.filter(|last| last.operation.id.as_str().as_bytes() == name);
        if let Some(last) = last
            && is_incomplete(&last)?
        {
            self.roll_back(&last)?;
        }
        for entry in self
            .disk
            .list_folder(folder)
            .map_err(|error| OperationError::Read(folder.to_owned(), error))?
        {
            let path = format!("{folder}/{}", entry.name);
            if entry.kind == DirEntryKind::File && path != mark {
                write(&path, |path| self.disk.remove(path))?;
            }
        }
        // The evidence of the interruption is removed last.
        Ok(write(&mark, |path| self.disk.remove(path))?)
    }

    /// Returns whether the staging folder names an operation, which may be incomplete.
    pub(crate) fn has_mark(&self) -> Result<bool, OperationError> {
        let Staging::Folder(folder) = self.staging else {
            return Ok(false);
        };
        let mark = mark_path(folder);
        Ok(self
            .disk
            .stat(&mark)
            .map_err(|error| OperationError::Read(mark, error))?
            .is_some())
    }

    /// Returns the content of the file before `change`, if it existed, for the undo of the change.
    ///
    /// # Errors
    /// [`OperationError::Changed`] if the file is not as the change left it, or if another file has its previous path.
    pub(crate) fn previous_content(
        &self,
        change: &FileChange,
    ) -> Result<Option<Vec<u8>>, OperationError> {
        let FileChange { before, after } = change;
        if let Some(after) = after {
            self.check_unchanged(&after.path, Some(after))?;
        }
        let Some(former) = before else {
            return Ok(None);
        };
        if after.as_ref().is_none_or(|after| after.path != former.path) {
            self.check_unchanged(&former.path, None)?;
        }
        let missing = || OperationError::Read(former.path.clone(), io::ErrorKind::NotFound.into());
        self.read_trash(former.trash.as_deref().ok_or_else(missing)?)
            .map(Some)
    }

    fn read_trash(&self, trash: &str) -> Result<Vec<u8>, OperationError> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, format!("{trash} does not exist"));
        let read = self
            .disk
            .read(trash)
            .and_then(|read| read.ok_or_else(missing));
        read.map(|(bytes, _)| bytes)
            .map_err(|error| OperationError::Read(trash.to_owned(), error))
    }

    /// Returns whether an operation was interrupted.
    ///
    /// Some files in the previous state do not suffice: another program may have deleted a file or restored a previous version later, and
    /// the other files must not be rolled back for that. An interruption leaves temporary files with new content, or a previous file that
    /// is still to be removed.
    fn was_interrupted(&self, last: &Recorded<P>) -> Result<bool, OperationError> {
        let (mut is_begun, mut is_open) = (false, false);
        for (at, change) in last.subject.files().iter().enumerate() {
            let is_staged = || match &change.after {
                Some(after) => self.exists(&self.waiting_path(&last.operation.id, at, &after.path)),
                // The path of a deleted file may be used again, so another file there is no evidence.
                None => Ok(false),
            };
            match change_progress(self.disk, change)? {
                ChangeProgress::Halfway => return Ok(true),
                ChangeProgress::Done => is_begun = true,
                ChangeProgress::Foreign if is_staged()? => return Ok(true),
                ChangeProgress::Foreign => {}
                ChangeProgress::Open if change.after.is_none() || is_staged()? => return Ok(true),
                ChangeProgress::Open => is_open = true,
            }
        }
        Ok(is_open && !is_begun)
    }

    /// Restores the previous state of all files of an operation, and records in the log that it was aborted.
    pub(crate) fn roll_back(&self, record: &Recorded<P>) -> Result<(), OperationError> {
        self.restore_files(&record.operation.id, &record.subject.files())?;
        self.log.append_abort(&record.operation)
    }

    fn restore_files(&self, id: &OperationId, files: &[FileChange]) -> Result<(), OperationError> {
        let mut folders = BTreeSet::new();
        // The evidence of the interruption is removed last, because the rollback may be interrupted as well.
        for stage in [ChangeProgress::Done, ChangeProgress::Halfway] {
            for change in files.iter().rev() {
                if change_progress(self.disk, change)? == stage {
                    folders.extend(self.restore_file(id, change)?);
                }
            }
        }
        self.sync_folders(folders)?;
        for (at, after) in files
            .iter()
            .enumerate()
            .filter_map(|(at, change)| Some((at, change.after.as_ref()?)))
        {
            write(&self.waiting_path(id, at, &after.path), |waiting| {
                self.disk.remove(waiting)
            })?;
        }
        for change in files {
            // A previous file that is active again needs no copy in the trash. If another program has replaced it, the copy is a previous
            // version.
            let trash = change
                .before
                .as_ref()
                .and_then(|former| former.trash.as_ref());
            if let Some(trash) = trash
                .filter(|_| matches!(change_progress(self.disk, change), Ok(ChangeProgress::Open)))
            {
                write(trash, |trash| self.disk.remove(trash))?;
                write(parent_folder(trash), |folder| {
                    self.disk.remove_folder(folder)
                })?;
            }
        }
        Ok(())
    }

    /// Restores the previous file of a change, and returns the folders with changed names.
    fn restore_file<'f>(
        &self,
        id: &OperationId,
        change: &'f FileChange,
    ) -> Result<Vec<&'f str>, OperationError> {
        let mut folders = Vec::new();
        let before = change.before.as_ref();
        let takes_its_place =
            |after: &RecordedFile| before.is_some_and(|before| before.path == after.path);
        let moved = change
            .after
            .as_ref()
            .filter(|after| !takes_its_place(after));
        // If another program has put a file at the previous path of a moved one, that file is left unchanged.
        let is_taken = match (before, moved) {
            (Some(before), Some(_)) => self.exists(&before.path)?,
            _ => false,
        };
        if let Some(before) = before.filter(|_| !is_taken) {
            let trash = before.trash.as_deref().unwrap_or_default();
            let bytes = self.read_trash(trash)?;
            let waiting = match self.staging {
                Staging::BesideFiles => temporary_path(&before.path, id),
                Staging::Folder(folder) => format!("{folder}/restored"),
            };
            write(&before.path, |path| {
                self.disk.write(&waiting, &bytes)?;
                self.disk.copy_permissions(&waiting, trash)?;
                self.disk.sync_file(&waiting)?;
                self.disk.rename(&waiting, path)
            })?;
            folders.push(parent_folder(&before.path));
        }
        if let Some(after) = moved {
            // A file must be durable under its previous name before its new name is removed.
            self.sync_folders(folders.drain(..).collect())?;
            write(&after.path, |path| self.disk.remove(path))?;
            folders.push(parent_folder(&after.path));
        }
        Ok(folders)
    }

    fn exists(&self, path: &str) -> Result<bool, OperationError> {
        Ok(self
            .disk
            .stat(path)
            .map_err(|error| OperationError::Read(path.to_owned(), error))?
            .is_some())
    }
}

fn change_progress(disk: &dyn Disk, change: &FileChange) -> Result<ChangeProgress, OperationError> {
    let before = change.before.as_ref();
    let after = change.after.as_ref();
    let is_move = before
        .zip(after)
        .is_some_and(|(before, after)| before.path != after.path);
    let former_is_there = match before {
        Some(before) => file_hash(disk, &before.path)? == Some(before.hash),
        None => false,
    };
    let Some(after) = after else {
        let Some(path) = before.map(|before| before.path.as_str()) else {
            return Ok(ChangeProgress::Foreign);
        };
        return Ok(match (former_is_there, file_hash(disk, path)?) {
            (true, _) => ChangeProgress::Open,
            (false, None) => ChangeProgress::Done,
            (false, Some(_)) => ChangeProgress::Foreign,
        });
    };
    let new = file_hash(disk, &after.path)?;
    Ok(match new {
        Some(hash) if hash == after.hash => {
            if is_move && former_is_there {
                ChangeProgress::Halfway
            } else {
                ChangeProgress::Done
            }
        }
        _ if former_is_there => ChangeProgress::Open,
        None if before.is_none() => ChangeProgress::Open,
        _ => ChangeProgress::Foreign,
    })
}
