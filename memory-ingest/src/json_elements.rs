//! The elements of a large JSON list or of JSON Lines, one at a time.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};

use memchr::{memchr, memchr3_iter};
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::damaged_json::split_objects;
use crate::json_splitter::{BYTE_ORDER_MARK, JsonSplitter};

/// Maximum size of an element in bytes.
const MAX_ELEMENT: usize = 64 << 20;

/// Maximum number of brackets and commas of an element, in and outside of strings. Each value takes up to 500 bytes.
const MAX_SEPARATORS: usize = 4 << 20;

/// Size of the input buffer in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// An element of a list, or a line.
#[derive(Debug, PartialEq, Eq)]
pub struct JsonElement {
    /// The number of the element in the list, or of the line in the file, counted from 1.
    pub number: u64,
    /// The bytes, or the reason why the element cannot be read.
    pub bytes: Result<Vec<u8>, String>,
}

/// Iterates over the elements of a JSON list or of JSON Lines.
///
/// Elements are separated, not validated: one with a syntax error is returned as it is, or as its damaged and whole parts, and those
/// after it are read as well. Memory is bounded by one element of at most 64 MiB.
#[derive(Debug)]
pub struct JsonElements<R> {
    reader: BufReader<R>,
    layout: ElementLayout,
    number: u64,
    /// The other parts of a damaged element.
    parts: VecDeque<Vec<u8>>,
    max_element: usize,
    is_end: bool,
}

/// The structure around the elements.
#[derive(Debug)]
enum ElementLayout {
    /// A list, or objects after each other.
    List(Box<ElementBuffer>),
    /// Lines.
    Lines,
}

/// The elements of a list that were found, and the bytes after them.
#[derive(Debug)]
struct ElementBuffer {
    splitter: JsonSplitter,
    /// The bytes that were read since the start of the element that has no end yet.
    bytes: Vec<u8>,
    /// The position of these bytes in the file.
    start: u64,
    /// The first byte of the text.
    first: Option<u8>,
    found: VecDeque<Result<Vec<u8>, String>>,
}

impl<R: Read> JsonElements<R> {
    /// Reads a list, or objects after each other.
    pub fn of_list(reader: R) -> Self {
        let splitter = JsonSplitter::new(&[], false);
        let buffer = ElementBuffer {
            splitter,
            bytes: Vec::new(),
            start: 0,
            first: None,
            found: VecDeque::new(),
        };
        Self::new(reader, ElementLayout::List(Box::new(buffer)))
    }

    /// Reads JSON Lines. Blank lines are skipped.
    pub(crate) fn of_lines(reader: R) -> Self {
        Self::new(reader, ElementLayout::Lines)
    }

    fn new(reader: R, layout: ElementLayout) -> Self {
        let reader = BufReader::with_capacity(BUFFER_BYTES, reader);
        Self {
            reader,
            layout,
            number: 0,
            parts: VecDeque::new(),
            max_element: MAX_ELEMENT,
            is_end: false,
        }
    }

    fn next_line(&mut self) -> Option<JsonElement> {
        let (mut bytes, mut is_too_large) = (Vec::new(), false);
        while !self.is_end {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) => {
                    self.is_end = true;
                    self.number += 1;
                    return Some(JsonElement {
                        number: self.number,
                        bytes: Err(format!("cannot be read: {error}")),
                    });
                }
            };
            let end = memchr(b'\n', chunk);
            let length = end.unwrap_or(chunk.len());
            self.is_end = chunk.is_empty();
            is_too_large |= self.max_element < bytes.len() + length;
            if is_too_large {
                bytes = Vec::new();
            } else {
                bytes.extend_from_slice(&chunk[..length]);
            }
            self.reader.consume(length + usize::from(end.is_some()));
            if end.is_none() && !self.is_end {
                continue;
            }
            self.number += 1;
            if self.number == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
            }
            if is_too_large {
                return Some(JsonElement {
                    number: self.number,
                    bytes: Err(too_large(self.max_element)),
                });
            }
            if !bytes.trim_ascii().is_empty() {
                return Some(JsonElement {
                    number: self.number,
                    bytes: Ok(bytes),
                });
            }
            bytes.clear();
        }
        None
    }
}

impl<R: Read> Iterator for JsonElements<R> {
    type Item = JsonElement;

    fn next(&mut self) -> Option<JsonElement> {
        let number = self.number;
        if let Some(part) = self.parts.pop_front() {
            let bytes = Ok(part);
            return Some(JsonElement { number, bytes });
        }
        let mut element = self.next_element()?;
        if let Ok(bytes) = &mut element.bytes
            && serde_json::from_slice::<IgnoredAny>(bytes).is_err()
        {
            let parts = split_objects(bytes).into_iter();
            let mut parts: VecDeque<_> = parts.map(|part| bytes[part].to_vec()).collect();
            *bytes = parts.pop_front().unwrap_or_default();
            self.parts = parts;
        }
        Some(element)
    }
}

impl<R: Read> JsonElements<R> {
    fn next_element(&mut self) -> Option<JsonElement> {
        let ElementLayout::List(buffer) = &mut self.layout else {
            return self.next_line();
        };
        while buffer.found.is_empty() && !self.is_end {
            self.is_end = buffer.fill(&mut self.reader, self.max_element);
        }
        let bytes = buffer.found.pop_front()?;
        self.number += 1;
        Some(JsonElement {
            number: self.number,
            bytes,
        })
    }
}

impl ElementBuffer {
    /// Reads a part of the file; returns whether nothing follows.
    fn fill(&mut self, reader: &mut impl BufRead, max_element: usize) -> bool {
        let chunk = match reader.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) => {
                self.found
                    .push_back(Err(format!("cannot be read: {error}")));
                return true;
            }
        };
        let (length, mut spans) = (chunk.len(), Vec::new());
        self.bytes.extend_from_slice(chunk);
        if self.first.is_none() {
            let text = chunk
                .strip_prefix(BYTE_ORDER_MARK)
                .filter(|_| self.splitter.position() == 0)
                .unwrap_or(chunk);
            self.first = text.trim_ascii_start().first().copied();
            if self
                .first
                .is_some_and(|first| first != b'[' && first != b'{')
            {
                self.found.push_back(Err("is not a JSON list".into()));
                return true;
            }
        }
        self.splitter.push_all(chunk, &mut spans);
        reader.consume(length);
        let is_end = length == 0;
        if is_end {
            self.splitter.finish(&mut spans);
        }
        for span in spans {
            let bytes = span
                .start
                .checked_sub(self.start)
                .filter(|_| span.length <= max_element as u64)
                .and_then(|start| {
                    let start = usize::try_from(start).ok()?;
                    self.bytes
                        .get(start..)?
                        .get(..usize::try_from(span.length).ok()?)
                });
            if self.first == Some(b'{') && bytes.is_some_and(|bytes| !bytes.starts_with(b"{")) {
                self.found
                    .push_back(Err("contains text between objects".into()));
                return true;
            }
            self.found.push_back(
                bytes
                    .map(<[u8]>::to_vec)
                    .ok_or_else(|| too_large(max_element)),
            );
        }
        if is_end && self.splitter.is_incomplete {
            self.found
                .push_back(Err("ends in the middle of its content".into()));
        }
        self.release(max_element);
        is_end
    }

    /// Releases the bytes before the element without an end, and those of an element that is too large.
    fn release(&mut self, max_element: usize) {
        let end = self.splitter.position();
        let open = self
            .splitter
            .open_start()
            .filter(|start| end - start <= max_element as u64);
        let next = open.unwrap_or(end).max(self.start);
        let count = usize::try_from(next - self.start)
            .unwrap_or(usize::MAX)
            .min(self.bytes.len());
        self.bytes.drain(..count);
        self.start = next;
    }
}

fn too_large(max_element: usize) -> String {
    format!("is larger than {} MiB", max_element >> 20)
}

/// Parses an element. Invalid bytes and lone surrogates become `�`.
pub(crate) fn parse<T: DeserializeOwned>(bytes: Vec<u8>) -> Result<T, String> {
    if MAX_SEPARATORS < bytes.len()
        && MAX_SEPARATORS < memchr3_iter(b'{', b'[', b',', &bytes).count()
    {
        return Err("has too many values".into());
    }
    serde_json::from_slice(&bytes).or_else(|first| {
        let mut bytes = match String::from_utf8(bytes) {
            Ok(text) => text.into_bytes(),
            Err(error) => String::from_utf8_lossy(error.as_bytes())
                .into_owned()
                .into_bytes(),
        };
        replace_lone_surrogates(&mut bytes);
        serde_json::from_slice(&bytes).map_err(|_| format!("cannot be parsed: {first}"))
    })
}

/// Replaces escapes of half a character, which JSON allows and no text can contain.
fn replace_lone_surrogates(bytes: &mut [u8]) {
    let mut index = 0;
    while let Some(found) = memchr(b'\\', &bytes[index..]) {
        index += found;
        let (first, second) = (
            escaped_unit(&bytes[index..]),
            escaped_unit(bytes.get(index + 6..).unwrap_or_default()),
        );
        index += match (first, second) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                bytes[index..index + 6].copy_from_slice(b"\\ufffd");
                6
            }
            _ => 2,
        };
        index = index.min(bytes.len());
    }
}

/// Returns the code unit of an escape `\uXXXX` at the start of `bytes`.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests;
