//! The `memory inbox reject` command.

use clap::Args;
use memory_agent::json;
use memory_core::StoredMemory;
use serde_json::Value;

use super::Decisions;
use crate::app::App;
use crate::failure::Failure;
use crate::print::{counted, memories};

/// Reject proposals, or delete notes of the inbox
///
/// The files move to the trash. No agent can propose the same again, even after the trash is purged, unless `memory undo`
/// reverts the rejection. After a failure, the command goes on with the other ids.
///
/// JSON: {id, path}, or a list of these for several
#[derive(Debug, Args)]
pub(super) struct InboxRejectArgs {
    /// Ids or file names of proposals or notes
    #[arg(required = true)]
    ids: Vec<String>,
}

impl InboxRejectArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let mut decisions = Decisions::default();
        for id in &self.ids {
            decisions.add(
                memory_core::reject(&home.services, id, None),
                print_rejected,
                app,
            )?;
        }
        app.update_pending_page(&home)?;
        let rejected = decisions.made.as_slice();
        if app.output.is_json() {
            match rejected {
                [] => {}
                [only] if self.ids.len() == 1 => app.output.json(&json::delete_result(only))?,
                several => app
                    .output
                    .json(&several.iter().map(json::delete_result).collect::<Value>())?,
            }
            return decisions.finish();
        }
        let proposals = rejected
            .iter()
            .filter(|stored| stored.memory.is_proposal())
            .count();
        match (proposals, rejected.len() - proposals) {
            (0, 0) => {}
            (0, _) => app.output.note("moved to the trash")?,
            (_, 0) => app
                .output
                .note("rejected; agents cannot propose it again")?,
            (proposals, notes) => app.output.note(&format!(
                "rejected {}, which agents cannot propose again; moved {} to the trash",
                counted(proposals as u64, "proposal"),
                counted(notes as u64, "note")
            ))?,
        }
        decisions.finish()
    }
}

fn print_rejected(stored: &StoredMemory, app: &mut App) -> Result<(), Failure> {
    memories::print_receipt(&mut app.output, stored.memory.id, &stored.path)
}
