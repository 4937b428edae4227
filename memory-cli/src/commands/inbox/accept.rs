//! The `memory inbox accept` command.

use clap::Args;
use memory_agent::json;
use memory_core::{
    AcceptOptions, AcceptResult, Acceptance, Category, Code, MemoryStoreExt, Phase, SecretPolicy,
    StaleProposals, StoreError,
};
use serde_json::Value;

use super::Decisions;
use crate::app::App;
use crate::args;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{counted, memories};

/// Accept proposals, or file notes of the inbox
///
/// A proposed memory is stored, a proposed change is made, and a proposed deletion moves the memory to the trash. `memory undo`
/// reverts each of them. If the memory was changed since it was proposed to change it, the command fails with exit code 4. After
/// a failure, the command goes on with the other ids.
///
/// JSON: {id, path, accepted, ignored?}, or a list of these for several; accepted is written, merged (a memory has the same
/// text), updated, deleted or filed; ignored names the fields that a merge left out
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct InboxAcceptArgs {
    /// Ids or file names of proposals or notes
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<String>,
    /// Accept all proposals that are not outdated, after a confirmation
    #[arg(long)]
    all: bool,
    /// Accept all without confirmation
    #[arg(long, requires = "all")]
    yes: bool,
    /// File the memory under this category
    #[arg(long, value_parser = args::category_parser(), ignore_case = true)]
    category: Option<Category>,
    /// Overwrite a memory that was changed since it was proposed to change it
    #[arg(long, conflicts_with = "all")]
    overwrite: bool,
    /// Store the memory even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

impl InboxAcceptArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        if self.all {
            return self.accept_all(&home, app);
        }
        let mut decisions = Decisions::default();
        for id in &self.ids {
            decisions.add(accept_one(&home, id, self.options()), print_accepted, app)?;
        }
        app.update_pending_page(&home)?;
        print_all_accepted(&decisions, self.ids.len() == 1, app)?;
        decisions.finish()
    }

    fn options(&self) -> AcceptOptions {
        let stale = if self.overwrite {
            StaleProposals::Overwrite
        } else {
            StaleProposals::Refuse
        };
        AcceptOptions {
            category: self.category,
            stale,
            secrets: SecretPolicy::allowing(self.allow_secret),
            expected: None,
        }
    }

    /// Accepts all proposals, each as an operation of its own. Outdated ones remain.
    fn accept_all(&self, home: &Home, app: &mut App) -> Result<(), Failure> {
        let waiting = memory_core::proposals(&home.services)?;
        if !self.yes && !waiting.is_empty() {
            let question = format!("Accept {}?", counted(waiting.len() as u64, "proposal"));
            let unasked = Failure::usage(
                "cannot ask for confirmation without a terminal",
                "use --yes to accept all proposals without confirmation",
            );
            if !app.confirm(&question, "nothing was accepted", unasked)? {
                return Ok(());
            }
        }
        let mut decisions = Decisions::default();
        for one in &waiting {
            let id = one.stored.memory.id;
            let options = AcceptOptions {
                expected: Some(one.stored.stamp),
                ..self.options()
            };
            match accept_one(home, &id.to_string(), options) {
                Err(error) if matches!(error.code(), Code::Conflict | Code::MemoryNotFound) => {
                    app.output
                        .warning(&format!("{} was not accepted: {error}", id.short()))?;
                }
                result => decisions.add(result, print_accepted, app)?,
            }
        }
        app.update_pending_page(home)?;
        if app.output.is_json() {
            app.output.json(
                &decisions
                    .made
                    .iter()
                    .map(json::accept_result)
                    .collect::<Value>(),
            )?;
        } else if decisions.made.is_empty() {
            app.output.note("nothing was accepted")?;
        } else {
            print_all_accepted(&decisions, false, app)?;
        }
        decisions.finish()
    }
}

/// Accepts a proposal, or files a note under the category that suits its text.
pub(super) fn accept_one(
    home: &Home,
    reference: &str,
    options: AcceptOptions,
) -> Result<AcceptResult, StoreError> {
    let stored = home.services.store.get_by(reference)?;
    let is_other = options
        .expected
        .is_some_and(|expected| expected != stored.stamp);
    if is_other || stored.memory.is_proposal() || stored.memory.phase != Phase::Inbox {
        return memory_core::accept(&home.services, reference, options);
    }
    let filed = memory_dream::upgrade(
        &home.services,
        &stored.memory.id.to_string(),
        options.category,
    )?;
    Ok(AcceptResult::new(
        filed.memory.id,
        filed.path,
        Acceptance::Filed,
    ))
}

fn print_accepted(result: &AcceptResult, app: &mut App) -> Result<(), Failure> {
    memories::print_receipt(&mut app.output, result.id, &result.path)
}

/// Prints the effect of all acceptances after their receipts, or their JSON: one object if there `is_one` id, else a list.
fn print_all_accepted(
    decisions: &Decisions<AcceptResult>,
    is_one: bool,
    app: &mut App,
) -> Result<(), Failure> {
    let results = decisions.made.as_slice();
    if app.output.is_json() {
        return match results {
            [] => Ok(()),
            [only] if is_one => app.output.json(&json::accept_result(only)),
            several => app
                .output
                .json(&several.iter().map(json::accept_result).collect::<Value>()),
        };
    }
    for merged in results.iter().filter(|result| !result.ignored.is_empty()) {
        app.output.warning(&format!(
            "{} kept its own {}",
            merged.id.short(),
            merged.ignored.join(", ")
        ))?;
    }
    match results {
        [] => Ok(()),
        [only] => app.output.note(acceptance_text(only.acceptance)),
        several => app.output.note(&format!(
            "accepted {}",
            counted(several.len() as u64, "item")
        )),
    }
}

/// Describes the effect of an acceptance.
pub(super) fn acceptance_text(acceptance: Acceptance) -> &'static str {
    match acceptance {
        Acceptance::Written => "accepted",
        Acceptance::Merged => {
            "accepted; a memory had the same text, and received the new tags and the fields that it lacked"
        }
        Acceptance::Updated => "accepted; the memory is updated",
        Acceptance::Deleted => "accepted; the memory is in the trash",
        Acceptance::Filed => "filed",
    }
}
