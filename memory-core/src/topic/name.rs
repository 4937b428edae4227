//! What topics are called.

use std::fmt;
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;

use super::{TopicError, TopicPath};
use crate::text::is_invisible;

/// The file of the index.
pub const INDEX_FILE: &str = "MEMORY.md";

/// The name of a topic: that of its file, which ends in `.md` and is not that of the index.
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

    /// Returns where the file is.
    pub fn path(&self) -> &TopicPath {
        &self.0
    }

    /// Returns the name of the topic that the file at `path` is, if it is one.
    pub fn of_file(path: &TopicPath) -> Option<Self> {
        (is_markdown(path.as_str()) && !path.as_str().contains('/') && !path.is_index()).then(|| Self(path.clone()))
    }
}

/// Tells whether a name ends in `.md`, in upper or lower case.
fn is_markdown(name: &str) -> bool {
    name.len().checked_sub(".md".len()).is_some_and(|end| 0 < end && name.as_bytes()[end..].eq_ignore_ascii_case(b".md"))
}

/// Tells whether some systems or people take two names for one: they differ in upper and lower case, in how their letters are composed, or
/// in invisible characters.
pub fn is_same_name(one: &str, other: &str) -> bool {
    folded(one) == folded(other)
}

/// Returns what names are compared by that some systems or people take for one.
pub(super) fn folded(name: &str) -> String {
    name.nfc().filter(|&character| !is_invisible(character)).flat_map(char::to_lowercase).collect()
}

impl fmt::Display for TopicName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for TopicName {
    type Err = TopicError;

    /// Reads a name; without `.md` it is that name with it.
    fn from_str(text: &str) -> Result<Self, TopicError> {
        if text.contains('/') && !text.starts_with('/') && !text.split('/').any(|part| part == "..") {
            return Err(TopicError::invalid_name(text, "names a folder; a topic lies in none"));
        }
        let whole = if is_markdown(text) || text.is_empty() { text.to_owned() } else { format!("{text}.md") };
        // What is refused is told as it was given.
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
        for (given, name) in
            [("user_prefs.md", "user_prefs.md"), ("user_prefs", "user_prefs.md"), ("v1.2", "v1.2.md"), ("深", "深.md")]
        {
            let parsed: TopicName = given.parse().unwrap();
            assert_eq!((parsed.as_str(), parsed.stem()), (name, &name[..name.len() - 3]));
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
            assert_eq!(name.parse::<TopicName>().unwrap_err().code(), code, "{name:?}");
        }
    }

    #[test]
    fn names_that_look_the_same_are_one() {
        for (one, other) in [("A.md", "a.md"), ("é.md", "e\u{301}.md"), ("❤️.md", "❤.md"), ("می‌خواهم.md", "میخواهم.md")]
        {
            assert!(is_same_name(one, other), "{one} {other}");
        }
        assert!(!is_same_name("a.md", "á.md"));
    }
}
