//! The request to run a filter, and the private protocol between a process and the child that runs it.
//!
//! The request contains integers of eight bytes in little-endian order and two bytes for options. A text is its length followed
//! by its bytes. The input is the rest of the request. The response consists of frames with a type byte and a text; the last
//! frame has only the type byte.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use super::error::JqError;

const OUTPUT: u8 = b'o';
const SYNTAX: u8 = b's';
const INPUT: u8 = b'i';
const RUNTIME: u8 = b'r';
const HALTED: u8 = b'h';
const END: u8 = b'.';

/// The part of the request before the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) memory: u64,
    pub(crate) seconds: u64,
    pub(crate) on: JqInputMode,
    pub(crate) form: JqOutputFormat,
    pub(crate) filter: String,
}

impl Header {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.memory.to_le_bytes())?;
        out.write_all(&self.seconds.to_le_bytes())?;
        let on = match self.on {
            JqInputMode::Each => 0,
            JqInputMode::Null => 1,
        };
        let form = match self.form {
            JqOutputFormat::Compact => 0,
            JqOutputFormat::Pretty => 1,
            JqOutputFormat::Raw => 2,
            JqOutputFormat::RawPretty => 3,
        };
        out.write_all(&[on, form])?;
        write_text(&self.filter, out)
    }

    pub(crate) fn read(input: &mut impl Read) -> io::Result<Self> {
        let (memory, seconds) = (read_number(input)?, read_number(input)?);
        let mut choices = [0; 2];
        input.read_exact(&mut choices)?;
        let on = if choices[0] == 0 {
            JqInputMode::Each
        } else {
            JqInputMode::Null
        };
        let form = match choices[1] {
            0 => JqOutputFormat::Compact,
            1 => JqOutputFormat::Pretty,
            2 => JqOutputFormat::Raw,
            _ => JqOutputFormat::RawPretty,
        };
        Ok(Self {
            memory,
            seconds,
            on,
            form,
            filter: read_text(input, u64::MAX)?,
        })
    }
}

/// Writes a frame: an output or an error.
pub(crate) fn write_frame(
    answer: &Result<String, JqError>,
    out: &mut impl Write,
) -> io::Result<()> {
    let (letter, text) = match answer {
        Ok(text) => (OUTPUT, text.clone()),
        Err(JqError::Syntax { message }) => (SYNTAX, message.clone()),
        Err(JqError::Input { message }) => (INPUT, message.clone()),
        Err(JqError::Halted { message, code }) => (HALTED, format!("{code} {message}")),
        Err(other) => (RUNTIME, other.to_string()),
    };
    out.write_all(&[letter])?;
    write_text(&text, out)
}

pub(crate) fn write_end(out: &mut impl Write) -> io::Result<()> {
    out.write_all(&[END])
}

/// Reads the next frame; `None` for the last one.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] if the text is longer than `most` bytes.
pub(crate) fn read_frame(
    input: &mut impl Read,
    most: u64,
) -> io::Result<Option<Result<String, JqError>>> {
    let mut letter = [0];
    input.read_exact(&mut letter)?;
    if letter[0] == END {
        return Ok(None);
    }
    let message = read_text(input, most)?;
    Ok(Some(match letter[0] {
        OUTPUT => Ok(message),
        SYNTAX => Err(JqError::Syntax { message }),
        INPUT => Err(JqError::Input { message }),
        RUNTIME => Err(JqError::Runtime { message }),
        HALTED => {
            let (code, message) = message.split_once(' ').unwrap_or(("5", &message));
            Err(JqError::Halted {
                message: message.to_owned(),
                code: code.parse().unwrap_or(5),
            })
        }
        _ => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "unknown frame type",
            ));
        }
    }))
}

fn write_text(text: &str, out: &mut impl Write) -> io::Result<()> {
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(text.as_bytes())
}

fn read_number(input: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Reads a text. The buffer grows with the data, so that a wrong length does not allocate memory.
fn read_text(input: &mut impl Read, most: u64) -> io::Result<String> {
    let length = read_number(input)?;
    if most < length {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut text = String::new();
    let read = input.take(length).read_to_string(&mut text)?;
    if read as u64 == length {
        Ok(text)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// The input values of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JqInputMode {
    /// Each value of the input.
    #[default]
    Each,
    /// One `null`; `input` and `inputs` read the input.
    Null,
}

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JqOutputFormat {
    /// Compact: `jq -c`.
    #[default]
    Compact,
    /// Indented by two spaces: `jq`.
    Pretty,
    /// Strings without quotes, other values compact: `jq -c -r`.
    Raw,
    /// Strings without quotes, other values indented: `jq -r`.
    RawPretty,
}

/// A request to run a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JqRequest<'q> {
    /// The program.
    pub filter: &'q str,
    /// Concatenated JSON values.
    pub input: &'q str,
    /// The input values of the filter.
    pub on: JqInputMode,
    /// The output format.
    pub form: JqOutputFormat,
}

/// The limits of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JqLimits {
    /// The time limit.
    pub time: Duration,
    /// The memory limit in bytes, including the stack. The outputs together have at most a quarter of it.
    pub memory: u64,
}

impl Default for JqLimits {
    /// Returns 5 s and 512 MiB, which suffice for any single-pass filter on a bank of 10 MB.
    fn default() -> Self {
        Self {
            time: Duration::from_secs(5),
            memory: 512 << 20,
        }
    }
}

/// The command that starts a process that calls [`serve_child`](super::serve_child).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JqChildCommand {
    /// The program, usually the current executable.
    pub program: PathBuf,
    /// The arguments that make the program serve a request.
    pub arguments: Vec<OsString>,
    /// Additional environment variables, such as settings of its memory allocator.
    pub variables: Vec<(OsString, OsString)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let header = Header {
            memory: 1 << 28,
            seconds: 5,
            on: JqInputMode::Null,
            form: JqOutputFormat::Raw,
            filter: ".a | \"\n\"".to_owned(),
        };
        let mut bytes = Vec::new();
        header.write(&mut bytes).unwrap();
        assert_eq!(Header::read(&mut bytes.as_slice()).unwrap(), header);
    }

    #[test]
    fn answers_keep_their_kind_and_their_lines() {
        let answers = [
            Ok("two\nlines".to_owned()),
            Ok(String::new()),
            Err(JqError::Syntax {
                message: "no".to_owned(),
            }),
            Err(JqError::Halted {
                message: "a b".to_owned(),
                code: 3,
            }),
            Err(JqError::Runtime {
                message: "r".to_owned(),
            }),
        ];
        let mut bytes = Vec::new();
        for answer in &answers {
            write_frame(answer, &mut bytes).unwrap();
        }
        write_end(&mut bytes).unwrap();
        let mut input = bytes.as_slice();
        let read: Vec<_> = std::iter::from_fn(|| read_frame(&mut input, 100).unwrap()).collect();
        assert_eq!(read, answers);
    }

    #[test]
    fn an_answer_without_an_end_is_no_answer() {
        let mut bytes = Vec::new();
        write_frame(&Ok("1".to_owned()), &mut bytes).unwrap();
        let mut input = bytes.as_slice();
        assert!(read_frame(&mut input, 100).unwrap().is_some());
        assert!(read_frame(&mut input, 100).is_err());
    }
}
