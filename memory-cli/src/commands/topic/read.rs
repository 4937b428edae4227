//! The `memory topic read` command.

use clap::Args;
use memory_agent::json::topic as json;
use memory_core::topic::Topics;

use crate::app::App;
use crate::failure::Failure;

/// Read a topic, as the whole file
///
/// JSON: {file, name, description, type, updated?, size, problem?, text, links?: [{link, file?}]}
#[derive(Debug, Args)]
pub(super) struct TopicReadArgs {
    /// The topic: its file, with or without .md, or its name
    topic: String,
}

impl TopicReadArgs {
    pub(super) fn run(&self, topics: &Topics, app: &mut App) -> Result<(), Failure> {
        let reading = memory_core::topic::read(topics, &self.topic)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::full_topic(&reading))?);
        }
        app.output.text(&reading.text)?;
        reading.topic.problem.iter().try_for_each(|problem| Ok(app.output.warn_incomplete(problem)?))
    }
}
