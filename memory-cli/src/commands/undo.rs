//! `memory undo`

use clap::Args;
use memory_agent::json;

use crate::app::App;
use crate::failure::Failure;

/// Take back the last operation, or the one named
///
/// Files go back to what they were before; if one of them was changed since, nothing is done. Taking back an undo, by its
/// name, does the operation again.
///
/// JSON: {operation, undone: {operation, at, verb, by, files}}
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The operation, as `memory log` names it; 4 digits or more
    operation: Option<String>,
}

impl Undo {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let undone = memory_core::undo(&home.services, self.operation.as_deref())?;
        home.keep_pending(&mut app.output)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::undone(&undone))?);
        }
        let record = &undone.record;
        let files = record.files.to_string();
        app.output.fields(&[record.id.as_str(), record.verb.as_str(), &files])?;
        let plural = if record.files == 1 { "" } else { "s" };
        let again = format!("`memory undo {}` does it again", undone.undo);
        Ok(app.output.note(&format!("took back {} of {files} file{plural}; {again}", record.verb))?)
    }
}
