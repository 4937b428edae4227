//! The `memory dream` command.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use memory_core::Verb;
use memory_dream::DreamLevel;

use super::refine::{self, RefinementRequest};
use crate::app::App;
use crate::failure::Failure;

/// Refine the memories: file the inbox, merge duplicates and resolve wikilinks
///
/// Level 1 files memories whose category is clear; all others stay in the inbox. Level 2 also merges duplicates without
/// losing a sentence, and resolves wikilinks. Level 3 also reviews all memories together for contradictions, clusters and
/// stale projects; it creates reminders, cancels reminders whose time a memory no longer mentions, and marks a memory as
/// superseded if a later one says so. With a language model (`llm:` in config.yaml), unsure categories, and at level 3
/// summaries of long memories, come from the model. All changes are planned first; memories that change meanwhile are
/// skipped; replaced files move to the trash, and one `memory undo` undoes all changes. Conversations are never changed.
///
/// ~ is a moved or changed memory, - one moved to the trash, + a text added to the memory above with =, ? a conflict for
/// you to decide.
///
/// JSON: {dry_run, operation?, filed: [{id, category, why, confidence?, access_count?}], unsure: [{id, confidence}],
/// merged: [{kept, gone: [ID…], added: [TEXT…]}], alike: [[ID, ID]…], expired: [{id, since?}], decayed: [{id, since}],
/// spared: [{id, why}], reminders: [{of, at, text}], withdrawn: [{id, of, at, text}],
/// superseded: [{id, valid_until, superseded_by}], compressed: [ID…],
/// review?: {contradictions, clusters, orphans, stale}, each {first: […], left_out}, degraded?, links: {resolved, unresolved, updated}, skipped: [{id, reason}]}
#[derive(Debug, Args)]
pub(crate) struct DreamArgs {
    /// Refinement level: 1, 2 or 3
    #[arg(long, default_value_t = 1, value_parser = RangedU64ValueParser::<u8>::new().range(1..=3))]
    level: u8,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

impl DreamArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let level = DreamLevel::from_number(self.level).expect("the flag takes no other number");
        refine::run(RefinementRequest { verb: Verb::Dream, tasks: level.tasks(), is_rehearsal: self.dry_run }, app)
    }
}
