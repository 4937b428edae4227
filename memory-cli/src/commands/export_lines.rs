//! The lines of an export.

use std::io::{self, BufRead, Read};

/// Maximum length of a line, in bytes; larger than any memory.
const MAX_LINE: u64 = 32 * 1024 * 1024;

/// The lines of an export; empty lines are skipped.
pub(super) struct ExportLines<R> {
    input: R,
    number: u64,
}

impl<R: BufRead> ExportLines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, number: 0 }
    }

    /// Returns the position of the line that was read last.
    pub(super) fn place(&self) -> String {
        format!("line {}", self.number)
    }

    /// Returns the next line that is not empty, or why the line is rejected; `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Result<Vec<u8>, String>>> {
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
            if !line.trim_ascii().is_empty() {
                return Ok(Some(Ok(line)));
            }
        }
    }
}
