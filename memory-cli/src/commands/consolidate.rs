//! The `memory consolidate` command.

use clap::Args;
use memory_core::Verb;
use memory_dream::DreamTask;

use super::refine::{self, RefinementRequest};
use crate::app::App;
use crate::failure::Failure;

/// Run the daemon's maintenance once: expire, decay, upgrade and merge duplicates
///
/// A memory that stayed in the inbox too long (`storage.short_term_ttl`, 7 days) is filed if its text determines the
/// category, and moves to the trash otherwise. A memory that was not read (`daemon.decay_threshold`, 30 days) moves to the
/// trash; one that is read often (`daemon.upgrade_access_threshold`, 3 times) is filed. Memories that are pinned, linked
/// from a filed memory or ingested from notes never expire by age. Duplicates are not merged if their categories, scopes or
/// titles differ. One `memory undo` undoes all changes.
///
/// JSON: same as `memory dream`
#[derive(Debug, Args)]
pub(crate) struct ConsolidateArgs {
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

impl ConsolidateArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let tasks = [DreamTask::Expire, DreamTask::Decay, DreamTask::Upgrade, DreamTask::Merge];
        refine::run(RefinementRequest { verb: Verb::Consolidate, tasks: &tasks, is_rehearsal: self.dry_run }, app)
    }
}
