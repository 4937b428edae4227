//! Finding the records of a JSON text that arrives in parts.

use memchr::{memchr2, memchr3};

use crate::record_file::RecordPosition;

/// Maximum length of the name of a list in bytes.
const MAX_KEY_BYTES: usize = 64;

/// The mark at the beginning of some texts.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Finds the records of a JSON text, which arrives byte by byte. The records themselves are not checked.
#[derive(Debug)]
pub(crate) struct JsonSplitter {
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
    /// The number of the latest record, or of the line in lines.
    number: i64,
    /// Whether the text ended within a list or an array.
    pub(crate) is_incomplete: bool,
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
    /// Finds records in the arrays with the keys `lists`, and other records outside of such arrays.
    ///
    /// With lines, every line is a document of its own.
    pub(crate) fn new(lists: &'static [&'static str], has_lines: bool) -> Self {
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
            number: i64::from(has_lines),
            is_incomplete: false,
        }
    }

    /// Returns the position of the next byte.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Returns the start of the record whose end has not been found.
    pub(crate) fn open_start(&self) -> Option<u64> {
        self.element.or(self
            .record
            .filter(|record| !record.has_lists)
            .map(|record| record.start))
    }

    /// Adds a part of the text; the records that end in it are added to `found`.
    pub(crate) fn push_all(&mut self, bytes: &[u8], found: &mut Vec<RecordPosition>) {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            let skipped = if self.has_lines {
                0
            } else {
                self.skip_values(rest)
            };
            let plain = if skipped == 0 {
                self.push_string_part(rest)
            } else {
                skipped
            };
            if plain == 0 {
                self.push(*byte, found);
                rest = after;
            } else {
                self.at += plain as u64;
                rest = &rest[plain..];
            }
        }
    }

    /// Skips values within a record, where only brackets and strings count; returns the number of bytes.
    fn skip_values(&mut self, bytes: &[u8]) -> usize {
        let (mut at, mut depth, mut string) = (0, self.depth, self.string);
        while self.base + 2 < depth && at < bytes.len() {
            match string {
                StringState::Outside => match bytes[at] {
                    b'"' => string = StringState::Inside,
                    b'[' | b'{' => depth += 1,
                    b']' | b'}' => depth -= 1,
                    _ => {}
                },
                StringState::Inside => {
                    let Some(end) = memchr2(b'"', b'\\', &bytes[at..]) else {
                        at = bytes.len();
                        break;
                    };
                    at += end;
                    string = if bytes[at] == b'"' {
                        StringState::Outside
                    } else {
                        StringState::Escaped
                    };
                }
                StringState::Escaped => string = StringState::Inside,
            }
            at += 1;
        }
        (self.depth, self.string) = (depth, string);
        at
    }

    /// Adds the bytes that continue a string, which may be the key of a list; returns their number.
    fn push_string_part(&mut self, bytes: &[u8]) -> usize {
        if self.string != StringState::Inside {
            return 0;
        }
        let length = memchr3(b'"', b'\\', b'\n', bytes).unwrap_or(bytes.len());
        let free = (MAX_KEY_BYTES + 1).saturating_sub(self.key.len());
        self.key.extend(bytes[..length].iter().take(free));
        length
    }

    fn push(&mut self, byte: u8, found: &mut Vec<RecordPosition>) {
        let at = self.at;
        self.at += 1;
        if byte == b'\n' && self.has_lines {
            self.end_line(at, found);
            self.number += 1;
        } else if self.string != StringState::Outside {
            self.push_in_string(byte);
        } else {
            self.push_token(byte, at, found);
        }
    }

    /// Ends the text.
    pub(crate) fn finish(&mut self, found: &mut Vec<RecordPosition>) {
        let is_in_string = self.string != StringState::Outside;
        // A record without an end is reported as such.
        let is_in_record = self.base < self.depth || is_in_string;
        let is_reported = is_in_record && self.record.is_some_and(|record| !record.has_lists);
        self.is_incomplete = (0 < self.depth || is_in_string) && !is_reported;
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
        let is_key_level = self.list.is_none()
            && self.depth == self.base + 1
            && self.record.is_some_and(|record| record.is_object);
        match byte {
            b'"' => {
                self.begin(at, false);
                self.string = StringState::Inside;
                self.key.clear();
            }
            b':' if is_key_level => {
                self.named = self
                    .lists
                    .iter()
                    .copied()
                    .find(|list| list.as_bytes() == self.key);
            }
            b'[' if self.depth == 0 && self.record.is_none() => (self.base, self.depth) = (1, 1),
            b'[' if is_key_level && self.named.is_some() => {
                self.list = self.named.take();
                self.record
                    .iter_mut()
                    .for_each(|record| record.has_lists = true);
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
            // A bracket that closes nothing is part of a broken record.
            b']' | b'}' if self.depth <= self.record_depth() => self.begin(at, false),
            b']' | b'}' => {
                self.depth -= 1;
                // In an array, a record ends at its comma, so that a bracket too many belongs to its record.
                if self.depth == 0 {
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

    /// Returns the depth of the records at the current position.
    fn record_depth(&self) -> usize {
        if self.list.is_some() {
            self.base + 2
        } else {
            self.base
        }
    }

    /// Begins a record, unless the position is within one.
    fn begin(&mut self, at: u64, is_object: bool) {
        if self.list.is_some() {
            if self.depth == self.base + 2 {
                self.element.get_or_insert(at);
            }
        } else if self.depth == self.base && self.record.is_none() {
            (self.record, self.named) = (
                Some(OpenRecord {
                    start: at,
                    is_object,
                    has_lists: false,
                }),
                None,
            );
        }
    }

    fn end_element(&mut self, end: u64, found: &mut Vec<RecordPosition>) {
        if let (Some(start), Some(list)) = (self.element.take(), self.list) {
            self.number += i64::from(!self.has_lines);
            found.push(RecordPosition {
                list,
                number: self.number,
                start,
                length: end - start,
            });
        }
    }

    fn end_record(&mut self, end: u64, found: &mut Vec<RecordPosition>) {
        if let Some(OpenRecord { start, .. }) =
            self.record.take().filter(|record| !record.has_lists)
        {
            self.number += i64::from(!self.has_lines);
            found.push(RecordPosition {
                list: "",
                number: self.number,
                start,
                length: end - start,
            });
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

/// Returns whether a text consists of whole objects.
pub(crate) fn has_whole_objects(text: &[u8]) -> bool {
    let mut splitter = JsonSplitter::new(&[], false);
    let mut spans = Vec::new();
    splitter.push_all(text, &mut spans);
    text.starts_with(b"{") && splitter.depth == 0 && !spans.is_empty()
}
