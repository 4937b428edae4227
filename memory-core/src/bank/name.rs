//! The names of banks and the keys of their entries.

use std::str::FromStr;

use super::{BankError, BankErrorKind};

/// A bank name: at most 64 characters that match `^[a-z][a-z0-9_-]*$`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BankName(String);

impl BankName {
    /// The maximum number of characters in a name.
    pub const MAX_LENGTH: usize = 64;

    /// Reserved names. No reserved name matches the pattern; the list only gives a clearer error message.
    pub const RESERVED: [&str; 3] = ["_system", "_meta", "_index"];
}

impl_text_type!(BankName);

impl FromStr for BankName {
    type Err = BankError;

    fn from_str(text: &str) -> Result<Self, BankError> {
        let is_fine = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        let why = if Self::RESERVED.contains(&text) {
            "is reserved"
        } else if Self::MAX_LENGTH < text.chars().count() {
            "is longer than 64 characters"
        } else if !text.starts_with(|first: char| first.is_ascii_lowercase()) {
            "does not begin with a letter from a to z"
        } else if !text.bytes().all(is_fine) {
            "contains a character other than a to z, 0 to 9, _ and -"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(BankError::new(BankErrorKind::InvalidBankName { why }).with_bank(text, None))
    }
}

/// The key of an entry: 1 to 256 characters without control characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(String);

impl Key {
    /// The maximum number of characters in a key.
    pub const MAX_LENGTH: usize = 256;
}

impl_text_type!(Key);

impl FromStr for Key {
    type Err = BankError;

    fn from_str(text: &str) -> Result<Self, BankError> {
        let why = if text.is_empty() {
            "is empty"
        } else if Self::MAX_LENGTH < text.chars().count() {
            "is longer than 256 characters"
        } else if text.chars().any(char::is_control) {
            "contains a control character"
        } else {
            return Ok(Self(text.to_owned()));
        };
        let shown: String = text.chars().take(40).collect();
        Err(BankError {
            key: Some(shown),
            ..BankError::new(BankErrorKind::InvalidKey { why })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn names_fit_the_pattern_or_are_refused() {
        for name in ["a", "session", "daily-standup", "a_1", &"a".repeat(64)] {
            assert_eq!(name.parse::<BankName>().unwrap().as_str(), name);
        }
        let long = "a".repeat(65);
        for name in [
            "", "A", "1a", "-a", "_a", "_meta", "_system", "_index", "a b", "../a", "a/b",
            "a.json", "ä", "aä", "a\0", &long,
        ] {
            let error = name.parse::<BankName>().unwrap_err();
            assert_eq!(error.code(), Code::InvalidBankName, "{name}");
        }
    }

    #[test]
    fn keys_are_any_words_of_one_line() {
        for key in [
            "a",
            "User Preferences",
            "深色",
            "a/b.c",
            "..",
            &"é".repeat(256),
        ] {
            assert_eq!(key.parse::<Key>().unwrap().as_str(), key);
        }
        for key in ["", "a\nb", "a\0b", "a\u{9b}b", &"é".repeat(257)] {
            assert_eq!(
                key.parse::<Key>().unwrap_err().code(),
                Code::InvalidKey,
                "{key:?}"
            );
        }
    }
}
