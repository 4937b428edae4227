//! Reading a text file with any content.

use std::fs::File;
use std::io::{self, BufRead, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use chrono::{DateTime, Datelike, Timelike, Utc};
use encoding_rs::Encoding;

/// Maximum size of a note in bytes.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Maximum size of a file that is not UTF-8 and read as a stream. It is decoded in memory.
const MAX_DECODED_BYTES: u64 = 256 << 20;

/// Number of bytes that are read at a time to determine whether a file is UTF-8.
const BLOCK_BYTES: usize = 64 << 10;

/// Number of characters at the start of a text that show whether it is one.
const PROBE_CHARACTERS: usize = 8_192;

/// Number of invalid characters that any text may have in this part. Beyond it, at most three tenths may be invalid.
const MAX_INVALID: usize = 16;

/// The content of a text file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SourceText {
    /// The text, without a byte order mark.
    pub(crate) text: String,
    /// The first problem, if invalid bytes were replaced: its line, and a description.
    pub(crate) warning: Option<(usize, String)>,
    /// The time of the last change of the file, if it is known.
    pub(crate) modified_at: Option<DateTime<Utc>>,
}

/// Reads the text file at `path`, or returns the reason of the failure.
pub(crate) fn read_file(path: &Path) -> Result<SourceText, String> {
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let modified = file.metadata().and_then(|found| found.modified()).ok();
    Ok(SourceText {
        modified_at: modified.map(DateTime::from).and_then(recorded_time),
        ..read(file)?
    })
}

/// Returns a time of a file in seconds, which all file systems and archives have, unless it is that of one without times.
pub(crate) fn recorded_time(time: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let is_recorded = 1980 < time.year() && time.year() <= 9999;
    time.with_nanosecond(0).filter(|_| is_recorded)
}

/// Reads a text to its end, or returns the reason of the failure.
pub(crate) fn read(reader: impl Read) -> Result<SourceText, String> {
    let mut bytes = Vec::new();
    reader
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot be read: {error}"))?;
    if MAX_BYTES < bytes.len() as u64 {
        return Err("is larger than 16 MiB".into());
    }
    let text = decode_text(bytes);
    if is_text(&text.text) {
        Ok(text)
    } else {
        Err("is not text in a known encoding".into())
    }
}

/// The bytes of a text in UTF-8, for reading as a stream.
#[derive(Debug, Clone)]
pub(crate) enum TextContent {
    /// A file.
    File(PathBuf),
    /// A text in memory.
    Text(Arc<[u8]>),
}

/// A stream with positions.
pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl TextContent {
    /// Returns the content of the file at `path`. A file in UTF-16 is decoded in memory.
    pub(crate) fn of_file(path: &Path) -> io::Result<Self> {
        let (_, text) = read_utf_16(&mut File::open(path)?)?;
        Ok(text.map_or_else(
            || Self::File(path.to_owned()),
            |text| Self::Text(text.into_bytes().into()),
        ))
    }

    /// Returns the content of the file at `path` in any encoding, and the name of an encoding that was detected by its text.
    ///
    /// A file in such an encoding that is larger than 256 MiB is not decoded.
    pub(crate) fn of_file_in_any_encoding(path: &Path) -> io::Result<(Self, Option<&'static str>)> {
        let content = Self::of_file(path)?;
        let Self::File(_) = content else {
            return Ok((content, None));
        };
        if is_utf_8(&mut File::open(path)?)? || MAX_DECODED_BYTES < path.metadata()?.len() {
            return Ok((content, None));
        }
        let bytes = std::fs::read(path)?;
        Ok(match decode_former_encoding(&bytes) {
            Some((text, encoding)) => (Self::Text(text.into_bytes().into()), Some(encoding)),
            None => (content, None),
        })
    }

    /// Opens the content at its beginning.
    pub(crate) fn open(&self) -> io::Result<Box<dyn ReadSeek>> {
        Ok(match self {
            Self::File(path) => Box::new(File::open(path)?),
            Self::Text(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        })
    }
}

/// Returns the bytes of a text in UTF-8: those of `input`, or decoded if it starts with a byte order mark of UTF-16.
///
/// # Errors
/// If the input cannot be read, or is in UTF-16 and larger than 256 MiB.
pub fn utf_8_reader<'a>(mut input: Box<dyn BufRead + 'a>) -> io::Result<Box<dyn BufRead + 'a>> {
    Ok(match read_utf_16(&mut input)? {
        (_, Some(text)) => Box::new(Cursor::new(text)),
        (start, None) => Box::new(Cursor::new(start).chain(input)),
    })
}

/// Reads the first bytes, and the whole text if they are a byte order mark of UTF-16.
fn read_utf_16(input: &mut impl Read) -> io::Result<(Vec<u8>, Option<String>)> {
    let mut bytes = Vec::new();
    input.by_ref().take(2).read_to_end(&mut bytes)?;
    if utf_16_unit(&bytes).is_none() {
        return Ok((bytes, None));
    }
    input.take(MAX_DECODED_BYTES).read_to_end(&mut bytes)?;
    if MAX_DECODED_BYTES < bytes.len() as u64 {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            "it is in UTF-16 and larger than 256 MiB",
        ));
    }
    let text = decode_utf_16(&bytes);
    Ok((bytes, text))
}

/// Returns the order of bytes of a text in UTF-16, if it begins with a byte order mark.
fn utf_16_unit(bytes: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    match bytes {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    }
}

/// Decodes a text with a byte order mark of UTF-16, without the mark. Invalid units become `�`.
fn decode_utf_16(bytes: &[u8]) -> Option<String> {
    let unit = utf_16_unit(bytes)?;
    let (pairs, rest) = bytes[2..].as_chunks();
    let units = pairs.iter().map(|pair| unit(*pair));
    let characters =
        char::decode_utf16(units).map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER));
    Some(
        characters
            .chain((!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER))
            .collect(),
    )
}

/// Returns whether a file is UTF-8.
fn is_utf_8(file: &mut File) -> io::Result<bool> {
    let (mut block, mut filled) = (vec![0; BLOCK_BYTES], 0);
    loop {
        let read = file.read(&mut block[filled..])?;
        let bytes = &block[..filled + read];
        let valid = match std::str::from_utf8(bytes) {
            Ok(_) => bytes.len(),
            // The last character may continue in the next block.
            Err(error) if error.error_len().is_none() && read != 0 => error.valid_up_to(),
            Err(_) => return Ok(false),
        };
        if read == 0 {
            return Ok(true);
        }
        filled = bytes.len() - valid;
        block.copy_within(valid..valid + filled, 0);
    }
}

/// Decodes a text in an encoding from before Unicode, such as `windows-1252` or `Shift_JIS`, and returns the name of the encoding.
///
/// Returns `None` for other data, and for a text that is UTF-8 except for some bytes.
fn decode_former_encoding(bytes: &[u8]) -> Option<(String, &'static str)> {
    if bytes
        .iter()
        .any(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127))
    {
        return None;
    }
    let (mut valid, mut invalid) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        valid += chunk
            .valid()
            .chars()
            .filter(|character| !character.is_ascii())
            .count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    if invalid <= valid {
        return None;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let encoding: &Encoding = detector.guess(None, Utf8Detection::Deny);
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    Some((text.into_owned(), encoding.name()))
}

/// Returns whether most characters of a decoded text are valid.
fn is_text(text: &str) -> bool {
    let is_invalid = |character: &char| {
        *character == char::REPLACEMENT_CHARACTER
            || (character.is_control() && !matches!(character, '\t'..='\r' | '\u{1b}'))
    };
    let (mut count, mut invalid) = (0, 0);
    for character in text.chars().take(PROBE_CHARACTERS) {
        count += 1;
        invalid += usize::from(is_invalid(&character));
    }
    invalid <= MAX_INVALID || 10 * invalid <= 3 * count
}

/// Returns the warning about a text whose encoding was detected.
pub(crate) fn encoding_warning(encoding: &str) -> String {
    format!("is not UTF-8; it was read as {encoding}")
}

/// Decodes UTF-8, UTF-16 with a byte order mark, or a former encoding, which is detected. Invalid bytes become `�`, and so does
/// NUL, which no memory may contain.
pub(crate) fn decode_text(bytes: Vec<u8>) -> SourceText {
    let bytes = decode_utf_16(&bytes).map_or(bytes, String::into_bytes);
    let line_of = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
    let (mut text, mut warning) = match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let line = line_of(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
            match decode_former_encoding(error.as_bytes()) {
                Some((text, encoding)) => (text, Some((line, encoding_warning(encoding)))),
                None => (
                    String::from_utf8_lossy(error.as_bytes()).into_owned(),
                    Some((
                        line,
                        "is not UTF-8; invalid bytes were replaced by �".into(),
                    )),
                ),
            }
        }
    };
    if let Some(at) = text.find('\0') {
        warning = warning.or_else(|| {
            Some((
                line_of(&text.as_bytes()[..at]),
                "contains NUL, which was replaced by �".into(),
            ))
        });
        text = text.replace('\0', "\u{fffd}");
    }
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    SourceText {
        text,
        warning,
        modified_at: None,
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::Encoding;

    use super::{decode_text, read};

    #[test]
    fn utf_16_is_decoded_and_other_data_is_no_text() {
        let text = "a\n键 😀";
        let little: Vec<u8> = "\u{feff}a\n键 😀"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let big: Vec<u8> = "\u{feff}a\n键 😀"
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        assert_eq!(decode_text(little.clone()).text, text);
        assert_eq!(decode_text(big).text, text);
        assert_eq!(
            decode_text([little, vec![1]].concat()).text,
            format!("{text}\u{fffd}")
        );
        let data: Vec<u8> = (0..=255).collect();
        assert_eq!(
            read(data.as_slice()),
            Err("is not text in a known encoding".into())
        );
        let without_mark: Vec<u8> = "a text without a mark"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert!(read(without_mark.as_slice()).is_err());
        assert!(
            read("caf\u{fffd} \t\r\n".repeat(100).as_bytes())
                .is_ok_and(|read| read.warning.is_none())
        );
    }

    #[test]
    fn former_encodings_are_detected() {
        for (label, text) in [
            (
                "windows-1252",
                "Le café est fermé à Noël – déjà vu.\nDas Gemüse ist grün.",
            ),
            (
                "Shift_JIS",
                "お茶は七時です。\n鉄瓶には温度計がありません。",
            ),
            (
                "windows-1251",
                "Чай в семь часов, у чайника нет термометра.",
            ),
        ] {
            let encoding = Encoding::for_label(label.as_bytes()).expect("a known encoding");
            let read = decode_text(encoding.encode(text).0.into_owned());
            assert_eq!(
                (read.text.as_str(), read.warning),
                (
                    text,
                    Some((1, format!("is not UTF-8; it was read as {label}")))
                )
            );
        }
        let damaged = decode_text(["键 😀 café ".as_bytes(), b"\xe9"].concat());
        assert_eq!(damaged.text, "键 😀 café \u{fffd}");
    }

    #[test]
    fn what_is_no_text_is_replaced_and_said() {
        let read = decode_text(b"a\nb\xff\0".to_vec());
        assert_eq!(read.text, "a\nb\u{fffd}\u{fffd}");
        assert_eq!(read.warning.map(|(line, _)| line), Some(2));
        assert_eq!(
            decode_text(b"a\n\nb\0".to_vec())
                .warning
                .map(|(line, _)| line),
            Some(3)
        );
        assert_eq!(decode_text("\u{feff}a".into()).text, "a");
    }
}
