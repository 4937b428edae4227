//! The `memory topic delete` command.

use std::path::Path;

use clap::Args;
use memory_agent::json::topic as json;
use memory_core::topic::Topics;

use crate::app::App;
use crate::failure::Failure;
use crate::topics;

/// Delete a topic; it moves to the trash
///
/// JSON: {file, deleted}
#[derive(Debug, Args)]
pub(super) struct TopicDeleteArgs {
    /// The topic: its file, with or without .md, or its name
    topic: String,
}

impl TopicDeleteArgs {
    pub(super) fn run(&self, topics: &Topics, dir: Option<&Path>, app: &mut App) -> Result<(), Failure> {
        let name = memory_core::topic::delete(topics, &self.topic)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::delete_result(&name))?);
        }
        app.output.fields(&[name.as_str()])?;
        Ok(app.output.note(&format!("moved to the trash; `{}` restores it", topics::undo_command(None, dir)))?)
    }
}
