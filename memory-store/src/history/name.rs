//! The file names of sessions.

use std::fmt::Write;

use memory_core::instance::InstanceError;
use memory_core::instance::history::SessionName;

/// The extension of the files.
const EXTENSION: &str = ".jsonl";

/// Maximum length of a file name in bytes on common file systems.
const MAX_FILE_NAME: usize = 255;

/// Returns the name of the file.
///
/// Characters that some file systems reject are percent-encoded, as in `%2F`, and so is a leading dot.
///
/// # Errors
/// [`InstanceError::TooLarge`] if the name is too long for a file.
pub(super) fn file_name(session: &SessionName) -> Result<String, InstanceError> {
    let mut name = String::with_capacity(session.as_str().len() + EXTENSION.len());
    for (at, character) in session.as_str().char_indices() {
        let is_refused = matches!(character, '/' | '\\' | '%' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
        if is_refused || (at == 0 && character == '.') {
            // Writing to a string does not fail.
            let _ = write!(name, "%{:02X}", u32::from(character));
        } else {
            name.push(character);
        }
    }
    name.push_str(EXTENSION);
    if MAX_FILE_NAME < name.len() {
        let what = format!("the session needs a file name of {} bytes; the limit is {MAX_FILE_NAME}", name.len());
        return Err(InstanceError::TooLarge { what });
    }
    Ok(name)
}

/// Returns the session of a file name, or `None` if the file is not that of a session.
pub(super) fn parse_file_name(file_name: &str) -> Option<SessionName> {
    let mut rest = file_name.strip_suffix(EXTENSION)?;
    let mut name = String::with_capacity(rest.len());
    while let Some((before, after)) = rest.split_once('%') {
        let digits = after.get(..2)?;
        name.push_str(before);
        name.push(char::from(u8::from_str_radix(digits, 16).ok()?));
        rest = &after[2..];
    }
    name.push_str(rest);
    let session = name.parse().ok()?;
    // A name that [`file_name`] would encode differently belongs to another program.
    self::file_name(&session).ok().filter(|own| own == file_name).map(|_| session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_has_a_file_of_its_own_that_tells_its_name() {
        for (session, file) in [
            ("s1", "s1.jsonl"),
            ("chat-2026-05-17", "chat-2026-05-17.jsonl"),
            ("深色 mode", "深色 mode.jsonl"),
            ("../etc/passwd", "%2E.%2Fetc%2Fpasswd.jsonl"),
            (".lock", "%2Elock.jsonl"),
            ("a%2Fb", "a%252Fb.jsonl"),
            ("discord:1", "discord%3A1.jsonl"),
        ] {
            let session: SessionName = session.parse().unwrap();
            assert_eq!(file_name(&session).unwrap(), file);
            assert_eq!(parse_file_name(file), Some(session));
        }
        for other in ["s1", ".jsonl", "a%2fb.jsonl", "a%4.jsonl", "%61.jsonl", ".a.jsonl", "a:b.jsonl", "a%é.jsonl"] {
            assert_eq!(parse_file_name(other), None, "{other}");
        }
        let long: SessionName = "深".repeat(100).parse().unwrap();
        assert_eq!(file_name(&long).unwrap_err().code(), memory_core::Code::LimitExceeded);
    }
}
