//! Texts that are typed or piped in.

use std::io::{self, Read};

use crate::failure::Failure;
use crate::print::Output;

/// The longest text that is read from a pipe, in bytes; more than any memory may have.
const MAX_TEXT: u64 = 32 * 1024 * 1024;

/// Returns the text that an argument gives: `-` stands for the standard input, whose last line break does not count.
pub(crate) fn content(given: &str, output: &mut Output) -> Result<String, Failure> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut bytes = Vec::new();
    output.input().take(MAX_TEXT + 1).read_to_end(&mut bytes).map_err(Failure::file("read the standard input"))?;
    if MAX_TEXT < bytes.len() as u64 {
        return Err(Failure::File { action: "read the standard input".into(), source: io::ErrorKind::FileTooLarge.into() });
    }
    let mut text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage("the standard input is no UTF-8 text", "convert it, for example with `iconv -t utf-8`"))?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

/// Returns the text that words make which were typed without quotes.
pub(crate) fn words(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(" "))
}

/// Returns what was given, or `-` if nothing was and no person sits at the standard input.
pub(crate) fn or_piped<'a>(given: Option<&'a str>, output: &Output) -> Option<&'a str> {
    given.or_else(|| (!output.input_is_terminal()).then_some("-"))
}
