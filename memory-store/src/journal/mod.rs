//! The write-ahead journal.
//!
//! The journal has one file per month and one JSON line per operation; the parts of a long operation are lines with the same id.
//! A line is durable before the first file is changed, so that an operation that a crash interrupted can be detected and rolled
//! back (see [`crate::commit`]). Lines are only ever appended.

mod format;
mod lines;

pub(crate) use format::{JournalEvent, JournalLine};
pub(crate) use lines::{JournalLines, ends_with_line_break};

use std::sync::Arc;

use chrono::{DateTime, Utc};
use memory_core::{Operation, OperationId, RecordedChange, StoreError};

use crate::disk::{DirEntryKind, Disk};
use crate::error::io_error;
use crate::oplog::is_monthly_file;

const FOLDER: &str = "journal";

/// The journal of a home.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    disk: Arc<dyn Disk>,
}

/// A position in the journal, before which all operations are complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JournalMark {
    /// The name of the monthly file, or empty if there is no journal yet.
    file: String,
    /// The length of the file in bytes.
    length: u64,
}

impl JournalMark {
    /// Returns the mark as text for the index.
    pub(crate) fn to_text(&self) -> String {
        format!("{}:{}", self.file, self.length)
    }

    /// Parses the result of [`JournalMark::to_text`].
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let (file, length) = text.split_once(':')?;
        Some(Self { file: file.to_owned(), length: length.parse().ok()? })
    }
}

impl Journal {
    pub(crate) fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk }
    }

    /// Returns the current end of the journal.
    pub(crate) fn end(&self) -> Result<JournalMark, StoreError> {
        let Some(file) = self.files()?.pop() else { return Ok(JournalMark { file: String::new(), length: 0 }) };
        let path = format!("{FOLDER}/{file}");
        let signature = self.disk.stat(&path).map_err(|error| io_error(format!("check {path}"), error))?;
        Ok(JournalMark { file, length: signature.map_or(0, |signature| signature.size) })
    }

    /// Appends a line for `operation`, or for a part of it, durably.
    pub(crate) fn begin(
        &self,
        operation: &Operation,
        undoes: Option<&OperationId>,
        changes: &[RecordedChange],
    ) -> Result<(), StoreError> {
        self.add(operation.at, &JournalLine::of(operation, undoes, changes))
    }

    /// Records that the last part of an operation was not executed.
    pub(crate) fn abort(&self, id: &OperationId, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.add(at, &JournalLine::aborted(id, at))
    }

    fn add(&self, at: DateTime<Utc>, line: &JournalLine) -> Result<(), StoreError> {
        let month = at.format("%Y-%m").to_string();
        // A clock that was set back must not change the order of lines.
        let file = self.files()?.pop().unwrap_or_default().max(format!("{month}.jsonl"));
        let path = format!("{FOLDER}/{file}");
        let refused = |error| io_error(format!("write {path}"), error);
        let mut bytes = line.to_json().into_bytes();
        bytes.push(b'\n');
        let is_new = match self.disk.stat(&path).map_err(refused)? {
            None => true,
            Some(found) => {
                if !lines::ends_with_line_break(self.disk.as_ref(), &path, found.size).map_err(refused)? {
                    // The rest of an incomplete line becomes a separate line, which readers skip.
                    bytes.insert(0, b'\n');
                }
                false
            }
        };
        self.disk.append(&path, &bytes).map_err(refused)?;
        if is_new {
            self.disk.sync_folder(FOLDER).map_err(refused)?;
        }
        Ok(())
    }

    /// Returns the names of the monthly files, oldest first.
    fn files(&self) -> Result<Vec<String>, StoreError> {
        let entries = self.disk.list_folder(FOLDER).map_err(|error| io_error(format!("list {FOLDER}"), error))?;
        let mut files: Vec<_> = entries
            .into_iter()
            .filter(|entry| entry.kind == DirEntryKind::File && is_monthly_file(&entry.name))
            .map(|entry| entry.name)
            .collect();
        files.sort_unstable();
        Ok(files)
    }

    /// Returns the lines after `mark`, last first.
    ///
    /// Without a mark, or if the file of the mark no longer exists, only the last line is returned.
    pub(crate) fn lines_after(&self, mark: Option<&JournalMark>) -> Result<Vec<JournalLine>, StoreError> {
        let files = self.files()?;
        let known = mark.filter(|mark| mark.file.is_empty() || files.contains(&mark.file));
        let Some(mark) = known else { return self.lines().take(1).collect() };
        let mut after = Vec::new();
        for file in files.iter().rev().take_while(|file| mark.file <= **file) {
            let start = if *file == mark.file { mark.length } else { 0 };
            for line in JournalLines::open(self.disk.as_ref(), &format!("{FOLDER}/{file}"), start)? {
                after.push(line?);
            }
        }
        Ok(after)
    }

    /// Returns whether any line after `mark` satisfies `is_meant`.
    ///
    /// If the file of the mark no longer exists, the lines of all later files count.
    pub(crate) fn any_after(&self, mark: &JournalMark, is_meant: &dyn Fn(&JournalLine) -> bool) -> Result<bool, StoreError> {
        for file in self.files()?.iter().rev().take_while(|file| mark.file <= **file) {
            let start = if *file == mark.file { mark.length } else { 0 };
            for line in JournalLines::open(self.disk.as_ref(), &format!("{FOLDER}/{file}"), start)? {
                if is_meant(&line?) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Iterates over all lines, last first.
    pub(crate) fn lines(&self) -> Box<dyn Iterator<Item = Result<JournalLine, StoreError>> + '_> {
        let files = match self.files() {
            Ok(files) => files,
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        Box::new(files.into_iter().rev().flat_map(|file| -> Box<dyn Iterator<Item = _>> {
            match JournalLines::open(self.disk.as_ref(), &format!("{FOLDER}/{file}"), 0) {
                Ok(lines) => Box::new(lines),
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        }))
    }

    /// Returns the file and number of each line that is not a valid record; empty lines are skipped.
    pub(crate) fn unreadable_lines(&self) -> Result<Vec<(String, usize)>, StoreError> {
        let mut unreadable = Vec::new();
        for file in self.files()? {
            let path = format!("{FOLDER}/{file}");
            unreadable.extend(
                JournalLines::open(self.disk.as_ref(), &path, 0)?
                    .unreadable_lines()?
                    .into_iter()
                    .map(|line| (path.clone(), line)),
            );
        }
        Ok(unreadable)
    }
}
