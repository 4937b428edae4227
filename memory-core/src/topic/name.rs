//! Topic names: validation and comparison.

use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;

use super::{TopicError, TopicPath};
use crate::text::is_invisible;

/// The name of a topic: a file name that ends in `.md` and is not that of the index.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicName(TopicPath);

impl TopicName {
    /// Returns the name of the file.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the name without `.md`.
    pub fn stem(&self) -> &str {
        let name = self.as_str();
        &name[..name.len() - ".md".len()]
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &TopicPath {
        &self.0
    }

    /// Returns the topic name for the file at `path`, or `None` if that file is not a topic.
    pub fn from_path(path: &TopicPath) -> Option<Self> {
        (is_markdown(path.as_str()) && !path.as_str().contains('/') && !path.is_index())
            .then(|| Self(path.clone()))
    }
}

/// Returns whether a name ends in `.md`, ignoring case.
fn is_markdown(name: &str) -> bool {
    name.len()
        .checked_sub(".md".len())
        .is_some_and(|end| 0 < end && name.as_bytes()[end..].eq_ignore_ascii_case(b".md"))
}

/// Returns whether some file systems or readers treat two names as equal.
///
/// Such names differ only in case, in Unicode composition, or in invisible characters.
pub fn is_same_name(one: &str, other: &str) -> bool {
    fold_name(one) == fold_name(other)
}

/// Returns the key for [`is_same_name`]: the name in NFC and lower case, without invisible characters.
pub(super) fn fold_name(name: &str) -> String {
    name.nfc()
        .filter(|&character| !is_invisible(character))
        .flat_map(char::to_lowercase)
        .collect()
}

impl_display!(TopicName);

impl FromStr for TopicName {
    type Err = TopicError;

    /// Parses a name; `.md` is appended if it is missing.
    fn from_str(text: &str) -> Result<Self, TopicError> {
        if text.contains('/') && !text.starts_with('/') && !text.split('/').any(|part| part == "..")
        {
            return Err(TopicError::invalid_name(
                text,
                "contains a folder; a topic is a file at the top level",
            ));
        }
        let whole = if is_markdown(text) || text.is_empty() {
            text.to_owned()
        } else {
            format!("{text}.md")
        };
        // Parsed first without the added `.md`, so that an error quotes the name as given.
        text.parse::<TopicPath>()?;
        let path: TopicPath = whole.parse()?;
        path.refuse_index()?;
        Ok(Self(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn a_name_is_that_of_a_markdown_file_in_the_folder() {
        for (given, name) in [
            ("user_prefs.md", "user_prefs.md"),
            ("user_prefs", "user_prefs.md"),
            ("v1.2", "v1.2.md"),
            ("深", "深.md"),
        ] {
            let parsed: TopicName = given.parse().unwrap();
            assert_eq!(
                (parsed.as_str(), parsed.stem()),
                (name, &name[..name.len() - 3])
            );
        }
        for (name, code) in [
            ("MEMORY.md", Code::PathRefused),
            ("memory", Code::PathRefused),
            ("Memory.md", Code::PathRefused),
            ("../a", Code::PathRefused),
            ("/a", Code::PathRefused),
            ("con", Code::PathRefused),
            (".md", Code::PathRefused),
            ("notes/a", Code::InvalidInput),
            ("", Code::InvalidInput),
            ("a\tb", Code::InvalidInput),
        ] {
            assert_eq!(
                name.parse::<TopicName>().unwrap_err().code(),
                code,
                "{name:?}"
            );
        }
    }

    #[test]
    fn names_that_look_the_same_are_one() {
        for (one, other) in [
            ("A.md", "a.md"),
            ("é.md", "e\u{301}.md"),
            ("❤️.md", "❤.md"),
            ("می‌خواهم.md", "میخواهم.md"),
        ] {
            assert!(is_same_name(one, other), "{one} {other}");
        }
        assert!(!is_same_name("a.md", "á.md"));
    }
}
