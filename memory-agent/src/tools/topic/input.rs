//! Shared helpers of the topic tools.

use memory_core::topic::{TopicError, Topics};
use memory_core::{Code, ToolContext, ToolError};
use serde_json::{Value, json};

/// Returns the topics service with the actor of the caller.
pub(super) fn topics_service(context: &ToolContext) -> Result<Topics, ToolError> {
    let Some(topics) = &context.services.topics else {
        return Err(ToolError::new(Code::ToolNotFound, "topics are not available", None));
    };
    Ok(Topics { actor: context.services.actor.clone(), ..topics.clone() })
}

/// Converts a topic error into a tool error.
pub(super) fn tool_error(error: TopicError) -> ToolError {
    match error {
        TopicError::Store(error) => (*error).into(),
        error => ToolError::new(error.code(), error.to_string(), error.hint()),
    }
}

/// Returns the schema of an object with these properties and no others.
pub(super) fn object_schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}
