//! Decodes bytes to text, and describes the defects of a file.

use std::borrow::Cow;

use memory_core::{Code, Problem};

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
        Err(error) => Some(not_utf8(
            line_at(bytes, error.valid_up_to()),
            "another encoding",
        )),
        Ok(text) => {
            let place = text.find('\0');
            place.map(|place| {
                FileDefect::new(
                    line_at(bytes, place),
                    "the file contains a NUL byte, so it is not text",
                    "remove the NUL bytes",
                )
            })
        }
    };
    (text, fault)
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> Cow<'static, str> {
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| unit([pair[0], pair[1]]))
        .collect();
    Cow::Owned(String::from_utf16_lossy(&units))
}

fn not_utf8(line: usize, encoding: &str) -> FileDefect {
    FileDefect::new(
        line,
        format!("the text is not UTF-8 but {encoding}"),
        "save it as UTF-8",
    )
}

fn line_at(bytes: &[u8], place: usize) -> usize {
    bytes[..place].split(|byte| *byte == b'\n').count()
}

/// A defect of a file, without the path of the file.
#[derive(Debug)]
pub(super) struct FileDefect {
    /// The line of the file, counted from 1, if it can be determined.
    pub(super) line: Option<usize>,
    /// The defect, as a statement.
    pub(super) what: String,
    /// The advice for the user.
    pub(super) hint: &'static str,
}

impl FileDefect {
    /// Creates a fault.
    pub(super) fn new(
        line: impl Into<Option<usize>>,
        what: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self {
            line: line.into(),
            what: what.into(),
            hint,
        }
    }

    /// Converts the fault to a [`Problem`] of the file at `path`.
    pub(super) fn of(self, path: &str) -> Problem {
        Problem {
            code: Code::FileDamaged,
            path: path.to_owned(),
            line: self.line,
            what: self.what,
            hint: Some(self.hint),
        }
    }
}
