//! The role of the author of a memory.

use std::fmt;
use std::str::FromStr;

use super::ParseError;

/// The role of the author of a memory.
///
/// Ranking uses it: in a conversation with an assistant, messages of the person are relevant to more queries than the
/// longer messages of the assistant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpeakerRole {
    /// The person, in a conversation with an assistant.
    Person,
    /// A language model.
    Assistant,
    /// A program with output for a language model.
    Tool,
    /// The author of a note.
    Author,
}

impl SpeakerRole {
    /// Returns the name used in files, on the command line and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Author => "author",
        }
    }

    /// Returns the role that a source names, such as the `user` and `assistant` of a chat protocol.
    ///
    /// ```
    /// use memory_core::SpeakerRole;
    ///
    /// assert_eq!(SpeakerRole::of_source("User"), Some(SpeakerRole::Person));
    /// assert_eq!(SpeakerRole::of_source("Anna"), None);
    /// ```
    pub fn of_source(source: &str) -> Option<Self> {
        let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(source.trim()));
        if is(&["person", "user", "human", "用户", "用戶"]) {
            Some(Self::Person)
        } else if is(&["assistant", "ai", "model", "bot", "chatbot", "助手", "助理"]) {
            Some(Self::Assistant)
        } else if is(&["tool", "function"]) {
            Some(Self::Tool)
        } else {
            None
        }
    }
}

impl fmt::Display for SpeakerRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for SpeakerRole {
    type Err = ParseError;

    /// Parses a role name or an equivalent name of a chat protocol.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let author = Some(Self::Author).filter(|author| author.as_str().eq_ignore_ascii_case(text.trim()));
        let known = author.or_else(|| Self::of_source(text));
        known.ok_or_else(|| ParseError::new(text, "a role (person, assistant, tool or author)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_protocol_names_are_accepted() {
        for role in [SpeakerRole::Person, SpeakerRole::Assistant, SpeakerRole::Tool, SpeakerRole::Author] {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert_eq!(["user", "Human", "AI", "function"].map(|name| name.parse().ok()), {
            let (person, assistant, tool) = (SpeakerRole::Person, SpeakerRole::Assistant, SpeakerRole::Tool);
            [Some(person), Some(person), Some(assistant), Some(tool)]
        });
        assert!("engineer".parse::<SpeakerRole>().is_err() && SpeakerRole::of_source("author").is_none());
    }
}
