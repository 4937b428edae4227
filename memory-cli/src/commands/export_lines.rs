//! The records of an export, one per line.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use memory_ingest::split_objects;
use serde::de::IgnoredAny;

/// Maximum length of a line, in bytes; larger than any memory.
const MAX_LINE: u64 = 32 * 1024 * 1024;

/// The records of an export; empty lines are skipped. A line that is not one JSON value has as many records as whole objects, and
/// its damaged parts are records, too.
pub(super) struct ExportLines<R> {
    input: R,
    number: u64,
    /// The other records of the line that was read last.
    records: VecDeque<Vec<u8>>,
}

impl<R: BufRead> ExportLines<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            number: 0,
            records: VecDeque::new(),
        }
    }

    /// Returns the position of the record that was read last.
    pub(super) fn place(&self) -> String {
        format!("line {}", self.number)
    }

    /// Returns the next record, or why its line is rejected; `None` at the end.
    pub(super) fn next_record(&mut self) -> io::Result<Option<Result<Vec<u8>, String>>> {
        if let Some(record) = self.records.pop_front() {
            return Ok(Some(Ok(record)));
        }
        loop {
            self.number += 1;
            let mut line = Vec::new();
            if self
                .input
                .by_ref()
                .take(MAX_LINE)
                .read_until(b'\n', &mut line)?
                == 0
            {
                return Ok(None);
            }
            if !line.ends_with(b"\n") && MAX_LINE <= line.len() as u64 {
                self.input.skip_until(b'\n')?;
                return Ok(Some(Err("the line is longer than any memory".into())));
            }
            if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") {
                line.drain(..3);
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            if serde_json::from_slice::<IgnoredAny>(&line).is_err() {
                let parts = split_objects(&line).into_iter();
                self.records = parts.map(|part| line[part].to_vec()).collect();
            }
            return Ok(Some(Ok(self.records.pop_front().unwrap_or(line))));
        }
    }
}
