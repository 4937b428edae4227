//! Reading the notes of an Evernote export one by one.

use std::fmt::Write;
use std::io::{self, BufRead};

use md5::{Digest, Md5};

/// Maximum size of a note in bytes, without the data of its files.
const MAX_NOTE_BYTES: usize = 16 << 20;

/// Maximum length of a tag of which the name is read.
const MAX_TAG_BYTES: usize = 256;

/// A note of an export.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EnexNote {
    /// The position of the note in the export.
    pub(crate) start: u64,
    /// The XML of the note without the data of its files, or the reason why it cannot be read.
    pub(crate) xml: Result<Vec<u8>, String>,
    /// The MD5 hash of each file, in order. The text refers to files by it.
    pub(crate) hashes: Vec<String>,
}

/// Reads the notes of an export. Memory is bounded by the size of one note.
#[derive(Debug)]
pub(crate) struct EnexReader<R> {
    source: R,
    /// The number of bytes that were read.
    at: u64,
    /// The start of a note whose first tag was already read.
    pending: Option<u64>,
}

enum EnexToken {
    /// A tag, with the text between its brackets.
    Tag(Vec<u8>),
    /// A comment, a declaration or a block of text.
    Other,
    /// A comment or a block of text that has no end in its note.
    Unclosed,
}

impl<R: BufRead> EnexReader<R> {
    /// Reads from `source`, which is at position `at` of the export.
    pub(crate) fn new(source: R, at: u64) -> Self {
        Self {
            source,
            at,
            pending: None,
        }
    }

    /// Reads the next note; returns `None` at the end.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn next_note(&mut self) -> io::Result<Option<EnexNote>> {
        let start = loop {
            if let Some(start) = self.pending.take() {
                break start;
            }
            self.skip_text(&mut |_| {})?;
            let start = self.at;
            match self.read_token(&mut |_| {})? {
                Some(EnexToken::Tag(tag)) if is_open(&tag, b"note") => break start,
                Some(_) => {}
                None => return Ok(None),
            }
        };
        let mut note = NoteBuffer {
            xml: b"<note>".to_vec(),
            is_too_large: false,
        };
        let mut hashes = Vec::new();
        let result = loop {
            self.skip_text(&mut |bytes| note.push(bytes))?;
            let token_start = self.at;
            match self.read_token(&mut |bytes| note.push(bytes))? {
                Some(EnexToken::Tag(tag)) if tag == b"/note" => break Ok(()),
                Some(EnexToken::Unclosed) => break Err("has a text without an end"),
                Some(EnexToken::Tag(tag)) if is_open(&tag, b"note") => {
                    self.pending = Some(token_start);
                    break Err("has no end");
                }
                Some(EnexToken::Tag(tag)) if is_open(&tag, b"data") => {
                    let mut file = FileHash::default();
                    self.skip_text(&mut |bytes| file.push(bytes))?;
                    hashes.push(file.finish());
                }
                Some(_) => {}
                None => break Err("has no end"),
            }
        };
        let xml = match result {
            Err(reason) => Err(reason.to_owned()),
            Ok(()) if note.is_too_large => Err("is larger than 16 MiB".to_owned()),
            Ok(()) => Ok(note.xml),
        };
        Ok(Some(EnexNote { start, xml, hashes }))
    }

    /// Passes the bytes before the next `<` to `see`.
    fn skip_text(&mut self, see: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        loop {
            let bytes = self.source.fill_buf()?;
            let end = bytes.iter().position(|byte| *byte == b'<');
            let count = end.unwrap_or(bytes.len());
            see(&bytes[..count]);
            let is_end = end.is_some() || bytes.is_empty();
            self.consume(count);
            if is_end {
                return Ok(());
            }
        }
    }

    /// Reads a tag, a comment or a block of text, which begins with `<`; returns `None` at the end.
    fn read_token(&mut self, see: &mut dyn FnMut(&[u8])) -> io::Result<Option<EnexToken>> {
        let mut token = Vec::new();
        let mut last = [0; 2];
        // The end of the text since the previous `>`, and whether that one ended a note.
        let (mut segment, mut is_after_note) = (Vec::new(), false);
        loop {
            let bytes = self.source.fill_buf()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let count = bytes
                .iter()
                .position(|byte| *byte == b'>')
                .map_or(bytes.len(), |end| end + 1);
            let part = &bytes[..count];
            see(part);
            let room = MAX_TAG_BYTES.saturating_sub(token.len());
            token.extend_from_slice(&part[..count.min(room)]);
            segment.extend_from_slice(part);
            segment.drain(..segment.len().saturating_sub(MAX_TAG_BYTES));
            let is_bracket = part.ends_with(b">");
            let before: Vec<u8> = last
                .iter()
                .chain(&part[..count - usize::from(is_bracket)])
                .copied()
                .collect();
            let before = &before[before.len() - 2..];
            last = [before[0], before[1]];
            if is_bracket {
                let is_inside = (token.starts_with(b"<![CDATA[") && before != b"]]")
                    || (token.starts_with(b"<!--") && before != b"--");
                if !is_inside {
                    self.consume(count);
                    break;
                }
                last = [before[1], b'>'];
                let tag = segment.trim_ascii_start();
                let name = tag.strip_prefix(b"<").unwrap_or_default();
                // A note that follows another one is in no block of text; the block has no end.
                if is_after_note && is_open(&name[..name.len().saturating_sub(1)], b"note") {
                    self.consume(count);
                    self.pending = Some(self.at - tag.len() as u64);
                    return Ok(Some(EnexToken::Unclosed));
                }
                is_after_note = tag.ends_with(b"</note>");
                segment.clear();
            }
            self.consume(count);
        }
        let is_tag =
            !token.starts_with(b"<!") && !token.starts_with(b"<?") && token.ends_with(b">");
        Ok(Some(if is_tag {
            EnexToken::Tag(token[1..token.len() - 1].to_vec())
        } else {
            EnexToken::Other
        }))
    }

    fn consume(&mut self, count: usize) {
        self.source.consume(count);
        self.at += count as u64;
    }
}

/// Returns whether a tag opens the element `name`.
fn is_open(tag: &[u8], name: &[u8]) -> bool {
    let rest = tag.strip_prefix(name);
    !tag.ends_with(b"/")
        && rest.is_some_and(|rest| rest.first().is_none_or(u8::is_ascii_whitespace))
}

struct NoteBuffer {
    xml: Vec<u8>,
    is_too_large: bool,
}

impl NoteBuffer {
    fn push(&mut self, bytes: &[u8]) {
        if MAX_NOTE_BYTES < self.xml.len() + bytes.len() {
            self.is_too_large = true;
            self.xml = Vec::new();
        }
        if !self.is_too_large {
            self.xml.extend_from_slice(bytes);
        }
    }
}

/// The hash of a file that is written in base64.
#[derive(Default)]
struct FileHash {
    hasher: Md5,
    bits: u32,
    digits: u32,
    decoded: Vec<u8>,
}

impl FileHash {
    fn push(&mut self, text: &[u8]) {
        for byte in text {
            let digit = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => continue,
            };
            self.bits = self.bits << 6 | u32::from(digit);
            self.digits += 1;
            if self.digits == 4 {
                self.decoded
                    .extend_from_slice(&self.bits.to_be_bytes()[1..]);
                (self.bits, self.digits) = (0, 0);
            }
        }
        self.hasher.update(&self.decoded);
        self.decoded.clear();
    }

    fn finish(mut self) -> String {
        let bits = (self.bits << (6 * (4 - self.digits))).to_be_bytes();
        match self.digits {
            2 => self.hasher.update(&bits[1..2]),
            3 => self.hasher.update(&bits[1..3]),
            _ => {}
        }
        let mut hash = String::new();
        for byte in self.hasher.finalize() {
            write!(hash, "{byte:02x}").expect("a text grows");
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::EnexReader;

    fn read(text: &str, capacity: usize) -> Vec<(u64, Result<String, String>, Vec<String>)> {
        let mut reader = EnexReader::new(BufReader::with_capacity(capacity, text.as_bytes()), 0);
        let mut notes = Vec::new();
        while let Some(note) = reader.next_note().expect("it is in memory") {
            let xml = note
                .xml
                .map(|xml| String::from_utf8(xml).expect("it is UTF-8"));
            notes.push((note.start, xml, note.hashes));
        }
        notes
    }

    #[test]
    fn notes_are_read_without_the_data_of_files() {
        let text = "<en-export><!-- <note> --><note><title>a</title><content><![CDATA[<en-note></note>]]]></en-note>]]></content>\
            <resource><data encoding=\"base64\">aGVs\nbG8=</data><mime>a/b</mime></resource></note>\n<note>x<note>b</note><note>";
        for capacity in [1, 3, 1_000] {
            let notes = read(text, capacity);
            assert_eq!(notes.len(), 4);
            let xml = "<note><title>a</title><content><![CDATA[<en-note></note>]]]></en-note>]]></content>\
                <resource><data encoding=\"base64\"></data><mime>a/b</mime></resource></note>";
            assert_eq!(
                notes[0],
                (
                    26,
                    Ok(xml.to_owned()),
                    vec!["5d41402abc4b2a76b9719d911017c592".to_owned()]
                )
            );
            assert_eq!(
                (&notes[1].1, &notes[3].1),
                (&Err("has no end".to_owned()), &Err("has no end".to_owned()))
            );
            assert_eq!(notes[2].1, Ok("<note>b</note>".to_owned()));
            assert!(
                text[usize::try_from(notes[2].0).expect("it is small")..].starts_with("<note>b")
            );
        }
    }

    #[test]
    fn a_text_without_an_end_costs_its_own_note() {
        let text = "<en-export><note><title>a</title><content><![CDATA[<en-note>x</en-note></content></note>\n\
            <note><title>b</title><content><![CDATA[<en-note>y</en-note>]]></content></note><note><!-- c</note>\
            <note>d</note><note><![CDATA[e</note></en-export>";
        for capacity in [1, 7, 1_000] {
            let notes = read(text, capacity);
            let found: Vec<_> = notes.iter().map(|(_, xml, _)| xml.as_deref()).collect();
            let (unclosed, cut_off) = (
                "has a text without an end".to_owned(),
                "has no end".to_owned(),
            );
            let whole =
                "<note><title>b</title><content><![CDATA[<en-note>y</en-note>]]></content></note>";
            let expected = [
                Err(&unclosed),
                Ok(whole),
                Err(&unclosed),
                Ok("<note>d</note>"),
                Err(&cut_off),
            ];
            assert_eq!(found, expected, "{capacity}");
        }
    }

    proptest! {
        #[test]
        fn the_result_does_not_depend_on_the_buffer(text in "(<note>|</note>|<!\\[CDATA\\[|\\]\\]>|<data>|</data>|<!--|-->|a|<|>|\\]|-){0,30}") {
            prop_assert_eq!(read(&text, 1), read(&text, 1_000));
        }
    }
}
