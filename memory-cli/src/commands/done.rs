//! The `memory done` command.

use clap::Args;
use memory_agent::json;

use crate::app::App;
use crate::failure::Failure;
use crate::print::memories;

/// Mark a reminder as done
///
/// `memory reminders --all` still lists it; `memory snooze` reopens it.
///
/// JSON: the updated memory
#[derive(Debug, Args)]
pub(crate) struct DoneArgs {
    /// Id or file name of the reminder
    id: String,
}

impl DoneArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let stored = memory_core::done(&home.services, &self.id)?;
        app.update_pending_page(&home)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::memory(&stored, home.services.inbox_ttl))?);
        }
        memories::print_receipt(&mut app.output, stored.memory.id, &stored.path)?;
        Ok(app.output.note("marked as done")?)
    }
}
