//! The purpose of a request to a language model.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::ParseError;

/// The purpose of a request to a language model, as one word such as `classify`.
///
/// The usage is recorded per purpose.
///
/// A purpose has 1 to 32 characters: letters from a to z, digits, `-` and `_`.
///
/// # Examples
/// ```
/// use memory_core::Purpose;
///
/// const CLASSIFY: Purpose = Purpose::of("classify");
/// assert_eq!("classify".parse(), Ok(CLASSIFY));
/// assert!("Two words".parse::<Purpose>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Purpose(Cow<'static, str>);

const MAX_PURPOSE_LENGTH: usize = 32;

impl Purpose {
    /// Returns the purpose `word`; intended for constants.
    ///
    /// # Panics
    /// If `word` is not a valid purpose. In a constant, this is a compile error.
    pub const fn of(word: &'static str) -> Self {
        assert!(is_purpose(word.as_bytes()), "a purpose has 1 to 32 characters from a-z, 0-9, - and _");
        Self(Cow::Borrowed(word))
    }

    /// Returns the purpose as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_purpose(word: &[u8]) -> bool {
    let mut index = 0;
    while index < word.len() {
        if !matches!(word[index], b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_') {
            return false;
        }
        index += 1;
    }
    0 < index && index <= MAX_PURPOSE_LENGTH
}

impl FromStr for Purpose {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wanted = || ParseError::new(text, "a purpose (up to 32 characters from a-z, 0-9, - and _)");
        is_purpose(text.as_bytes()).then(|| Self(Cow::Owned(text.to_owned()))).ok_or_else(wanted)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}
