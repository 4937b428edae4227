//! The role of the author of a memory.

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

    /// Returns the role that a source names.
    ///
    /// It is a role of a chat protocol, such as `user` and `tool_result`, or the name of a language model. Case and punctuation do not
    /// matter.
    ///
    /// ```
    /// use memory_core::SpeakerRole;
    ///
    /// assert_eq!(SpeakerRole::from_source("User"), Some(SpeakerRole::Person));
    /// assert_eq!(SpeakerRole::from_source("gpt-4o"), Some(SpeakerRole::Assistant));
    /// assert_eq!(SpeakerRole::from_source("Anna"), None);
    /// ```
    pub fn from_source(source: &str) -> Option<Self> {
        // Longer texts, such as addresses, are no names.
        if MAX_SOURCE_BYTES < source.len() {
            return None;
        }
        let lower = source.to_lowercase();
        let mut words = lower
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty());
        let first = words.next()?;
        let rest: Vec<&str> = words.collect();
        let is_alone = rest.is_empty();
        if is_alone && PERSON_NAMES.contains(&first) {
            Some(Self::Person)
        } else if is_alone && ASSISTANT_ROLES.contains(&first) {
            Some(Self::Assistant)
        } else if is_alone && TOOL_NAMES.contains(&first)
            || TOOL_WORDS.contains(&first) && rest.iter().all(|word| TOOL_PARTS.contains(word))
        {
            Some(Self::Tool)
        } else if is_model(first) && rest.iter().all(|word| is_model_variant(word)) {
            Some(Self::Assistant)
        } else {
            None
        }
    }
}

impl SpeakerRole {
    /// Returns whether a source names the role of an assistant in a transcript, such as `Assistant:`, and not a program.
    pub(crate) fn is_assistant_label(source: &str) -> bool {
        let name = source.trim().trim_end_matches(':').to_lowercase();
        ASSISTANT_ROLES.contains(&name.as_str())
    }
}

/// The maximum size of a source that names a role, in bytes.
const MAX_SOURCE_BYTES: usize = 64;

/// Names of the person in chat protocols and exports.
const PERSON_NAMES: [&str; 5] = ["person", "user", "human", "用户", "用戶"];

/// Roles of a language model, and of the texts that programs give it.
const ASSISTANT_ROLES: [&str; 10] = [
    "assistant",
    "ai",
    "model",
    "bot",
    "chatbot",
    "system",
    "developer",
    "agent",
    "助手",
    "助理",
];

/// Roles of programs with output for a language model.
const TOOL_NAMES: [&str; 7] = [
    "ipython",
    "toolresult",
    "tooluse",
    "toolcall",
    "functioncall",
    "functionresult",
    "environment",
];

/// The first words of names of roles such as `tool_result`, and the words after them.
const TOOL_WORDS: [&str; 4] = ["tool", "tools", "function", "functions"];
const TOOL_PARTS: [&str; 9] = [
    "result", "results", "use", "call", "calls", "output", "response", "message", "error",
];

/// Names of language models and of programs for chats with them.
const MODELS: [&str; 20] = [
    "chatgpt",
    "gpt",
    "openai",
    "claude",
    "anthropic",
    "gemini",
    "bard",
    "copilot",
    "codex",
    "grok",
    "llama",
    "mistral",
    "mixtral",
    "deepseek",
    "qwen",
    "kimi",
    "perplexity",
    "gemma",
    "ollama",
    "cursor",
];

fn is_model(word: &str) -> bool {
    let name = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    MODELS.contains(&name)
}

/// Returns whether a word of a name tells a version of a model: `4o`, `turbo`, `code`.
fn is_model_variant(word: &str) -> bool {
    const VARIANTS: [&str; 28] = [
        "ai",
        "agent",
        "app",
        "assistant",
        "chat",
        "cli",
        "code",
        "desktop",
        "flash",
        "haiku",
        "instant",
        "instruct",
        "large",
        "latest",
        "max",
        "medium",
        "mini",
        "nano",
        "opus",
        "preview",
        "pro",
        "small",
        "sonnet",
        "turbo",
        "ultra",
        "web",
        "api",
        "gpt",
    ];
    word.contains(|letter: char| letter.is_ascii_digit()) || VARIANTS.contains(&word)
}

impl_display!(SpeakerRole);

impl FromStr for SpeakerRole {
    type Err = ParseError;

    /// Parses a role name or an equivalent name of a chat protocol.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let author =
            Some(Self::Author).filter(|author| author.as_str().eq_ignore_ascii_case(text.trim()));
        let known = author.or_else(|| Self::from_source(text));
        known.ok_or_else(|| ParseError::new(text, "a role (person, assistant, tool or author)"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_protocol_names_are_accepted() {
        for role in [
            SpeakerRole::Person,
            SpeakerRole::Assistant,
            SpeakerRole::Tool,
            SpeakerRole::Author,
        ] {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert_eq!(
            ["user", "Human", "AI", "function"].map(|name| name.parse().ok()),
            {
                let (person, assistant, tool) = (
                    SpeakerRole::Person,
                    SpeakerRole::Assistant,
                    SpeakerRole::Tool,
                );
                [Some(person), Some(person), Some(assistant), Some(tool)]
            }
        );
        assert!(
            "engineer".parse::<SpeakerRole>().is_err()
                && SpeakerRole::from_source("author").is_none()
        );
    }

    #[test]
    fn case_and_punctuation_of_names_do_not_matter() {
        let is = |names: &[&str], role| {
            for name in names {
                assert_eq!(SpeakerRole::from_source(name), role, "{name}");
            }
        };
        let assistants = [
            "ChatGPT",
            "GPT-4",
            "gpt-4o-mini",
            "claude",
            "Claude 3.5 Sonnet",
            "claude-code",
            "Gemini",
            "Copilot",
            "Assistant:",
            "system",
            "Developer",
        ];
        is(&assistants, Some(SpeakerRole::Assistant));
        is(
            &[
                "tool_result",
                "toolResult",
                "function_call",
                "ipython",
                "tool",
                "function",
            ],
            Some(SpeakerRole::Tool),
        );
        is(&["USER:", "[user]", "Human"], Some(SpeakerRole::Person));
        is(
            &[
                "Claude Monet",
                "toolbox",
                "https://example.com/gpt-4",
                "web",
                "",
            ],
            None,
        );
    }
}
