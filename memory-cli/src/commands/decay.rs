//! The `memory decay` command.

use clap::Args;
use memory_core::Verb;
use memory_dream::DreamTask;

use super::refine::{self, RefinementRequest};
use crate::app::App;
use crate::failure::Failure;

/// Move memories that are no longer read to the trash
///
/// These are filed memories that were neither changed nor read for a time (`daemon.decay_threshold`, 30 days). Memories
/// that are pinned, linked from another filed memory or ingested from notes stay.
///
/// JSON: same as `memory dream`
#[derive(Debug, Args)]
pub(crate) struct DecayArgs {
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

impl DecayArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        refine::run(RefinementRequest { verb: Verb::Decay, tasks: &[DreamTask::Decay], is_rehearsal: self.dry_run }, app)
    }
}
