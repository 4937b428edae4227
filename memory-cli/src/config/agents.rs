//! Settings of the memories that agents write.

use std::str::FromStr;

use memory_agent::ProjectWrites;
use memory_core::ParseError;
use serde_json::Value;

use super::document::{SettingsDocument, parser_for};
use super::setting::or_default;
use super::{ConfigError, Setting, SettingsLayer};

/// The settings of the memories that agents write.
#[derive(Debug, Clone)]
pub(crate) struct AgentSettings {
    /// The scope of memories that an agent in a project writes without a scope.
    pub project_writes: Setting<ProjectWriteScope>,
    /// Whether agents may store credentials.
    pub allow_secret: Setting<bool>,
}

/// The scope of memories that an agent in a project writes without a scope, as a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProjectWriteScope(pub ProjectWrites);

impl ProjectWriteScope {
    const fn as_str(self) -> &'static str {
        match self.0 {
            ProjectWrites::Global => "global",
            ProjectWrites::Project => "project",
        }
    }
}

impl FromStr for ProjectWriteScope {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let all = [ProjectWrites::Global, ProjectWrites::Project].map(Self);
        all.into_iter()
            .find(|scope| scope.as_str() == text.trim())
            .ok_or_else(|| {
                ParseError::new(text, "a scope of writes in a project (global or project)")
            })
    }
}

impl AgentSettings {
    /// Takes these settings from the document.
    pub(super) fn take(document: &mut SettingsDocument) -> Result<Self, ConfigError> {
        let project_writes = document.take("agents.project_writes", str::parse)?;
        Ok(Self {
            project_writes: or_default(project_writes, ProjectWriteScope(ProjectWrites::Global)),
            allow_secret: or_default(
                document.take("agents.allow_secret", parser_for("true or false"))?,
                false,
            ),
        })
    }

    /// Returns every key with its value and layer, in file order.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, (Value, SettingsLayer))> {
        [
            (
                "agents.project_writes",
                self.project_writes.display(|scope| scope.as_str().into()),
            ),
            (
                "agents.allow_secret",
                self.allow_secret.display(|yes| (*yes).into()),
            ),
        ]
        .into_iter()
    }
}
