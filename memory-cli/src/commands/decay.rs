//! The `memory decay` command.

use clap::Args;
use memory_core::Verb;
use memory_dream::Task;

use crate::app::App;
use crate::dreaming::{self, Wanted};
use crate::failure::Failure;

/// Move what nobody reads to trash
///
/// That is what was filed, and neither changed nor read since the time in the settings (`daemon.decay_threshold`, 30 days).
/// What is pinned, linked from another filed memory, or taken in from notes stays.
///
/// JSON: as `memory dream`
#[derive(Debug, Args)]
pub(crate) struct Decay {
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

impl Decay {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        dreaming::run(Wanted { verb: Verb::Decay, tasks: &[Task::Decay], is_rehearsal: self.dry_run }, app)
    }
}
