//! `memory upgrade`

use clap::Args;
use memory_agent::json;
use memory_core::Category;

use crate::app::App;
use crate::cli;
use crate::failure::Failure;
use crate::print::memories;

/// File a memory of the inbox under a category
///
/// Without --category, under the one that is suggested in it, else under `knowledge`.
///
/// JSON: the memory as it is then
#[derive(Debug, Args)]
pub(crate) struct Upgrade {
    /// Which memory
    id: String,
    /// The category
    #[arg(long, value_parser = cli::category(), ignore_case = true)]
    category: Option<Category>,
}

impl Upgrade {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let stored = memory_core::upgrade(&home.services, &self.id, self.category)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::memory(&stored))?);
        }
        memories::receipt(&mut app.output, stored.memory.id, &stored.path)?;
        Ok(app.output.note(&format!("filed under {}", stored.memory.category))?)
    }
}
