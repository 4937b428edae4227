//! The topic tools.
//!
//! Their parameters have the names that clients of topics expect; [`super::ToolSet`] renames the tools for clients that
//! expect other tool names.

use std::sync::Arc;

use memory_core::topic::{TopicError, TopicWriteRequest, Topics};
use memory_core::{Code, Effect, SecretPolicy, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::built_in::BuiltInTool;
use crate::json::topic as shapes;

/// Returns the topic tools.
pub(super) fn topic_tools() -> [Arc<dyn Tool>; 5] {
    [
        Arc::new(TOPIC_VIEW),
        Arc::new(TOPIC_READ),
        Arc::new(TOPIC_WRITE),
        Arc::new(TOPIC_UPDATE),
        Arc::new(TOPIC_DELETE),
    ]
}

/// Shows the index, or lists the files.
const TOPIC_VIEW: BuiltInTool<TopicViewInput> = BuiltInTool {
    name: "topic_view",
    description: "View the memory index, or list all memory files with their metadata",
    effect: Effect::Reads,
    execute: |context, input| {
        let topics = topics_service(context)?;
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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TopicViewInput {
    #[serde(default)]
    #[schemars(extend("default" = "index"))]
    target: ViewTarget,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ViewTarget {
    #[default]
    Index,
    Files,
}

/// Reads a topic.
const TOPIC_READ: BuiltInTool<TopicReadInput> = BuiltInTool {
    name: "topic_read",
    description: "Read a memory file that the index lists",
    effect: Effect::Reads,
    execute: |context, input| {
        let topics = topics_service(context)?;
        Ok(shapes::full_topic(
            &memory_core::topic::read(&topics, &input.filename).map_err(tool_error)?,
        ))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TopicReadInput {
    #[schemars(length(min = 1))]
    filename: String,
}

/// Writes a topic.
const TOPIC_WRITE: BuiltInTool<TopicWriteInput> = BuiltInTool {
    name: "topic_write",
    description: "Create or overwrite a memory file",
    effect: Effect::Changes,
    execute: |context, input| {
        let topics = topics_service(context)?;
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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TopicWriteInput {
    #[schemars(length(min = 1), description = "such as user_prefs.md")]
    filename: String,
    /// title of the topic
    #[schemars(length(min = 1))]
    name: String,
    /// one line for the index
    #[schemars(length(min = 1))]
    description: String,
    #[schemars(extend("enum" = ["user", "feedback", "project", "reference"]))]
    memory_type: String,
    /// Markdown, without front matter
    content: String,
}

/// Replaces a passage of a topic.
const TOPIC_UPDATE: BuiltInTool<TopicUpdateInput> = BuiltInTool {
    name: "topic_update",
    description: "Replace text in a memory file; the old text must occur exactly once",
    effect: Effect::Changes,
    execute: |context, input| {
        let topics = topics_service(context)?;
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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TopicUpdateInput {
    #[schemars(length(min = 1))]
    filename: String,
    #[schemars(length(min = 1))]
    old_text: String,
    new_text: String,
}

/// Moves a topic to the trash.
const TOPIC_DELETE: BuiltInTool<TopicDeleteInput> = BuiltInTool {
    name: "topic_delete",
    description: "Delete a memory file that is no longer relevant",
    effect: Effect::Changes,
    execute: |context, input| {
        let topics = topics_service(context)?;
        Ok(shapes::delete_result(
            &memory_core::topic::delete(&topics, &input.filename).map_err(tool_error)?,
        ))
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TopicDeleteInput {
    #[schemars(length(min = 1))]
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
