//! The role of the author of a message.

use std::fmt;
use std::str::FromStr;

use crate::instance::InstanceError;

/// A role: `user`, `assistant`, `system`, `tool`, `summary`, `fact`, or any other word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordRole(String);

impl RecordRole {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 64;

    /// Returns the role as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RecordRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl FromStr for RecordRole {
    type Err = InstanceError;

    fn from_str(text: &str) -> Result<Self, InstanceError> {
        let why = if text.is_empty() {
            "is empty"
        } else if Self::MAX_LENGTH < text.chars().count() {
            "is longer than 64 characters"
        } else if text.contains(|own: char| own.is_control() || own == ',') {
            "contains a comma or a control character"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(InstanceError::invalid_name("the role", text, why))
    }
}
