//! The ids of memories and operations, and the error of text that cannot be parsed.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::secret::without_secrets;

/// The id of a memory: a UUID, written with hyphens in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(Uuid);

/// The namespace of ids that are derived from a path, see RFC 9562, section 5.5.
const PATHS: Uuid = Uuid::from_u128(0x6d65_6d6f_7279_5f70_8174_6873_0000_0001);

/// The namespace of ids of reminders.
const REMINDERS: Uuid = Uuid::from_u128(0x6d65_6d6f_7279_5f72_8165_6d69_6e64_0001);

impl MemoryId {
    /// Returns the id of a reminder, which depends only on its parts and its time.
    ///
    /// The same reminder therefore exists only once.
    pub(crate) fn for_reminder(parts: &[&str], due: DateTime<Utc>) -> Self {
        let name = format!("{}\0{}", parts.join("\0"), due.timestamp_millis());
        Self(Uuid::new_v5(&REMINDERS, name.as_bytes()))
    }

    /// Returns the id of a file that contains no id, which depends only on its path.
    pub fn for_path(path: &str) -> Self {
        Self(Uuid::new_v5(&PATHS, path.as_bytes()))
    }

    /// Returns the first 8 digits, which the name of the memory's file ends with.
    pub fn short(&self) -> String {
        let (first, ..) = self.0.as_fields();
        format!("{first:08x}")
    }
}

impl From<Uuid> for MemoryId {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl From<MemoryId> for Uuid {
    fn from(id: MemoryId) -> Self {
        id.0
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0.as_hyphenated(), formatter)
    }
}

impl FromStr for MemoryId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Uuid::try_parse(text.trim())
            .map(Self)
            .map_err(|_| ParseError::new(text, "an id (a UUID)"))
    }
}

/// The error that a text has the wrong syntax.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {wanted}")]
#[non_exhaustive]
pub struct ParseError {
    /// The text; credentials in it are redacted.
    pub text: String,
    /// The expected syntax, with its article: "a category (…)".
    pub wanted: &'static str,
}

impl ParseError {
    /// Returns the error that `text` is not `wanted`.
    pub fn new(text: &str, wanted: &'static str) -> Self {
        Self {
            text: without_secrets(text).into_owned(),
            wanted,
        }
    }
}

/// The id of an operation: 12 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(String);

impl OperationId {
    /// Returns an id made of the lower 48 bits of `bits`.
    pub fn from_random(bits: u64) -> Self {
        Self(format!("{:012x}", bits & 0xffff_ffff_ffff))
    }
}

impl_text_type!(OperationId);

impl FromStr for OperationId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 12 && text.bytes().all(is_digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseError::new(
                text,
                "an operation (12 hexadecimal digits)",
            ))
        }
    }
}
