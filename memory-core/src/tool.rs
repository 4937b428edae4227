//! A verb that agents may use.

use std::fmt::Debug;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde_json::Value;

use crate::instance::InstanceError;
use crate::text::with_causes;
use crate::{Code, Given, LocalZone, Services, StoreError};

/// One verb that agents may use, self-describing. Every front offers the same ones.
pub trait Tool: Debug + Send + Sync {
    /// Returns the name, such as `memory_search`.
    fn name(&self) -> &str;

    /// Returns what it does, in the words a language model should read.
    fn description(&self) -> &str;

    /// Returns the JSON Schema of its parameters, an object that allows no others. It never changes.
    fn parameters(&self) -> Value;

    /// Returns what it may do to the memories.
    fn effect(&self) -> Effect;

    /// Does it. `parameters` fit the schema.
    ///
    /// # Errors
    /// When it cannot be done; the batch it belongs to goes on.
    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError>;
}

/// What a tool may do to the memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It adds, and changes nothing that was there.
    Adds,
    /// It changes what was there, or takes it away; `undo` brings it back.
    Changes,
}

/// What a tool works with.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The machine, as far as whoever asks may see it.
    pub services: Services,
    /// Who asks, for the source of what they write; empty when nobody said.
    pub speaker: String,
    /// The time, in the zone in which times are meant.
    pub now: DateTime<FixedOffset>,
    /// That zone.
    pub zone: LocalZone,
    /// What they were given before.
    pub given: Arc<Given>,
}

/// Why a tool did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The permanent name.
    pub code: Code,
    /// What happened, to which thing.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What it is about, by name: the bank, the key.
    pub about: Vec<(&'static str, String)>,
    /// Whether the message is all of the answer, word for word, as that of a tool whose results are texts.
    pub is_text: bool,
}

impl ToolError {
    /// Says what happened, and what to do about it.
    pub fn new(code: Code, message: impl Into<String>, hint: Option<String>) -> Self {
        Self { code, message: message.into(), hint, about: Vec::new(), is_text: false }
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        Self::new(error.code(), with_causes(&error), error.hint())
    }
}

impl From<InstanceError> for ToolError {
    fn from(error: InstanceError) -> Self {
        Self::new(error.code(), with_causes(&error), error.hint())
    }
}
