//! The elements of a large JSON list or of JSON Lines, one at a time.

use std::io::{self, BufRead, BufReader, Read};

use memchr::{memchr, memchr2, memchr3_iter};
use serde::de::DeserializeOwned;

/// Maximum size of an element in bytes.
const MAX_ELEMENT: usize = 64 << 20;

/// Maximum number of brackets and commas of an element, in and outside of strings. Each value takes up to 500 bytes.
const MAX_SEPARATORS: usize = 4 << 20;

/// Size of the input buffer in bytes.
const BUFFER_BYTES: usize = 1 << 16;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// An element of a list, or a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonElement {
    /// The number of the element in the list, or of the line in the file, counted from 1.
    pub(crate) number: u64,
    /// The bytes, or the reason why the element cannot be read.
    pub(crate) bytes: Result<Vec<u8>, String>,
}

/// Iterates over the elements of a JSON list or of JSON Lines.
///
/// Elements are separated, not validated: an element with a syntax error is returned as it is, and those after it are
/// read as well. Memory is bounded by one element of at most 64 MiB.
pub(crate) struct JsonElements<R> {
    reader: BufReader<R>,
    layout: ElementLayout,
    number: u64,
    max_element: usize,
}

/// The structure around the elements.
enum ElementLayout {
    /// The start of a file that contains a list, possibly under this key.
    Start(String),
    /// A list. The flag is true before the first element.
    List { is_first: bool },
    /// Objects after each other.
    Objects,
    /// Lines.
    Lines,
    /// Nothing follows.
    End,
}

/// The position in the syntax of an element.
#[derive(Default)]
struct ElementScanner {
    depth: u64,
    in_string: bool,
    escaped: bool,
}

/// The bytes that end an element outside of its own brackets and strings.
#[derive(Clone, Copy)]
struct ElementEnd {
    separator: u8,
    bracket: u8,
}

impl<R: Read> JsonElements<R> {
    /// Reads a list, or an object with a list under `key`. With an empty key, it also reads objects after each other.
    pub(crate) fn of_list(reader: R, key: &str) -> Self {
        Self::new(reader, ElementLayout::Start(key.to_owned()))
    }

    /// Reads JSON Lines. Blank lines are skipped.
    pub(crate) fn of_lines(reader: R) -> Self {
        Self::new(reader, ElementLayout::Lines)
    }

    fn new(reader: R, layout: ElementLayout) -> Self {
        Self { reader: BufReader::with_capacity(BUFFER_BYTES, reader), layout, number: 0, max_element: MAX_ELEMENT }
    }

    /// Reports a problem after which nothing can be read.
    fn stop(&mut self, reason: impl Into<String>) -> JsonElement {
        self.layout = ElementLayout::End;
        self.number += 1;
        JsonElement { number: self.number, bytes: Err(reason.into()) }
    }

    /// Returns the next byte that is not whitespace, without consuming it.
    fn peek(&mut self) -> Result<Option<u8>, String> {
        loop {
            let chunk = self.reader.fill_buf().map_err(|error| format!("cannot be read: {error}"))?;
            let blank = chunk.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let (found, is_end) = (chunk.get(blank).copied(), chunk.is_empty());
            self.reader.consume(blank);
            if found.is_some() || is_end {
                return Ok(found);
            }
        }
    }

    /// Reads up to the end of an element, which is not consumed.
    fn collect(&mut self, end: ElementEnd) -> Result<Vec<u8>, ElementFailure> {
        let (mut scanner, mut bytes, mut is_too_large) = (ElementScanner::default(), Vec::new(), false);
        loop {
            let chunk = self.reader.fill_buf().map_err(|error| ElementFailure::Final(format!("cannot be read: {error}")))?;
            if chunk.is_empty() {
                // A list may end without its bracket after a whole element.
                let is_whole = end.bracket == b']' && scanner.is_outside() && !is_too_large && !bytes.trim_ascii().is_empty();
                let reason = "ends in the middle of an element";
                return if is_whole { Ok(bytes) } else { Err(ElementFailure::Final(reason.into())) };
            }
            let found = scanner.find(chunk, end);
            let length = found.unwrap_or(chunk.len());
            is_too_large |= self.max_element < bytes.len() + length;
            if is_too_large {
                bytes = Vec::new();
            } else {
                bytes.extend_from_slice(&chunk[..length]);
            }
            self.reader.consume(length);
            if found.is_some() {
                return if is_too_large { Err(ElementFailure::TooLarge) } else { Ok(bytes) };
            }
        }
    }

    /// Finds the list in the file.
    fn start(&mut self, key: &str) -> Result<ElementLayout, String> {
        let chunk = self.reader.fill_buf().map_err(|error| format!("cannot be read: {error}"))?;
        if chunk.starts_with(BYTE_ORDER_MARK) {
            self.reader.consume(BYTE_ORDER_MARK.len());
        }
        match self.peek()? {
            None => Ok(ElementLayout::End),
            Some(b'[') => {
                self.reader.consume(1);
                Ok(ElementLayout::List { is_first: true })
            }
            Some(b'{') if key.is_empty() => Ok(ElementLayout::Objects),
            Some(b'{') => self.find_key(key),
            Some(_) => Err("is not a JSON list".into()),
        }
    }

    /// Skips the members of the object at the start of the file up to the list under `key`.
    fn find_key(&mut self, key: &str) -> Result<ElementLayout, String> {
        let missing = || format!("has no list under the key `{key}`");
        self.reader.consume(1);
        loop {
            if self.peek()? != Some(b'"') {
                return Err(missing());
            }
            let name = self.collect_start(b':')?;
            if self.peek()? != Some(b':') {
                return Err(missing());
            }
            self.reader.consume(1);
            let is_wanted = name.trim_ascii() == format!("\"{key}\"").as_bytes();
            if self.peek()? == Some(b'[') && is_wanted {
                self.reader.consume(1);
                return Ok(ElementLayout::List { is_first: true });
            }
            self.collect_start(b',')?;
            match self.peek()? {
                Some(b',') => self.reader.consume(1),
                _ => return Err(missing()),
            }
            self.peek()?;
        }
    }

    /// Skips up to `separator` or the end of the object; returns the first bytes.
    fn collect_start(&mut self, separator: u8) -> Result<Vec<u8>, String> {
        let (mut scanner, mut start) = (ElementScanner::default(), Vec::new());
        loop {
            let chunk = self.reader.fill_buf().map_err(|error| format!("cannot be read: {error}"))?;
            if chunk.is_empty() {
                return Err("ends in the middle of an object".into());
            }
            let end = scanner.find(chunk, ElementEnd { separator, bracket: b'}' });
            let length = end.unwrap_or(chunk.len());
            start.extend_from_slice(&chunk[..length.min(1_024_usize.saturating_sub(start.len()))]);
            self.reader.consume(length);
            if end.is_some() {
                return Ok(start);
            }
        }
    }

    fn next_in_list(&mut self, is_first: bool) -> Option<JsonElement> {
        let separator = match self.peek() {
            Ok(Some(separator)) => separator,
            Ok(None) => return Some(self.stop("ends before the end of the list")),
            Err(reason) => return Some(self.stop(reason)),
        };
        match (separator, is_first) {
            (b']', _) => {
                self.layout = ElementLayout::End;
                // The end of a compressed file has its checksum.
                let rest = io::copy(&mut self.reader, &mut io::sink());
                return rest.err().map(|error| self.stop(format!("cannot be read: {error}")));
            }
            (b',', false) => {
                self.reader.consume(1);
                if let Err(reason) = self.peek() {
                    return Some(self.stop(reason));
                }
            }
            _ => {}
        }
        self.layout = ElementLayout::List { is_first: false };
        Some(self.next_element(ElementEnd { separator: b',', bracket: b']' }))
    }

    fn next_object(&mut self) -> Option<JsonElement> {
        match self.peek() {
            Ok(Some(b'{')) => {
                self.reader.consume(1);
                let mut element = self.next_element(ElementEnd { separator: b'}', bracket: b'}' });
                self.reader.consume(usize::from(!matches!(self.layout, ElementLayout::End)));
                if let Ok(bytes) = &mut element.bytes {
                    bytes.insert(0, b'{');
                    bytes.push(b'}');
                }
                Some(element)
            }
            Ok(None) => {
                self.layout = ElementLayout::End;
                None
            }
            Ok(Some(_)) => Some(self.stop("contains text between objects")),
            Err(reason) => Some(self.stop(reason)),
        }
    }

    fn next_element(&mut self, end: ElementEnd) -> JsonElement {
        let bytes = match self.collect(end) {
            Ok(bytes) => Ok(bytes),
            Err(ElementFailure::TooLarge) => Err(self.too_large()),
            Err(ElementFailure::Final(reason)) => return self.stop(reason),
        };
        self.number += 1;
        JsonElement { number: self.number, bytes }
    }

    fn too_large(&self) -> String {
        format!("is larger than {} MiB", self.max_element >> 20)
    }

    fn next_line(&mut self) -> Option<JsonElement> {
        let (mut bytes, mut is_too_large) = (Vec::new(), false);
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) => return Some(self.stop(format!("cannot be read: {error}"))),
            };
            let end = memchr(b'\n', chunk);
            let (length, is_end) = (end.unwrap_or(chunk.len()), end.is_some() || chunk.is_empty());
            is_too_large |= self.max_element < bytes.len() + length;
            if is_too_large {
                bytes = Vec::new();
            } else {
                bytes.extend_from_slice(&chunk[..length]);
            }
            if chunk.is_empty() {
                self.layout = ElementLayout::End;
            }
            self.reader.consume(length + usize::from(end.is_some()));
            if !is_end {
                continue;
            }
            self.number += 1;
            if self.number == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
            }
            if is_too_large {
                return Some(JsonElement { number: self.number, bytes: Err(self.too_large()) });
            }
            if !bytes.trim_ascii().is_empty() {
                return Some(JsonElement { number: self.number, bytes: Ok(bytes) });
            }
            if matches!(self.layout, ElementLayout::End) {
                return None;
            }
            bytes.clear();
        }
    }
}

impl<R: Read> Iterator for JsonElements<R> {
    type Item = JsonElement;

    fn next(&mut self) -> Option<JsonElement> {
        if let ElementLayout::Start(key) = &self.layout {
            let key = key.clone();
            match self.start(&key) {
                Ok(layout) => self.layout = layout,
                Err(reason) => return Some(self.stop(reason)),
            }
        }
        match self.layout {
            ElementLayout::List { is_first } => self.next_in_list(is_first),
            ElementLayout::Objects => self.next_object(),
            ElementLayout::Lines => self.next_line(),
            ElementLayout::End | ElementLayout::Start(_) => None,
        }
    }
}

/// The reason why an element is not returned.
enum ElementFailure {
    /// The element is larger than the limit. Those after it can be read.
    TooLarge,
    /// Nothing after the element can be read.
    Final(String),
}

impl ElementScanner {
    /// Returns whether the position is outside of brackets and strings.
    fn is_outside(&self) -> bool {
        self.depth == 0 && !self.in_string
    }

    /// Returns the index of the end of the element, if it is in this part of the input.
    fn find(&mut self, chunk: &[u8], end: ElementEnd) -> Option<usize> {
        let mut index = 0;
        while index < chunk.len() {
            if self.in_string {
                if self.escaped {
                    self.escaped = false;
                } else {
                    index += memchr2(b'"', b'\\', &chunk[index..])?;
                    self.in_string = chunk[index] != b'"';
                    self.escaped = self.in_string;
                }
                index += 1;
                continue;
            }
            match chunk[index] {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                byte if self.depth == 0 && (byte == end.separator || byte == end.bracket) => return Some(index),
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            index += 1;
        }
        None
    }
}

/// Parses an element. Invalid bytes and lone surrogates become `�`.
pub(crate) fn parse<T: DeserializeOwned>(bytes: Vec<u8>) -> Result<T, String> {
    if MAX_SEPARATORS < bytes.len() && MAX_SEPARATORS < memchr3_iter(b'{', b'[', b',', &bytes).count() {
        return Err("has too many values".into());
    }
    serde_json::from_slice(&bytes).or_else(|first| {
        let mut bytes = match String::from_utf8(bytes) {
            Ok(text) => text.into_bytes(),
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into_bytes(),
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
        let (first, second) = (escaped_unit(&bytes[index..]), escaped_unit(bytes.get(index + 6..).unwrap_or_default()));
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
