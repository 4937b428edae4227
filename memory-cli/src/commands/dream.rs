//! The `memory dream` command.

use clap::Args;
use clap::builder::RangedU64ValueParser;
use memory_core::Verb;
use memory_dream::Level;

use crate::app::App;
use crate::dreaming::{self, Wanted};
use crate::failure::Failure;

/// Tidy the memories: file what waits in the inbox, make one of what says the same, follow wikilinks
///
/// Level 1 files what is clearly of one category; what is not stays in the inbox. Level 2 also makes one memory of several that
/// say the same, without losing a sentence, and follows wikilinks. Level 3 also looks at all memories together: what contradicts what,
/// what is about one thing, what rests; it makes reminders of what asks for them, takes back those whose time a memory names no
/// longer, and writes down that something holds no longer
/// where a later memory says so itself. With a language model (`llm:` in config.yaml), it is asked where unsure memories belong,
/// and at level 3 for summaries of long ones.
/// Everything is planned first; what somebody changes meanwhile is left alone; former files are in the trash, and one
/// `memory undo` takes all of it back. Conversations are never touched.
///
/// ~ moves, - goes to trash, + is added to the text of the memory above with =, ? is for you to look at.
///
/// JSON: {dry_run, operation?, filed: [{id, category, why, confidence?, access_count?}], unsure: [{id, confidence}],
/// merged: [{kept, gone: [ID…], added: [TEXT…]}], alike: [[ID, ID]…], expired: [{id, since?}], decayed: [{id, since}],
/// spared: [{id, why}], reminders: [{of, at, text}], withdrawn: [{id, of, at, text}],
/// superseded: [{id, valid_until, superseded_by}], compressed: [ID…],
/// review?: {contradictions, clusters, orphans, stale}, each {first: […], left_out}, degraded?, links: {resolved, unresolved, updated}, skipped: [{id, reason}]}
#[derive(Debug, Args)]
pub(crate) struct Dream {
    /// How deep: 1, 2 or 3
    #[arg(long, default_value_t = 1, value_parser = RangedU64ValueParser::<u8>::new().range(1..=3))]
    level: u8,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
}

impl Dream {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let level = Level::from_number(self.level).expect("the flag takes no other number");
        dreaming::run(Wanted { verb: Verb::Dream, tasks: level.tasks(), is_rehearsal: self.dry_run }, app)
    }
}
