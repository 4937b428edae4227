//! Texts from arguments and pipes.

use std::io::{self, Read};

use crate::failure::Failure;
use crate::print::Output;

/// Maximum length of a text from a pipe, in bytes; larger than any memory.
const MAX_TEXT_BYTES: u64 = 32 * 1024 * 1024;

/// Returns the text of an argument; `-` reads the standard input, without its final line break.
pub(crate) fn read_content(given: &str, output: &mut Output) -> Result<String, Failure> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut bytes = Vec::new();
    output.input().take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes).map_err(Failure::file("read the standard input"))?;
    if MAX_TEXT_BYTES < bytes.len() as u64 {
        return Err(Failure::File { action: "read the standard input".into(), source: io::ErrorKind::FileTooLarge.into() });
    }
    let mut text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage("the standard input is not valid UTF-8", "convert it, for example with `iconv -t utf-8`, and try again")
    })?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// Joins words that were typed without quotes into a text.
pub(crate) fn join_words(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(" "))
}

/// Returns the argument, else `-` if the standard input is not a terminal.
pub(crate) fn or_stdin<'a>(given: Option<&'a str>, output: &Output) -> Option<&'a str> {
    given.or_else(|| (!output.input_is_terminal()).then_some("-"))
}
