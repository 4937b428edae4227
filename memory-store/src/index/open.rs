//! The index of a home, and its recovery from damage.
//!
//! Concurrent searches each use a set of open files of their own.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use memory_core::StoreError;
use memory_core::text::format_error_chain;
use rusqlite::TransactionBehavior;
use tempfile::TempDir;

use super::error::{IndexError, IndexErrorKind};
use super::file_cache::FileCache;
use super::memory_index::{MAX_QUERIES, MemoryIndex, OpenIndex};
use super::rebuild::{RebuildReason, erase_deleted, rebuild};
use super::schema::{self, IndexMeta, LOCK_TIMEOUT, row_count};
use super::text;
use crate::cache_file::create_folder;
use crate::disk::{Disk, copy_with_time};
use crate::lock::{LockMode, lock_within};
use crate::system::{FileIdentity, identity_of_path, owner_only};

/// The folder of the index, below the home.
pub(crate) const FOLDER: &str = "index";

/// Name prefix of copies of the home in the folder of the index; see [`crate::Rehearsal`].
pub(crate) const REHEARSAL: &str = "rehearsal-";

/// The folder of the index of sessions, in that of the index. A copy of the home has no sessions.
pub(crate) const SESSIONS: &str = "sessions";

/// The lock file: locked exclusively to replace the files of the index, shared to open them.
const LOCK: &str = ".lock";

/// Maximum number of attempts of an operation on the index, including the first.
const ATTEMPTS: usize = 4;

/// Whether an operation may run on a temporary index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TemporaryUse {
    Welcome,
    Pointless,
}

impl MemoryIndex {
    /// Creates the index of the home at `root`, with a file cache of up to `kept` bytes.
    ///
    /// Nothing is read or written before the first use.
    pub(crate) fn open(disk: Arc<dyn Disk>, root: &Path, kept: usize) -> Self {
        Self::open_in(disk, root, root.join(FOLDER), kept)
    }

    /// Creates the index of the folder at `root` with its files in the folder `place`.
    pub(crate) fn open_in(disk: Arc<dyn Disk>, root: &Path, place: PathBuf, kept: usize) -> Self {
        Self {
            disk,
            root: root.to_owned(),
            place,
            kept: FileCache::new(kept),
            facets: Mutex::new(None),
            seats: [const { Mutex::new(None) }; MAX_QUERIES],
            lock_timeout: LOCK_TIMEOUT,
        }
    }

    /// Returns why results may be incomplete, if they may.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(super) fn degraded(&self) -> Result<Option<String>, StoreError> {
        self.query("count unreadable files", |_, opened| {
            let mut count = opened
                .connection
                .prepare_cached("SELECT count(*) FROM unreadable")?;
            let unreadable = match count.query_row((), |row| row_count(row, 0))? {
                0 => None,
                1 => Some("1 file cannot be read; run `memory doctor` to list it".to_owned()),
                several => Some(format!(
                    "{several} files cannot be read; run `memory doctor` to list them"
                )),
            };
            let reasons: Vec<_> = opened.degraded.iter().cloned().chain(unreadable).collect();
            Ok(Some(reasons.join("; ")).filter(|reasons| !reasons.is_empty()))
        })
    }

    /// Rebuilds the index from the files.
    ///
    /// Calls `progress` with the number of processed files and the total.
    ///
    /// # Errors
    /// If the files cannot be listed, or the index cannot be written.
    pub(crate) fn rebuild(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        self.modify("build the index", |index, opened| {
            opened.text = None;
            rebuild(
                index,
                &mut opened.connection,
                &opened.place,
                RebuildReason::Asked,
                progress,
            )
        })
    }

    /// Rebuilds the index from the files, so that its files contain nothing of other memories.
    ///
    /// # Errors
    /// If the files cannot be listed, or the index cannot be written.
    pub(crate) fn recreate(&self) -> Result<(), StoreError> {
        self.rebuild(&mut |_, _| ())?;
        self.modify("build the index", |_, opened| {
            erase_deleted(&opened.connection)
        })
    }

    /// Copies the index into `folder`, for a copy of the home. The caller holds the lock of the home.
    ///
    /// # Errors
    /// If the index cannot be read or copied.
    pub(crate) fn copy_to(&self, folder: &Path) -> Result<(), StoreError> {
        self.query("copy the index", |_, opened| {
            let place = folder.join(FOLDER);
            fs::create_dir_all(&place)?;
            let nobody_writes = opened
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            copy_folder(&opened.place, &place)?;
            nobody_writes.rollback()?;
            Ok(())
        })
    }

    /// Runs `ask` on the index.
    ///
    /// A missing or damaged index is rebuilt first. If the index cannot be written, a temporary one is used instead.
    pub(super) fn query<T>(
        &self,
        action: &str,
        ask: impl FnMut(&Self, &mut OpenIndex) -> Result<T, IndexError>,
    ) -> Result<T, StoreError> {
        self.run_with_recovery(action, TemporaryUse::Welcome, ask)
    }

    /// Runs `tell` on the index like [`Self::ask`], but never on a temporary index.
    ///
    /// A change of a temporary index would be lost.
    pub(super) fn modify<T>(
        &self,
        action: &str,
        tell: impl FnMut(&Self, &mut OpenIndex) -> Result<T, IndexError>,
    ) -> Result<T, StoreError> {
        self.run_with_recovery(action, TemporaryUse::Pointless, tell)
    }

    fn run_with_recovery<T>(
        &self,
        action: &str,
        elsewhere: TemporaryUse,
        mut ask: impl FnMut(&Self, &mut OpenIndex) -> Result<T, IndexError>,
    ) -> Result<T, StoreError> {
        let mut state = self.acquire_slot();
        let mut attempt = 1;
        loop {
            let answer = self
                .open_current(&mut state)
                .and_then(|opened| ask(self, opened));
            let Err(trouble) = answer else {
                return answer.map_err(|trouble| trouble.into_error(action, self));
            };
            let is_last = ATTEMPTS <= attempt;
            attempt += 1;
            let remedy = match trouble.kind() {
                IndexErrorKind::Other => {
                    return Err(trouble.into_error(action, self));
                }
                IndexErrorKind::Refused if elsewhere == TemporaryUse::Pointless => {
                    return Err(trouble.into_error(action, self));
                }
                _ if is_last => return Err(trouble.into_error(action, self)),
                IndexErrorKind::TablesDamaged => self.delete_files(&mut state),
                IndexErrorKind::TextDamaged => self.rebuild_text(&mut state),
                IndexErrorKind::Refused => self.use_temporary_copy(&mut state, &trouble),
            };
            match remedy {
                Ok(()) => {}
                Err(refusal) if refusal.kind() == IndexErrorKind::Refused => {
                    self.use_temporary_copy(&mut state, &refusal)
                        .map_err(|trouble| trouble.into_error(action, self))?;
                }
                Err(other) if other.kind() == IndexErrorKind::TablesDamaged => {
                    self.delete_files(&mut state)
                        .map_err(|trouble| trouble.into_error(action, self))?;
                }
                // Damaged again by another process: the next attempt handles it.
                Err(other) if other.kind() == IndexErrorKind::TextDamaged => {}
                Err(other) => return Err(other.into_error(action, self)),
            }
        }
    }

    fn acquire_slot(&self) -> MutexGuard<'_, Option<OpenIndex>> {
        let free = self.seats.iter().find_map(|seat| match seat.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(poisoned)) => Some(clear_slot(seat, poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        });
        free.unwrap_or_else(|| {
            let [.., last] = &self.seats;
            last.lock()
                .unwrap_or_else(|poisoned| clear_slot(last, poisoned.into_inner()))
        })
    }

    fn open_current<'s>(
        &self,
        state: &'s mut Option<OpenIndex>,
    ) -> Result<&'s mut OpenIndex, IndexError> {
        // Another process may have deleted or replaced the folder with the open file.
        let is_current = |opened: &OpenIndex| opened.identity == identity(&opened.place);
        if !state.as_ref().is_some_and(is_current) {
            *state = None;
            *state = Some(self.open_at(self.place.clone(), None, None)?);
        }
        Ok(state.as_mut().expect("it was just opened"))
    }

    fn open_at(
        &self,
        place: PathBuf,
        temporary: Option<TempDir>,
        degraded: Option<String>,
    ) -> Result<OpenIndex, IndexError> {
        create_folder(&place)?;
        let lock = self.lock_files(LockMode::Shared, &place)?;
        let mut connection = schema::connect(&place, self.lock_timeout)?;
        let is_complete = schema::is_complete(&connection)?;
        let identity = identity(&place);
        drop(lock);
        if !is_complete {
            rebuild(
                self,
                &mut connection,
                &place,
                RebuildReason::Incomplete,
                &mut |_, _| {},
            )?;
        }
        Ok(OpenIndex {
            connection,
            place,
            degraded,
            text: None,
            vectors: None,
            identity,
            temporary,
            lock_timeout: self.lock_timeout,
        })
    }

    /// Waits for a lock of the files of the index at `place`.
    fn lock_files(&self, mode: LockMode, place: &Path) -> Result<File, IndexError> {
        let file = place.join(LOCK);
        let opened =
            owner_only(File::options().create(true).truncate(false).write(true)).open(&file)?;
        Ok(lock_within(mode, opened, &file, place, self.lock_timeout)?)
    }

    /// Deletes the files of the index, unless another process has deleted or repaired them.
    fn delete_files(&self, state: &mut Option<OpenIndex>) -> Result<(), IndexError> {
        let opened = state.take();
        let place = opened
            .as_ref()
            .map_or_else(|| self.place.clone(), |opened| opened.place.clone());
        let ours = opened
            .as_ref()
            .map_or_else(|| identity(&place), |opened| opened.identity);
        drop(opened);
        if !place.exists() {
            return Ok(());
        }
        let _lock = self.lock_files(LockMode::Exclusive, &place)?;
        if identity(&place) != ours || passes_integrity_check(&place) {
            return Ok(());
        }
        for name in [
            format!("{}-wal", schema::FILE),
            format!("{}-shm", schema::FILE),
            schema::FILE.to_owned(),
        ] {
            match fs::remove_file(place.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        match fs::remove_dir_all(place.join(text::FOLDER)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Rebuilds the index because its full text is damaged, unless another process has done so.
    fn rebuild_text(&self, state: &mut Option<OpenIndex>) -> Result<(), IndexError> {
        let opened = self.open_current(state)?;
        let seen = opened.text.take().map(|(epoch, _)| epoch);
        let epoch = match seen {
            Some(epoch) => epoch,
            None => IndexMeta::read(&opened.connection)?.epoch,
        };
        rebuild(
            self,
            &mut opened.connection,
            &opened.place,
            RebuildReason::Damaged { epoch },
            &mut |_, _| {},
        )
    }

    /// Switches to a copy of the index in a temporary folder, because the index cannot be written.
    fn use_temporary_copy(
        &self,
        state: &mut Option<OpenIndex>,
        why: &IndexError,
    ) -> Result<(), IndexError> {
        if state
            .as_ref()
            .is_some_and(|opened| opened.temporary.is_some())
        {
            return Err(io::Error::other(why.to_string()).into());
        }
        *state = None;
        let temporary = tempfile::Builder::new().prefix("memory-index-").tempdir()?;
        let home = &self.place;
        // An index that cannot be copied is rebuilt in the temporary folder.
        if home.is_dir() && copy_folder(home, temporary.path()).is_err() {
            fs::remove_dir_all(temporary.path())?;
        }
        let degraded = format!(
            "the index at {} cannot be written ({}), so a temporary index was used",
            home.display(),
            format_error_chain(why)
        );
        let place = temporary.path().to_owned();
        let opened = self.open_at(place.clone(), None, Some(degraded.clone()));
        let mut opened = match opened {
            Err(trouble) if trouble.kind() == IndexErrorKind::TablesDamaged => {
                fs::remove_dir_all(&place)?;
                self.open_at(place, None, Some(degraded))?
            }
            opened => opened?,
        };
        opened.temporary = Some(temporary);
        *state = Some(opened);
        Ok(())
    }
}

/// Discards the state that a panicked thread left.
fn clear_slot<'s>(
    seat: &Mutex<Option<OpenIndex>>,
    mut state: MutexGuard<'s, Option<OpenIndex>>,
) -> MutexGuard<'s, Option<OpenIndex>> {
    *state = None;
    seat.clear_poison();
    state
}

/// Returns whether the tables pass the integrity check and are complete.
fn passes_integrity_check(place: &Path) -> bool {
    let sound = || -> Result<bool, IndexError> {
        let connection = schema::connect(place, LOCK_TIMEOUT)?;
        let verdict: String =
            connection.query_row("PRAGMA integrity_check(1)", (), |row| row.get(0))?;
        Ok(verdict == "ok"
            && schema::is_complete(&connection)?
            && IndexMeta::read(&connection).is_ok())
    };
    sound().unwrap_or(false)
}

/// Returns the identity of the database file, to detect a replaced file.
fn identity(place: &Path) -> Option<FileIdentity> {
    identity_of_path(&place.join(schema::FILE)).ok()
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(REHEARSAL) || name == SESSIONS {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::create_dir_all(&target)?;
            copy_folder(&entry.path(), &target)?;
        } else {
            copy_with_time(&entry.path(), &target)?;
        }
    }
    Ok(())
}
