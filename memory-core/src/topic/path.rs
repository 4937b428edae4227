//! Paths of files in a folder of topics, validated for all operating systems.
//!
//! Validity depends on the text alone, so it is the same on every system. Symlinks are rejected by the disk
//! layer.

use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;

use super::{INDEX_FILE, TopicError};
use crate::text::{deceptive_characters, is_device_name};

/// The path of a file or folder relative to a folder of topics, with `/` as separator.
///
/// The path stays inside the folder on every operating system: no component is `..`, is hidden, names a device, ends in
/// a dot or space, or contains a character that can be mistaken for `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicPath(String);

/// Maximum length of a component in bytes; temporary files in the same folder have a longer name.
const LONGEST: usize = 200;

/// Maximum number of components.
const DEEPEST: usize = 16;

/// The folder that is reserved for banks.
const BANKS: &str = "banks";

/// Characters that look like `/` or `\` and that NFKC does not map to them.
const SLASH_LOOKALIKES: [char; 20] = [
    '\u{337}',
    '\u{338}',
    '\u{1735}',
    '\u{2044}',
    '\u{20e5}',
    '\u{20eb}',
    '\u{2215}',
    '\u{2216}',
    '\u{2571}',
    '\u{2572}',
    '\u{27cb}',
    '\u{27cd}',
    '\u{29f5}',
    '\u{29f6}',
    '\u{29f8}',
    '\u{29f9}',
    '\u{2cc6}',
    '\u{3033}',
    '\u{1d20f}',
    '\u{1d23a}',
];

/// Characters that some systems do not allow in file names.
const FORBIDDEN: [char; 6] = ['*', '?', '"', '<', '>', '|'];

/// Letters that look like a letter of `memory.md`, which is the first character of each entry.
const INDEX_LOOKALIKES: [&str; 6] = ["mмμᴍ", "eеεᴇ", "oоοᴏ", "rгʀ", "yуүγυʏ", "dԁᴅ"];

impl TopicPath {
    /// Returns the path of the parent folder, or `None` at the top level.
    pub fn parent(&self) -> Option<Self> {
        self.0
            .rsplit_once('/')
            .map(|(parent, _)| Self(parent.to_owned()))
    }

    /// Returns whether some system resolves the path to the index of the folder.
    pub fn is_index(&self) -> bool {
        self.0.eq_ignore_ascii_case(INDEX_FILE)
    }

    /// Returns whether `other` is this path or below it.
    pub fn contains(&self, other: &Self) -> bool {
        other
            .0
            .strip_prefix(&self.0)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns an error for the index, which is generated and never written directly.
    pub(super) fn refuse_index(&self) -> Result<(), TopicError> {
        if self.is_index() {
            Err(TopicError::Index)
        } else {
            Ok(())
        }
    }
}

impl_text_type!(TopicPath);

impl FromStr for TopicPath {
    type Err = TopicError;

    fn from_str(text: &str) -> Result<Self, TopicError> {
        let outside = |why| Err(TopicError::outside_folder(text, why));
        if text.starts_with(['/', '\\']) {
            return outside("is absolute");
        }
        if DEEPEST < text.split('/').count() {
            return Err(TopicError::invalid_name(text, "is too deep"));
        }
        if text
            .split('/')
            .next()
            .is_some_and(|first| first.eq_ignore_ascii_case(BANKS))
        {
            return outside("is reserved for banks");
        }
        text.split('/')
            .try_for_each(|part| check_component(text, part))?;
        let path = Self(text.to_owned());
        if !path.is_index() && resembles_index(text) {
            return outside("looks like the index, MEMORY.md");
        }
        Ok(path)
    }
}

/// Checks one component of the path `whole`.
fn check_component(whole: &str, part: &str) -> Result<(), TopicError> {
    let outside = |why| Err(TopicError::outside_folder(whole, why));
    let invalid = |why| Err(TopicError::invalid_name(whole, why));
    if part.is_empty() {
        return invalid("has an empty part");
    }
    if part.contains(char::is_control) || deceptive_characters(part).next().is_some() {
        return invalid("contains a control character or a deceptive invisible character");
    }
    let folded: String = part.nfkc().collect();
    if folded.contains(['/', '\\']) || part.contains(SLASH_LOOKALIKES) {
        return outside("contains a \\, or a character that looks like a /");
    }
    if folded.contains(':') {
        return outside("contains a :, which separates a drive or a stream on some systems");
    }
    if part.contains(FORBIDDEN) {
        return outside("contains one of * ? \" < > |, which some systems do not allow in names");
    }
    if folded.starts_with('.') {
        return outside(if folded.chars().all(|letter| letter == '.') {
            "leads out of the folder"
        } else {
            "is hidden"
        });
    }
    if part.starts_with(' ') || folded.ends_with(['.', ' ']) {
        return outside(
            "begins with a space, or ends in a space or dot, which some systems remove",
        );
    }
    if is_device_name(part) {
        return outside("names a device on some systems");
    }
    if LONGEST < part.len() {
        return invalid("is longer than 200 bytes");
    }
    Ok(())
}

/// Returns whether a name can be mistaken for that of the index.
fn resembles_index(name: &str) -> bool {
    let plain = |letter: char| {
        let like = INDEX_LOOKALIKES.iter().find(|like| like.contains(letter));
        like.and_then(|like| like.chars().next()).unwrap_or(letter)
    };
    let letters = name.nfkc().flat_map(char::to_lowercase).map(plain);
    letters.eq(INDEX_FILE.chars().flat_map(char::to_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn paths_that_stay_are_taken() {
        for path in [
            "a.md",
            "notes/a.md",
            "深色.md",
            "User Preferences.md",
            "a…b.md",
            "common.md",
            "con-notes.md",
            "a.b.c",
            "étude",
            "何？.md",
            "memories.md",
            "⚠️ urgent.md",
            "❤️",
            "1️⃣ first/👨‍👩‍👧.md",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿.md",
            "می‌خواهم.md",
            "क्‍ष.md",
        ] {
            assert_eq!(path.parse::<TopicPath>().unwrap().as_str(), path);
        }
    }

    #[test]
    fn what_leads_elsewhere_on_any_system_is_refused() {
        for path in [
            "..",
            "../a",
            "a/../b",
            ".",
            "./a",
            "/etc/passwd",
            "\\\\host\\a",
            "a\\..\\b",
            "C:/a",
            "a.md:stream",
            "a.md.",
            "a.md ",
            " a.md",
            "con",
            "CON.md",
            "nul.tar.gz",
            "com1.md",
            "LPT9",
            "com².md",
            "a／b",
            "a∕b",
            "a⁄b",
            "a⧸b",
            "a＼b",
            "．．",
            "․․/a",
            "‥/a",
            "a：b",
            ".git",
            ".lock",
            "a/.trash/b",
            "banks",
            "Banks/a.json",
            "a*.md",
            "why?",
            "a<b>",
            "a|b",
            "a\"b",
            "МЕМОRY.md",
            "ＭＥＭＯＲＹ.md",
            "Μεμοrγ.md",
        ] {
            assert_eq!(
                path.parse::<TopicPath>().unwrap_err().code(),
                Code::PathRefused,
                "{path:?}"
            );
        }
        for path in [
            "",
            "a//b",
            "a/",
            "a\0b",
            "a\nb",
            "a\u{202e}b",
            "a\u{200b}.md",
            "a\u{1b}[31m",
            "a\u{200d}b.md",
            "1\u{fe0f}.md",
            "\u{e0061}",
            &"é".repeat(101),
        ] {
            assert_eq!(
                path.parse::<TopicPath>().unwrap_err().code(),
                Code::InvalidInput,
                "{path:?}"
            );
        }
        assert!(
            "a/".repeat(20)
                .trim_end_matches('/')
                .parse::<TopicPath>()
                .is_err()
        );
    }

    #[test]
    fn the_index_is_known_in_any_case() {
        for path in ["MEMORY.md", "memory.md", "Memory.MD"] {
            assert!(path.parse::<TopicPath>().unwrap().is_index());
        }
        assert!(!"notes/MEMORY.md".parse::<TopicPath>().unwrap().is_index());
    }
}
