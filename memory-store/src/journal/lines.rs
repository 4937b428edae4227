//! Reads a monthly file of the journal backwards.

use std::io;

use memory_core::StoreError;

use super::JournalLine;
use crate::disk::Disk;
use crate::error::io_error;

/// Number of bytes to read at a time.
const WINDOW: usize = 256 * 1024;

/// Iterates over the lines of one file, last first, with at most one line in memory.
pub(crate) struct JournalLines<'a> {
    disk: &'a dyn Disk,
    path: String,
    /// The start of each remaining line; the last element is the end of the last remaining line.
    starts: Vec<u64>,
}

impl<'a> JournalLines<'a> {
    /// Opens the file at `path`; lines before the byte `from` are skipped.
    pub(crate) fn open(disk: &'a dyn Disk, path: &str, from: u64) -> Result<Self, StoreError> {
        let refused = |error| io_error(format!("read {path}"), error);
        let mut starts = vec![from];
        let mut position = from;
        loop {
            let window = disk.read_part(path, position, WINDOW).map_err(refused)?;
            if window.is_empty() {
                break;
            }
            let breaks = window.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| position + at as u64 + 1);
            starts.extend(breaks);
            position += window.len() as u64;
        }
        if starts.last() != Some(&position) {
            starts.push(position);
        }
        Ok(Self { disk, path: path.to_owned(), starts })
    }

    /// Returns the numbers, from 1, of the lines that are not valid records; empty lines are skipped.
    pub(crate) fn unreadable_lines(mut self) -> Result<Vec<usize>, StoreError> {
        let mut unreadable = Vec::new();
        while let Some(bytes) = self.pop_bytes() {
            let bytes = bytes?;
            if !bytes.trim_ascii().is_empty() && JournalLine::from_json(&bytes).is_none() {
                unreadable.push(self.starts.len());
            }
        }
        unreadable.reverse();
        Ok(unreadable)
    }

    /// Returns the bytes of the last remaining line.
    fn pop_bytes(&mut self) -> Option<Result<Vec<u8>, StoreError>> {
        let end = self.starts.pop()?;
        let start = *self.starts.last()?;
        let length = usize::try_from(end - start).unwrap_or(usize::MAX);
        let read = self.disk.read_part(&self.path, start, length);
        Some(read.map_err(|error| io_error(format!("read {}", self.path), error)))
    }
}

impl Iterator for JournalLines<'_> {
    type Item = Result<JournalLine, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.pop_bytes()? {
                Err(error) => return Some(Err(error)),
                Ok(bytes) => {
                    if let Some(line) = JournalLine::from_json(&bytes) {
                        return Some(Ok(line));
                    }
                }
            }
        }
    }
}

/// Returns whether a file of `size` bytes ends with a complete line.
pub(crate) fn ends_with_line_break(disk: &dyn Disk, path: &str, size: u64) -> io::Result<bool> {
    Ok(size == 0 || disk.read_part(path, size - 1, 1)? == b"\n")
}
