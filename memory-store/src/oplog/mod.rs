//! The operation log of a store, and the engine that carries out its operations.
//!
//! The log has one JSON line per operation, in one file per month. All lines have the same fields for the operation; the store adds its
//! payload, the fields for what the operation changed. A line is durable before the operation is carried out, so that the next writer
//! detects an interrupted operation. It then appends a second line, `{"operation": …, "at": …, "aborted": true}`, and readers skip both.
//!
//! [`FileOperations`] changes whole files completely or not at all, even across a power cut. Safety follows from the order of the steps.
//! Each step is durable before the next one starts, except with [`Durability::Unsynced`]:
//!
//! 1. The new content is written under temporary names.
//! 2. The previous files are linked into the trash.
//! 3. The new files are renamed to their final names.
//! 4. The previous names of moved and deleted files are removed.
//!
//! The line, with the previous and the new state of each file, is appended before step 1 or before step 3, depending on [`Staging`]. After
//! a crash, the log contains an operation with some files in the previous state and some in the new one, or temporary files exist. The next
//! writer detects this and rolls the operation back.
//!
//! [`SingleFileOperation`] changes one file by an atomic rename or deletion, so that nothing needs to be restored.

mod execution;
mod files;
mod format;
mod recovery;

use std::io;
use std::marker::PhantomData;

use chrono::{DateTime, Utc};
use memchr::memmem::Finder;
use memory_core::{
    ContentHash, Operation, OperationId, Recorded, StoreError, mark_undone, mark_undone_lazily,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use self::execution::{
    Durability, FileChange, FileOperations, FilePayload, LONGEST_NAME, NewContent, OperationError,
    SingleFileOperation, Staging, is_temporary_name, shorten_name,
};
pub(crate) use self::files::{LogPosition, is_monthly_file, log_files};
use self::format::LogLine;
use crate::disk::{self, Disk, RawLine};

/// What an operation of a store changed, as its log records it.
///
/// The names of its fields must differ from those of an operation: `operation`, `at`, `verb`, `by`, `undoes` and `aborted`.
pub(crate) trait LogPayload: Serialize + DeserializeOwned {
    /// The description for the user.
    type Subject;

    /// The error of the store.
    type Error: From<StoreError> + From<OperationError>;

    /// The folder of the log, and of the previous files of most stores.
    const FOLDER: &'static str;

    /// Returns the description for the user, or `None` if the operation is not listed.
    fn subject(&self) -> Option<Self::Subject>;
}

/// The result of an access to the log of a store.
type LogResult<T, P> = Result<T, <P as LogPayload>::Error>;

/// The operation log in a folder.
#[derive(Debug)]
pub(crate) struct OperationLog<'d, P> {
    disk: &'d dyn Disk,
    folder: &'static str,
    payload: PhantomData<fn() -> P>,
}

impl<'d, P: LogPayload> OperationLog<'d, P> {
    /// Returns the log of the store, whose folder need not exist.
    pub(crate) fn new(disk: &'d dyn Disk) -> Self {
        Self::in_folder(disk, P::FOLDER)
    }

    /// Returns a log in another folder.
    pub(crate) fn in_folder(disk: &'d dyn Disk, folder: &'static str) -> Self {
        Self {
            disk,
            folder,
            payload: PhantomData,
        }
    }

    /// Appends the line of an operation, durably unless `durability` says otherwise.
    pub(crate) fn append(
        &self,
        record: &Recorded<P>,
        durability: Durability,
    ) -> Result<(), OperationError> {
        let line = LogLine::operation_to_json(record);
        self.append_line(&record.operation, &line, durability)
    }

    fn append_line(
        &self,
        operation: &Operation,
        line: &[u8],
        durability: Durability,
    ) -> Result<(), OperationError> {
        files::append(self.disk, self.folder, operation.at, line, durability)
            .map_err(|error| OperationError::WriteLog(self.folder, error))
    }

    /// Returns the error that the log cannot be read.
    fn read_error(&self) -> impl Fn(io::Error) -> P::Error + use<P> {
        let folder = self.folder;
        move |error| OperationError::ReadLog(folder, error).into()
    }

    /// Returns whether the file of a position still exists, or there was none.
    pub(crate) fn contains(&self, position: &LogPosition) -> LogResult<bool, P> {
        position
            .is_known(self.disk, self.folder)
            .map_err(self.read_error())
    }

    /// Returns whether the log has all lines before a position.
    pub(crate) fn reaches(&self, position: &LogPosition) -> LogResult<bool, P> {
        position
            .is_within_log(self.disk, self.folder)
            .map_err(self.read_error())
    }

    /// Records that the last line of an operation was not carried out.
    pub(crate) fn append_abort(&self, operation: &Operation) -> Result<(), OperationError> {
        let line = LogLine::<P>::abort_to_json(operation);
        self.append_line(operation, &line, Durability::Synced)
    }

    /// Returns the size of all files of the log, in bytes.
    pub(crate) fn size(&self) -> LogResult<u64, P> {
        let refused = self.read_error();
        let mut size = 0;
        for path in files::log_files(self.disk, self.folder).map_err(&refused)? {
            let found = self.disk.stat(&path).map_err(&refused)?;
            size += found.map_or(0, |found| found.size);
        }
        Ok(size)
    }

    /// Returns the end of the log.
    pub(crate) fn end(&self) -> LogResult<LogPosition, P> {
        LogPosition::end(self.disk, self.folder).map_err(self.read_error())
    }

    /// Returns the last operation after `position`, unless it was aborted.
    ///
    /// If the position is `None`, or its file no longer exists, only the last line of the log is considered.
    pub(crate) fn last_after(
        &self,
        position: Option<&LogPosition>,
    ) -> LogResult<Option<Recorded<P>>, P> {
        let known = match position {
            Some(position) if self.contains(position)? => Some(position),
            _ => None,
        };
        let limit = if known.is_some() { usize::MAX } else { 1 };
        without_aborted(self.lines(known)?.take(limit))
            .next()
            .transpose()
    }

    /// Iterates over the operations after `position` that were not aborted, newest first.
    ///
    /// If the file of the position no longer exists, those in all later files count.
    pub(crate) fn operations_after(
        &self,
        position: &LogPosition,
    ) -> LogResult<impl Iterator<Item = LogResult<Recorded<P>, P>> + use<'d, P>, P> {
        Ok(without_aborted(self.lines(Some(position))?))
    }

    /// Returns the operations after `position` that were not aborted, newest first; `None` if a line or the file of the position is lost.
    pub(crate) fn complete_operations_after(
        &self,
        position: &LogPosition,
    ) -> LogResult<Option<Vec<Recorded<P>>>, P> {
        if !self.reaches(position)? {
            return Ok(None);
        }
        let lines: Option<Vec<_>> = self
            .parsed_lines(Some(position))?
            .collect::<Result<_, _>>()?;
        lines
            .map(|lines| without_aborted(lines.into_iter().map(Ok)).collect())
            .transpose()
    }

    /// Returns the newest operation, carried out or not, with whether it was aborted.
    pub(crate) fn last(&self) -> LogResult<Option<(Recorded<P>, bool)>, P> {
        self.find_last(|_| true)
    }

    /// Returns the newest operation that satisfies `is_wanted`, with whether it was aborted.
    pub(crate) fn find_last(
        &self,
        is_wanted: impl Fn(&Recorded<P>) -> bool,
    ) -> LogResult<Option<(Recorded<P>, bool)>, P> {
        let mut aborted = Vec::new();
        for line in self.lines(None)? {
            match line? {
                LogLine::Aborted(id) => aborted.push(id),
                LogLine::Operation(record) if is_wanted(&record) => {
                    let is_aborted = aborted.contains(&record.operation.id);
                    return Ok(Some((record, is_aborted)));
                }
                LogLine::Operation(_) => {}
            }
        }
        Ok(None)
    }

    /// Iterates over the operations without those that were aborted, newest first.
    pub(crate) fn operations(
        &self,
    ) -> LogResult<impl Iterator<Item = LogResult<Recorded<P>, P>> + use<'d, P>, P> {
        self.operations_with(None)
    }

    /// Iterates over the operations without those that were aborted, newest first. With `text`, only those whose line contains it, and
    /// all undos: other lines are not parsed, which takes most of the time of reading a log.
    pub(crate) fn operations_with(
        &self,
        text: Option<&str>,
    ) -> LogResult<impl Iterator<Item = LogResult<Recorded<P>, P>> + use<'d, P>, P> {
        let texts = text.map(|text| {
            [text, "\"undoes\":", "\"aborted\":"].map(|text| Finder::new(text).into_owned())
        });
        let texts: Vec<_> = texts.into_iter().flatten().collect();
        let are_all_wanted = texts.is_empty();
        let refused = self.read_error();
        let mut lines =
            files::lines_newest_first(self.disk, self.folder, None, texts).map_err(&refused)?;
        let mut aborted = AbortedOperations::default();
        Ok(std::iter::from_fn(move || {
            loop {
                // An aborted part of an operation may be any line.
                let line = if are_all_wanted || !aborted.is_empty() {
                    lines.next()?
                } else {
                    lines.next_with_text()?
                };
                let bytes = match line {
                    Ok(bytes) => bytes,
                    Err(error) => return Some(Err(refused(error))),
                };
                if let Some(record) = LogLine::from_json(&bytes).and_then(|line| aborted.keep(line))
                {
                    return Some(Ok(record));
                }
            }
        }))
    }

    /// Iterates over the operations of which `is_completed`, newest first, with their undos.
    ///
    /// For stores in which the next writer records no interruption.
    pub(crate) fn completed_operations<F: FnMut(&Recorded<P>) -> LogResult<bool, P>>(
        &self,
        mut is_completed: F,
    ) -> LogResult<impl Iterator<Item = LogResult<Recorded<P>, P>> + use<'d, P, F>, P> {
        let completed = self.operations()?.filter_map(move |record| {
            let completed = record
                .and_then(|record| is_completed(&record).map(|is_so| is_so.then_some(record)));
            completed.transpose()
        });
        Ok(mark_undone_lazily(completed))
    }

    /// Returns the records of the operations for the user, with their undos, newest first.
    pub(crate) fn records(&self) -> LogResult<Vec<Recorded<P::Subject>>, P> {
        let mut records = to_records(self.operations()?).collect::<Result<Vec<_>, _>>()?;
        mark_undone(&mut records);
        Ok(records)
    }

    /// Iterates over the lines after `position`, newest first; lines that cannot be parsed are skipped.
    fn lines(
        &self,
        position: Option<&LogPosition>,
    ) -> LogResult<impl Iterator<Item = LogResult<LogLine<P>, P>> + use<'d, P>, P> {
        Ok(self.parsed_lines(position)?.filter_map(Result::transpose))
    }

    /// Iterates over the lines after `position`, newest first; `None` for lines that cannot be parsed.
    fn parsed_lines(
        &self,
        position: Option<&LogPosition>,
    ) -> LogResult<impl Iterator<Item = LogResult<Option<LogLine<P>>, P>> + use<'d, P>, P> {
        let refused = self.read_error();
        let lines = files::lines_newest_first(self.disk, self.folder, position, Vec::new());
        Ok(lines.map_err(&refused)?.map(move |line| {
            line.map(|bytes| LogLine::from_json(&bytes))
                .map_err(&refused)
        }))
    }

    /// Returns the file and number of each line that cannot be parsed; empty lines are skipped.
    pub(crate) fn invalid_lines(&self) -> LogResult<Vec<(String, usize)>, P> {
        let refused = self.read_error();
        let is_valid = |line: &RawLine| {
            line.bytes.trim_ascii().is_empty() || LogLine::<P>::from_json(&line.bytes).is_some()
        };
        let mut invalid = Vec::new();
        for path in files::log_files(self.disk, self.folder).map_err(&refused)? {
            invalid.extend(
                disk::invalid_lines(self.disk, &path, is_valid)
                    .map_err(&refused)?
                    .into_iter()
                    .map(|line| (path.clone(), line)),
            );
        }
        Ok(invalid)
    }

    /// Returns the folder for the previous files of an operation.
    pub(crate) fn trash_folder(&self, operation: &Operation) -> String {
        trash_folder(self.folder, operation)
    }

    /// Deletes the months that ended before `before`; returns the number of deleted files and bytes.
    ///
    /// No other process may append a line during the call.
    pub(crate) fn purge(&self, before: DateTime<Utc>) -> LogResult<(u64, u64), P> {
        files::purge(self.disk, self.folder, before)
            .map_err(|error| OperationError::WriteLog(self.folder, error).into())
    }
}

/// Returns the folder for the previous files of an operation, below `folder`.
pub(crate) fn trash_folder(folder: &str, operation: &Operation) -> String {
    format!("{folder}/{}/{}", operation.at.format("%Y-%m"), operation.id)
}

/// Returns the line of an operation, without the line end.
pub(crate) fn operation_to_json<P: LogPayload>(record: &Recorded<P>) -> Vec<u8> {
    LogLine::operation_to_json(record)
}

/// Parses the line of an operation; `None` if it is not valid.
pub(crate) fn operation_from_json<P: LogPayload>(line: &[u8]) -> Option<Recorded<P>> {
    match LogLine::from_json(line)? {
        LogLine::Operation(record) => Some(record),
        LogLine::Aborted(_) => None,
    }
}

/// Removes the aborted operations from lines that are ordered newest first.
fn without_aborted<P, E>(
    lines: impl Iterator<Item = Result<LogLine<P>, E>>,
) -> impl Iterator<Item = Result<Recorded<P>, E>> {
    let mut aborted = AbortedOperations::default();
    lines.filter_map(move |line| match line {
        Err(error) => Some(Err(error)),
        Ok(line) => aborted.keep(line).map(Ok),
    })
}

/// The operations whose last line was aborted, while lines are read from the newest to the oldest.
#[derive(Debug, Default)]
struct AbortedOperations(Vec<OperationId>);

impl AbortedOperations {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the operation of a line unless it was aborted.
    fn keep<P>(&mut self, line: LogLine<P>) -> Option<Recorded<P>> {
        match line {
            LogLine::Aborted(id) => {
                self.0.push(id);
                None
            }
            // The parts of an operation are several lines with the same id; an abort refers to the last one.
            LogLine::Operation(record) => {
                match self.0.iter().position(|id| *id == record.operation.id) {
                    Some(at) => {
                        self.0.swap_remove(at);
                        None
                    }
                    None => Some(record),
                }
            }
        }
    }
}

/// Converts logged operations to records for the user; those that are not listed are omitted.
pub(crate) fn to_records<P: LogPayload>(
    operations: impl Iterator<Item = LogResult<Recorded<P>, P>>,
) -> impl Iterator<Item = LogResult<Recorded<P::Subject>, P>> {
    operations.filter_map(|logged| match logged {
        Ok(logged) => to_record(logged).map(Ok),
        Err(error) => Some(Err(error)),
    })
}

/// Converts a logged operation to a record for the user, or returns `None` if it is not listed.
fn to_record<P: LogPayload>(logged: Recorded<P>) -> Option<Recorded<P::Subject>> {
    let subject = logged.subject.subject()?;
    Some(logged.map(|_| subject))
}

/// Returns the operation `undone`, if it can be undone, and its record for the user.
pub(crate) fn find_undoable<P: LogPayload + Clone>(
    operations: impl Iterator<Item = LogResult<Recorded<P>, P>>,
    undone: &OperationId,
) -> LogResult<(Recorded<P>, Recorded<P::Subject>), P> {
    let logged = memory_core::find_undoable(operations, undone)?;
    let record = to_record(logged.clone()).ok_or_else(|| not_found_error(undone))?;
    Ok((logged, record))
}

/// Returns the error that there is no operation `undone`.
pub(crate) fn not_found_error(undone: &OperationId) -> StoreError {
    StoreError::OperationNotFound {
        wanted: format!("no operation has the id {undone}"),
    }
}

/// Returns the hash of a file or value, as payloads contain it.
pub(crate) fn hash_bytes(bytes: &[u8]) -> String {
    ContentHash::from_bytes(bytes).to_string()
}
