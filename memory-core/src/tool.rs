//! A verb that agents may use.

use std::fmt::Debug;

use serde_json::Value;

use crate::{Code, Services};

/// One verb that agents may use, self-describing. Every front offers the same ones.
pub trait Tool: Debug + Send + Sync {
    /// Returns the name, such as `memory_search`.
    fn name(&self) -> &str;

    /// Returns what it does, in the words a language model should read.
    fn description(&self) -> &str;

    /// Returns the JSON Schema of its parameters, an object.
    fn parameters(&self) -> Value;

    /// Does it. `parameters` fit the schema.
    ///
    /// # Errors
    /// When it cannot be done; the batch it belongs to goes on.
    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError>;
}

/// What a tool works with.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The machine, and who is asking.
    pub services: Services,
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
}
