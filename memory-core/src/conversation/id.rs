//! The id of a conversation.

use std::str::FromStr;

use crate::{ContentHash, ParseError, Scope};

/// The id of a conversation: any single line of up to 512 bytes, such as `default` or `work/plans`.
///
/// # Examples
/// ```
/// use memory_core::conversation::ConversationId;
///
/// let id: ConversationId = "a/b c".parse()?;
/// assert_eq!((id.as_str(), id.folder().as_str()), ("a/b c", "a_b_c"));
/// # Ok::<(), memory_core::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConversationId(String);

/// The maximum size in bytes.
const LONGEST: usize = 512;

/// The maximum size of a folder name in bytes; the names of temporary files next to it are longer.
const LONGEST_FOLDER: usize = 200;

/// The folder of tombstones, which is reserved.
const DELETED: &str = "deleted";

/// A folder name that git never tracks.
const GIT: &str = ".git";

impl ConversationId {
    /// Returns the default conversation.
    pub fn default_conversation() -> Self {
        Self("default".into())
    }

    /// Returns the global conversation, which is part of every recall.
    pub fn global() -> Self {
        Self("global".into())
    }

    /// Returns the name of the folder, which several conversations may share.
    ///
    /// Every character other than letters, digits, `-`, `.` and `_` becomes a `_`. Names that are relative paths, reserved or too long are
    /// replaced by other names.
    pub fn folder(&self) -> String {
        let kept = |character: char| {
            if character.is_alphanumeric() || "-._".contains(character) {
                character
            } else {
                '_'
            }
        };
        let folder: String = self.0.chars().map(kept).collect();
        if folder.chars().all(|character| character == '.') {
            return "_".repeat(folder.len());
        }
        if [DELETED, GIT]
            .iter()
            .any(|own| folder.eq_ignore_ascii_case(own))
        {
            return format!("{folder}_");
        }
        if folder.len() <= LONGEST_FOLDER {
            return folder;
        }
        let digits = ContentHash::of(&self.0).to_string();
        let digits: String = digits
            .chars()
            .filter(char::is_ascii_hexdigit)
            .take(16)
            .collect();
        format!(
            "{}_{digits}",
            &folder[..folder.floor_char_boundary(LONGEST_FOLDER - 17)]
        )
    }

    /// Returns the scope of the memories of this conversation.
    pub fn scope(&self) -> Scope {
        Scope::Conversation(self.0.clone())
    }
}

impl_text_type!(ConversationId);

impl FromStr for ConversationId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let trimmed = text.trim();
        if trimmed.is_empty() || LONGEST < trimmed.len() || trimmed.chars().any(char::is_control) {
            return Err(ParseError::new(
                text,
                "the id of a conversation (one line of up to 512 bytes)",
            ));
        }
        Ok(Self(trimmed.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_what_is_left_of_the_name_and_never_leads_elsewhere() {
        for (name, folder) in [
            ("default", "default"),
            ("work/项目 1", "work_项目_1"),
            ("../evil", ".._evil"),
            ("a:b*c", "a_b_c"),
            ("..", "__"),
            (".", "_"),
            ("deleted", "deleted_"),
            (".git", ".git_"),
            ("a\\..\\b", "a_.._b"),
        ] {
            assert_eq!(name.parse::<ConversationId>().unwrap().folder(), folder);
        }
        let (one, other) = ("é".repeat(255), format!("{}x", "é".repeat(255)));
        let folder = |name: &str| name.parse::<ConversationId>().unwrap().folder();
        assert!(folder(&one).len() <= LONGEST_FOLDER && folder(&one) != folder(&other));
    }

    #[test]
    fn what_is_no_line_is_no_name() {
        for name in ["", " \t", "a\nb", "a\0b", "\u{1b}[31m", &"x".repeat(513)] {
            assert!(name.parse::<ConversationId>().is_err(), "{name:?}");
        }
    }
}
