//! Decodes bytes to text.

use std::borrow::Cow;

use super::defect::FileDefect;

/// Decodes bytes leniently, and returns the defect, if any.
pub(super) fn decode_lossy(bytes: &[u8]) -> (Cow<'_, str>, Option<FileDefect>) {
    if let [0xff, 0xfe, rest @ ..] = bytes {
        return (utf16(rest, u16::from_le_bytes), Some(not_utf8(1, "UTF-16")));
    }
    if let [0xfe, 0xff, rest @ ..] = bytes {
        return (utf16(rest, u16::from_be_bytes), Some(not_utf8(1, "UTF-16")));
    }
    let text = String::from_utf8_lossy(bytes);
    let fault = match std::str::from_utf8(bytes) {
        Err(error) => Some(not_utf8(line_at(bytes, error.valid_up_to()), "another encoding")),
        Ok(text) => {
            let place = text.find('\0');
            place.map(|place| {
                FileDefect::new(line_at(bytes, place), "the file contains a NUL byte, so it is not text", "remove the NUL bytes")
            })
        }
    };
    (text, fault)
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> Cow<'static, str> {
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    Cow::Owned(String::from_utf16_lossy(&units))
}

fn not_utf8(line: usize, encoding: &str) -> FileDefect {
    FileDefect::new(line, format!("the text is not UTF-8 but {encoding}"), "save it as UTF-8")
}

fn line_at(bytes: &[u8], place: usize) -> usize {
    bytes[..place].split(|byte| *byte == b'\n').count()
}
