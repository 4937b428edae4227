//! Common parts of the commands that refine memories.

mod json;
mod text;

use std::ops::ControlFlow;
use std::sync::Arc;

use memory_core::text::format_error_chain;
use memory_core::{Services, Verb};
use memory_dream::{DreamReport, DreamRequest, DreamTask, ProgressCallback};

use crate::app::App;
use crate::failure::Failure;
use crate::home::Home;
use crate::zone::UserTimeZone;

/// The request of such a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefinementRequest<'t> {
    /// The verb in the journal.
    pub verb: Verb,
    /// The tasks to run.
    pub tasks: &'t [DreamTask],
    /// Whether this is a dry run.
    pub is_rehearsal: bool,
}

/// Runs the request and prints the result.
pub(crate) fn run(wanted: RefinementRequest<'_>, app: &mut App) -> Result<(), Failure> {
    let home = app.open()?;
    let dreamt = {
        let mut bar = app.output.progress_bar("refining");
        let mut step = |progress| {
            bar.show(progress);
            ControlFlow::Continue(())
        };
        let RefinementRequest { verb, tasks, is_rehearsal } = wanted;
        let dream = DreamRequest { verb, tasks, rules: home.settings.refinement_rules(), is_rehearsal: false, zone: &home.zone };
        let mut pace = ProgressCallback::new(&mut step);
        if is_rehearsal { dry_run(&home, &dream, &mut pace)? } else { memory_dream::dream(&home.services, &dream, &mut pace)? }
    };
    if app.output.is_json() {
        return Ok(app.output.json(&json::result_json(&dreamt, wanted.is_rehearsal))?);
    }
    text::print_result(&dreamt, wanted.is_rehearsal, &home, &mut app.output)
}

/// Runs a dry run on a copy of the memories, so that its result matches that of a real run.
///
/// The language model is not called.
fn dry_run(home: &Home, dream: &DreamRequest<'_, UserTimeZone>, pace: &mut ProgressCallback<'_>) -> Result<DreamReport, Failure> {
    let rehearsal = match home.store.create_trial_copy() {
        Ok(rehearsal) => rehearsal,
        // If no copy can be written, only the first round is planned, on the memories themselves.
        Err(error) => {
            let mut dreamt = memory_dream::dream(&home.services, &DreamRequest { is_rehearsal: true, ..*dream }, pace)?;
            dreamt.troubles.push(format!("{}; changes of later rounds are not listed", format_error_chain(&error)));
            return Ok(dreamt);
        }
    };
    let (store, chat) = (Arc::clone(&rehearsal.store), None);
    let services = Services { store: Arc::clone(&store) as _, history: store, chat, ..home.services.clone() };
    let mut dreamt = memory_dream::dream(&services, dream, pace)?;
    dreamt.operation = None;
    if home.services.chat.is_some() {
        dreamt
            .troubles
            .push("a dry run does not call the language model; a real run does for unsure or long memories".to_owned());
    }
    Ok(dreamt)
}
