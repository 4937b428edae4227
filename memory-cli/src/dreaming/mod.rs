//! What the commands that tidy memories have in common.

mod shape;
mod show;

use std::ops::ControlFlow;

use chrono::TimeDelta;
use memory_core::Verb;
use memory_dream::{Dream, Pace, Rules, Task};

use crate::app::App;
use crate::config::Settings;
use crate::failure::Failure;

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'t> {
    /// What the journal calls it.
    pub verb: Verb,
    /// What to do.
    pub tasks: &'t [Task],
    /// Whether only to say what would be done.
    pub is_rehearsal: bool,
}

/// Does what is wanted, and says what became of the memories.
pub(crate) fn run(wanted: Wanted<'_>, app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?;
    let home = app.open_with(&settings)?;
    let dreamt = {
        let mut bar = app.output.bar("tidying");
        let mut step = |progress| {
            bar.show(progress);
            ControlFlow::Continue(())
        };
        let Wanted { verb, tasks, is_rehearsal } = wanted;
        let dream = Dream { verb, tasks, rules: rules(&settings), is_rehearsal, zone: &home.zone };
        memory_dream::dream(&home.services, &dream, &mut Pace::new(&mut step))?
    };
    if app.output.is_json() {
        return Ok(app.output.json(&shape::shape(&dreamt, wanted.is_rehearsal))?);
    }
    show::show(&dreamt, wanted.is_rehearsal, &home, &mut app.output)
}

/// Returns what the settings say about refinement.
pub(crate) fn rules(settings: &Settings) -> Rules {
    let span = |span| TimeDelta::from_std(span).unwrap_or(TimeDelta::MAX);
    Rules {
        patience: span(settings.short_term_ttl.value),
        decay_after: span(settings.decay_threshold.value),
        filing_accesses: settings.upgrade_access_threshold.value,
    }
}
