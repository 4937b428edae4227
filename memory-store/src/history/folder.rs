//! The store of sessions in a folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::{fs, io};

use chrono::{DateTime, Utc};
use memory_core::instance::history::{
    MessageStore, PurgeResult, RecordFilter, SessionAppendResult, SessionName, SessionRecord,
    SessionRecords, SessionSummary, Window, WindowEnd,
};
use memory_core::instance::{
    InstanceError, InstanceOperations, InstanceRecord, InstanceRecords, join_parts,
};
use memory_core::secret::Checked;
use memory_core::spelling::correct_query;
use memory_core::{Operation, OperationId, Progress, SearchRequest, SearchResults};

use super::file::{
    SessionFile, created, existing, file_error, file_name, folder_error, parse_file_name,
    parse_record,
};
use super::message::is_session_file;
use super::queue::{AppendQueues, TakeBatch};
use super::rewrite::SessionRewriter;
use super::{append, operations};
use crate::cache_file::create_folder;
use crate::disk::{
    BackwardLines, DirEntryKind, Disk, ForwardLines, LazyDisk, RealDisk, find_case_variant,
};
use crate::index::{self, MemoryIndex};
use crate::lock::{PATIENCE, WriterLock};
use crate::oplog::{not_found_error, to_records};
use memory_core::text::windows_name_problem;

/// A folder of sessions, which is created by the first append.
#[derive(Debug)]
pub struct HistoryFolder {
    place: LazyDisk,
    patience: Duration,
    queues: AppendQueues,
    /// The index, and the folder of its files, if there is one.
    index: Option<(PathBuf, OnceLock<MemoryIndex>)>,
    /// The number of sessions that the index could not read.
    unreadable: AtomicU64,
    /// The files with a name that is synced and was compared with names that differ only in case.
    known: Mutex<HashSet<String>>,
}

impl HistoryFolder {
    /// Returns the store of the folder `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self::from_lazy_disk(LazyDisk::new(root.into()))
    }

    /// Returns the store of the folder `root`, which is accessed through `disk`.
    pub fn with_disk(root: impl Into<PathBuf>, disk: Arc<dyn Disk>) -> Self {
        Self::from_lazy_disk(LazyDisk::on_disk(root.into(), disk))
    }

    fn from_lazy_disk(place: LazyDisk) -> Self {
        Self {
            place,
            patience: PATIENCE,
            queues: AppendQueues::default(),
            index: None,
            unreadable: AtomicU64::new(0),
            known: Mutex::default(),
        }
    }

    /// Makes the sessions searchable, by an index below the index of the home at `home`.
    #[must_use]
    pub fn with_index(mut self, home: &Path) -> Self {
        let place = home.join(index::FOLDER).join(index::SESSIONS);
        self.index = Some((place, OnceLock::new()));
        self
    }

    /// Returns the index, or `None` without one, or while there is nothing to index.
    fn open_index(&self) -> Result<Option<&MemoryIndex>, InstanceError> {
        let Some((place, index)) = &self.index else {
            return Ok(None);
        };
        let Some(disk) = self.disk()? else {
            return Ok(None);
        };
        let entries = disk.list_folder("").map_err(folder_error(self.root()))?;
        if !place.exists() && !entries.iter().any(|entry| is_session_file(&entry.name)) {
            return Ok(None);
        }
        if let Some(index) = index.get() {
            return Ok(Some(index));
        }
        if let Some(parent) = place.parent() {
            create_folder(parent).map_err(file_error(&parent.display().to_string()))?;
        }
        let disk = RealDisk::open(self.root()).map_err(folder_error(self.root()))?;
        let open = || MemoryIndex::open_in(Arc::new(disk), self.root(), place.clone(), 0);
        Ok(Some(index.get_or_init(open)))
    }

    fn remove_index(&self) -> Result<(), InstanceError> {
        let Some((place, _)) = &self.index else {
            return Ok(());
        };
        match fs::remove_dir_all(place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(file_error(&place.display().to_string())(error))
            }
            _ => Ok(()),
        }
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Path {
        self.place.root()
    }

    fn disk(&self) -> Result<Option<&dyn Disk>, InstanceError> {
        existing(&self.place)
    }

    /// Waits for the lock of a session.
    fn lock_session(&self, disk: &dyn Disk, path: &str) -> Result<WriterLock, InstanceError> {
        Ok(WriterLock::acquire_for_file(
            disk,
            self.root(),
            path,
            self.patience,
        )?)
    }

    /// Waits for the lock of the operation log, which all sessions share.
    ///
    /// The holder of the lock of a session may wait for this lock. The holder of this lock must not wait for the lock
    /// of a session.
    fn lock_operations(&self) -> Result<WriterLock, InstanceError> {
        Ok(WriterLock::acquire_folder(self.root(), self.patience)?)
    }

    fn open(&self, disk: &dyn Disk, path: &str) -> Result<Option<SessionFile>, InstanceError> {
        let opened = SessionFile::open(disk, path, || {
            // If the lock is not available in time, the file is read as it is.
            drop(self.lock_session(disk, path));
        })?;
        if opened.is_some() && !self.is_name_checked(path) {
            check_case_collision(disk, path)?;
        }
        Ok(opened)
    }

    /// Appends the bytes that `take` returns to the file of a session.
    ///
    /// Returns the path of the incomplete record that an interrupted append left, if it was moved to the trash.
    fn write(
        &self,
        disk: &dyn Disk,
        path: &str,
        take: TakeBatch<'_>,
        operation: &Operation,
    ) -> Result<Option<String>, InstanceError> {
        let _lock = self.lock_session(disk, path)?;
        let is_known = self.is_name_checked(path);
        if !is_known {
            check_case_collision(disk, path)?;
            check_new_name(disk, path)?;
        }
        let set_aside = append::append(disk, path, take, operation)?;
        if !is_known {
            // The process that created the file may have crashed before it synced the name.
            disk.sync_folder("").map_err(file_error(path))?;
            self.known
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(path.to_owned());
        }
        Ok(set_aside)
    }

    fn is_name_checked(&self, path: &str) -> bool {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(path)
    }
}

impl MessageStore for HistoryFolder {
    fn append(
        &self,
        session: &SessionName,
        records: Checked<&[SessionRecord]>,
        operation: &Operation,
    ) -> Result<SessionAppendResult, InstanceError> {
        let path = file_name(session)?;
        let disk = created(&self.place)?;
        let lines = append::encode_lines(&records);
        let written = self.queues.append(&path, lines, |take| {
            self.write(disk, &path, take, operation)
        })?;
        let whole = |place: String| self.root().join(place).display().to_string();
        Ok(SessionAppendResult {
            set_aside: written.flatten().map(whole),
        })
    }

    fn records(
        &self,
        session: &SessionName,
        filter: &RecordFilter,
        window: Window,
    ) -> Result<SessionRecords, InstanceError> {
        let path = file_name(session)?;
        let Some(disk) = self.disk()? else {
            return Ok(Box::new(std::iter::empty()));
        };
        let Some(SessionFile { file, end }) = self.open(disk, &path)? else {
            return Ok(Box::new(std::iter::empty()));
        };
        let filter = filter.clone();
        let record = move |line: std::io::Result<_>| match line {
            Ok(line) => parse_record(&path, &line).filter(|record| {
                record
                    .as_ref()
                    .map_or(true, |record| filter.matches(record))
            }),
            Err(error) => Some(Err(file_error(&path)(error))),
        };
        let is_last = window.end == WindowEnd::Last;
        if let Some(limit) = window.limit.filter(|_| is_last && window.offset == 0) {
            let mut last: Vec<_> =
                take_records(limit, BackwardLines::new(file, end).filter_map(record)).collect();
            last.reverse();
            return Ok(Box::new(last.into_iter()));
        }
        let records = skip_records(
            window.offset,
            ForwardLines::new(file, end).filter_map(record),
        );
        let window = Window {
            offset: 0,
            ..window
        };
        match window.limit {
            Some(_) if is_last => Ok(Box::new(window.of(records).into_iter())),
            Some(limit) => Ok(Box::new(take_records(limit, records))),
            None => Ok(Box::new(records)),
        }
    }

    fn sessions(&self) -> Result<Vec<SessionSummary>, InstanceError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        let entries = disk.list_folder("").map_err(folder_error(self.root()))?;
        let mut summaries = Vec::new();
        for entry in entries
            .into_iter()
            .filter(|entry| entry.kind == DirEntryKind::File)
        {
            let Some(session) = parse_file_name(&entry.name) else {
                continue;
            };
            // The file may have been deleted since the folder was listed.
            let Some(SessionFile { file, end }) = self.open(disk, &entry.name)? else {
                continue;
            };
            let told = file_error(&entry.name);
            let mut last = BackwardLines::new(file.try_clone().map_err(told)?, end);
            let last_at = last
                .find_map(|line| parse_record(&entry.name, &line.ok()?)?.ok())
                .and_then(|record| record.at());
            let mut records = 0;
            for line in ForwardLines::new(file, end) {
                let line = line.map_err(told)?;
                records += usize::from(
                    line.is_whole || matches!(parse_record(&entry.name, &line), Some(Ok(_))),
                );
            }
            summaries.push(SessionSummary {
                session,
                records,
                last_at,
            });
        }
        summaries.sort_by(|one, other| one.session.cmp(&other.session));
        Ok(summaries)
    }

    fn refresh_index(&self, progress: &mut dyn FnMut(Progress)) -> Result<(), InstanceError> {
        if let Some(index) = self.open_index()? {
            let unreadable = index.refresh_sessions(progress)?;
            self.unreadable.store(unreadable, Ordering::Relaxed);
        }
        Ok(())
    }

    fn rebuild_index(&self, progress: &mut dyn FnMut(Progress)) -> Result<(), InstanceError> {
        self.remove_index()?;
        self.refresh_index(progress)
    }

    fn search(
        &self,
        asked: &SearchRequest<'_>,
        now: DateTime<Utc>,
    ) -> Result<Option<SearchResults>, InstanceError> {
        if self.index.is_none() {
            return Ok(None);
        }
        let Some(index) = self.open_index()? else {
            return Ok(Some(SearchResults::default()));
        };
        let corrections = index.correct_words(asked.question, None)?;
        let corrected = correct_query(asked.question, &corrections, true);
        let question = corrected.as_ref().map_or(asked.question, |(with, _)| with);
        let asked = &SearchRequest {
            question,
            ..asked.clone()
        };
        let mut found = index.search(asked, now)?;
        // The search may have replaced a damaged index by an empty one.
        if index.has_no_sessions()? {
            self.refresh_index(&mut |_| ())?;
            found = index.search(asked, now)?;
        }
        let unreadable = self.unreadable.load(Ordering::Relaxed);
        if 0 < unreadable {
            let sessions = if unreadable == 1 {
                "1 session".to_owned()
            } else {
                format!("{unreadable} sessions")
            };
            found.degraded = Some(format!(
                "{sessions} in {} cannot be read",
                self.root().display()
            ));
        }
        Ok(Some(found))
    }

    fn delete(
        &self,
        session: &SessionName,
        operation: &Operation,
    ) -> Result<Option<usize>, InstanceError> {
        let deleted = self.rewrite_session(session, operation, |rewriting| {
            if rewriting.exists()? {
                rewriting.delete().map(Some)
            } else {
                Ok(None)
            }
        });
        deleted.map(Option::flatten)
    }

    fn check_replace(&self) -> Result<(), InstanceError> {
        Ok(())
    }

    fn replace(
        &self,
        session: &SessionName,
        records: Checked<&[SessionRecord]>,
        operation: &Operation,
    ) -> Result<(), InstanceError> {
        created(&self.place)?;
        self.rewrite_session(session, operation, |rewriting| rewriting.import(&records))
            .map(Option::unwrap_or_default)
    }

    fn purge(
        &self,
        session: &SessionName,
        filter: &RecordFilter,
        operation: &Operation,
    ) -> Result<PurgeResult, InstanceError> {
        let purged = self.rewrite_session(session, operation, |rewriting| {
            if rewriting.exists()? {
                rewriting.purge(filter)
            } else {
                Ok(PurgeResult::default())
            }
        });
        purged.map(Option::unwrap_or_default)
    }
}

impl InstanceOperations for HistoryFolder {
    fn operations(&self) -> Result<InstanceRecords<'_>, InstanceError> {
        match self.disk()? {
            Some(disk) => Ok(Box::new(join_parts(to_records(operations::operations(
                disk,
            )?)))),
            None => Ok(Box::new(std::iter::empty())),
        }
    }

    fn undo(
        &self,
        undone: &OperationId,
        operation: &Operation,
    ) -> Result<InstanceRecord, InstanceError> {
        let disk = self.disk()?.ok_or_else(|| not_found_error(undone))?;
        let parts = operations::find(disk, undone)?;
        if 1 < parts.len() {
            for part in &parts {
                self.rewrite_session(&part.subject.session.parse()?, operation, |rewriting| {
                    rewriting.check_undo(part)
                })?;
            }
        }
        for part in &parts {
            self.rewrite_session(&part.subject.session.parse()?, operation, |rewriting| {
                rewriting.undo(part)
            })?;
        }
        let record = join_parts(to_records(parts.into_iter().map(Ok))).next();
        record.unwrap_or_else(|| Err(not_found_error(undone).into()))
    }

    fn purge_trash(&self, before: DateTime<Utc>) -> Result<(u64, u64), InstanceError> {
        let Some(disk) = self.disk()? else {
            return Ok((0, 0));
        };
        let _lock = self.lock_operations()?;
        let purged = operations::log(disk).purge(before)?;
        if purged != (0, 0) {
            // The files of the index still contain words of purged messages; the next search builds it anew.
            self.remove_index()?;
        }
        Ok(purged)
    }
}

impl HistoryFolder {
    /// Runs `work` on the file of a session under its lock, or returns `None` if there is no folder.
    fn rewrite_session<T>(
        &self,
        session: &SessionName,
        operation: &Operation,
        work: impl FnOnce(SessionRewriter) -> Result<T, InstanceError>,
    ) -> Result<Option<T>, InstanceError> {
        let path = &file_name(session)?;
        let Some(disk) = self.disk()? else {
            return Ok(None);
        };
        let _lock = self.lock_session(disk, path)?;
        // The file may be replaced or deleted, so its name must be synced again after the next append.
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(path);
        check_case_collision(disk, path)?;
        work(SessionRewriter {
            disk,
            session,
            path,
            operation,
            lock: &|| self.lock_operations(),
        })
        .map(Some)
    }
}

/// Returns an error if the file does not exist and Windows does not allow its name.
fn check_new_name(disk: &dyn Disk, path: &str) -> Result<(), InstanceError> {
    let Some(why) = windows_name_problem(path) else {
        return Ok(());
    };
    match disk.stat(path).map_err(file_error(path))? {
        Some(_) => Ok(()),
        None => Err(InstanceError::PathRefused {
            path: path.to_owned(),
            why: why.to_owned(),
        }),
    }
}

/// Returns an error if the file system treats the name as equal to another one that differs in case.
fn check_case_collision(disk: &dyn Disk, path: &str) -> Result<(), InstanceError> {
    let Some(other) = find_case_variant(disk, path).map_err(file_error(path))? else {
        return Ok(());
    };
    let why = format!("conflicts with {other}, because this file system ignores case");
    Err(InstanceError::PathRefused {
        path: path.to_owned(),
        why,
    })
}

type RecordResult = Result<SessionRecord, InstanceError>;

/// Skips the first `offset` records; errors are returned and do not count.
fn skip_records(
    offset: usize,
    records: impl Iterator<Item = RecordResult>,
) -> impl Iterator<Item = RecordResult> {
    let mut left = offset;
    records.filter(move |record| {
        let is_skipped = record.is_ok() && 0 < left;
        left -= usize::from(is_skipped);
        !is_skipped
    })
}

/// Returns at most `limit` records; errors are returned and do not count.
///
/// The lines of a file end after a disk error.
fn take_records(
    limit: usize,
    records: impl Iterator<Item = RecordResult>,
) -> impl Iterator<Item = RecordResult> {
    let mut left = limit;
    records.map_while(move |record| {
        if left == 0 {
            return None;
        }
        left -= usize::from(record.is_ok());
        Some(record)
    })
}
