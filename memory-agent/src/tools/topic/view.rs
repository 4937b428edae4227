//! The `topic_view` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::input::read;
use super::input::{schema, told, topics};
use crate::json::topic as shapes;

/// Shows the index, or lists the files.
#[derive(Debug)]
pub(super) struct View;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    target: Target,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Target {
    #[default]
    Index,
    Files,
}

impl Tool for View {
    fn name(&self) -> &'static str {
        "topic_view"
    }

    fn description(&self) -> &'static str {
        "View the memory index, or list all memory files with their metadata"
    }

    fn parameters(&self) -> Value {
        schema(&json!({ "target": { "type": "string", "enum": ["index", "files"], "default": "index" } }), &[])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, topics): (Input, _) = (read(parameters)?, topics(context)?);
        match input.target {
            Target::Index => {
                let index = memory_core::topic::view(&topics).map_err(told)?;
                let warning = memory_core::topic::index_overflow(&topics).map_err(told)?;
                Ok(shapes::index(&index, warning.as_deref()))
            }
            Target::Files => Ok(shapes::listing(&memory_core::topic::list(&topics).map_err(told)?)),
        }
    }
}
