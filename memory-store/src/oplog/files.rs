//! The files of an operation log: a file of lines per month, `2026-05.jsonl`, and a folder next to it, `2026-05`.

use std::io;

use chrono::{DateTime, Datelike, Months, Utc};
use memchr::memmem::Finder;
use memory_core::{parse_day, parse_rfc3339};

use super::Durability;
use crate::disk::{
    BackwardLines, DirEntryKind, Disk, RawLine, append_line, file_name, line_to_append,
    replace_file,
};

/// The extension of a file of lines.
const EXTENSION: &str = ".jsonl";

/// Appends a line for an operation at the time `at` to the log in `folder`.
///
/// The line is always the last one: if the clock was set back, the line is added to the latest
/// file, so that the order of lines does not change.
pub(super) fn append(
    disk: &dyn Disk,
    folder: &str,
    at: DateTime<Utc>,
    line: &[u8],
    durability: Durability,
) -> io::Result<()> {
    let latest = log_files(disk, folder)?.pop().unwrap_or_default();
    let path = latest.max(format!("{folder}/{}{EXTENSION}", at.format("%Y-%m")));
    match durability {
        Durability::Synced => append_line(disk, &path, line),
        Durability::Unsynced => {
            let (_, bytes) = line_to_append(disk, &path, line)?;
            disk.append_unsynced(&path, &bytes)
        }
    }
}

/// Returns the paths of the files of lines in `folder`, oldest first.
pub(crate) fn log_files(disk: &dyn Disk, folder: &str) -> io::Result<Vec<String>> {
    let entries = disk
        .list_folder(folder)?
        .into_iter()
        .filter(|entry| entry.kind == DirEntryKind::File);
    let mut files: Vec<_> = entries
        .map(|entry| entry.name)
        .filter(|name| is_monthly_file(name))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    files.sort();
    Ok(files)
}

/// Returns whether a file is named after a month, such as `2026-05.jsonl`. Another file in the folder belongs to the user.
pub(crate) fn is_monthly_file(name: &str) -> bool {
    let Some(month) = name.strip_suffix(EXTENSION).map(str::as_bytes) else {
        return false;
    };
    month.len() == 7
        && month[4] == b'-'
        && month
            .iter()
            .enumerate()
            .all(|(place, byte)| place == 4 || byte.is_ascii_digit())
}

/// A position in a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LogPosition {
    /// The name of the monthly file, or empty if the log has no file yet.
    file: String,
    /// The length of the file in bytes.
    length: u64,
}

impl LogPosition {
    /// Returns the position as text.
    pub(crate) fn to_text(&self) -> String {
        format!("{}:{}", self.file, self.length)
    }

    /// Parses the result of [`LogPosition::to_text`].
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let (file, length) = text.split_once(':')?;
        Some(Self {
            file: file.to_owned(),
            length: length.parse().ok()?,
        })
    }

    /// Returns the end of the log in `folder`.
    pub(super) fn end(disk: &dyn Disk, folder: &str) -> io::Result<Self> {
        let Some(path) = log_files(disk, folder)?.pop() else {
            return Ok(Self::default());
        };
        let length = disk.stat(&path)?.map_or(0, |found| found.size);
        Ok(Self {
            file: file_name(&path).to_owned(),
            length,
        })
    }

    /// Returns whether this position is at most `bytes` after another one in the same file.
    pub(crate) fn is_within(&self, bytes: u64, other: &Self) -> bool {
        self.file == other.file
            && self
                .length
                .checked_sub(other.length)
                .is_some_and(|between| between <= bytes)
    }

    /// Returns whether the log still reaches the position.
    pub(super) fn is_within_log(&self, disk: &dyn Disk, folder: &str) -> io::Result<bool> {
        if self.file.is_empty() {
            return Ok(true);
        }
        Ok(disk
            .stat(&format!("{folder}/{}", self.file))?
            .is_some_and(|found| self.length <= found.size))
    }

    /// Returns whether the file of the position still exists, or there was none.
    pub(super) fn is_known(&self, disk: &dyn Disk, folder: &str) -> io::Result<bool> {
        Ok(self.file.is_empty() || disk.stat(&format!("{folder}/{}", self.file))?.is_some())
    }
}

/// The lines of all months, newest first; each file is read from its end.
pub(super) struct LinesNewestFirst<'d> {
    disk: &'d dyn Disk,
    /// The files that were not opened yet, with the offset of the first wanted line of each; the next one is the last.
    files: Vec<(String, u64)>,
    open: Option<(BackwardLines, u64)>,
    texts: Vec<Finder<'static>>,
}

impl LinesNewestFirst<'_> {
    /// Returns the next line that contains one of the texts.
    pub(super) fn next_with_text(&mut self) -> Option<io::Result<Vec<u8>>> {
        self.next_line(BackwardLines::next_with_text)
    }

    fn next_line(
        &mut self,
        next: impl Fn(&mut BackwardLines) -> io::Result<Option<RawLine>>,
    ) -> Option<io::Result<Vec<u8>>> {
        loop {
            if let Some((lines, from)) = &mut self.open {
                match next(lines).transpose() {
                    Some(Ok(line)) if *from <= line.at => return Some(Ok(line.bytes)),
                    Some(Err(error)) => {
                        self.open = None;
                        return Some(Err(error));
                    }
                    Some(Ok(_)) | None => self.open = None,
                }
            }
            let (path, from) = self.files.pop()?;
            match lines_backward(self.disk, &path, &self.texts) {
                Ok(lines) => self.open = lines.map(|lines| (lines, from)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Iterator for LinesNewestFirst<'_> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        self.next_line(|lines| lines.next().transpose())
    }
}

/// Returns the lines of all months; `texts` are those of [`LinesNewestFirst::next_with_text`].
///
/// With `after`, only the lines after that position.
pub(super) fn lines_newest_first<'d>(
    disk: &'d dyn Disk,
    folder: &str,
    after: Option<&LogPosition>,
    texts: Vec<Finder<'static>>,
) -> io::Result<LinesNewestFirst<'d>> {
    let mut files = Vec::new();
    for path in log_files(disk, folder)?.into_iter().rev() {
        match after {
            Some(after) if file_name(&path) < after.file.as_str() => break,
            Some(after) if file_name(&path) == after.file => files.push((path, after.length)),
            _ => files.push((path, 0)),
        }
    }
    files.reverse();
    Ok(LinesNewestFirst {
        disk,
        files,
        open: None,
        texts,
    })
}

fn lines_backward(
    disk: &dyn Disk,
    path: &str,
    texts: &[Finder<'static>],
) -> io::Result<Option<BackwardLines>> {
    // The file may have been purged since.
    let Some(file) = disk.open(path)? else {
        return Ok(None);
    };
    let end = file.metadata()?.len();
    Ok(Some(BackwardLines::with_texts(file, end, texts.to_vec())))
}

/// Deletes the months that ended before `before`; returns the number of deleted files and bytes.
///
/// No other process may append a line during the call.
pub(super) fn purge(
    disk: &dyn Disk,
    folder: &str,
    before: DateTime<Utc>,
) -> io::Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    let mut entries = disk.list_folder(folder)?;
    // Files of lines are deleted before the folders with the content that the lines refer to.
    entries.sort_by_key(|entry| entry.kind != DirEntryKind::File);
    for entry in entries {
        let path = format!("{folder}/{}", entry.name);
        match entry.kind {
            DirEntryKind::File => match entry.name.strip_suffix(EXTENSION).and_then(month_end) {
                Some(end) if end <= before => delete_file(disk, &path, &mut files, &mut bytes)?,
                Some(_) => remove_lines_before(disk, &path, before)?,
                None => {}
            },
            DirEntryKind::Folder if month_end(&entry.name).is_some_and(|end| end <= before) => {
                delete_folder(disk, &path, &mut files, &mut bytes)?;
            }
            DirEntryKind::Folder | DirEntryKind::Other => {}
        }
    }
    if files != 0 {
        disk.sync_folder(folder)?;
    }
    Ok((files, bytes))
}

/// Removes from a file the lines of months that ended before `before`.
///
/// Such lines exist if the clock was ahead when the file was created.
fn remove_lines_before(disk: &dyn Disk, path: &str, before: DateTime<Utc>) -> io::Result<()> {
    let is_over = |line: &[u8]| {
        let line: Option<serde_json::Value> = serde_json::from_slice(line).ok();
        let at = line.and_then(|line| parse_rfc3339(line.get("at")?.as_str()?));
        at.and_then(|at| month_end(&at.format("%Y-%m").to_string()))
            .is_some_and(|end| end <= before)
    };
    let mut lines = lines_backward(disk, path, &[])?.into_iter().flatten();
    if !lines.any(|line| line.is_ok_and(|line| is_over(&line.bytes))) {
        return Ok(());
    }
    let bytes = disk.read_part(path, 0, usize::MAX)?;
    let left = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !is_over(line))
        .collect::<Vec<_>>()
        .concat();
    replace_file(disk, &format!("{path}.tmp"), path, &left)
}

/// Returns the first moment after a month such as `2026-05`.
fn month_end(month: &str) -> Option<DateTime<Utc>> {
    let first = parse_day(&format!("{month}-01"))?;
    let next = first
        .checked_add_months(Months::new(1))
        .filter(|next| next.day() == 1)?;
    Some(next.and_hms_opt(0, 0, 0)?.and_utc())
}

fn delete_folder(
    disk: &dyn Disk,
    folder: &str,
    files: &mut u64,
    bytes: &mut u64,
) -> io::Result<()> {
    for entry in disk.list_folder(folder)? {
        let path = format!("{folder}/{}", entry.name);
        match entry.kind {
            DirEntryKind::File => delete_file(disk, &path, files, bytes)?,
            DirEntryKind::Folder => delete_folder(disk, &path, files, bytes)?,
            DirEntryKind::Other => {}
        }
    }
    disk.remove_folder(folder)
}

fn delete_file(disk: &dyn Disk, path: &str, files: &mut u64, bytes: &mut u64) -> io::Result<()> {
    let size = disk.stat(path)?.map_or(0, |found| found.size);
    disk.remove(path)?;
    *files += 1;
    *bytes += size;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_year_and_a_month_name_a_monthly_file() {
        assert!(is_monthly_file("2026-05.jsonl"));
        for other in [
            "notes--.jsonl",
            "2026-5.jsonl",
            "202605-.jsonl",
            "+026-05.jsonl",
            "2026-05",
            "2026-05.jsonl.tmp",
            "年-05.jsonl",
        ] {
            assert!(!is_monthly_file(other), "{other}");
        }
    }
}
