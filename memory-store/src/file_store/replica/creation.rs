//! Creates the replica of a shared log.
//!
//! All operations of the log are performed without syncs, and the folder is synced once. Until then, the state of the replica marks it as
//! incomplete.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use memory_core::{ContentHash, RecordedFile, Scope, StoreError};

use super::Replica;
use super::state::{DERIVED, ReplicaState};
use crate::access_key::is_plain_path;
use crate::cache_file;
use crate::disk::{list_files, now_ns, sync_files};
use crate::error::io_error;
use crate::file_store::FileStore;
use crate::index::CATEGORIES;
use crate::journal::JournalPayload;
use crate::oplog::{Durability, OperationLog};
use crate::shared_log::{LogHeads, LogIdentity, LoggedOperation, TOPIC_FOLDERS};

/// The folder of the previous files during the creation of a replica.
const REPLACED: &str = ".replaced";

/// The journal in [`REPLACED`].
const REPLACED_JOURNAL: &str = ".replaced/journal";

/// The folder of files that other programs changed in a replica.
pub(super) const UNSYNCED: &str = "unsynced";

impl FileStore {
    /// Creates the replica from the log, and returns the tokens of its operations. The caller holds the lock.
    ///
    /// The replica then has no queued operation.
    pub(super) fn create_replica(&self, replica: &Replica) -> Result<Vec<i64>, StoreError> {
        let LogIdentity { id, principal } = replica.connection.identity()?.clone();
        let former = self.read_state()?;
        let has_lost_scope = former.as_ref().is_some_and(|state| state.has_lost_scope);
        let (readable, read_only) = former.map_or((None, Vec::new()), |state| {
            (state.readable, state.read_only)
        });
        let mut state = ReplicaState {
            database: id,
            principal,
            readable,
            read_only,
            has_lost_scope,
            journal: None,
            heads: LogHeads::default(),
            start: None,
            synced: None,
        };
        self.write_state(&state)?;
        self.move_derived_folders().map_err(|error| {
            io_error(
                format!("replace the replica {}", self.root.display()),
                error,
            )
        })?;
        let (mut applied, mut contents) = (Vec::new(), HashSet::new());
        loop {
            let Some(operations) = self.pull_page(replica, &mut state)? else {
                return self.create_replica(replica);
            };
            if operations.is_empty() {
                break;
            }
            for logged in operations {
                self.replay(&logged)?;
                contents.extend(
                    logged
                        .record
                        .subject
                        .changes
                        .iter()
                        .filter_map(|change| Some(change.after.as_ref()?.hash)),
                );
                replica.events().pulled += 1;
                applied.push(logged.token);
            }
        }
        let is_without_lost_scope = state.has_lost_scope;
        if is_without_lost_scope {
            // The files of the lost scopes are in no database that this node reads, and are not set aside.
            contents.extend(self.replaced_contents()?);
            state.has_lost_scope = false;
            self.remove_pages()?;
        }
        let (in_log, queued): (Vec<_>, Vec<_>) = self
            .queue()
            .read()?
            .into_iter()
            .partition(|queued| applied.contains(&queued.operation.token));
        // The database has performed them, but its response was lost.
        in_log
            .iter()
            .try_for_each(|queued| self.queue().remove(queued))?;
        let queued = queued.into_iter().flat_map(|queued| queued.operation.files);
        contents.extend(
            queued.filter_map(|file| Some(ContentHash::from_bytes(file.content?.as_slice()))),
        );
        self.sync_replica()?;
        (state.start, state.synced) = (replica.start_id(), Some(self.journal_end()?));
        let refused = |error| io_error(format!("move files to {UNSYNCED}"), error);
        let replaced = self.root.join(REPLACED);
        let target = self.root.join(UNSYNCED).join(now_ns().to_string());
        for folder in [CATEGORIES, "trash"] {
            move_unknown(&replaced.join(folder), &target.join(folder), &contents)
                .map_err(refused)?;
        }
        remove_all(&replaced).map_err(refused)?;
        if is_without_lost_scope {
            self.index.recreate()?;
        } else {
            self.index.rebuild(&mut |_, _| ())?;
        }
        self.index.apply(&[], Some(&self.journal_end()?))?;
        self.save(&mut state)?;
        Ok(applied)
    }

    /// Deletes the replicas of the topics of those projects that the principal may no longer read.
    pub(super) fn remove_lost_topics(
        &self,
        former: Option<&[String]>,
        readable: Option<&[String]>,
    ) -> Result<(), StoreError> {
        let (Some(former), Some(readable)) = (former, readable) else {
            return Ok(());
        };
        for scope in former.iter().filter(|scope| !readable.contains(scope)) {
            let Ok(Scope::Project(project)) = scope.parse() else {
                continue;
            };
            if !is_plain_path(
                &format!("{TOPIC_FOLDERS}/{project}"),
                &format!("{TOPIC_FOLDERS}/"),
            ) {
                continue;
            }
            let folder = self.root.join(TOPIC_FOLDERS).join(project);
            remove_all(&folder)
                .map_err(|error| io_error(format!("delete {}", folder.display()), error))?;
        }
        Ok(())
    }

    /// Returns the hashes of all files in the journal of the previous replica.
    fn replaced_contents(&self) -> Result<HashSet<ContentHash>, StoreError> {
        let journal =
            OperationLog::<JournalPayload>::in_folder(self.disk.as_ref(), REPLACED_JOURNAL);
        let mut contents = HashSet::new();
        for record in journal.operations()? {
            contents.extend(
                record?
                    .subject
                    .changes
                    .iter()
                    .filter_map(|change| Some(change.after.as_ref()?.hash)),
            );
        }
        Ok(contents)
    }

    /// Moves the derived folders to [`REPLACED`]. Those of an interrupted creation are deleted.
    fn move_derived_folders(&self) -> io::Result<()> {
        let replaced = self.root.join(REPLACED);
        if replaced.exists() {
            return DERIVED
                .iter()
                .try_for_each(|folder| remove_all(&self.root.join(folder)));
        }
        cache_file::create_folder(&replaced)?;
        for folder in DERIVED {
            match fs::rename(self.root.join(folder), replaced.join(folder)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Performs an operation without syncs, as a part of the creation of a replica.
    fn replay(&self, logged: &LoggedOperation) -> Result<(), StoreError> {
        let changes = &logged.record.subject.changes;
        for RecordedFile { path, trash, .. } in
            changes.iter().filter_map(|change| change.before.as_ref())
        {
            match trash.as_ref().map_or_else(
                || self.disk.remove(path),
                |trash| self.disk.rename(path, trash),
            ) {
                // The content was purged.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                moved => {
                    moved.map_err(|error| io_error(format!("move {path} to the trash"), error))?;
                }
            }
        }
        for (change, content) in changes.iter().zip(&logged.contents) {
            if let (Some(after), Some(content)) = (&change.after, content) {
                let path = &after.path;
                self.disk
                    .write(path, content)
                    .map_err(|error| io_error(format!("write {path}"), error))?;
            }
        }
        Ok(self
            .journal()
            .append(&logged.record, Durability::Unsynced)?)
    }

    fn sync_replica(&self) -> Result<(), StoreError> {
        let disk = self.disk.as_ref();
        let sync = || {
            if disk.sync_everything()? {
                return Ok(());
            }
            DERIVED
                .iter()
                .try_for_each(|folder| sync_files(disk, &list_files(disk, folder, |_| true)?))
        };
        sync().map_err(|error| io_error(format!("sync {}", self.root.display()), error))
    }
}

/// Moves the files below a folder whose content is not in `logged`.
fn move_unknown(from: &Path, to: &Path, logged: &HashSet<ContentHash>) -> io::Result<()> {
    for entry in entries(from)? {
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            move_unknown(&entry.path(), &target, logged)?;
        } else if !kind.is_file()
            || !logged.contains(&ContentHash::from_bytes(&fs::read(entry.path())?))
        {
            fs::create_dir_all(to)?;
            fs::rename(entry.path(), target)?;
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.collect(),
    }
}

fn remove_all(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
