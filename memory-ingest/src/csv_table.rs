//! Tables of any program, with a map of their columns.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, Position, Reader, ReaderBuilder};
use memory_core::wikilink::WikilinkRule;
use memory_core::{Source, SourceError, SourceItem};
use serde_json::{Map, Value};

use crate::field_map::{FieldMap, mapped_items};
use crate::record::SourceRecord;
use crate::record_file::{RecordFile, RecordPosition, RecordReader, file_name, find_file};

/// Maximum size of a row in bytes.
const MAX_ROW_BYTES: u64 = 16 << 20;

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
    /// [`SourceError::Missing`], [`SourceError::Unreadable`] or [`SourceError::NotRecognized`].
    pub fn open(path: &Path, fields: &[(String, String)]) -> Result<Self, SourceError> {
        let found = find_file(path, &[])?;
        let shown = || found.display().to_string();
        let file = CsvFile::open(&found).map_err(|source| SourceError::Unreadable { path: shown(), source })?;
        if file.columns.iter().any(|column| column.contains(['\0', '\u{fffd}'])) {
            return Err(SourceError::NotRecognized { path: shown(), expected: "a table in UTF-8 with a header".into() });
        }
        let map = FieldMap::new(fields, &file.columns, &found)?;
        Ok(Self { file, map })
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
        mapped_items("csv", &self.file, &self.map)
    }
}

#[derive(Debug, Clone)]
struct CsvFile {
    name: String,
    path: PathBuf,
    delimiter: u8,
    columns: Vec<String>,
}

impl CsvFile {
    fn open(path: &Path) -> io::Result<Self> {
        let mut head = Vec::new();
        File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
        let mut file =
            Self { name: file_name(path), path: path.to_owned(), delimiter: find_delimiter(&head), columns: Vec::new() };
        let mut reader = file.open_reader()?;
        let mut header = ByteRecord::new();
        reader.read_byte_record(&mut header).map_err(io::Error::other)?;
        for (index, name) in header.iter().enumerate() {
            let name = String::from_utf8_lossy(name).trim_start_matches('\u{feff}').trim().to_owned();
            let is_unique = !name.is_empty() && !file.columns.contains(&name);
            file.columns.push(if is_unique { name } else { format!("column {}", index + 1) });
        }
        Ok(file)
    }

    fn open_reader(&self) -> io::Result<Reader<LimitedFile>> {
        let file = LimitedFile { file: File::open(&self.path)?, left: MAX_ROW_BYTES };
        // The header is read as a row, so that any row can be read again alone.
        Ok(ReaderBuilder::new().delimiter(self.delimiter).has_headers(false).flexible(true).from_reader(file))
    }

    fn record(&self, row: &ByteRecord) -> Result<SourceRecord, String> {
        if self.columns.len() < row.len() {
            return Err(format!("has {} values, but the table has {} columns", row.len(), self.columns.len()));
        }
        let values = row.iter().map(|value| Value::from(String::from_utf8_lossy(value).into_owned()));
        Ok(SourceRecord(self.columns.iter().cloned().zip(values).collect::<Map<_, _>>()))
    }
}

impl RecordFile for CsvFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn reader(&self) -> Result<Box<dyn RecordReader>, String> {
        let reader = self.open_reader().map_err(|error| format!("cannot be read: {error}"))?;
        Ok(Box::new(CsvReader { file: self.clone(), reader }))
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
        self.reader.read_byte_record(row).map(|is_read| is_read.then_some(())).transpose()
    }
}

impl RecordReader for CsvReader {
    fn scan(&mut self, see: &mut dyn FnMut(RecordPosition, Result<SourceRecord, String>) -> bool) {
        let mut row = ByteRecord::new();
        let mut number = 0;
        if let Err(error) = self.reader.seek(Position::new()) {
            let position = RecordPosition { list: "", number, start: 0, length: 0 };
            see(position, Err(format!("cannot be read: {error}")));
            return;
        }
        loop {
            let start = self.reader.position().byte();
            let position = RecordPosition { list: "", number, start, length: 0 };
            let record = match self.read_row(&mut row) {
                None => return,
                // Behind an error, the start of the next row is unknown.
                Some(Err(error)) => {
                    see(position, Err(format!("cannot be read, nor the following rows: {error}")));
                    return;
                }
                Some(Ok(())) => self.file.record(&row),
            };
            // Row 0 is the header.
            if 0 < number && !see(position, record) {
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
        self.read_row(&mut row).ok_or("was deleted meanwhile")?.map_err(reason)?;
        self.file.record(&row)
    }
}

/// A file that ends with an error after a number of bytes, so that a quote without an end does not fill the memory.
#[derive(Debug)]
struct LimitedFile {
    file: File,
    left: u64,
}

impl Read for LimitedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        let left = self.left.checked_sub(length as u64);
        self.left = left.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a row is larger than 16 MiB"))?;
        Ok(length)
    }
}

impl Seek for LimitedFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
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
            byte if !is_quoted => counts.iter_mut().filter(|(own, _)| own == byte).for_each(|(_, count)| *count += 1),
            _ => {}
        }
    }
    // The first of several with the same count.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(delimiter, _)| *delimiter)
}

#[cfg(test)]
mod tests {
    use super::find_delimiter;

    #[test]
    fn the_delimiter_is_the_most_frequent_one_in_the_header() {
        for (head, delimiter) in
            [("a,b;c,d\n;;;;", b','), ("a;b;\"c,,,,\"\n", b';'), ("a\tb", b'\t'), ("text\n", b','), ("", b','), ("a;b,c", b',')]
        {
            assert_eq!(find_delimiter(head.as_bytes()), delimiter, "{head}");
        }
    }
}
