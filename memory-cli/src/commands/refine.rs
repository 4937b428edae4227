//! The `memory tidy` command, which refines memories.

mod json;
mod text;

use std::ops::ControlFlow;
use std::sync::Arc;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand};
use memory_core::text::format_error_chain;
use memory_core::{Services, Verb};
use memory_dream::{DreamLevel, DreamReport, DreamRequest, DreamTask, ProgressCallback};

use super::upgrade::UpgradeArgs;
use crate::app::App;
use crate::failure::Failure;
use crate::home::Home;
use crate::zone::UserTimeZone;

/// Refine the memories: file the inbox, merge duplicates and resolve wikilinks
///
/// Level 1 files memories whose category is clear; all others stay in the inbox. Level 2 also merges memories of which
/// one contains every sentence of the other, lists those that are only similar, and resolves wikilinks. Level 3 also
/// reviews all memories together for contradictions, clusters and stale projects; it creates reminders, cancels
/// reminders whose time a memory no longer mentions, and marks a memory as superseded if a later one says so. With a
/// language model (`llm:` in config.yaml), unsure categories, and at level 3 summaries of long memories, come from the
/// model. All changes are planned first; memories that change meanwhile are skipped; replaced files move to the trash,
/// and one `memory undo` undoes all changes. Conversations are never changed.
///
/// ~ is a moved or changed memory, - one moved to the trash, + a text added to the memory above with =, ? a conflict or a
/// suggestion for you to decide.
///
/// JSON: {dry_run, operation?, filed: [{id, category, why, confidence?, access_count?}], unsure: [{id, confidence, category?}],
/// merged: [{kept, gone: [ID…], added: [TEXT…]}], alike: [[ID, ID]…], similar: [[ID, ID]…], expired: [{id, since?}], decayed: [{id, since}],
/// spared: [{id, why}], reminders: [{of, at, text}], withdrawn: [{id, of, at, text}],
/// superseded: [{id, valid_until, superseded_by}], compressed: [ID…],
/// review?: {contradictions, clusters, orphans, stale}, each {first: […], left_out}, degraded?, links: {resolved, unresolved, updated}, skipped: [{id, reason}]}
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TidyArgs {
    #[command(subcommand)]
    command: Option<TidyCommand>,
    /// Refinement level: 1, 2 or 3
    #[arg(long, default_value_t = 1, value_parser = RangedU64ValueParser::<u8>::new().range(1..=3))]
    level: u8,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
    /// Merge memories that are only similar, too
    #[arg(long)]
    merge_similar: bool,
}

#[derive(Debug, Subcommand)]
enum TidyCommand {
    Upgrade(UpgradeArgs),
    Decay(DecayArgs),
    Consolidate(ConsolidateArgs),
}

impl TidyArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            Some(TidyCommand::Upgrade(command)) => return command.run(app),
            Some(TidyCommand::Decay(command)) => return command.run(app),
            Some(TidyCommand::Consolidate(command)) => return command.run(app),
            None => {}
        }
        let level = DreamLevel::from_number(self.level).expect("the flag takes no other number");
        let mut tasks = level.tasks().to_vec();
        if self.merge_similar {
            tasks.extend([DreamTask::Merge, DreamTask::MergeSimilar]);
        }
        run(
            RefinementRequest {
                verb: Verb::Dream,
                tasks: &tasks,
                is_rehearsal: self.dry_run,
            },
            app,
        )
    }
}

/// Move memories that are no longer read to the trash
///
/// These are filed memories that were neither changed nor read for a time (`daemon.decay_threshold`, 30 days). Memories
/// that are pinned, linked from another filed memory, ingested from notes or received by an agent in that time stay.
///
/// JSON: same as `memory tidy`
#[derive(Debug, Args)]
struct DecayArgs {
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

impl DecayArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        run(
            RefinementRequest {
                verb: Verb::Decay,
                tasks: &[DreamTask::Decay],
                is_rehearsal: self.dry_run,
            },
            app,
        )
    }
}

/// Run the daemon's maintenance once: expire, decay, upgrade and merge duplicates
///
/// A memory that stayed in the inbox too long (`storage.short_term_ttl`, 7 days) is filed if its text determines the
/// category, and moves to the trash otherwise. A memory that was not read (`daemon.decay_threshold`, 30 days) moves to
/// the trash; one that is read often (`daemon.upgrade_access_threshold`, 3 times) is filed. Memories that are pinned,
/// linked from a filed memory, ingested from notes or received by an agent in the time of `daemon.decay_threshold`
/// never expire by age. Duplicates are not merged if their categories, scopes or titles differ. One `memory undo`
/// undoes all changes.
///
/// JSON: same as `memory tidy`
#[derive(Debug, Args)]
struct ConsolidateArgs {
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

impl ConsolidateArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let tasks = [
            DreamTask::Expire,
            DreamTask::Decay,
            DreamTask::Upgrade,
            DreamTask::Merge,
        ];
        run(
            RefinementRequest {
                verb: Verb::Consolidate,
                tasks: &tasks,
                is_rehearsal: self.dry_run,
            },
            app,
        )
    }
}

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
    let mut home = app.open()?;
    home.services = home.refinement_services()?;
    let dreamt = {
        let mut bar = app.output.progress_bar("refining");
        let mut step = |progress| {
            bar.show(progress);
            ControlFlow::Continue(())
        };
        let RefinementRequest {
            verb,
            tasks,
            is_rehearsal,
        } = wanted;
        let recalls = home.recall_ledger();
        let dream = DreamRequest {
            verb,
            tasks,
            rules: home.settings.refinement_rules(),
            is_rehearsal: false,
            zone: &home.zone,
            recalls: recalls.as_deref(),
        };
        let mut pace = ProgressCallback::new(&mut step);
        if is_rehearsal {
            dry_run(&home, &dream, &mut pace)?
        } else {
            memory_dream::dream(&home.services, &dream, &mut pace)?
        }
    };
    if app.output.is_json() {
        return app
            .output
            .json(&json::result_json(&dreamt, wanted.is_rehearsal));
    }
    text::print_result(&dreamt, wanted.is_rehearsal, &home, &mut app.output)
}

/// Runs a dry run on a copy of the memories, so that its result matches that of a real run.
///
/// The language model is not called.
fn dry_run(
    home: &Home,
    dream: &DreamRequest<'_, UserTimeZone>,
    pace: &mut ProgressCallback<'_>,
) -> Result<DreamReport, Failure> {
    let rehearsal = match home.store.create_trial_copy() {
        Ok(rehearsal) => rehearsal,
        // If no copy can be written, only the first round is planned, on the memories themselves.
        Err(error) => {
            let mut dreamt = memory_dream::dream(
                &home.services,
                &DreamRequest {
                    is_rehearsal: true,
                    ..*dream
                },
                pace,
            )?;
            dreamt.troubles.push(format!(
                "{}; changes of later rounds are not listed",
                format_error_chain(&error)
            ));
            return Ok(dreamt);
        }
    };
    let (store, chat) = (Arc::clone(&rehearsal.store), None);
    let services = Services {
        store: Arc::clone(&store) as _,
        history: store,
        chat,
        ..home.services.clone()
    };
    let mut dreamt = memory_dream::dream(&services, dream, pace)?;
    dreamt.operation = None;
    if home.services.chat.is_some() {
        dreamt
            .troubles
            .push("a dry run does not call the language model; a real run does for unsure or long memories".to_owned());
    }
    Ok(dreamt)
}
