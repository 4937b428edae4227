//! The `memory topic index` command.

use clap::Args;
use memory_agent::json::topic as json;
use memory_core::topic::{TopicChangeResult, Topics};

use crate::app::App;
use crate::failure::Failure;

/// Rebuild the index MEMORY.md after files were edited by hand
///
/// All other commands update the index automatically. Your own lines in it stay in place.
///
/// JSON: {changed, topics, warning?}; the warning says that your own lines exceed the limits of the index
#[derive(Debug, Args)]
pub(super) struct TopicIndexArgs {}

impl TopicIndexArgs {
    #[expect(clippy::unused_self, reason = "it has no flags yet")]
    pub(super) fn run(&self, topics: &Topics, app: &mut App) -> Result<(), Failure> {
        let is_changed = memory_core::topic::rebuild(topics)? != TopicChangeResult::No;
        let count = memory_core::topic::list(topics)?.topics.len();
        let warning = memory_core::topic::index_overflow(topics)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::rebuild_result(is_changed, count, warning.as_deref()))?);
        }
        warning.iter().try_for_each(|why| app.output.warning(why))?;
        let plural = if count == 1 { "" } else { "s" };
        let what = if is_changed { "was rebuilt" } else { "is up to date" };
        Ok(app.output.note(&format!("the index of {count} topic{plural} {what}"))?)
    }
}
