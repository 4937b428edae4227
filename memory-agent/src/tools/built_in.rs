//! The form of the tools of this crate.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde_json::Value;

/// A tool of this crate.
#[derive(Debug, Clone, Copy)]
pub(super) struct BuiltInTool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) effect: Effect,
    /// Returns the schema of the parameters.
    pub(super) parameters: fn() -> Value,
    pub(super) execute: fn(&ToolContext, &Value) -> Result<Value, ToolError>,
}

impl Tool for BuiltInTool {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.description
    }

    fn parameters(&self) -> Value {
        (self.parameters)()
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        (self.execute)(context, parameters)
    }
}
