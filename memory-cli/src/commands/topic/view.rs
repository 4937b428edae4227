//! The `memory topic view` command.

use clap::Args;
use memory_agent::json::topic as json;
use memory_core::topic::Topics;

use crate::app::App;
use crate::failure::Failure;

/// Show the index, built from the present topics
///
/// JSON: {index, warning?}; the warning says that your own lines exceed the limits of MEMORY.md
#[derive(Debug, Args)]
pub(super) struct TopicViewArgs {}

impl TopicViewArgs {
    #[expect(clippy::unused_self, reason = "it has no flags yet")]
    pub(super) fn run(&self, topics: &Topics, app: &mut App) -> Result<(), Failure> {
        let index = memory_core::topic::view(topics)?;
        let warning = memory_core::topic::index_overflow(topics)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::index(&index, warning.as_deref()))?);
        }
        app.output.text(&index)?;
        warning.iter().try_for_each(|why| Ok(app.output.warning(why)?))
    }
}
