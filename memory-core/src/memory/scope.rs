//! The scopes of memories, and the names of agents.

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
    /// Readable by one principal of a shared database, a user or an agent with a token, identified by its name.
    Private(String),
    /// Readable by the principals of one team, identified by its name.
    Team(String),
}

impl Scope {
    /// Returns the name as [`Self::name`] does, to change it.
    pub(crate) fn name_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Global => None,
            Self::Agent(name)
            | Self::Project(name)
            | Self::Conversation(name)
            | Self::Private(name)
            | Self::Team(name) => Some(name),
        }
    }

    /// Returns the name of the agent, the project, the conversation, the principal or the team.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Global => None,
            Self::Agent(name)
            | Self::Project(name)
            | Self::Conversation(name)
            | Self::Private(name)
            | Self::Team(name) => Some(name),
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
            Self::Private(name) => formatter.pad(&format!("private:{name}")),
            Self::Team(name) => formatter.pad(&format!("team:{name}")),
        }
    }
}

impl FromStr for Scope {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let forms = "a scope (global, agent:<name>, project:<name>, private:<name>, team:<name> or conversation:<id>)";
        let wrong = || ParseError::new(text, forms);
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
            "private" => Ok(Self::Private(name.to_lowercase())),
            "team" => Ok(Self::Team(name.to_lowercase())),
            _ => Err(wrong()),
        }
    }
}

/// The name of an agent, in lower case.
///
/// It identifies the agent's own scope, and the journal records it as the actor.
///
/// ```
/// use memory_core::AgentName;
///
/// let name: AgentName = " Claude-Code ".parse()?;
/// assert_eq!(name.as_str(), "claude-code");
/// assert!("cli".parse::<AgentName>().is_err(), "that is what a person at the command line is called");
/// # Ok::<(), memory_core::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentName(String);

/// Maximum length of a name in characters.
const LONGEST: usize = 64;

/// Names that the journal uses for other actors.
const RESERVED: [&str; 9] = [
    AgentName::NAMELESS,
    "cli",
    "daemon",
    "dream",
    "import",
    "ingest",
    "memory",
    "system",
    "user",
];

impl AgentName {
    /// The name that the journal uses for an agent without a name.
    pub const NAMELESS: &str = "agent";
}

impl_text_type!(AgentName);

impl FromStr for AgentName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let name = text.trim().to_lowercase();
        let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
        let has_length = (1..=LONGEST).contains(&name.chars().count());
        if has_length && name.chars().all(is_plain) && !RESERVED.contains(&name.as_str()) {
            return Ok(Self(name));
        }
        Err(ParseError::new(
            text,
            "the name of an agent (up to 64 letters, digits, -, _ and .; not a reserved name such as cli)",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_and_short_and_nobody_elses() {
        let name = |text: &str| text.parse::<AgentName>().ok().map(|name| name.0);
        assert_eq!(name("GPT-5.1_x").as_deref(), Some("gpt-5.1_x"));
        assert_eq!(name("小助手").as_deref(), Some("小助手"));
        assert_eq!(name(&"x".repeat(64)).map(|name| name.len()), Some(64));
        for refused in [
            "",
            " ",
            "a b",
            "a:b",
            "a/b",
            "a\nb",
            "Agent",
            "CLI",
            "daemon",
            "import",
            &"x".repeat(65),
        ] {
            assert_eq!(name(refused), None, "{refused:?}");
        }
    }
}
