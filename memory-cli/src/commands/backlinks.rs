//! The `memory backlinks` command.

use clap::Args;
use memory_agent::json;
use memory_core::ListOrder;

use crate::app::App;
use crate::failure::Failure;
use crate::print::memories;

/// List the memories that link to a memory, directly or by wikilink
///
/// JSON: {memories: [MEMORY…]}
#[derive(Debug, Args)]
pub(crate) struct BacklinksArgs {
    /// The memory: its id, file, title or an alias
    id: String,
}

impl BacklinksArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let referring = memory_core::backlinks(&home.services, &self.id)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::memories(&referring, home.services.inbox_ttl))?);
        }
        memories::print_list(&mut app.output, &referring, ListOrder::Created, home.services.inbox_ttl)?;
        if referring.is_empty() {
            app.output.note("no memory links to it")?;
        }
        Ok(())
    }
}
