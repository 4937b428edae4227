//! Reads JSON values from a stream that may also contain lines that are not JSON.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use serde_json::de::{IoRead, StreamDeserializer};
use serde_json::{Deserializer, Value};

use crate::exact_json::{ExactNumberReader, replace_lone_surrogates};
use crate::rpc::MessageIdScanner;

/// An iterator over the JSON values of a stream.
///
/// A line may hold several values, and a value may span lines. After an error, parsing resumes on the next line. If the
/// broken value started on an earlier line, parsing resumes on the line of the error if that line starts with a
/// bracket, otherwise on the next line that is neither indented nor starts with a closing bracket.
pub struct InputValues<R: Read> {
    lines: Rc<RefCell<InputLines<ExactNumberReader<R>>>>,
    values: ValueDeserializer<R>,
    /// The number of the line on which `values` starts.
    first_line: usize,
    has_ended: bool,
}

type ValueDeserializer<R> =
    StreamDeserializer<'static, IoRead<SharedLines<ExactNumberReader<R>>>, Value>;

/// The reasons why a value cannot be read.
#[derive(Debug)]
pub enum InputError {
    /// Reading the stream failed.
    Io(io::Error),
    /// The text is not JSON.
    NotJson {
        /// The reason and the position.
        reason: String,
        /// The `id` of the object that could not be read, if it stands in the same line.
        id: Option<Value>,
    },
}

impl<R: Read> fmt::Debug for InputValues<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            first_line,
            has_ended,
            ..
        } = self;
        formatter
            .debug_struct("InputValues")
            .field("first_line", first_line)
            .field("has_ended", has_ended)
            .finish_non_exhaustive()
    }
}

impl<R: Read> InputValues<R> {
    /// Creates an iterator over the values of `input`.
    pub fn new(input: R) -> Self {
        let lines = Rc::new(RefCell::new(InputLines::new(ExactNumberReader::new(input))));
        let values = new_deserializer(&lines);
        Self {
            lines,
            values,
            first_line: 1,
            has_ended: false,
        }
    }
}

impl<R: Read> Iterator for InputValues<R> {
    type Item = Result<Value, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        self.lines.borrow_mut().begin_value();
        let error = match self.values.next()? {
            Ok(value) => return Some(Ok(value)),
            Err(error) => error,
        };
        if error.is_io() {
            self.has_ended = true;
            return Some(Err(InputError::Io(error.into())));
        }
        let place = format!(" at line {} column {}", error.line(), error.column());
        let reason = error.to_string();
        let reason = reason.strip_suffix(&place).unwrap_or(&reason);
        // The parser reports an error at a line break as column 0 of the next line; it belongs to the end of the
        // previous line.
        let is_line_end = error.column() == 0 && 1 < error.line() && !error.is_eof();
        let line = (self.first_line + error.line() - usize::from(is_line_end)).saturating_sub(1);
        let place = if is_line_end {
            format!("the end of line {line}")
        } else {
            format!("line {line} column {}", error.column())
        };
        self.has_ended = error.is_eof();
        let id = self.lines.borrow().find_id(line);
        self.first_line = self.lines.borrow_mut().recover(line);
        self.values = new_deserializer(&self.lines);
        let reason = format!("{reason} at {place}");
        Some(Err(InputError::NotJson { reason, id }))
    }
}

fn new_deserializer<R: Read>(
    lines: &Rc<RefCell<InputLines<ExactNumberReader<R>>>>,
) -> ValueDeserializer<R> {
    Deserializer::from_reader(SharedLines(Rc::clone(lines))).into_iter()
}

/// A stream that is read by line, so that the line of an error can be skipped or read again.
#[derive(Debug)]
struct InputLines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Number of bytes of the line that have been read.
    read: usize,
    number: usize,
    /// Offset in the line at which the current value may start.
    value_start: usize,
    /// The line on which the current value starts, if it is an earlier line.
    value_line: Option<usize>,
    /// The lines of the current value before the present one.
    scanner: MessageIdScanner,
    /// Whether lines that continue a broken value are skipped.
    is_skipping: bool,
}

impl<R: Read> InputLines<R> {
    fn new(input: R) -> Self {
        let input = BufReader::new(input);
        Self {
            input,
            line: Vec::new(),
            read: 0,
            number: 0,
            value_start: 0,
            value_line: None,
            scanner: MessageIdScanner::default(),
            is_skipping: false,
        }
    }

    fn begin_value(&mut self) {
        self.value_start = self.read;
        self.value_line = None;
        self.scanner = MessageIdScanner::default();
    }

    /// Returns the `id` of the object with an error in `line`.
    fn find_id(&self, line: usize) -> Option<Value> {
        let mut scanner = self.scanner.clone();
        if line == self.number {
            scanner.scan(&self.line[self.value_start..]);
        }
        scanner.request_id()
    }

    /// Moves to the position at which parsing resumes after an error in `line`; returns its line number.
    fn recover(&mut self, line: usize) -> usize {
        let is_rest = self.value_line.is_some_and(|first| first < line);
        // The deserializer may have read into the line after the error.
        let is_behind = line < self.number;
        let begins_value = self.line.starts_with(b"{") || self.line.starts_with(b"[");
        self.is_skipping = is_rest && !begins_value && (!is_behind || self.continues_value());
        if is_behind && !self.is_skipping || is_rest && begins_value {
            self.read = 0;
            return self.number;
        }
        self.read = self.line.len();
        self.number + 1
    }

    /// Returns whether the line continues a value that started on an earlier line.
    fn continues_value(&self) -> bool {
        self.line
            .first()
            .is_some_and(|first| first.is_ascii_whitespace() || b"}]".contains(first))
    }

    fn next_line(&mut self) -> io::Result<()> {
        if self.value_line.is_none() && !self.line[self.value_start..].trim_ascii().is_empty() {
            self.value_line = Some(self.number);
        }
        if !self.is_skipping {
            self.scanner.scan(&self.line[self.value_start..]);
        }
        self.value_start = 0;
        loop {
            self.line.clear();
            self.read = 0;
            self.input.read_until(b'\n', &mut self.line)?;
            self.number += 1;
            if let Ok(Cow::Owned(whole)) =
                std::str::from_utf8(&self.line).map(replace_lone_surrogates)
            {
                self.line = whole.into_bytes();
            }
            if !(self.is_skipping && self.continues_value()) {
                self.is_skipping = false;
                return Ok(());
            }
        }
    }
}

/// The lines, shared between the deserializer and the error recovery.
#[derive(Debug)]
struct SharedLines<R>(Rc<RefCell<InputLines<R>>>);

impl<R: Read> Read for SharedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut lines = self.0.borrow_mut();
        if lines.read == lines.line.len() {
            lines.next_line()?;
        }
        let rest = &lines.line[lines.read..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        lines.read += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn read(input: &str) -> String {
        let values = InputValues::new(input.as_bytes());
        let shown = |value| match value {
            Ok(value) => format!("{value}\n"),
            Err(InputError::NotJson { reason, id: None }) => format!("! {reason}\n"),
            Err(InputError::NotJson {
                reason,
                id: Some(id),
            }) => format!("! {id}: {reason}\n"),
            Err(InputError::Io(error)) => panic!("{error}"),
        };
        values.map(shown).collect()
    }

    #[test]
    fn a_line_that_is_no_json_does_not_end_the_input() {
        assert_snapshot!(read("{\"a\":1}\nno JSON\n{\"b\":2} {\"c\":3}\n{\"d\n{\"e\":5}\n[1,]\n\n6 7"), @r#"
        {"a":1}
        ! expected ident at line 2 column 2
        {"b":2}
        {"c":3}
        ! control character (\u0000-\u001F) found while parsing a string at the end of line 4
        {"e":5}
        ! trailing comma at line 6 column 4
        6
        7
        "#);
        assert_snapshot!(read("{\"a\":1} x {\"b\":2}\n3"), @r#"
        {"a":1}
        ! expected value at line 1 column 9
        3
        "#);
    }

    #[test]
    fn the_id_of_a_broken_object_is_found() {
        assert_snapshot!(read("{\"id\":7,\"method\":\"m\",\"params\":{\"a\":}}\n{\"b\":2} {\"a\":x,\"id\":\"c\"}\n{\"id\":8,\n\"a\":x}\n{\"id\":9,\"a\":\"x"), @r#"
        ! 7: expected value at line 1 column 36
        {"b":2}
        ! "c": expected value at line 2 column 14
        ! 8: expected value at line 4 column 5
        ! 9: EOF while parsing a string at line 5 column 14
        "#);
    }

    #[test]
    fn half_a_surrogate_pair_is_no_error() {
        assert_eq!(
            read(r#"{"a\ud83d":"\ude00 \ud83d\ude00"} "\\\ud83d\\ud83d""#),
            "{\"a\u{fffd}\":\"\u{fffd} 😀\"}\n\"\\\\\u{fffd}\\\\ud83d\"\n"
        );
    }

    #[test]
    fn a_value_may_span_lines() {
        assert_snapshot!(read("\n{\n  \"a\":\n[1,\n2]\n}\n{\"b\":\n2}"), @r#"
        {"a":[1,2]}
        {"b":2}
        "#);
    }

    #[test]
    fn a_broken_value_of_several_lines_is_one_error() {
        assert_snapshot!(read("{\n  \"a\": x,\n  \"b\": {\n  }\n}\n{\"c\":3}\n"), @r#"
        ! expected value at line 2 column 8
        {"c":3}
        "#);
    }

    #[test]
    fn a_value_without_its_end_does_not_take_the_next_line_with_it() {
        assert_snapshot!(read("{\"a\":1\n{\"b\":2}\n[\n"), @r#"
        ! expected `,` or `}` at line 2 column 1
        {"b":2}
        ! EOF while parsing a list at line 4 column 0
        "#);
    }

    #[test]
    fn numbers_behind_a_broken_string_keep_their_digits() {
        let values: Vec<_> = InputValues::new("{\"a\n[1e400, \"1e400\"]\n".as_bytes()).collect();
        assert!(values[0].is_err());
        let texts = values
            .into_iter()
            .flatten()
            .map(|value| crate::exact_json::to_text(&value));
        assert_eq!(texts.collect::<Vec<_>>(), ["[1e400,\"1e400\"]"]);
    }

    #[test]
    fn the_line_behind_a_broken_string_is_read() {
        assert_snapshot!(read("{\"a\n7\n{\"b\nx\n[8]"), @r"
        ! control character (\u0000-\u001F) found while parsing a string at the end of line 1
        7
        ! control character (\u0000-\u001F) found while parsing a string at the end of line 3
        ! expected value at line 4 column 1
        [8]
        ");
    }
}
