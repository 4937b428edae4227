//! The replica of a folder in a database.
//!
//! `.replica.jsonl` contains the position up to which the files equal those in the database, and the hashes of the files that users see. A
//! file that another program changed is moved to `.unsynced/` before a change of another node replaces it.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use memory_core::{Code, StoreError};

use super::replica_state::FolderState;
use crate::disk::{
    Disk, FileEdit, LazyDisk, NewFileContent, OverlayDisk, now_ns, parent_folder, replace_file,
    sync_files,
};
use crate::error::{io_error, replica_folder_error};
use crate::lock::WriterLock;
use crate::log_connection::{LogConnection, check_patience, is_temporary};
use crate::oplog::hash_bytes;
use crate::shared_log::{
    FileCommitResult, SharedFile, SharedFilePage, SharedFolderId, SharedLog, random_token,
};

/// The file with the state of a replica.
const STATE: &str = ".replica.jsonl";

/// The temporary file of the state and of changed files.
const TEMP_FILE: &str = ".replica.tmp";

/// The folder of files that other programs changed in a replica.
const UNSYNCED: &str = ".unsynced";

/// The name of the lock of a replica; no bank can have this name.
const LOCK: &str = "_replica";

/// Number of changed files from which the folder is synced once instead of each file.
const BULK: usize = 32;

/// The connection of a folder with its files in a database.
#[derive(Debug)]
pub(crate) struct FolderReplica {
    pub(super) connection: LogConnection,
    pub(super) folder: SharedFolderId,
    pub(super) layout: ReplicaLayout,
    /// Number of pages of changes that were applied.
    pub(super) applied: AtomicU64,
}

/// Which files of a folder are shared, and where a replica has files of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplicaLayout {
    /// Returns whether a file is shared: none that is hidden, except for logs. Other nodes could otherwise place files here that
    /// other programs obey, such as the configuration of git.
    pub is_shared: fn(&str) -> bool,
    /// The start of the paths of the replica's own files, such as `folder/`.
    pub prefix: &'static str,
}

impl FolderReplica {
    /// Returns the replica of a folder in a database.
    #[cfg(feature = "postgres")]
    pub(crate) fn new(
        connection: LogConnection,
        folder: SharedFolderId,
        layout: ReplicaLayout,
    ) -> Self {
        Self {
            connection,
            folder,
            layout,
            applied: AtomicU64::new(0),
        }
    }

    pub(super) fn log(&self) -> &dyn SharedLog {
        self.connection.log()
    }

    /// Applies the changes of other nodes, and returns whether there were any. Without the database, a complete replica is used as it is.
    pub(super) fn catch_up(
        &self,
        place: &LazyDisk,
        patience: Duration,
    ) -> Result<bool, StoreError> {
        let root = place.root();
        let opened = place.get_or_create();
        let disk = opened.map_err(|error| io_error(format!("open {}", root.display()), error))?;
        let done = self.find_changes(disk, root).and_then(|found| {
            let Some((known, page)) = found else {
                return Ok(false);
            };
            let _lock = WriterLock::acquire_named(disk, root, LOCK, patience)?;
            let state = self.state(disk, root)?;
            // Another writer on this machine may have applied or made the changes meanwhile.
            let first = (state.position == known).then_some(page);
            self.pull_after(disk, root, state, first)?;
            Ok(true)
        });
        self.connection.record_pull(None);
        match done {
            // A file that cannot be written is no temporary problem: nothing reports it later.
            Err(error)
                if is_temporary(&error)
                    && error.code() != Code::Io
                    && self.read_state(disk, root)?.is_some() =>
            {
                Ok(false)
            }
            done => done,
        }
    }

    /// Runs `work` on a copy in memory until its changes are committed, and then makes them in the files.
    pub(super) fn write<T, E: From<StoreError>>(
        &self,
        root: &Path,
        disk: &dyn Disk,
        patience: Duration,
        mut work: impl FnMut(&dyn Disk) -> Result<T, E>,
    ) -> Result<T, E> {
        let _lock = WriterLock::acquire_named(disk, root, LOCK, patience)?;
        let begun = Instant::now();
        let mut state = self.pull(disk, root)?;
        let mut was_repaired = false;
        loop {
            let overlay = OverlayDisk::new(disk);
            let result = work(&overlay)?;
            let edits = overlay
                .changes()
                .map_err(|error| io_error(format!("read {}", root.display()), error))?;
            let (local, shared): (Vec<_>, Vec<_>) = edits
                .into_iter()
                .partition(|edit| !self.is_shared(&edit.path));
            let token = random_token()?;
            let committed = if shared.is_empty() {
                FileCommitResult::Committed(state.position)
            } else {
                self.log()
                    .commit_files(&self.folder, state.position, token, &shared)?
            };
            match committed {
                FileCommitResult::Committed(position) => {
                    // The changes have happened. If they cannot be made here, the next read or write repeats them.
                    let _ = self.apply_own(
                        disk,
                        &mut state,
                        position,
                        [shared, local].concat(),
                        &overlay.removed_folders(),
                    );
                    return Ok(result);
                }
                FileCommitResult::Repeated => {
                    let _ = self.pull(disk, root);
                    return Ok(result);
                }
                FileCommitResult::Behind => state = self.pull(disk, root)?,
                FileCommitResult::Diverged if !was_repaired => {
                    was_repaired = true;
                    state.position = 0;
                    state = self.pull_after(disk, root, state, None)?;
                }
                FileCommitResult::Diverged => {
                    let what = format!("{} differs from the database", root.display());
                    return Err(StoreError::Conflict { what }.into());
                }
            }
            check_patience(begun, patience)?;
        }
    }

    pub(super) fn is_shared(&self, path: &str) -> bool {
        (self.layout.is_shared)(path)
    }

    /// Returns the path of a file of the replica itself.
    fn own_path(&self, name: &str) -> String {
        format!("{}{name}", self.layout.prefix)
    }

    /// Returns the position of the replica, and the first page of the changes of other nodes after it, if there are any.
    fn find_changes(
        &self,
        disk: &dyn Disk,
        root: &Path,
    ) -> Result<Option<(i64, SharedFilePage)>, StoreError> {
        let state = self.state(disk, root)?;
        let page = self
            .log()
            .changed_files(&self.folder, state.position, None)?;
        let has_changes = page.position != state.position || !state.is_saved;
        Ok(has_changes.then_some((state.position, page)))
    }

    /// Applies all changes of other nodes, and returns the state. The caller holds the lock.
    fn pull(&self, disk: &dyn Disk, root: &Path) -> Result<FolderState, StoreError> {
        let state = self.state(disk, root)?;
        self.pull_after(disk, root, state, None)
    }

    /// Applies the changes after the position of `state`, of which `first` is the first page, if it was fetched.
    fn pull_after(
        &self,
        disk: &dyn Disk,
        root: &Path,
        mut state: FolderState,
        mut first: Option<SharedFilePage>,
    ) -> Result<FolderState, StoreError> {
        let (mut known, mut head, mut last, mut unsynced) =
            (state.position, None, None, Vec::new());
        loop {
            let page = first.take().map_or_else(
                || self.log().changed_files(&self.folder, known, last.as_ref()),
                Ok,
            )?;
            // Files of a later page may have changed since the first one; they are fetched again next time.
            let head = *head.get_or_insert(page.position);
            if head < known {
                return Err(self.older_error(root));
            }
            if page.files.is_empty() {
                if head != state.position || !state.is_saved {
                    sync_files(disk, &unsynced)
                        .map_err(|error| io_error("sync the replica", error))?;
                    self.save_state(disk, &mut state, head)?;
                }
                return Ok(state);
            }
            last = page.files.last().cloned();
            if !self.apply_page(disk, &mut state, page.files, &mut unsynced)? {
                // A log here is not the start of the log in the database.
                (known, last) = (0, None);
            }
        }
    }

    /// Makes the changes of other nodes; returns `false` if a file here has an unexpected size.
    ///
    /// Adds the paths of files that must be synced before the state is saved to `unsynced`.
    fn apply_page(
        &self,
        disk: &dyn Disk,
        state: &mut FolderState,
        mut files: Vec<SharedFile>,
        unsynced: &mut Vec<String>,
    ) -> Result<bool, StoreError> {
        self.applied.fetch_add(1, Ordering::Relaxed);
        files.retain(|file| self.is_shared(&file.edit.path));
        files.sort_by_key(|file| (file.position, apply_order(&file.edit)));
        let is_bulk = BULK <= files.len();
        for SharedFile { edit, .. } in &files {
            let path = &edit.path;
            let told = |error| io_error(format!("write {path}"), error);
            self.set_aside(disk, state, edit).map_err(told)?;
            if !self.apply_edit(disk, edit, !is_bulk).map_err(told)? {
                return Ok(false);
            }
            self.record(disk, state, edit)?;
        }
        if is_bulk {
            unsynced.extend(files.into_iter().map(|file| file.edit.path));
        }
        Ok(true)
    }

    /// Makes committed changes.
    fn apply_own(
        &self,
        disk: &dyn Disk,
        state: &mut FolderState,
        position: i64,
        mut edits: Vec<FileEdit>,
        removed_folders: &[String],
    ) -> Result<(), StoreError> {
        edits.sort_by_key(apply_order);
        let is_bulk = BULK <= edits.len();
        for edit in &edits {
            let path = &edit.path;
            self.apply_edit(disk, edit, !is_bulk)
                .map_err(|error| io_error(format!("write {path}"), error))?;
            self.record(disk, state, edit)?;
        }
        if is_bulk {
            let unsynced: Vec<_> = edits.into_iter().map(|edit| edit.path).collect();
            sync_files(disk, &unsynced).map_err(|error| io_error("sync the replica", error))?;
        }
        for folder in removed_folders {
            disk.remove_folder(folder)
                .map_err(|error| io_error(format!("delete {folder}"), error))?;
        }
        if state.position == position {
            Ok(())
        } else {
            self.save_state(disk, state, position)
        }
    }

    /// Records the hash of a changed file that users see.
    fn record(
        &self,
        disk: &dyn Disk,
        state: &mut FolderState,
        edit: &FileEdit,
    ) -> Result<(), StoreError> {
        let FileEdit { path, content } = edit;
        if !is_visible(path) || !self.is_shared(path) {
            return Ok(());
        }
        let hash = match content {
            NewFileContent::Removed => None,
            NewFileContent::Whole(bytes) => Some(hash_bytes(bytes)),
            NewFileContent::Appended { .. } => {
                hash_file(disk, path).map_err(|error| io_error(format!("read {path}"), error))?
            }
        };
        state.set_hash(path, hash);
        Ok(())
    }

    /// Returns the state of the replica; one without files for a new one.
    ///
    /// # Errors
    /// If the folder belongs to another database, or contains files that are in no database.
    fn state(&self, disk: &dyn Disk, root: &Path) -> Result<FolderState, StoreError> {
        let identity = self.connection.identity()?.to_text();
        if let Some(state) = self.read_state(disk, root)? {
            if state.database == identity {
                return Ok(state);
            }
            let why = "it is a replica of another database";
            return Err(replica_folder_error(root, why, "use another folder"));
        }
        let files = self
            .list_files(disk)
            .map_err(|error| io_error(format!("read {}", root.display()), error))?;
        if !files.is_empty() {
            let why = format!(
                "it contains {} that are not in the database",
                self.folder.name
            );
            return Err(replica_folder_error(root, &why, "use another folder"));
        }
        Ok(FolderState::new(identity))
    }

    /// Returns how to create the replica again.
    fn hint_for_new_state(&self) -> &'static str {
        if self.layout.prefix.is_empty() {
            "delete the folder if all its files are in the database; the next command fetches them"
        } else {
            "delete entries/, .conversations/journal/ and .conversations/.replica.jsonl in it if all conversations are in the database; the \
                next command fetches them"
        }
    }

    fn read_state(&self, disk: &dyn Disk, root: &Path) -> Result<Option<FolderState>, StoreError> {
        let path = self.own_path(STATE);
        FolderState::read(disk, &path).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => replica_folder_error(
                root,
                &format!("{path} is damaged"),
                self.hint_for_new_state(),
            ),
            _ => io_error(format!("read {path}"), error),
        })
    }

    fn save_state(
        &self,
        disk: &dyn Disk,
        state: &mut FolderState,
        position: i64,
    ) -> Result<(), StoreError> {
        let path = self.own_path(STATE);
        let saved = state.save(disk, &path, &self.own_path(TEMP_FILE), position);
        saved.map_err(|error| io_error(format!("write {path}"), error))
    }

    /// Moves a file that another program has changed out of the way of a change.
    fn set_aside(&self, disk: &dyn Disk, state: &FolderState, edit: &FileEdit) -> io::Result<()> {
        let path = &edit.path;
        if !is_visible(path) {
            return Ok(());
        }
        let Some(hash) = hash_file(disk, path)? else {
            return Ok(());
        };
        let is_new =
            matches!(&edit.content, NewFileContent::Whole(bytes) if hash_bytes(bytes) == hash);
        if is_new || state.hash(disk, &self.own_path(STATE), path)? == Some(&hash) {
            return Ok(());
        }
        disk.rename(
            path,
            &self.own_path(&format!("{UNSYNCED}/{}/{path}", now_ns())),
        )
    }

    /// Makes a change; returns `false` if the file to append to differs from the one in the database.
    fn apply_edit(
        &self,
        disk: &dyn Disk,
        FileEdit { path, content }: &FileEdit,
        is_synced: bool,
    ) -> io::Result<bool> {
        let temporary = self.own_path(TEMP_FILE);
        match content {
            NewFileContent::Removed => {
                disk.remove(path)?;
                let mut folder = parent_folder(path);
                while !folder.is_empty() {
                    disk.remove_folder(folder)?;
                    folder = parent_folder(folder);
                }
            }
            NewFileContent::Whole(bytes) => {
                let size = disk
                    .stat(path)?
                    .filter(|found| !found.is_folder)
                    .map(|found| found.size);
                if size == Some(bytes.len() as u64)
                    && disk.read_part(path, 0, usize::MAX)? == *bytes
                {
                    return Ok(true);
                }
                if is_synced {
                    replace_file(disk, &temporary, path, bytes)?;
                } else {
                    disk.write(&temporary, bytes)?;
                    disk.rename(&temporary, path)?;
                }
            }
            NewFileContent::Appended { start, bytes } => {
                let size = disk.stat(path)?.map_or(0, |found| found.size);
                // After an interruption, the file has a part of the bytes.
                let Some(made) = size
                    .checked_sub(*start)
                    .and_then(|made| usize::try_from(made).ok())
                else {
                    return Ok(false);
                };
                let is_part =
                    made <= bytes.len() && disk.read_part(path, *start, made)? == bytes[..made];
                if !is_part {
                    return Ok(false);
                }
                if is_synced {
                    disk.append(path, &bytes[made..])?;
                } else {
                    disk.append_unsynced(path, &bytes[made..])?;
                }
            }
        }
        Ok(true)
    }

    fn older_error(&self, root: &Path) -> StoreError {
        let hint = "it may have been restored from a backup; move this folder away, and the next command fetches the files of the database";
        let what = format!(
            "the database has fewer changes of {} than the replica {}",
            self.folder.name,
            root.display()
        );
        StoreError::Database {
            what,
            code: Code::FileDamaged,
            hint,
            source: None,
        }
    }
}

/// Returns the order in which changes are made: the trash first, and the logs last, so that no reader finds a line without its files.
///
/// A file that moves is first added and then removed.
fn apply_order(edit: &FileEdit) -> u8 {
    let order = path_order(&edit.path);
    if edit.content == NewFileContent::Removed {
        order.max(2)
    } else {
        order
    }
}

/// Returns the order in which new files are written, as in [`apply_order`].
pub(super) fn path_order(path: &str) -> u8 {
    let is_log = Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    if is_log {
        3
    } else {
        u8::from(is_visible(path))
    }
}

/// Returns whether a path is that of the log of a store in `folder`, or of a previous file beside it.
pub(crate) fn is_in_log_folder(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .and_then(|rest| rest.strip_prefix('/'))
        .is_some_and(is_visible)
}

/// Returns whether no part of a path is hidden.
pub(crate) fn is_visible(path: &str) -> bool {
    path.split('/').all(|part| !part.starts_with('.'))
}

fn hash_file(disk: &dyn Disk, path: &str) -> io::Result<Option<String>> {
    let is_file = disk.stat(path)?.is_some_and(|found| !found.is_folder);
    if is_file {
        Ok(Some(hash_bytes(&disk.read_part(path, 0, usize::MAX)?)))
    } else {
        Ok(None)
    }
}
