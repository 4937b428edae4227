//! Keys and key prefixes.

use std::str::FromStr;

use crate::instance::InstanceError;

/// The key of a value: `/`-separated components of `A`-`Z`, `a`-`z`, `0`-`9`, `.`, `_` and `-`.
///
/// It is also the path of a file: no component is `.` or `..`, none is longer than 255 characters, the limit of file
/// systems, and the whole key is at most 1,024 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueKey(String);

impl ValueKey {
    /// Maximum length of a key in characters.
    pub const MAX_LENGTH: usize = 1024;

    /// Maximum length of a component in characters.
    pub const MAX_PART: usize = 255;
}

impl_text_type!(ValueKey);

impl FromStr for ValueKey {
    type Err = InstanceError;

    fn from_str(text: &str) -> Result<Self, InstanceError> {
        let has = |wrong: fn(&str) -> bool| text.split('/').any(wrong);
        let why = if text.is_empty() {
            "is empty"
        } else if Self::MAX_LENGTH < text.len() {
            "is longer than 1024 characters"
        } else if has(|part| !part.bytes().all(is_fine)) {
            "contains a character other than A to Z, a to z, 0 to 9, '.', '_', '-' and '/'"
        } else if has(str::is_empty) {
            "has an empty part"
        } else if has(|part| matches!(part, "." | "..")) {
            "has a part that is . or .."
        } else if has(|part| Self::MAX_PART < part.len()) {
            "has a part of more than 255 characters, the limit of file systems"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(InstanceError::invalid_key(text, why))
    }
}

const fn is_fine(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// A prefix of keys.
///
/// `chat/` matches that namespace, `chat` also `chat` itself and `chatter`, and an empty prefix matches all keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyPrefix(String);

impl KeyPrefix {
    /// Returns the prefix as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a key starts with the prefix.
    pub fn matches(&self, key: &ValueKey) -> bool {
        key.as_str().starts_with(&self.0)
    }

    /// Returns the innermost namespace that contains all matching keys, or an empty string for all keys.
    ///
    /// The namespace has no trailing `/`.
    pub fn namespace(&self) -> &str {
        self.0
            .rsplit_once('/')
            .map_or("", |(namespace, _)| namespace)
    }
}

impl FromStr for KeyPrefix {
    type Err = InstanceError;

    fn from_str(text: &str) -> Result<Self, InstanceError> {
        if let Some((namespace, start)) = text.rsplit_once('/') {
            namespace.parse::<ValueKey>()?;
            if !start.bytes().all(is_fine) {
                start.parse::<ValueKey>()?;
            }
        } else if !text.is_empty() && !matches!(text, "." | "..") {
            text.parse::<ValueKey>()?;
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn keys_are_paths_that_stay_where_they_are() {
        for key in [
            "a",
            "chat-2026-05-17/draft-reply",
            "a/b/c.json",
            "A_1",
            "..a/b..",
            ".hidden",
            &"a".repeat(255),
        ] {
            assert_eq!(key.parse::<ValueKey>().unwrap().as_str(), key);
        }
        let (long, deep) = ("a".repeat(256), "a/".repeat(512) + "a");
        for key in [
            "", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "../a", "a/.", "a b", "a\0", "a\\b",
            "ä", "a\n", &long, &deep,
        ] {
            assert_eq!(
                key.parse::<ValueKey>().unwrap_err().code(),
                Code::InvalidKey,
                "{key:?}"
            );
        }
    }

    #[test]
    fn a_prefix_means_a_namespace_or_the_beginning_of_keys() {
        let fits = |prefix: &str, key: &str| {
            prefix
                .parse::<KeyPrefix>()
                .unwrap()
                .matches(&key.parse().unwrap())
        };
        assert!(
            fits("", "a")
                && fits("a/", "a/b")
                && fits("a", "a")
                && fits("a", "ab/c")
                && fits("a/b", "a/bc")
        );
        assert!(!fits("a/", "a") && !fits("a/", "ab") && !fits("b", "a/b"));
        for (prefix, namespace) in [
            ("", ""),
            ("ab", ""),
            ("a/", "a"),
            ("a/b", "a"),
            ("a/b/", "a/b"),
            ("..", ""),
            ("a/.", "a"),
        ] {
            assert_eq!(prefix.parse::<KeyPrefix>().unwrap().namespace(), namespace);
        }
        for prefix in ["/", "../", "a/../", "a//", "/a", "a b", "a/ä", "a\0"] {
            assert_eq!(
                prefix.parse::<KeyPrefix>().unwrap_err().code(),
                Code::InvalidKey,
                "{prefix:?}"
            );
        }
    }
}
