//! Reading the records of a JSON file one by one.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memchr3;
use memory_core::SourceError;
use serde_json::Value;

use crate::record::SourceRecord;
use crate::record_file::{RecordFile, RecordPosition, RecordReader, file_name};

/// Maximum size of a record in bytes, unless a source has larger ones.
pub(crate) const MAX_RECORD_BYTES: u64 = 16 << 20;

/// Minimum size of a value in bytes, on average. Each value takes up to 100 bytes of memory.
const MIN_VALUE_BYTES: usize = 16;

/// Number of values that any record may have.
const MIN_VALUES: usize = 100_000;

/// Maximum length of the name of a list in bytes.
const MAX_KEY_BYTES: usize = 64;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A JSON file with records: an array of objects, lines of objects, or an object with arrays of objects.
///
/// Only one record is in memory at a time.
#[derive(Debug, Clone)]
pub(crate) struct JsonRecordFile {
    name: String,
    content: JsonContent,
    /// The keys of the arrays in an object. An object without one of them is a record itself.
    lists: &'static [&'static str],
    /// Whether every line is a document of its own.
    has_lines: bool,
    max_bytes: u64,
}

#[derive(Debug, Clone)]
enum JsonContent {
    File(PathBuf),
    Text(Arc<[u8]>),
}

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl JsonContent {
    fn open(&self) -> io::Result<Box<dyn ReadSeek>> {
        Ok(match self {
            Self::File(path) => Box::new(File::open(path)?),
            Self::Text(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        })
    }
}

impl JsonRecordFile {
    /// Opens the file at `path`, a regular file, with records of up to `max_bytes`.
    ///
    /// # Errors
    /// [`SourceError::Unreadable`].
    pub(crate) fn open(path: &Path, lists: &'static [&'static str], max_bytes: u64) -> Result<Self, SourceError> {
        let has_extension = path.extension().is_some_and(|extension| extension == "jsonl" || extension == "ndjson");
        Self::new(file_name(path), JsonContent::File(path.to_owned()), lists, max_bytes, has_extension)
            .map_err(|source| SourceError::Unreadable { path: path.display().to_string(), source })
    }

    /// Returns a file with these bytes.
    pub(crate) fn from_bytes(name: &str, bytes: &[u8], lists: &'static [&'static str], max_bytes: u64) -> io::Result<Self> {
        Self::new(name.to_owned(), JsonContent::Text(bytes.into()), lists, max_bytes, false)
    }

    fn new(
        name: String,
        content: JsonContent,
        lists: &'static [&'static str],
        max_bytes: u64,
        has_extension: bool,
    ) -> io::Result<Self> {
        let has_lines = has_extension || is_whole_object(&first_line(content.open()?)?);
        Ok(Self { name, content, lists, has_lines, max_bytes })
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
        Ok(Box::new(JsonRecordReader { file: self.clone(), content: self.content.open().map_err(reason)? }))
    }
}

struct JsonRecordReader {
    file: JsonRecordFile,
    content: Box<dyn ReadSeek>,
}

impl JsonRecordReader {
    fn read_bytes(&mut self, position: &RecordPosition) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.content.seek(SeekFrom::Start(position.start))?;
        self.content.by_ref().take(position.length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl RecordReader for JsonRecordReader {
    fn scan(&mut self, see: &mut dyn FnMut(RecordPosition, Result<SourceRecord, String>) -> bool) {
        let nowhere = RecordPosition { list: "", number: 0, start: 0, length: 0 };
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
                let record = self.read(&position);
                if !see(position, record) {
                    return;
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
        let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line).trim_ascii();
        if length == 0 || !text.is_empty() {
            return Ok(text.to_vec());
        }
    }
}

fn is_whole_object(text: &[u8]) -> bool {
    let mut splitter = JsonSplitter::new(&[], false);
    let mut spans = Vec::new();
    splitter.push_all(text, &mut spans);
    text.starts_with(b"{") && splitter.depth == 0 && spans.len() == 1
}

/// Finds the records of a JSON text, which arrives byte by byte. The records themselves are not checked.
#[derive(Debug)]
struct JsonSplitter {
    lists: &'static [&'static str],
    has_lines: bool,
    at: u64,
    depth: usize,
    /// The depth of the records at the top level: 1 in an array, otherwise 0.
    base: usize,
    string: StringState,
    /// The record at the top level.
    record: Option<OpenRecord>,
    /// The latest string in this record that may be the key of a list, then the list that it names.
    key: Vec<u8>,
    named: Option<&'static str>,
    /// The list that contains the current position.
    list: Option<&'static str>,
    /// The start of the record in this list.
    element: Option<u64>,
    number: i64,
    /// Whether the text ended within a list or an array.
    is_incomplete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringState {
    Outside,
    Inside,
    /// After a backslash in a string.
    Escaped,
}

/// A record whose end has not been found.
#[derive(Debug, Clone, Copy)]
struct OpenRecord {
    start: u64,
    is_object: bool,
    /// Whether it contains lists of records, and is none itself.
    has_lists: bool,
}

impl JsonSplitter {
    fn new(lists: &'static [&'static str], has_lines: bool) -> Self {
        Self {
            lists,
            has_lines,
            at: 0,
            depth: 0,
            base: 0,
            string: StringState::Outside,
            record: None,
            key: Vec::new(),
            named: None,
            list: None,
            element: None,
            number: 0,
            is_incomplete: false,
        }
    }

    fn push_all(&mut self, bytes: &[u8], found: &mut Vec<RecordPosition>) {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            let plain = self.plain_length(rest);
            if plain == 0 {
                self.push(*byte, found);
                rest = after;
            } else {
                let part = &rest[..plain];
                let free = (MAX_KEY_BYTES + 1).saturating_sub(self.key.len());
                self.key.extend(part.iter().take(free));
                self.at += plain as u64;
                rest = &rest[plain..];
            }
        }
    }

    /// Returns the number of bytes that continue a string.
    fn plain_length(&self, bytes: &[u8]) -> usize {
        match self.string {
            StringState::Inside => memchr3(b'"', b'\\', b'\n', bytes).unwrap_or(bytes.len()),
            StringState::Outside | StringState::Escaped => 0,
        }
    }

    fn push(&mut self, byte: u8, found: &mut Vec<RecordPosition>) {
        let at = self.at;
        self.at += 1;
        if byte == b'\n' && self.has_lines {
            self.end_line(at, found);
        } else if self.string != StringState::Outside {
            self.push_in_string(byte);
        } else {
            self.push_token(byte, at, found);
        }
    }

    fn finish(&mut self, found: &mut Vec<RecordPosition>) {
        // A record without an end is reported as such.
        let is_reported = self.record.is_some_and(|record| !record.has_lists);
        self.is_incomplete = (0 < self.depth || self.string != StringState::Outside) && !is_reported;
        self.end_line(self.at, found);
    }

    fn push_in_string(&mut self, byte: u8) {
        self.string = match byte {
            _ if self.string == StringState::Escaped => StringState::Inside,
            b'\\' => StringState::Escaped,
            b'"' => return self.string = StringState::Outside,
            _ => StringState::Inside,
        };
        if self.key.len() <= MAX_KEY_BYTES {
            self.key.push(byte);
        }
    }

    fn push_token(&mut self, byte: u8, at: u64, found: &mut Vec<RecordPosition>) {
        let is_key_level =
            self.list.is_none() && self.depth == self.base + 1 && self.record.is_some_and(|record| record.is_object);
        match byte {
            b'"' => {
                self.begin(at, false);
                self.string = StringState::Inside;
                self.key.clear();
            }
            b':' if is_key_level => self.named = self.lists.iter().copied().find(|list| list.as_bytes() == self.key),
            b'[' if self.depth == 0 && self.record.is_none() => (self.base, self.depth) = (1, 1),
            b'[' if is_key_level && self.named.is_some() => {
                self.list = self.named.take();
                self.record.iter_mut().for_each(|record| record.has_lists = true);
                self.depth += 1;
            }
            b'[' | b'{' => {
                self.begin(at, byte == b'{');
                self.depth += 1;
            }
            b']' if self.list.is_some() && self.depth == self.base + 2 => {
                self.end_element(at, found);
                self.list = None;
                self.depth -= 1;
            }
            b']' if self.base == 1 && self.depth == 1 => {
                self.end_record(at, found);
                (self.base, self.depth) = (0, 0);
            }
            b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                if self.list.is_some() && self.depth == self.base + 2 {
                    self.end_element(at + 1, found);
                } else if self.depth <= self.base {
                    self.end_record(at + 1, found);
                }
            }
            b',' => {
                self.named = None;
                if self.list.is_some() && self.depth == self.base + 2 {
                    self.end_element(at, found);
                } else if self.depth == self.base {
                    self.end_record(at, found);
                }
            }
            b'\n' if self.depth == 0 => self.end_record(at, found),
            byte if byte.is_ascii_whitespace() || (at < 3 && BYTE_ORDER_MARK.contains(&byte)) => {}
            _ => self.begin(at, false),
        }
    }

    /// Begins a record, unless the position is within one.
    fn begin(&mut self, at: u64, is_object: bool) {
        if self.list.is_some() {
            if self.depth == self.base + 2 {
                self.element.get_or_insert(at);
            }
        } else if self.depth == self.base && self.record.is_none() {
            (self.record, self.named) = (Some(OpenRecord { start: at, is_object, has_lists: false }), None);
        }
    }

    fn end_element(&mut self, end: u64, found: &mut Vec<RecordPosition>) {
        if let (Some(start), Some(list)) = (self.element.take(), self.list) {
            self.number += 1;
            found.push(RecordPosition { list, number: self.number, start, length: end - start });
        }
    }

    fn end_record(&mut self, end: u64, found: &mut Vec<RecordPosition>) {
        if let Some(OpenRecord { start, .. }) = self.record.take().filter(|record| !record.has_lists) {
            self.number += 1;
            found.push(RecordPosition { list: "", number: self.number, start, length: end - start });
        }
        (self.list, self.element) = (None, None);
    }

    /// Ends everything that is not complete; parsing it reports the defect.
    fn end_line(&mut self, at: u64, found: &mut Vec<RecordPosition>) {
        self.end_element(at, found);
        self.end_record(at, found);
        (self.depth, self.base, self.string, self.named) = (0, 0, StringState::Outside, None);
    }
}

/// Parses a record.
///
/// # Errors
/// The reason, if it is not an object.
pub(crate) fn parse_record(bytes: Vec<u8>) -> Result<SourceRecord, String> {
    let max_values = MIN_VALUES.max(bytes.len() / MIN_VALUE_BYTES);
    let values = || bytes.iter().filter(|byte| matches!(byte, b',' | b':' | b'[' | b'{')).count();
    if max_values < bytes.len() && max_values < values() {
        return Err("has too many values".into());
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let parsed = serde_json::from_str(&text).or_else(|error| match replace_lone_surrogates(&text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    });
    match parsed {
        Ok(Value::Object(fields)) => Ok(SourceRecord(fields)),
        Ok(_) => Err("is not an object".into()),
        Err(error) => Err(format!("is not valid JSON: {error}")),
    }
}

/// Returns a JSON text with `\ufffd` in place of halves of surrogate pairs, if it has any.
fn replace_lone_surrogates(text: &str) -> Option<String> {
    let code_at = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    let (mut replaced, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = text[at..].find('\\') {
        at += found;
        at = match code_at(at) {
            Some(0xd800..=0xdbff) if matches!(code_at(at + 6), Some(0xdc00..=0xdfff)) => at + 12,
            Some(0xd800..=0xdfff) => {
                replaced.push_str(&text[copied..at]);
                replaced.push_str("\\ufffd");
                copied = at + 6;
                at + 6
            }
            Some(_) => at + 6,
            // The character after the backslash may take several bytes.
            None => text[at + 1..].chars().next().map_or(text.len(), |next| at + 1 + next.len_utf8()),
        };
    }
    (0 < copied).then(|| replaced + &text[copied..])
}

#[cfg(test)]
mod tests;
