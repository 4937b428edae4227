//! The records of an export, one per line or in a list.

use std::collections::VecDeque;
use std::io::{self, BufRead, Cursor, Read};

use memory_ingest::{JsonElements, split_objects, utf_8_reader};
use serde::de::IgnoredAny;

use crate::failure::Failure;

/// Maximum length of a line, in bytes; larger than any memory.
const MAX_LINE: u64 = 32 * 1024 * 1024;

/// The records of an export; empty lines are skipped. A line that is not one JSON value has as many records as whole objects, and
/// its damaged parts are records, too. The records may also be objects in a list, in any number of lines.
pub(super) struct ExportLines<'a> {
    input: Box<dyn BufRead + 'a>,
    number: u64,
    /// Whether no line with text was read.
    is_start: bool,
    /// The other records of the line that was read last.
    records: VecDeque<Vec<u8>>,
    /// The records in a list.
    list: Option<JsonElements<Box<dyn BufRead + 'a>>>,
    /// The error that ended the records early.
    failed: Option<io::Error>,
}

impl<'a> ExportLines<'a> {
    pub(super) fn new(input: impl BufRead + 'a) -> Self {
        Self {
            input: Box::new(input),
            number: 0,
            is_start: true,
            records: VecDeque::new(),
            list: None,
            failed: None,
        }
    }

    /// Returns whether the records are in a list.
    pub(super) fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// Returns whether an error ended the records early.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Fails if an error ended the records early; `action` is what was attempted.
    pub(super) fn check_whole(self, action: &str) -> Result<(), Failure> {
        self.failed
            .map_or(Ok(()), |error| Err(Failure::file(action)(error)))
    }

    /// Returns the next record, or why its line is rejected; `None` at the end.
    fn next_record(&mut self) -> io::Result<Option<Result<Vec<u8>, String>>> {
        if let Some(record) = self.records.pop_front() {
            return Ok(Some(Ok(record)));
        }
        if self.number == 0 {
            self.input = utf_8_reader(self.take_input())?;
        }
        while self.list.is_none() {
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
            let is_cut_off = !line.ends_with(b"\n") && MAX_LINE <= line.len() as u64;
            if is_cut_off && !(self.is_start && begins_list(&line)) {
                self.input.skip_until(b'\n')?;
                return Ok(Some(Err("the line is longer than any memory".into())));
            }
            if self.number == 1 && line.starts_with(b"\xef\xbb\xbf") {
                line.drain(..3);
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            if std::mem::take(&mut self.is_start) && begins_list(&line) {
                let input = Cursor::new(line).chain(self.take_input());
                self.list = Some(JsonElements::of_list(Box::new(input)));
                break;
            }
            if serde_json::from_slice::<IgnoredAny>(&line).is_err() {
                let parts = split_objects(&line).into_iter();
                self.records = parts.map(|part| line[part].to_vec()).collect();
            }
            return Ok(Some(Ok(self.records.pop_front().unwrap_or(line))));
        }
        let element = self.list.as_mut().and_then(Iterator::next);
        Ok(element.map(|element| {
            self.number = element.number;
            element.bytes.map_err(|reason| format!("it {reason}"))
        }))
    }

    fn take_input(&mut self) -> Box<dyn BufRead + 'a> {
        std::mem::replace(&mut self.input, Box::new(io::empty()))
    }
}

impl Iterator for ExportLines<'_> {
    /// The position of a record, and its text or why it is rejected.
    type Item = (String, Result<String, String>);

    fn next(&mut self) -> Option<Self::Item> {
        let record = match self.next_record() {
            Ok(record) => record?,
            Err(error) => {
                self.failed = Some(error);
                return None;
            }
        };
        let unit = if self.is_list() { "record" } else { "line" };
        let text = record.and_then(|record| {
            String::from_utf8(record).map_err(|_| "it is not valid UTF-8".to_owned())
        });
        Some((format!("{unit} {}", self.number), text))
    }
}

/// Returns whether the first line of a file starts a list of objects, or an object in several lines.
fn begins_list(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let items = line.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    items.is_some_and(|items| matches!(items.first(), None | Some(b'{' | b']'))) || line == b"{"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the places and the texts of all records.
    fn records(bytes: &[u8]) -> Vec<(String, String)> {
        let mut lines = ExportLines::new(bytes);
        let text = |text: Result<String, String>| text.expect("a text").trim_ascii().to_owned();
        let found = lines.by_ref().map(|(place, record)| (place, text(record)));
        let found = found.collect();
        lines.check_whole("read").expect("it can be read");
        found
    }

    #[test]
    fn the_objects_of_a_list_are_records() {
        let expected = ["{\"a\":1}", "{\"a\":[2]}"];
        for text in [
            "[{\"a\":1},{\"a\":[2]}]",
            "\n [ {\"a\":1},\n{\"a\":[2]}]\n",
            "[\n{\"a\":1},\n{\"a\":[2]}\n]\n",
            "[{\"a\":1}\n,{\"a\":[2]}]",
            "[\n  {\n    \"a\": 1\n  },\n  {\n    \"a\": [\n      2\n    ]\n  }\n]\n",
            "{\n  \"a\": 1\n}\n{\n  \"a\": [2]\n}\n",
        ] {
            let found = records(text.as_bytes()).into_iter();
            let found: Vec<_> = found
                .map(|(_, text)| text.replace([' ', '\n'], ""))
                .filter(|text| !text.is_empty())
                .collect();
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(records(b"[]\n"), []);
        let own = |place: &str, text: &str| (place.to_owned(), text.to_owned());
        assert_eq!(records(b"[1]\n"), [own("line 1", "[1]")]);
        assert_eq!(
            records(b"{\"a\":1}\n[{\"a\":2}]\n"),
            [own("line 1", "{\"a\":1}"), own("line 2", "[{\"a\":2}]")]
        );
    }

    #[test]
    fn a_file_in_utf_16_has_the_records_of_its_text() {
        let text = "{\"a\":\"日\"}\r\n{\"a\":2}\r\n";
        for (mark, unit) in [
            ([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]),
            ([0xfe, 0xff], u16::to_be_bytes),
        ] {
            let units = text.encode_utf16().flat_map(unit);
            let bytes: Vec<u8> = mark.into_iter().chain(units).collect();
            assert_eq!(records(&bytes), records(text.as_bytes()));
        }
    }
}
