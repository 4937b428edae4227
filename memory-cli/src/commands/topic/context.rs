//! The `memory topic context` command.

use clap::Args;
use memory_agent::json::topic as json;
use memory_core::topic::Topics;

use crate::app::App;
use crate::failure::Failure;

/// Show the system prompt block: instructions for topics, their types, and the index
///
/// JSON: {context}
#[derive(Debug, Args)]
pub(super) struct TopicContextArgs {}

impl TopicContextArgs {
    #[expect(clippy::unused_self, reason = "it has no flags yet")]
    pub(super) fn run(&self, topics: &Topics, app: &mut App) -> Result<(), Failure> {
        let context = memory_core::topic::context(topics)?;
        if app.output.is_json() { Ok(app.output.json(&json::context(&context))?) } else { Ok(app.output.text(&context)?) }
    }
}
