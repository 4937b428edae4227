//! The form of the tools of this crate.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::exact_json;
use crate::parameters::{parse, schema_of};

/// A tool of this crate with parameters of the type `T`, which has their schema.
#[derive(Debug)]
pub(super) struct BuiltInTool<T> {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) effect: Effect,
    pub(super) execute: fn(&ToolContext, T) -> Result<Value, ToolError>,
}

impl<T: std::fmt::Debug + DeserializeOwned + JsonSchema> Tool for BuiltInTool<T> {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.description
    }

    fn parameters(&self) -> Value {
        schema_of::<T>()
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        (self.execute)(context, parse(&exact_json::to_json_text(parameters))?)
    }
}
