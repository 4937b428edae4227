//! Reading the records of a JSON file one by one.

use std::io::{self, BufRead, BufReader, Read, SeekFrom};
use std::path::Path;

use memory_core::SourceError;
use serde_json::Value;

use crate::damaged_json::split_objects;
use crate::json_elements;
use crate::json_splitter::{self, JsonSplitter};
use crate::record::SourceRecord;
use crate::record_file::{RecordFile, RecordPosition, RecordReader, file_name};
use crate::source_text::{ReadSeek, TextContent};

/// Maximum size of a record in bytes, unless a source has larger ones.
pub(crate) const MAX_RECORD_BYTES: u64 = 16 << 20;

/// Minimum size of a value in bytes, on average. Each value takes up to 100 bytes of memory.
const MIN_VALUE_BYTES: usize = 16;

/// Number of values that any record may have.
const MIN_VALUES: usize = 100_000;

/// A JSON file with records: an array of objects, lines of objects, or an object with arrays of objects.
///
/// Only one record is in memory at a time.
#[derive(Debug, Clone)]
pub(crate) struct JsonRecordFile {
    name: String,
    content: TextContent,
    /// The keys of the arrays in an object. An object without one of them is a record itself.
    lists: &'static [&'static str],
    /// Whether every line is a document of its own.
    has_lines: bool,
    max_bytes: u64,
}

impl JsonRecordFile {
    /// Opens the file at `path`, a regular file, with records of up to `max_bytes`.
    ///
    /// # Errors
    /// [`SourceError::Unreadable`].
    pub(crate) fn open(
        path: &Path,
        lists: &'static [&'static str],
        max_bytes: u64,
    ) -> Result<Self, SourceError> {
        let has_extension = path
            .extension()
            .is_some_and(|extension| extension == "jsonl" || extension == "ndjson");
        TextContent::of_file(path)
            .and_then(|content| {
                Self::new(file_name(path), content, lists, max_bytes, has_extension)
            })
            .map_err(|source| SourceError::Unreadable {
                path: path.display().to_string(),
                source,
            })
    }

    /// Returns a file with these bytes.
    pub(crate) fn from_bytes(
        name: &str,
        bytes: &[u8],
        lists: &'static [&'static str],
        max_bytes: u64,
    ) -> io::Result<Self> {
        Self::new(
            name.to_owned(),
            TextContent::Text(bytes.into()),
            lists,
            max_bytes,
            false,
        )
    }

    fn new(
        name: String,
        content: TextContent,
        lists: &'static [&'static str],
        max_bytes: u64,
        has_extension: bool,
    ) -> io::Result<Self> {
        let has_lines =
            has_extension || json_splitter::has_whole_objects(&first_line(content.open()?)?);
        Ok(Self {
            name,
            content,
            lists,
            has_lines,
            max_bytes,
        })
    }

    /// Returns whether every line is a document of its own.
    pub(crate) fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Returns the first records that can be read, at most `count`.
    pub(crate) fn first_records(&self, count: usize) -> Vec<(RecordPosition, SourceRecord)> {
        let mut records = Vec::new();
        let mut tried = 0;
        if let Ok(mut reader) = self.reader() {
            reader.scan(&mut |position, record| {
                tried += 1;
                records.extend(record.ok().map(|record| (position, record)));
                records.len() < count && tried < 10 * count
            });
        }
        records
    }
}

impl RecordFile for JsonRecordFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn reader(&self) -> Result<Box<dyn RecordReader>, String> {
        Ok(Box::new(JsonRecordReader {
            file: self.clone(),
            content: self.content.open().map_err(reason)?,
        }))
    }
}

struct JsonRecordReader {
    file: JsonRecordFile,
    content: Box<dyn ReadSeek>,
}

impl JsonRecordReader {
    /// Reads the record at `position`. If it is damaged, its whole parts are records, too.
    fn read_parts(
        &mut self,
        position: RecordPosition,
    ) -> Vec<(RecordPosition, Result<SourceRecord, String>)> {
        let record = self.read(&position);
        if record.is_ok() || self.file.max_bytes < position.length {
            return vec![(position, record)];
        }
        let parts = match self.read_bytes(&position) {
            Ok(bytes) => split_objects(&bytes),
            Err(_) => Vec::new(),
        };
        if parts.len() < 2 {
            return vec![(position, record)];
        }
        let positions = parts.into_iter().map(|part| RecordPosition {
            start: position.start + part.start as u64,
            length: part.len() as u64,
            ..position
        });
        positions
            .map(|position| (position, self.read(&position)))
            .collect()
    }

    fn read_bytes(&mut self, position: &RecordPosition) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.content.seek(SeekFrom::Start(position.start))?;
        self.content
            .by_ref()
            .take(position.length)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl RecordReader for JsonRecordReader {
    fn scan(&mut self, see: &mut dyn FnMut(RecordPosition, Result<SourceRecord, String>) -> bool) {
        let nowhere = RecordPosition {
            list: "",
            number: 0,
            start: 0,
            length: 0,
        };
        let mut source = match self.file.content.open() {
            Ok(source) => BufReader::with_capacity(1 << 16, source),
            Err(error) => {
                see(nowhere, Err(reason(error)));
                return;
            }
        };
        let mut splitter = JsonSplitter::new(self.file.lists, self.file.has_lines);
        let mut spans = Vec::new();
        loop {
            let length = match source.fill_buf() {
                Ok(bytes) => {
                    splitter.push_all(bytes, &mut spans);
                    bytes.len()
                }
                Err(error) => {
                    see(nowhere, Err(reason(error)));
                    return;
                }
            };
            let is_end = length == 0;
            if is_end {
                splitter.finish(&mut spans);
            }
            source.consume(length);
            for position in spans.drain(..) {
                for (position, record) in self.read_parts(position) {
                    if !see(position, record) {
                        return;
                    }
                }
            }
            if is_end {
                break;
            }
        }
        if splitter.is_incomplete {
            see(nowhere, Err("ends in the middle of its content".into()));
        }
    }

    fn read(&mut self, position: &RecordPosition) -> Result<SourceRecord, String> {
        if self.file.max_bytes < position.length {
            return Err(format!("is larger than {} MiB", self.file.max_bytes >> 20));
        }
        parse_record(self.read_bytes(position).map_err(reason)?)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn reason(error: io::Error) -> String {
    format!("cannot be read: {error}")
}

/// Returns the first line that is not blank, as far as it fits into one record.
fn first_line(source: impl Read) -> io::Result<Vec<u8>> {
    let mut source = BufReader::new(source.take(MAX_RECORD_BYTES));
    loop {
        let mut line = Vec::new();
        let length = source.read_until(b'\n', &mut line)?;
        let text = line
            .strip_prefix(json_splitter::BYTE_ORDER_MARK)
            .unwrap_or(&line)
            .trim_ascii();
        if length == 0 || !text.is_empty() {
            return Ok(text.to_vec());
        }
    }
}

/// Parses a record.
///
/// # Errors
/// The reason, if it is not an object.
pub(crate) fn parse_record(bytes: Vec<u8>) -> Result<SourceRecord, String> {
    let max_values = MIN_VALUES.max(bytes.len() / MIN_VALUE_BYTES);
    let values = || {
        bytes
            .iter()
            .filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{'))
            .count()
    };
    if max_values < bytes.len() && max_values < values() {
        return Err("has too many values".into());
    }
    match json_elements::parse(bytes)? {
        Value::Object(fields) => Ok(SourceRecord(fields)),
        _ => Err("is not an object".into()),
    }
}

#[cfg(test)]
mod tests;
