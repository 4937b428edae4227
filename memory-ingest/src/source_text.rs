//! Reading a text file with any content.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Maximum size of a note in bytes.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// The content of a text file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SourceText {
    /// The text, without a byte order mark.
    pub(crate) text: String,
    /// The first problem, if invalid bytes were replaced: its line, and a description.
    pub(crate) warning: Option<(usize, String)>,
}

/// Reads the text file at `path`, or returns the reason of the failure.
pub(crate) fn read_file(path: &Path) -> Result<SourceText, String> {
    read(File::open(path).map_err(|error| format!("cannot be read: {error}"))?)
}

/// Reads a text to its end, or returns the reason of the failure.
pub(crate) fn read(reader: impl Read) -> Result<SourceText, String> {
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if MAX_BYTES < bytes.len() as u64 {
        return Err("is larger than 16 MiB".into());
    }
    Ok(decode_text(bytes))
}

/// Decodes UTF-8. Invalid bytes become `�`, and so does NUL, which no memory may contain.
pub(crate) fn decode_text(bytes: Vec<u8>) -> SourceText {
    let line_of = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').count();
    let (mut text, mut warning) = match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let line = line_of(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
            (
                String::from_utf8_lossy(error.as_bytes()).into_owned(),
                Some((line, "is not UTF-8; invalid bytes were replaced by �".into())),
            )
        }
    };
    if let Some(at) = text.find('\0') {
        warning = warning.or_else(|| Some((line_of(&text.as_bytes()[..at]), "contains NUL, which was replaced by �".into())));
        text = text.replace('\0', "\u{fffd}");
    }
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    SourceText { text, warning }
}

#[cfg(test)]
mod tests {
    use super::decode_text;

    #[test]
    fn what_is_no_text_is_replaced_and_said() {
        let read = decode_text(b"a\nb\xff\0".to_vec());
        assert_eq!(read.text, "a\nb\u{fffd}\u{fffd}");
        assert_eq!(read.warning.map(|(line, _)| line), Some(2));
        assert_eq!(decode_text(b"a\n\nb\0".to_vec()).warning.map(|(line, _)| line), Some(3));
        assert_eq!(decode_text("\u{feff}a".into()).text, "a");
    }
}
