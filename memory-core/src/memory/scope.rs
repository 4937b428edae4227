//! The scopes of memories.

use std::fmt;
use std::str::FromStr;

use super::ParseError;

/// The scope of a memory, which determines its readers.
///
/// ```
/// use memory_core::Scope;
///
/// let scope: Scope = "agent:claude".parse()?;
/// assert_eq!(scope, Scope::Agent("claude".into()));
/// assert_eq!(scope.to_string(), "agent:claude");
/// # Ok::<(), memory_core::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Readable by all agents.
    Global,
    /// Readable by one agent, identified by its name. Parsing converts the name to lower case.
    Agent(String),
    /// Readable by all agents that work on one project, identified by its name.
    Project(String),
    /// Part of one conversation, identified by its id.
    Conversation(String),
}

impl Scope {
    /// Returns the name of the agent, the project or the conversation.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Global => None,
            Self::Agent(name) | Self::Project(name) | Self::Conversation(name) => Some(name),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => formatter.pad("global"),
            Self::Agent(name) => formatter.pad(&format!("agent:{name}")),
            Self::Project(name) => formatter.pad(&format!("project:{name}")),
            Self::Conversation(id) => formatter.pad(&format!("conversation:{id}")),
        }
    }
}

impl FromStr for Scope {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "a scope (global, agent:<name>, project:<name> or conversation:<id>)");
        let trimmed = text.trim();
        if trimmed.eq_ignore_ascii_case("global") {
            return Ok(Self::Global);
        }
        let (kind, name) = trimmed.split_once(':').ok_or_else(wrong)?;
        let name = name.trim();
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(wrong());
        }
        match kind.trim() {
            "agent" => Ok(Self::Agent(name.to_lowercase())),
            "project" => Ok(Self::Project(name.to_owned())),
            "conversation" => Ok(Self::Conversation(name.to_owned())),
            _ => Err(wrong()),
        }
    }
}
