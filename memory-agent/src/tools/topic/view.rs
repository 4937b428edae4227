//! The `topic_view` tool.

use memory_core::{Effect, Tool, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::input::parse_input;
use super::input::{object_schema, tool_error, topics_service};
use crate::json::topic as shapes;

/// Shows the index, or lists the files.
#[derive(Debug)]
pub(super) struct TopicViewTool;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicViewInput {
    #[serde(default)]
    target: ViewTarget,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ViewTarget {
    #[default]
    Index,
    Files,
}

impl Tool for TopicViewTool {
    fn name(&self) -> &'static str {
        "topic_view"
    }

    fn description(&self) -> &'static str {
        "View the memory index, or list all memory files with their metadata"
    }

    fn parameters(&self) -> Value {
        object_schema(&json!({ "target": { "type": "string", "enum": ["index", "files"], "default": "index" } }), &[])
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        let (input, topics): (TopicViewInput, _) = (parse_input(parameters)?, topics_service(context)?);
        match input.target {
            ViewTarget::Index => {
                let index = memory_core::topic::view(&topics).map_err(tool_error)?;
                let warning = memory_core::topic::index_overflow(&topics).map_err(tool_error)?;
                Ok(shapes::index(&index, warning.as_deref()))
            }
            ViewTarget::Files => Ok(shapes::listing(&memory_core::topic::list(&topics).map_err(tool_error)?)),
        }
    }
}
