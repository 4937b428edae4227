//! The interface of tools for agents.

use std::fmt::Debug;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde_json::Value;

use crate::instance::InstanceError;
use crate::text::format_error_chain;
use crate::{Code, LocalZone, RecallCollector, Scope, Services, ShownMemories, StoreError, View};

/// A self-describing tool for agents. Every user interface offers the same tools.
///
/// A program that embeds the crates adds its own tools with `memory_agent::Agent::builder`, or with `tool` of the daemon of
/// `memory_cli::Home`; `examples/custom_tool.rs` and `examples/daemon.rs` show one.
pub trait Tool: Debug + Send + Sync {
    /// Returns the name, such as `memory_search`.
    fn name(&self) -> &str;

    /// Returns the description for language models.
    fn description(&self) -> &str;

    /// Returns the JSON Schema of the parameters, an object.
    ///
    /// It never changes. With `"additionalProperties": false`, a misspelled parameter is an error.
    fn parameters(&self) -> Value;

    /// Returns the effect on the memories.
    fn effect(&self) -> Effect;

    /// Runs the tool with `parameters` that match the schema.
    ///
    /// # Errors
    /// If the tool fails. The other calls of the batch continue.
    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError>;
}

/// The effect of a tool on the memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The tool only reads.
    Reads,
    /// The tool adds memories and changes no existing ones.
    Adds,
    /// The tool changes or removes existing memories; `undo` reverts it.
    Changes,
}

/// The dependencies of a tool call.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The services, restricted to the view of the agent.
    pub services: Services,
    /// The name of the agent, used as the source of new memories; empty if unspecified. It is the name in `session/open`, or in
    /// the header `Memory-Agent` of HTTP.
    pub speaker: String,
    /// The current time, in the zone of the request.
    pub now: DateTime<FixedOffset>,
    /// That zone.
    pub zone: LocalZone,
    /// The memories that the agent received before.
    pub given: Arc<ShownMemories>,
    /// Collects the memories that the call returns, for the recall ledger.
    pub recalled: Arc<RecallCollector>,
    /// The agent and project of the caller, which the scopes `agent` and `project` of parameters denote.
    pub caller: View,
    /// The scope of memories that the caller writes without a scope.
    pub write_scope: Scope,
    /// The detail of the result.
    pub detail: AnswerDetail,
}

/// The detail of the results of tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerDetail {
    /// All fields of each memory, for programs.
    #[default]
    Full,
    /// The passages that answer and the fields that a language model uses, within a budget of tokens.
    Brief,
}

/// The error of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The permanent code.
    pub code: Code,
    /// The failure and the affected object.
    pub message: String,
    /// Advice for the user.
    pub hint: Option<String>,
    /// The affected objects by kind, such as the bank and the key.
    pub about: Vec<(&'static str, String)>,
    /// Whether the message is the complete output, verbatim, as for a tool that returns text.
    pub is_text: bool,
}

impl ToolError {
    /// Returns an error without affected objects.
    pub fn new(code: Code, message: impl Into<String>, hint: Option<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint,
            about: Vec::new(),
            is_text: false,
        }
    }

    /// Returns the error with the hint `hint`.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        Self::new(error.code(), format_error_chain(&error), error.hint())
    }
}

impl From<InstanceError> for ToolError {
    fn from(error: InstanceError) -> Self {
        Self::new(error.code(), format_error_chain(&error), error.hint())
    }
}
