//! Tables of any program, with a map of their columns.

use std::collections::HashSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use csv::{ByteRecord, Position, Reader, ReaderBuilder};
use memchr::{memchr, memchr3};
use memory_core::wikilink::WikilinkRule;
use memory_core::{Source, SourceError, SourceItem};
use serde_json::{Map, Value};

use crate::field_map::{FieldMap, SuggestedMap, mapped_items};
use crate::record::SourceRecord;
use crate::record_file::{RecordFile, RecordPosition, RecordReader, file_name, find_file};
use crate::source_text::{ReadSeek, TextContent, encoding_warning};

/// Maximum size of a row in bytes.
const MAX_ROW_BYTES: u64 = 16 << 20;

/// Maximum number of quotes without an end after which the following rows are read.
const MAX_OPEN_QUOTES: usize = 100;

/// Number of rows that are read for a suggested map.
const SAMPLE: usize = 20;

/// Number of bytes in which the delimiter is looked for.
const HEAD_BYTES: u64 = 64 << 10;

/// A table with a header, with commas, semicolons or tabs between its columns. Each row is a note, by a map of its columns.
#[derive(Debug)]
pub struct CsvTable {
    file: CsvFile,
    map: FieldMap,
}

impl CsvTable {
    /// Opens the file at `path`. `fields` are pairs of a field of memories and a column.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`], [`SourceError::NotRecognized`] or [`SourceError::WrongMap`].
    pub fn open(path: &Path, fields: &[(String, String)]) -> Result<Self, SourceError> {
        let found = find_file(path, &[])?;
        let shown = || found.display().to_string();
        let file = CsvFile::open(&found).map_err(|source| SourceError::Unreadable {
            path: shown(),
            source,
        })?;
        if file
            .columns
            .iter()
            .any(|column| column.contains(['\0', '\u{fffd}']))
        {
            return Err(SourceError::NotRecognized {
                path: shown(),
                expected: "a table in a known encoding with a header".into(),
            });
        }
        let map = FieldMap::new(
            fields,
            &file.columns,
            &|key| file.columns.iter().any(|column| column == key),
            &found,
        )?;
        Ok(Self { file, map })
    }

    /// Returns a map for the table at `path`, or `None` if it has no text.
    pub(crate) fn suggest_map(path: &Path) -> Option<SuggestedMap> {
        let file = CsvFile::open(path).ok()?;
        let mut records = Vec::new();
        file.reader().ok()?.scan(&mut |_, record| {
            records.extend(record.ok());
            records.len() < SAMPLE
        });
        SuggestedMap::new(file.columns, &records)
    }
}

impl Source for CsvTable {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Pages
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        mapped_items(
            "csv",
            &self.file,
            &self.map,
            self.file.encoding.map(encoding_warning),
        )
    }
}

#[derive(Debug, Clone)]
struct CsvFile {
    name: String,
    content: TextContent,
    /// The encoding, if it was detected.
    encoding: Option<&'static str>,
    delimiter: u8,
    columns: Vec<String>,
    /// The number of bytes.
    length: u64,
}

impl CsvFile {
    fn open(path: &Path) -> io::Result<Self> {
        let mut head = Vec::new();
        let (content, encoding) = TextContent::of_file_in_any_encoding(path)?;
        content.open()?.take(HEAD_BYTES).read_to_end(&mut head)?;
        let length = content.open()?.seek(SeekFrom::End(0))?;
        let (name, delimiter) = (file_name(path), find_delimiter(&head));
        let mut file = Self {
            name,
            content,
            encoding,
            delimiter,
            columns: Vec::new(),
            length,
        };
        let mut reader = file.open_reader()?;
        let mut header = ByteRecord::new();
        let is_read = reader.read_byte_record(&mut header);
        if file
            .open_quote(&reader, 0, &header, is_read.is_err())?
            .is_some()
        {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a quote in its header is not closed",
            ));
        }
        is_read.map_err(io::Error::other)?;
        let mut names = HashSet::new();
        for (index, name) in header.iter().enumerate() {
            let name = String::from_utf8_lossy(name)
                .trim_start_matches('\u{feff}')
                .trim()
                .to_owned();
            let is_unique = !name.is_empty() && names.insert(name.clone());
            file.columns.push(if is_unique {
                name
            } else {
                format!("column {}", index + 1)
            });
        }
        Ok(file)
    }

    fn open_reader(&self) -> io::Result<Reader<LimitedFile>> {
        let file = LimitedFile {
            file: self.content.open()?,
            left: MAX_ROW_BYTES,
        };
        // The header is read as a row, so that any row can be read again alone.
        Ok(ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(file))
    }

    /// Returns the position after the first line of the row at `start`, and the number of lines up to there, if the row continues
    /// in other lines, or to the end of the file, because a quote is not closed.
    ///
    /// The end of the row is the position of `reader`, unless the row is too large to be read.
    fn open_quote(
        &self,
        reader: &Reader<LimitedFile>,
        start: u64,
        row: &ByteRecord,
        is_too_large: bool,
    ) -> io::Result<Option<(u64, u64)>> {
        let has_lines = is_too_large || row.iter().any(|value| value.contains(&b'\n'));
        let is_last = self.length <= reader.position().byte();
        if !has_lines && !is_last {
            return Ok(None);
        }
        let length = if is_too_large {
            MAX_ROW_BYTES
        } else {
            reader.position().byte().saturating_sub(start)
        };
        let mut content = self.content.open()?;
        content.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        content.take(length).read_to_end(&mut bytes)?;
        // The line break of the row before may belong to this position.
        let breaks = bytes
            .iter()
            .take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let blank = breaks.clone().count();
        let lines = breaks.filter(|byte| **byte == b'\n').count() as u64;
        let row = &bytes[blank..];
        let is_open = match RowQuotes::of(row, self.delimiter) {
            RowQuotes::Closed => is_too_large,
            RowQuotes::TextBehind => has_lines,
            RowQuotes::Open => true,
        };
        let end = memchr(b'\n', row)
            .or(is_last.then(|| row.len().saturating_sub(1)))
            .filter(|_| is_open);
        Ok(end.map(|end| (start + (blank + end + 1) as u64, lines + 1)))
    }

    fn record(&self, row: &ByteRecord) -> Result<SourceRecord, String> {
        if self.columns.len() < row.len() {
            return Err(format!(
                "has {} values, but the table has {} columns",
                row.len(),
                self.columns.len()
            ));
        }
        let values = row
            .iter()
            .map(|value| Value::from(String::from_utf8_lossy(value).into_owned()));
        Ok(SourceRecord(
            self.columns
                .iter()
                .cloned()
                .zip(values)
                .collect::<Map<_, _>>(),
        ))
    }
}

impl RecordFile for CsvFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn reader(&self) -> Result<Box<dyn RecordReader>, String> {
        let reader = self
            .open_reader()
            .map_err(|error| format!("cannot be read: {error}"))?;
        Ok(Box::new(CsvReader {
            file: self.clone(),
            reader,
        }))
    }
}

struct CsvReader {
    file: CsvFile,
    reader: Reader<LimitedFile>,
}

impl CsvReader {
    /// Reads the next row, or returns `None` at the end.
    fn read_row(&mut self, row: &mut ByteRecord) -> Option<Result<(), csv::Error>> {
        self.reader.get_mut().left = MAX_ROW_BYTES;
        self.reader
            .read_byte_record(row)
            .map(|is_read| is_read.then_some(()))
            .transpose()
    }
}

impl RecordReader for CsvReader {
    fn scan(&mut self, see: &mut dyn FnMut(RecordPosition, Result<SourceRecord, String>) -> bool) {
        let mut row = ByteRecord::new();
        let mut number = 0;
        if let Err(error) = self.reader.seek(Position::new()) {
            let position = RecordPosition {
                list: "",
                number,
                start: 0,
                length: 0,
            };
            see(position, Err(format!("cannot be read: {error}")));
            return;
        }
        let mut open_quotes = 0;
        let mut broken: Option<BrokenRow> = None;
        loop {
            let (start, line) = (self.reader.position().byte(), self.reader.position().line());
            let position = RecordPosition {
                list: "",
                number,
                start,
                length: 0,
            };
            let Some(is_read) = self.read_row(&mut row) else {
                broken.map(|broken| see(broken.position, Err(broken.reason())));
                return;
            };
            let quote = self
                .file
                .open_quote(&self.reader, start, &row, is_read.is_err());
            // A row that is too large because of its quote is not the last one.
            let quote = quote.and_then(|quote| {
                if quote.is_some() {
                    Ok(quote)
                } else {
                    is_read.map(|()| None).map_err(io::Error::other)
                }
            });
            if let Some(broken) = broken
                .as_mut()
                .filter(|_| matches!(quote, Ok(None)) && row.len() < self.file.columns.len())
            {
                // The line of an incomplete row continues the value with the quote.
                broken.last_line = self.reader.position().line().saturating_sub(1).max(line);
                number += 1;
                continue;
            }
            if let Some(broken) = broken.take()
                && !see(broken.position, Err(broken.reason()))
            {
                return;
            }
            let (record, is_last) = match quote {
                Ok(None) => (self.file.record(&row), false),
                Ok(Some((next, lines))) => {
                    open_quotes += 1;
                    let mut after = Position::new();
                    after.set_byte(next).set_line(line + lines);
                    let line = line + lines - 1;
                    if open_quotes < MAX_OPEN_QUOTES && self.reader.seek(after).is_ok() {
                        broken = Some(BrokenRow {
                            position,
                            line,
                            last_line: line,
                        });
                        number += 1;
                        continue;
                    }
                    (
                        Err(format!(
                            "has a quote in line {line} that is not closed; the following rows were not read"
                        )),
                        true,
                    )
                }
                // Behind an error, the start of the next row is unknown.
                Err(error) => (
                    Err(format!("cannot be read, nor the following rows: {error}")),
                    true,
                ),
            };
            // Row 0 is the header.
            if 0 < number && !see(position, record) || is_last {
                return;
            }
            number += 1;
        }
    }

    fn read(&mut self, position: &RecordPosition) -> Result<SourceRecord, String> {
        let reason = |error: csv::Error| format!("cannot be read: {error}");
        let mut start = Position::new();
        start.set_byte(position.start);
        self.reader.seek(start).map_err(reason)?;
        let mut row = ByteRecord::new();
        self.read_row(&mut row)
            .ok_or("was deleted meanwhile")?
            .map_err(reason)?;
        self.file.record(&row)
    }
}

/// A row with a quote that is not closed, and the lines that seem to be a part of it.
struct BrokenRow {
    position: RecordPosition,
    /// The line of the quote.
    line: u64,
    last_line: u64,
}

impl BrokenRow {
    fn reason(&self) -> String {
        let Self {
            line, last_line, ..
        } = self;
        let parts = match last_line - line {
            0 => String::new(),
            1 => format!("; line {last_line} was skipped as a part of it"),
            _ => format!(
                "; lines {} to {last_line} were skipped as parts of it",
                line + 1
            ),
        };
        format!("has a quote in line {line} that is not closed{parts}")
    }
}

/// A file that ends with an error after a number of bytes, so that a quote without an end does not fill the memory.
struct LimitedFile {
    file: Box<dyn ReadSeek>,
    left: u64,
}

impl Read for LimitedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        let left = self.left.checked_sub(length as u64);
        self.left = left.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "a row is larger than 16 MiB")
        })?;
        Ok(length)
    }
}

impl Seek for LimitedFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

/// The quoted values of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowQuotes {
    /// Each ends with a quote.
    Closed,
    /// Text follows a quote. In a row of several lines, the quote belongs to a later row, whose start became a part of this one.
    TextBehind,
    /// The last one has no end.
    Open,
}

impl RowQuotes {
    fn of(row: &[u8], delimiter: u8) -> Self {
        let mut rest = row;
        loop {
            if let Some(quoted) = rest.strip_prefix(b"\"") {
                rest = quoted;
                // Two quotes are a quote in the value.
                loop {
                    let Some(end) = memchr(b'"', rest) else {
                        return Self::Open;
                    };
                    rest = &rest[end + 1..];
                    match rest.strip_prefix(b"\"") {
                        Some(value) => rest = value,
                        None => break,
                    }
                }
                if !rest.is_empty()
                    && rest[0] != delimiter
                    && !rest.starts_with(b"\r")
                    && !rest.starts_with(b"\n")
                {
                    return Self::TextBehind;
                }
            }
            match memchr3(delimiter, b'\r', b'\n', rest) {
                Some(end) if rest[end] == delimiter => rest = &rest[end + 1..],
                _ => return Self::Closed,
            }
        }
    }
}

/// Returns the delimiter that occurs most often in the first row, outside of quotes.
fn find_delimiter(head: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut is_quoted = false;
    for byte in head {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted && counts.iter().any(|(_, count)| 0 < *count) => break,
            byte if !is_quoted => counts
                .iter_mut()
                .filter(|(own, _)| own == byte)
                .for_each(|(_, count)| *count += 1),
            _ => {}
        }
    }
    // The first of several with the same count.
    counts
        .iter()
        .rev()
        .max_by_key(|(_, count)| *count)
        .map_or(b',', |(delimiter, _)| *delimiter)
}

#[cfg(test)]
mod tests {
    use super::{RowQuotes, find_delimiter};

    #[test]
    fn a_quote_is_open_without_an_end_or_with_text_behind_it() {
        for (row, quotes) in [
            ("a,\"b\nc\"\n", RowQuotes::Closed),
            ("\"a \"\"b\"\"\nc\",d", RowQuotes::Closed),
            ("5\" disk,x\ny", RowQuotes::Closed),
            ("a,\"b\n\"\"c\n", RowQuotes::Open),
            ("a,\"b", RowQuotes::Open),
            ("1,\"b\n2,\"c\"\n", RowQuotes::TextBehind),
        ] {
            assert_eq!(RowQuotes::of(row.as_bytes(), b','), quotes, "{row}");
        }
    }

    #[test]
    fn the_delimiter_is_the_most_frequent_one_in_the_header() {
        for (head, delimiter) in [
            ("a,b;c,d\n;;;;", b','),
            ("a;b;\"c,,,,\"\n", b';'),
            ("a\tb", b'\t'),
            ("text\n", b','),
            ("", b','),
            ("a;b,c", b','),
        ] {
            assert_eq!(find_delimiter(head.as_bytes()), delimiter, "{head}");
        }
    }
}
