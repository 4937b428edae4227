//! `memory restore`

use clap::Args;
use memory_agent::json;
use memory_core::Outcome;

use crate::app::App;
use crate::failure::Failure;
use crate::print::memories;

/// Bring a file back from the trash
///
/// The one that was put there last, if several answer to the name. Of a memory whose text was summarised, the whole text.
///
/// JSON: {id, path, trash}
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// An id, 4 or more digits of one, the name of the file, or its path in the trash
    #[arg(value_name = "REF")]
    reference: String,
}

impl Restore {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let (trashed, outcome) = memory_core::restore(&home.services, &self.reference)?;
        home.keep_pending(&mut app.output)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::restored(&trashed, &outcome))?);
        }
        let (Outcome::Kept { id, path } | Outcome::Duplicate { id, path } | Outcome::Removed { id, path }) = &outcome;
        Ok(memories::receipt(&mut app.output, *id, path)?)
    }
}
