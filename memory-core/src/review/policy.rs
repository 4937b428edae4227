//! The policy that decides which changes of agents need a review.

use std::fmt;
use std::str::FromStr;

use crate::{AgentName, ParseError, Scope};

/// The treatment of changes by an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WritePolicy {
    /// The change takes effect at once.
    #[default]
    Direct,
    /// The change waits in the inbox until a person accepts it.
    Propose,
}

impl WritePolicy {
    /// Returns the name in the settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Propose => "propose",
        }
    }
}

impl_display!(WritePolicy);

impl FromStr for WritePolicy {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = [Self::Direct, Self::Propose]
            .into_iter()
            .find(|policy| policy.as_str() == text.trim());
        found.ok_or_else(|| ParseError::new(text, "direct or propose"))
    }
}

/// The policies for all agents and scopes.
///
/// ```
/// use memory_core::{ReviewPolicy, Scope, WritePolicy};
///
/// let policy = ReviewPolicy { default: WritePolicy::Direct, rules: vec!["codex global propose".parse()?] };
/// let codex = "codex".parse()?;
/// assert_eq!(policy.decide(Some(&codex), &Scope::Global), WritePolicy::Propose);
/// assert_eq!(policy.decide(Some(&codex), &Scope::Agent("codex".into())), WritePolicy::Direct);
/// # Ok::<(), memory_core::ParseError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewPolicy {
    /// The policy for changes that no rule covers.
    pub default: WritePolicy,
    /// The rules; the first that covers a change decides.
    pub rules: Vec<ReviewRule>,
}

impl ReviewPolicy {
    /// Returns the policy for a change of a memory in `scope` by an agent; `None` is an agent without a name.
    pub fn decide(&self, agent: Option<&AgentName>, scope: &Scope) -> WritePolicy {
        let rule = self.rules.iter().find(|rule| rule.covers(agent, scope));
        rule.map_or(self.default, |rule| rule.policy)
    }
}

/// A rule for some agents and scopes: `AGENT SCOPE POLICY`, such as `codex global propose`.
///
/// `*` as the agent means every agent. The scope is a [`ScopePattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewRule {
    /// The agent; `None` means every agent.
    pub agent: Option<AgentName>,
    /// The scopes.
    pub scope: ScopePattern,
    /// The policy.
    pub policy: WritePolicy,
}

impl ReviewRule {
    fn covers(&self, agent: Option<&AgentName>, scope: &Scope) -> bool {
        self.agent.as_ref().is_none_or(|own| Some(own) == agent) && self.scope.includes(scope)
    }
}

/// The expected form of a rule.
const EXPECTED_RULE: &str = "a rule AGENT SCOPE POLICY such as \"codex global propose\" (AGENT: a name or *; SCOPE: *, global, agent, project or \
     project:NAME; POLICY: direct or propose)";

impl FromStr for ReviewRule {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, EXPECTED_RULE);
        // The name of a project may contain spaces.
        let (agent, rest) = text
            .trim()
            .split_once(char::is_whitespace)
            .ok_or_else(wrong)?;
        let (scope, policy) = rest
            .trim()
            .rsplit_once(char::is_whitespace)
            .ok_or_else(wrong)?;
        let agent = if agent == "*" {
            None
        } else {
            Some(agent.parse().map_err(|_| wrong())?)
        };
        Ok(Self {
            agent,
            scope: scope.parse().map_err(|_| wrong())?,
            policy: policy.parse().map_err(|_| wrong())?,
        })
    }
}

impl fmt::Display for ReviewRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agent = self.agent.as_ref().map_or("*", AgentName::as_str);
        write!(formatter, "{agent} {} {}", self.scope, self.policy)
    }
}

/// The scopes that a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopePattern {
    /// Every scope: `*`.
    Any,
    /// The scopes of all agents: `agent`. An agent sees only its own.
    Agents,
    /// The scopes of all projects: `project`.
    Projects,
    /// One scope, such as `global` or `project:web`.
    One(Scope),
}

impl ScopePattern {
    fn includes(&self, scope: &Scope) -> bool {
        match self {
            Self::Any => true,
            Self::Agents => matches!(scope, Scope::Agent(_)),
            Self::Projects => matches!(scope, Scope::Project(_)),
            Self::One(own) => own == scope,
        }
    }
}

impl FromStr for ScopePattern {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(match text.trim() {
            "*" => Self::Any,
            "agent" => Self::Agents,
            "project" => Self::Projects,
            text => Self::One(text.parse()?),
        })
    }
}

impl fmt::Display for ScopePattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => formatter.write_str("*"),
            Self::Agents => formatter.write_str("agent"),
            Self::Projects => formatter.write_str("project"),
            Self::One(scope) => write!(formatter, "{scope}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> AgentName {
        text.parse().expect("a name")
    }

    #[test]
    fn the_first_rule_that_covers_a_change_decides() {
        let rules = [
            "codex project:web site direct",
            "codex project propose",
            "* global propose",
            "gemini * propose",
        ];
        let rules = rules.map(|rule| rule.parse().expect("a rule")).to_vec();
        let policy = ReviewPolicy {
            default: WritePolicy::Direct,
            rules,
        };
        let decide = |agent: &str, scope: &str| {
            policy
                .decide(Some(&name(agent)), &scope.parse().expect("a scope"))
                .as_str()
        };
        assert_eq!(decide("codex", "project:web site"), "direct");
        assert_eq!(decide("codex", "project:api"), "propose");
        assert_eq!(decide("codex", "agent:codex"), "direct");
        assert_eq!(decide("claude", "global"), "propose");
        assert_eq!(decide("claude", "project:api"), "direct");
        assert_eq!(decide("gemini", "agent:gemini"), "propose");
        assert_eq!(policy.decide(None, &Scope::Global), WritePolicy::Propose);
        assert_eq!(
            policy.decide(None, &Scope::Project("api".into())),
            WritePolicy::Direct
        );
    }

    #[test]
    fn a_rule_is_read_as_it_is_shown() {
        for text in [
            "* * propose",
            "codex global direct",
            "codex agent propose",
            "* project propose",
            "* project:a b propose",
        ] {
            assert_eq!(
                text.parse::<ReviewRule>().expect("a rule").to_string(),
                text
            );
        }
        for wrong in [
            "",
            "codex",
            "codex global",
            "codex global maybe",
            "a/b global propose",
            "* somewhere propose",
        ] {
            assert!(wrong.parse::<ReviewRule>().is_err(), "{wrong}");
        }
    }
}
