//! The recalls of agents, stored as files in the home.
//!
//! There is one file per month, such as `recalls/2026-05.jsonl`, with one JSON line per recall. Lines are only appended, each in
//! one write and without a lock, so that recording waits for nothing. A file that reaches a quarter of the maximum size is closed:
//! it is renamed to `recalls/2026-05-1.jsonl`, and the oldest files beyond the maximum size are deleted. A purge deletes the lines
//! before a time; of the open file it closes the part so far. The first record of a month purges the lines that are older than the
//! retention time, also where no daemon runs. A process that opened the open file just before it was closed may
//! lose the line that it writes if a purge rewrites the closed file at that moment.
//!
//! `recalls/since` contains the time from which no line was deleted.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use memory_core::secret::Checked;
use memory_core::{RecallFilter, RecallLedger, RecallRecord, RecalledId, StoreError, StoreResults};
use serde::{Deserialize, Serialize};

use crate::disk::{
    BackwardLines, DirEntryKind, Disk, ForwardLines, LazyDisk, line_to_append, replace_file,
};
use crate::error::{path_error, read_error};
use crate::folder_format::check_writable;
use crate::lock::WriterLock;
use crate::oplog::is_monthly_file;

/// The folder of the ledger in a home.
pub(crate) const FOLDER: &str = "recalls";

const SINCE: &str = "recalls/since";

/// The temporary file of a purge.
const TEMP_FILE: &str = "recalls/.next.tmp";

const EXTENSION: &str = ".jsonl";

/// The lock of the process that closes or deletes files.
const LOCK: &str = "recalls/.locks/purge";

/// A file is closed at the maximum size divided by this number.
const PARTS: u64 = 4;

/// The recalls of agents, stored as files in a home folder.
///
/// Several ledgers may use one home, in one process or in several. Nothing is recorded while the home does not exist.
#[derive(Debug)]
pub struct RecallFolder {
    disk: LazyDisk,
    max_size: u64,
    /// The age at which the first record of a month deletes a line.
    retention: Option<TimeDelta>,
}

impl RecallFolder {
    /// Returns the ledger of the home at `root` with a maximum size in bytes.
    pub fn new(root: &Path, max_size: u64) -> Self {
        Self {
            disk: LazyDisk::new(root.to_owned()),
            max_size,
            retention: None,
        }
    }

    /// Returns the ledger of the home at `root`, which is accessed through `disk`.
    pub fn with_disk(disk: Arc<dyn Disk>, root: PathBuf, max_size: u64) -> Self {
        Self {
            disk: LazyDisk::on_disk(root, disk),
            max_size,
            retention: None,
        }
    }

    /// Sets the age at which records are deleted; the first record of a month deletes them.
    #[must_use]
    pub fn retention(self, retention: Option<TimeDelta>) -> Self {
        Self { retention, ..self }
    }

    fn existing_disk(&self) -> Result<Option<&dyn Disk>, StoreError> {
        self.disk.get().map_err(read_error(FOLDER))
    }

    /// Returns the files, oldest first.
    fn files(disk: &dyn Disk) -> Result<Vec<RecallFile>, StoreError> {
        let entries = disk.list_folder(FOLDER).map_err(read_error(FOLDER))?;
        let files = entries
            .into_iter()
            .filter(|entry| entry.kind == DirEntryKind::File);
        let mut files: Vec<_> = files
            .filter_map(|entry| RecallFile::parse(&entry.name))
            .collect();
        files.sort_unstable();
        Ok(files)
    }

    /// Returns the files with their sizes in bytes, oldest first.
    fn sizes(disk: &dyn Disk) -> Result<Vec<(RecallFile, u64)>, StoreError> {
        let size = |file: RecallFile| {
            let found = disk.stat(&file.path()).map_err(read_error(&file.path()))?;
            Ok((file, found.map_or(0, |found| found.size)))
        };
        Self::files(disk)?.into_iter().map(size).collect()
    }

    /// Runs `work` unless another process closes or deletes files at this moment.
    fn with_lock<T: Default>(
        disk: &dyn Disk,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match WriterLock::try_acquire_file(disk, LOCK) {
            Ok(_lock) => work(),
            Err(_) => Ok(T::default()),
        }
    }

    /// Closes an open file that reached its maximum size, and deletes the oldest files beyond the maximum size of the ledger.
    fn close_if_full(&self, disk: &dyn Disk, file: &RecallFile) -> Result<(), StoreError> {
        let size = disk
            .stat(&file.path())
            .map_err(read_error(&file.path()))?
            .map_or(0, |found| found.size);
        if size < self.max_size / PARTS {
            return Ok(());
        }
        close(disk, file)?;
        self.delete_beyond_max_size(disk).map(drop)
    }

    /// Deletes the oldest closed files while the ledger exceeds its maximum size. Returns the number of deleted bytes.
    fn delete_beyond_max_size(&self, disk: &dyn Disk) -> Result<u64, StoreError> {
        let sizes = Self::sizes(disk)?;
        let mut left: u64 = sizes.iter().map(|(_, size)| size).sum();
        let (mut deleted, mut newest) = (0, None);
        for (file, size) in sizes {
            if left <= self.max_size || file.part.is_none() && left == size {
                break;
            }
            newest = last_time(disk, &file)?.max(newest);
            disk.remove(&file.path())
                .map_err(write_error(&file.path()))?;
            left -= size;
            deleted += size;
        }
        newest.map_or(Ok(()), |newest| move_start(disk, newest))?;
        Ok(deleted)
    }
}

impl RecallLedger for RecallFolder {
    fn record(&self, recall: &Checked<RecallRecord>) -> Result<(), StoreError> {
        let missing = || path_error("write to", FOLDER, io::ErrorKind::NotFound.into());
        let disk = self.existing_disk()?.ok_or_else(missing)?;
        check_writable(self.disk.root())?;
        let file = RecallFile::open_at(recall.at);
        let path = file.path();
        let refused = write_error(&path);
        let (size, bytes) = line_to_append(disk, &path, &encode_line(recall)).map_err(&refused)?;
        if size.is_none() && disk.stat(SINCE).map_err(write_error(SINCE))?.is_none() {
            disk.write(SINCE, since_line(recall.at).as_bytes())
                .map_err(write_error(SINCE))?;
        }
        disk.append_unsynced(&path, &bytes).map_err(refused)?;
        if self.max_size / PARTS <= size.unwrap_or_default() + bytes.len() as u64 {
            Self::with_lock(disk, || self.close_if_full(disk, &file))?;
        }
        if size.is_none()
            && let Some(before) = self
                .retention
                .and_then(|retention| recall.at.checked_sub_signed(retention))
        {
            self.purge(before)?;
        }
        Ok(())
    }

    fn recalls<'a>(&'a self, filter: &'a RecallFilter) -> StoreResults<'a, RecallRecord> {
        let files = self.existing_disk().and_then(|disk| {
            disk.map(|disk| Self::files(disk).map(|files| (disk, files)))
                .transpose()
        });
        let (disk, files) = match files {
            Ok(Some(found)) => found,
            Ok(None) => return Box::new(std::iter::empty()),
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        let in_time = |file: &RecallFile| {
            filter.from.is_none_or(|from| month_of(from) <= file.month)
                && filter.to.is_none_or(|to| file.month <= month_of(to))
        };
        let files: Vec<_> = files.into_iter().filter(in_time).collect();
        Box::new(
            files
                .into_iter()
                .flat_map(move |file| matching_lines(disk, &file, filter)),
        )
    }

    fn complete_since(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        let Some(disk) = self.existing_disk()? else {
            return Ok(None);
        };
        if let Some(since) = read_since(disk)? {
            return Ok(Some(since));
        }
        for file in Self::files(disk)? {
            if let Some(first) = first_time(disk, &file)? {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }

    fn size(&self) -> Result<u64, StoreError> {
        let Some(disk) = self.existing_disk()? else {
            return Ok(0);
        };
        Ok(Self::sizes(disk)?.into_iter().map(|(_, size)| size).sum())
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<u64, StoreError> {
        let Some(disk) = self.existing_disk()? else {
            return Ok(0);
        };
        let is_empty = disk.stat(FOLDER).map_err(read_error(FOLDER))?.is_none();
        if is_empty {
            return Ok(0);
        }
        Self::with_lock(disk, || {
            let mut deleted = 0;
            for file in Self::files(disk)? {
                if first_time(disk, &file)?.is_none_or(|first| before <= first) {
                    continue;
                }
                let closed = if file.part.is_none() {
                    close(disk, &file)?
                } else {
                    file
                };
                deleted += delete_before(disk, &closed, before)?;
            }
            if 0 < deleted {
                move_start(disk, before)?;
            }
            Ok(deleted + self.delete_beyond_max_size(disk)?)
        })
    }
}

/// A file of the ledger. The order is that of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RecallFile {
    /// The month, such as `2026-05`.
    month: String,
    /// The number of a closed part; `None` for the file to which lines are appended.
    part: Option<u32>,
}

impl RecallFile {
    /// Returns the file to which a recall at this time is appended.
    fn open_at(at: DateTime<Utc>) -> Self {
        Self {
            month: month_of(at),
            part: None,
        }
    }

    /// Parses a file name; `None` if the file does not belong to the ledger.
    fn parse(name: &str) -> Option<Self> {
        if is_monthly_file(name) {
            return Some(Self {
                month: name.strip_suffix(EXTENSION)?.to_owned(),
                part: None,
            });
        }
        let (month, part) = name.strip_suffix(EXTENSION)?.rsplit_once('-')?;
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_month = is_monthly_file(&format!("{month}{EXTENSION}"));
        Some(Self {
            month: month.to_owned(),
            part: Some(part.parse().ok().filter(|_| is_number && is_month)?),
        })
    }

    fn path(&self) -> String {
        match self.part {
            None => format!("{FOLDER}/{}{EXTENSION}", self.month),
            Some(part) => format!("{FOLDER}/{}-{part}{EXTENSION}", self.month),
        }
    }
}

impl Ord for RecallFile {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |file: &Self| (file.month.clone(), file.part.unwrap_or(u32::MAX));
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for RecallFile {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the error for the file at `path` that cannot be written.
fn write_error(path: &str) -> impl Fn(io::Error) -> StoreError + Copy {
    move |error| path_error("write to", path, error)
}

fn month_of(at: DateTime<Utc>) -> String {
    at.format("%Y-%m").to_string()
}

/// Closes an open file: renames it to the next part of its month, and returns that.
fn close(disk: &dyn Disk, file: &RecallFile) -> Result<RecallFile, StoreError> {
    let parts = RecallFolder::files(disk)?
        .into_iter()
        .filter(|other| other.month == file.month)
        .filter_map(|other| other.part);
    let closed = RecallFile {
        month: file.month.clone(),
        part: Some(parts.max().unwrap_or_default() + 1),
    };
    disk.rename(&file.path(), &closed.path())
        .map_err(write_error(&closed.path()))?;
    Ok(closed)
}

/// Deletes the lines of a closed file up to the first recall at `before` or later. Returns the number of deleted bytes.
fn delete_before(
    disk: &dyn Disk,
    file: &RecallFile,
    before: DateTime<Utc>,
) -> Result<u64, StoreError> {
    let path = file.path();
    let failed = read_error(&path);
    let Some(found) = disk.stat(&path).map_err(failed)? else {
        return Ok(0);
    };
    let Some(lines) = open_lines(disk, &path).map_err(failed)? else {
        return Ok(0);
    };
    let mut rest = None;
    for line in lines {
        let line = line.map_err(failed)?;
        if decode_line(&line.bytes).is_some_and(|recall| before <= recall.at) {
            rest = Some(line.at);
            break;
        }
    }
    let Some(start) = rest else {
        disk.remove(&path).map_err(write_error(&path))?;
        return Ok(found.size);
    };
    let length = usize::try_from(found.size - start).unwrap_or(usize::MAX);
    let bytes = disk.read_part(&path, start, length).map_err(failed)?;
    replace_file(disk, TEMP_FILE, &path, &bytes).map_err(write_error(&path))?;
    Ok(start)
}

/// Moves the time from which no line was deleted to `to`, unless it is later already.
fn move_start(disk: &dyn Disk, to: DateTime<Utc>) -> Result<(), StoreError> {
    if read_since(disk)?.is_some_and(|since| to <= since) {
        return Ok(());
    }
    replace_file(disk, TEMP_FILE, SINCE, since_line(to).as_bytes()).map_err(write_error(SINCE))
}

fn read_since(disk: &dyn Disk) -> Result<Option<DateTime<Utc>>, StoreError> {
    let read = disk.read(SINCE).map_err(read_error(SINCE))?;
    // An unreadable file is replaced by the next purge; until then the first line counts.
    Ok(read.and_then(|(bytes, _)| std::str::from_utf8(&bytes).ok()?.trim().parse().ok()))
}

fn since_line(at: DateTime<Utc>) -> String {
    format!("{}\n", format_time(at))
}

fn format_time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn open_lines(disk: &dyn Disk, path: &str) -> io::Result<Option<ForwardLines>> {
    let Some(file) = disk.open(path)? else {
        return Ok(None);
    };
    let size = file.metadata()?.len();
    Ok(Some(ForwardLines::new(file, size)))
}

/// Returns the time of the first readable line.
fn first_time(disk: &dyn Disk, file: &RecallFile) -> Result<Option<DateTime<Utc>>, StoreError> {
    let filter = RecallFilter::default();
    matching_lines(disk, file, &filter)
        .next()
        .transpose()
        .map(|first| first.map(|recall| recall.at))
}

/// Returns the time of the last readable line.
fn last_time(disk: &dyn Disk, file: &RecallFile) -> Result<Option<DateTime<Utc>>, StoreError> {
    let path = file.path();
    let failed = read_error(&path);
    let Some(opened) = disk.open(&path).map_err(failed)? else {
        return Ok(None);
    };
    let size = opened.metadata().map_err(failed)?.len();
    for line in BackwardLines::new(opened, size) {
        if let Some(recall) = decode_line(&line.map_err(failed)?.bytes) {
            return Ok(Some(recall.at));
        }
    }
    Ok(None)
}

/// Iterates over the recalls of a file that pass `filter`. A file that was deleted in the meantime has none.
fn matching_lines<'a>(
    disk: &dyn Disk,
    file: &RecallFile,
    filter: &'a RecallFilter,
) -> StoreResults<'a, RecallRecord> {
    let path = file.path();
    let lines = match open_lines(disk, &path) {
        Ok(Some(lines)) => lines,
        Ok(None) => return Box::new(std::iter::empty()),
        Err(error) => return Box::new(std::iter::once(Err(read_error(&path)(error)))),
    };
    Box::new(lines.filter_map(move |line| {
        match line {
            // A line without a line break is incomplete.
            Ok(line) if !line.is_whole || !may_match(&line.bytes, filter) => None,
            Ok(line) => decode_line(&line.bytes)
                .filter(|recall| filter.includes(recall))
                .map(Ok),
            Err(error) => Some(Err(read_error(&path)(error))),
        }
    }))
}

/// Returns whether a line may pass the filter, without parsing it.
fn may_match(line: &[u8], filter: &RecallFilter) -> bool {
    let Some(memory) = &filter.memory else {
        return true;
    };
    std::str::from_utf8(line).is_ok_and(|line| line.contains(memory.as_str()))
}

/// A line of the ledger. Absent fields are unknown; a later version may add fields.
#[derive(Serialize, Deserialize)]
struct RecallWire {
    at: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(default)]
    interface: String,
    #[serde(default)]
    tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    memories: Vec<MemoryWire>,
    #[serde(default)]
    tokens: u64,
}

#[derive(Serialize, Deserialize)]
struct MemoryWire {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    parts: BTreeMap<String, f32>,
}

fn encode_line(recall: &RecallRecord) -> Vec<u8> {
    let recall = recall.clone();
    let memory = |RecalledId { id, score, parts }| MemoryWire {
        id,
        score,
        parts: parts.into_iter().collect(),
    };
    let wire = RecallWire {
        at: format_time(recall.at),
        agent: recall.agent,
        session: recall.session,
        project: recall.project,
        interface: recall.interface,
        tool: recall.tool,
        query: recall.query,
        memories: recall.memories.into_iter().map(memory).collect(),
        tokens: recall.tokens,
    };
    serde_json::to_vec(&wire).expect("texts and numbers have a JSON form")
}

/// Parses a line; `None` if it is damaged.
fn decode_line(line: &[u8]) -> Option<RecallRecord> {
    let wire: RecallWire = serde_json::from_slice(line).ok()?;
    let memory = |MemoryWire { id, score, parts }| {
        let mut parts: Vec<(String, f32)> = parts.into_iter().collect();
        parts.sort_by(|one, other| other.1.total_cmp(&one.1));
        RecalledId { id, score, parts }
    };
    Some(RecallRecord {
        at: wire.at.parse().ok()?,
        agent: wire.agent,
        session: wire.session,
        project: wire.project,
        interface: wire.interface,
        tool: wire.tool,
        query: wire.query,
        memories: wire.memories.into_iter().map(memory).collect(),
        tokens: wire.tokens,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_ledger_have_its_names() {
        let file = |month: &str, part| RecallFile {
            month: month.to_owned(),
            part,
        };
        for (name, expected) in [
            ("2026-05.jsonl", Some(file("2026-05", None))),
            ("2026-05-12.jsonl", Some(file("2026-05", Some(12)))),
            ("2026-05-.jsonl", None),
            ("2026-05-+1.jsonl", None),
            ("2026-5-1.jsonl", None),
            ("notes.jsonl", None),
            ("since", None),
            ("2026-05-1.jsonl.tmp", None),
        ] {
            assert_eq!(RecallFile::parse(name), expected, "{name}");
            if let Some(file) = expected {
                assert_eq!(file.path(), format!("{FOLDER}/{name}"));
            }
        }
        let mut files = [
            file("2026-06", Some(1)),
            file("2026-05", None),
            file("2026-05", Some(10)),
            file("2026-05", Some(9)),
        ];
        files.sort_unstable();
        let names: Vec<String> = files.iter().map(RecallFile::path).collect();
        assert_eq!(
            names.join(" "),
            "recalls/2026-05-9.jsonl recalls/2026-05-10.jsonl recalls/2026-05.jsonl recalls/2026-06-1.jsonl"
        );
    }
}
