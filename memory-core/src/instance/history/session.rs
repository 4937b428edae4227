//! Session names.

use std::fmt;
use std::str::FromStr;

use crate::instance::InstanceError;

/// The name of a session: 1 to 200 characters, none of them a control character.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionName(String);

impl SessionName {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 200;

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl FromStr for SessionName {
    type Err = InstanceError;

    fn from_str(text: &str) -> Result<Self, InstanceError> {
        let why = if text.is_empty() {
            "is empty"
        } else if Self::MAX_LENGTH < text.chars().count() {
            "is longer than 200 characters"
        } else if text.chars().any(char::is_control) {
            "contains a control character"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(InstanceError::invalid_name("the session", text, why))
    }
}
