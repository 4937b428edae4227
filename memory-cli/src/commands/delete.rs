//! The `memory delete` command.

use clap::Args;
use memory_agent::json;

use crate::app::App;
use crate::failure::Failure;
use crate::print::memories;

/// Delete a memory; it moves to the trash
///
/// `memory undo` and `memory restore` restore it.
///
/// JSON: {id, path}
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// Id or file name of the memory
    id: String,
}

impl DeleteArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let stored = memory_core::delete(&home.services, &self.id)?;
        app.update_pending_page(&home)?;
        if app.output.is_json() {
            return app.output.json(&json::delete_result(&stored));
        }
        memories::print_receipt(&mut app.output, stored.memory.id, &stored.path)?;
        app.output
            .note("moved to the trash; `memory undo` restores it")
    }
}
