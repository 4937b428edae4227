//! The topic tools.
//!
//! Their parameters have the names that clients of topics expect; [`super::ToolSet`] renames the tools for clients that
//! expect other tool names.

use memory_core::topic::{TopicError, TopicWriteRequest, Topics};
use memory_core::{Code, Effect, SecretPolicy, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::json;

use super::built_in::BuiltInTool;
use super::input::parse_input;
use crate::json::topic as shapes;
use crate::validation::object_schema;

/// The topic tools.
pub(super) const TOPIC_TOOLS: [BuiltInTool; 5] = [
    TOPIC_VIEW,
    TOPIC_READ,
    TOPIC_WRITE,
    TOPIC_UPDATE,
    TOPIC_DELETE,
];

/// Shows the index, or lists the files.
const TOPIC_VIEW: BuiltInTool = BuiltInTool {
    name: "topic_view",
    description: "View the memory index, or list all memory files with their metadata",
    effect: Effect::Reads,
    parameters: || {
        object_schema(
            &json!({ "target": { "type": "string", "enum": ["index", "files"], "default": "index" } }),
            &[],
        )
    },
    execute: |context, parameters| {
        let (input, topics): (TopicViewInput, _) =
            (parse_input(parameters)?, topics_service(context)?);
        match input.target {
            ViewTarget::Index => {
                let index = memory_core::topic::view(&topics).map_err(tool_error)?;
                let warning = memory_core::topic::index_overflow(&topics).map_err(tool_error)?;
                Ok(shapes::index(&index, warning.as_deref()))
            }
            ViewTarget::Files => Ok(shapes::listing(
                &memory_core::topic::list(&topics).map_err(tool_error)?,
            )),
        }
    },
};

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

/// Reads a topic.
const TOPIC_READ: BuiltInTool = BuiltInTool {
    name: "topic_read",
    description: "Read a memory file that the index lists",
    effect: Effect::Reads,
    parameters: || {
        object_schema(
            &json!({ "filename": { "type": "string", "minLength": 1 } }),
            &["filename"],
        )
    },
    execute: |context, parameters| {
        let (input, topics): (TopicReadInput, _) =
            (parse_input(parameters)?, topics_service(context)?);
        Ok(shapes::full_topic(
            &memory_core::topic::read(&topics, &input.filename).map_err(tool_error)?,
        ))
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicReadInput {
    filename: String,
}

/// Writes a topic.
const TOPIC_WRITE: BuiltInTool = BuiltInTool {
    name: "topic_write",
    description: "Create or overwrite a memory file",
    effect: Effect::Changes,
    parameters: || {
        let properties = json!({
            "filename": { "type": "string", "minLength": 1, "description": "such as user_prefs.md" },
            "name": { "type": "string", "minLength": 1, "description": "title of the topic" },
            "description": { "type": "string", "minLength": 1, "description": "one line for the index" },
            "memory_type": { "type": "string", "enum": ["user", "feedback", "project", "reference"] },
            "content": { "type": "string", "description": "Markdown, without front matter" }
        });
        object_schema(
            &properties,
            &["filename", "name", "description", "memory_type", "content"],
        )
    },
    execute: |context, parameters| {
        let (input, topics): (TopicWriteInput, _) =
            (parse_input(parameters)?, topics_service(context)?);
        let request = TopicWriteRequest {
            name: input.filename.parse().map_err(tool_error)?,
            title: Some(input.name),
            description: Some(input.description),
            kind: Some(input.memory_type.parse().map_err(tool_error)?),
            content: Some(input.content),
            secrets: SecretPolicy::Refuse,
        };
        Ok(shapes::write_result(
            &memory_core::topic::write(&topics, &request).map_err(tool_error)?,
        ))
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicWriteInput {
    filename: String,
    name: String,
    description: String,
    memory_type: String,
    content: String,
}

/// Replaces a passage of a topic.
const TOPIC_UPDATE: BuiltInTool = BuiltInTool {
    name: "topic_update",
    description: "Replace text in a memory file; the old text must occur exactly once",
    effect: Effect::Changes,
    parameters: || {
        let properties = json!({
            "filename": { "type": "string", "minLength": 1 },
            "old_text": { "type": "string", "minLength": 1 },
            "new_text": { "type": "string" }
        });
        object_schema(&properties, &["filename", "old_text", "new_text"])
    },
    execute: |context, parameters| {
        let (input, topics): (TopicUpdateInput, _) =
            (parse_input(parameters)?, topics_service(context)?);
        let TopicUpdateInput {
            filename,
            old_text,
            new_text,
        } = input;
        let updated = memory_core::topic::update(
            &topics,
            &filename,
            &old_text,
            &new_text,
            SecretPolicy::Refuse,
        );
        Ok(shapes::write_result(&updated.map_err(tool_error)?))
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicUpdateInput {
    filename: String,
    old_text: String,
    new_text: String,
}

/// Moves a topic to the trash.
const TOPIC_DELETE: BuiltInTool = BuiltInTool {
    name: "topic_delete",
    description: "Delete a memory file that is no longer relevant",
    effect: Effect::Changes,
    parameters: || {
        object_schema(
            &json!({ "filename": { "type": "string", "minLength": 1 } }),
            &["filename"],
        )
    },
    execute: |context, parameters| {
        let (input, topics): (TopicDeleteInput, _) =
            (parse_input(parameters)?, topics_service(context)?);
        Ok(shapes::delete_result(
            &memory_core::topic::delete(&topics, &input.filename).map_err(tool_error)?,
        ))
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicDeleteInput {
    filename: String,
}

/// Returns the topics service with the actor of the caller.
pub(super) fn topics_service(context: &ToolContext) -> Result<Topics, ToolError> {
    let Some(topics) = &context.services.topics else {
        return Err(ToolError::new(
            Code::ToolNotFound,
            "topics are not available",
            None,
        ));
    };
    Ok(Topics {
        actor: context.services.actor.clone(),
        ..topics.clone()
    })
}

/// Converts a topic error into a tool error.
pub(super) fn tool_error(error: TopicError) -> ToolError {
    match error {
        TopicError::Store(error) => (*error).into(),
        error => ToolError::new(error.code(), error.to_string(), error.hint()),
    }
}
