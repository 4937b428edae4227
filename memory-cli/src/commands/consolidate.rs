//! The `memory consolidate` command.

use clap::Args;
use memory_core::Verb;
use memory_dream::Task;

use crate::app::App;
use crate::dreaming::{self, Wanted};
use crate::failure::Failure;

/// Do what the daemon does regularly, once: expire, decay, upgrade, and make one of what says the same
///
/// What waited in the inbox for too long (`storage.short_term_ttl`, 7 days) is filed if its text decides the category, and goes
/// to trash otherwise. What nobody reads (`daemon.decay_threshold`, 30 days) goes to trash; what is read often
/// (`daemon.upgrade_access_threshold`, 3 times) is filed. What is pinned, linked from
/// a filed memory, or taken in from notes never goes because of its age. Memories that say the same stay two
/// where they are filed in different categories, or their scopes or titles differ. One `memory undo` takes all of it back.
///
/// JSON: as `memory dream`
#[derive(Debug, Args)]
pub(crate) struct Consolidate {
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

impl Consolidate {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let tasks = [Task::Expire, Task::Decay, Task::Upgrade, Task::Merge];
        dreaming::run(Wanted { verb: Verb::Consolidate, tasks: &tasks, is_rehearsal: self.dry_run }, app)
    }
}
