//! The `memory inbox` command.

mod interactive;
mod print;

use clap::{Args, Subcommand};
use memory_agent::json;
use memory_core::{
    AcceptOptions, AcceptResult, Acceptance, Category, Code, Filter, HomeSection, ListOrder, MemoryStoreExt, Neighbour,
    PageRequest, Phase, SecretPolicy, Services, StaleProposals, StoreError, StoredMemory, WaitingProposal,
};
use memory_dream::find_neighbours;
use serde_json::{Value, json};

use super::edit::{edit_in_editor, editor_command};
use crate::app::App;
use crate::args;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::memories;

/// Review what agents propose, and the notes that are not filed
///
/// Lists the proposals of agents, oldest first, and then the unfiled notes of the inbox, newest first, each with the memories
/// that contradict, repeat or resemble it. Nothing uses a proposal until you accept it. The settings `review` in config.yaml
/// determine which agents propose. At a terminal, the proposals are shown one by one, and single keys decide.
///
/// JSON: {proposals: [{proposed_by, action, of?, stale?, memory, current?, similar: [{relation, id, text}]}…],
/// proposals_total, notes: [{memory, similar}…], notes_total}; action is write, update or delete, and relation contradiction,
/// duplicate or similar; a text beside an item has up to 300 characters
///
/// In a pipe: proposal or note, id, action, agent, time, stale or nothing, relation:ID of similar memories, and title or first
/// line.
#[derive(Debug, Args)]
pub(crate) struct InboxArgs {
    #[command(subcommand)]
    command: Option<InboxCommand>,
    /// List the proposals at a terminal too, without asking
    #[arg(long)]
    list: bool,
    /// Maximum number of proposals, and of notes, in a list; 0 means no limit
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
}

#[derive(Debug, Subcommand)]
enum InboxCommand {
    Accept(InboxAcceptArgs),
    Reject(InboxRejectArgs),
    Edit(InboxEditArgs),
    Merge(InboxMergeArgs),
}

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
struct InboxAcceptArgs {
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

/// Reject proposals, or delete notes of the inbox
///
/// The files move to the trash. No agent can propose the same again, even after the trash is purged, unless `memory undo`
/// reverts the rejection. After a failure, the command goes on with the other ids.
///
/// JSON: {id, path}, or a list of these for several
#[derive(Debug, Args)]
struct InboxRejectArgs {
    /// Ids or file names of proposals or notes
    #[arg(required = true)]
    ids: Vec<String>,
}

/// Edit a proposal or a note before accepting it
///
/// Without --content, the text opens in $VISUAL or $EDITOR. An edited proposal is based on the current text of the memory that
/// it would change; if that was changed since, only the text of the proposal remains, and its other fields are those of the memory.
///
/// JSON: the proposal or note
#[derive(Debug, Args)]
struct InboxEditArgs {
    /// Id or file name of the proposal or note
    id: String,
    /// New text; `-` reads the standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// Store the text even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

/// Add the text of a proposal or note to another memory
///
/// Lines that the memory has already are left out. The proposal or note moves to the trash; `memory undo` reverts both.
///
/// JSON: the updated memory
#[derive(Debug, Args)]
struct InboxMergeArgs {
    /// Id or file name of the proposal or note
    id: String,
    /// Id or file name of the memory that receives the text
    into: String,
    /// Store the text even if it seems to contain a credential
    #[arg(long)]
    allow_secret: bool,
}

/// An item of the inbox, with the memories to show beside it.
struct InboxItem {
    item: InboxItemKind,
    neighbours: Vec<Neighbour>,
}

enum InboxItemKind {
    Proposal(Box<WaitingProposal>),
    Note(Box<StoredMemory>),
}

impl InboxItem {
    fn proposal(services: &Services, waiting: WaitingProposal) -> Result<Self, StoreError> {
        let target = waiting.proposal.action.target().map(|target| target.id);
        let neighbours = find_neighbours(services, &waiting.stored.memory, target)?;
        Ok(Self { item: InboxItemKind::Proposal(Box::new(waiting)), neighbours })
    }

    fn note(services: &Services, stored: StoredMemory) -> Result<Self, StoreError> {
        let neighbours = find_neighbours(services, &stored.memory, None)?;
        Ok(Self { item: InboxItemKind::Note(Box::new(stored)), neighbours })
    }

    fn stored(&self) -> &StoredMemory {
        match &self.item {
            InboxItemKind::Proposal(waiting) => &waiting.stored,
            InboxItemKind::Note(stored) => stored,
        }
    }

    fn to_json(&self, home: &Home) -> Value {
        let ttl = home.services.inbox_ttl;
        match &self.item {
            InboxItemKind::Proposal(waiting) => json::waiting_proposal(waiting, &self.neighbours, ttl),
            InboxItemKind::Note(stored) => json::inbox_note(stored, &self.neighbours, ttl),
        }
    }
}

impl InboxArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            Some(InboxCommand::Accept(command)) => command.run(app),
            Some(InboxCommand::Reject(command)) => command.run(app),
            Some(InboxCommand::Edit(command)) => command.run(app),
            Some(InboxCommand::Merge(command)) => command.run(app),
            None => self.list(app),
        }
    }

    fn list(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let services = &home.services;
        let waiting = memory_core::proposals(services)?;
        if !self.list && !waiting.is_empty() && app.output.is_drawn() && app.output.input_is_terminal() {
            return interactive::review(waiting, &home, app);
        }
        let limit = Some(self.limit).filter(|limit| *limit != 0);
        let proposals_total = waiting.len() as u64;
        let listed = waiting.into_iter().take(limit.unwrap_or(usize::MAX));
        let proposals = listed.map(|waiting| InboxItem::proposal(services, waiting)).collect::<Result<Vec<_>, _>>()?;
        let filter = Filter { phase: Some(Phase::Inbox), place: Some(HomeSection::Notes), ..Filter::default() };
        let page = memory_core::list(services, &filter, &PageRequest { order: ListOrder::Created, offset: 0, limit })?;
        let notes = page.memories.into_iter().map(|stored| InboxItem::note(services, stored));
        let notes = notes.collect::<Result<Vec<_>, _>>()?;
        if app.output.is_json() {
            let items = |items: &[InboxItem]| items.iter().map(|item| item.to_json(&home)).collect::<Vec<_>>();
            let shape = json!({
                "proposals": items(&proposals),
                "proposals_total": proposals_total,
                "notes": items(&notes),
                "notes_total": page.total,
            });
            return Ok(app.output.json(&shape)?);
        }
        for item in proposals.iter().chain(&notes) {
            print::print_item(&mut app.output, item)?;
        }
        if let Some(why) = &page.degraded {
            app.output.warn_incomplete(why)?;
        }
        let shown = (proposals.len() + notes.len()) as u64;
        let left = (proposals_total + page.total).saturating_sub(shown);
        let all = if left == 0 { String::new() } else { format!(" ({left} more; use --limit 0 for all)") };
        let summary = match shown {
            0 => "the inbox is empty".to_owned(),
            _ => format!("{}, {}{all}", count(proposals_total, "proposal"), count(page.total, "unfiled note")),
        };
        Ok(app.output.note(&summary)?)
    }
}

/// Returns a number with its noun.
fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

impl InboxAcceptArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
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
        let stale = if self.overwrite { StaleProposals::Overwrite } else { StaleProposals::Refuse };
        AcceptOptions { category: self.category, stale, secrets: secret_policy(self.allow_secret), expected: None }
    }

    /// Accepts all proposals, each as an operation of its own. Outdated ones remain.
    fn accept_all(&self, home: &Home, app: &mut App) -> Result<(), Failure> {
        let waiting = memory_core::proposals(&home.services)?;
        if !self.yes && !waiting.is_empty() {
            if !app.output.input_is_terminal() {
                return Err(Failure::usage(
                    "cannot ask for confirmation without a terminal",
                    "use --yes to accept all proposals without confirmation",
                ));
            }
            if !app.output.confirm(&format!("Accept {}?", count(waiting.len() as u64, "proposal")))? {
                return Ok(app.output.note("nothing was accepted")?);
            }
        }
        let mut decisions = Decisions::default();
        for one in &waiting {
            let id = one.stored.memory.id;
            let options = AcceptOptions { expected: Some(one.stored.stamp), ..self.options() };
            match accept_one(home, &id.to_string(), options) {
                Err(error) if matches!(error.code(), Code::Conflict | Code::MemoryNotFound) => {
                    app.output.warning(&format!("{} was not accepted: {error}", id.short()))?;
                }
                result => decisions.add(result, print_accepted, app)?,
            }
        }
        app.update_pending_page(home)?;
        if app.output.is_json() {
            app.output.json(&decisions.made.iter().map(json::accept_result).collect::<Value>())?;
        } else if decisions.made.is_empty() {
            app.output.note("nothing was accepted")?;
        } else {
            print_all_accepted(&decisions, false, app)?;
        }
        decisions.finish()
    }
}

/// The decisions on several items, each of which is printed at once.
struct Decisions<T> {
    made: Vec<T>,
    /// The first failure, which ends the command after all decisions.
    failure: Option<StoreError>,
}

impl<T> Default for Decisions<T> {
    fn default() -> Self {
        Self { made: Vec::new(), failure: None }
    }
}

impl<T> Decisions<T> {
    /// Prints a decision, and keeps it.
    fn add(
        &mut self,
        result: Result<T, StoreError>,
        print: impl FnOnce(&T, &mut App) -> Result<(), Failure>,
        app: &mut App,
    ) -> Result<(), Failure> {
        match result {
            Ok(made) => {
                if !app.output.is_json() {
                    print(&made, app)?;
                }
                self.made.push(made);
            }
            // The first failure is printed at the end of the command.
            Err(error) if self.failure.is_none() => self.failure = Some(error),
            Err(error) => app.output.error(&error.code().as_str().to_ascii_lowercase(), &error.to_string())?,
        }
        Ok(())
    }

    /// Returns the first failure.
    fn finish(self) -> Result<(), Failure> {
        self.failure.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Accepts a proposal, or files a note under the category that suits its text.
fn accept_one(home: &Home, reference: &str, options: AcceptOptions) -> Result<AcceptResult, StoreError> {
    let stored = home.services.store.get_by(reference)?;
    let is_other = options.expected.is_some_and(|expected| expected != stored.stamp);
    if is_other || stored.memory.is_proposal() || stored.memory.phase != Phase::Inbox {
        return memory_core::accept(&home.services, reference, options);
    }
    let filed = memory_dream::upgrade(&home.services, &stored.memory.id.to_string(), options.category)?;
    Ok(AcceptResult::new(filed.memory.id, filed.path, Acceptance::Filed))
}

fn print_accepted(result: &AcceptResult, app: &mut App) -> Result<(), Failure> {
    Ok(memories::print_receipt(&mut app.output, result.id, &result.path)?)
}

/// Prints the effect of all acceptances after their receipts, or their JSON: one object if there `is_one` id, else a list.
fn print_all_accepted(decisions: &Decisions<AcceptResult>, is_one: bool, app: &mut App) -> Result<(), Failure> {
    let results = decisions.made.as_slice();
    if app.output.is_json() {
        return match results {
            [] => Ok(()),
            [only] if is_one => Ok(app.output.json(&json::accept_result(only))?),
            several => Ok(app.output.json(&several.iter().map(json::accept_result).collect::<Value>())?),
        };
    }
    for merged in results.iter().filter(|result| !result.ignored.is_empty()) {
        app.output.warning(&format!("{} kept its own {}", merged.id.short(), merged.ignored.join(", ")))?;
    }
    match results {
        [] => Ok(()),
        [only] => Ok(app.output.note(acceptance_text(only.acceptance))?),
        several => Ok(app.output.note(&format!("accepted {}", count(several.len() as u64, "item")))?),
    }
}

/// Describes the effect of an acceptance.
fn acceptance_text(acceptance: Acceptance) -> &'static str {
    match acceptance {
        Acceptance::Written => "accepted",
        Acceptance::Merged => "accepted; a memory had the same text, and received the new tags and the fields that it lacked",
        Acceptance::Updated => "accepted; the memory is updated",
        Acceptance::Deleted => "accepted; the memory is in the trash",
        Acceptance::Filed => "filed",
    }
}

fn secret_policy(allow_secret: bool) -> SecretPolicy {
    if allow_secret { SecretPolicy::Keep } else { SecretPolicy::Refuse }
}

impl InboxRejectArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let mut decisions = Decisions::default();
        for id in &self.ids {
            decisions.add(memory_core::reject(&home.services, id, None), print_rejected, app)?;
        }
        app.update_pending_page(&home)?;
        let rejected = decisions.made.as_slice();
        if app.output.is_json() {
            match rejected {
                [] => {}
                [only] if self.ids.len() == 1 => app.output.json(&json::delete_result(only))?,
                several => app.output.json(&several.iter().map(json::delete_result).collect::<Value>())?,
            }
            return decisions.finish();
        }
        let proposals = rejected.iter().filter(|stored| stored.memory.is_proposal()).count();
        match (proposals, rejected.len() - proposals) {
            (0, 0) => {}
            (0, _) => app.output.note("moved to the trash")?,
            (_, 0) => app.output.note("rejected; agents cannot propose it again")?,
            (proposals, notes) => app.output.note(&format!(
                "rejected {}, which agents cannot propose again; moved {} to the trash",
                count(proposals as u64, "proposal"),
                count(notes as u64, "note")
            ))?,
        }
        decisions.finish()
    }
}

fn print_rejected(stored: &StoredMemory, app: &mut App) -> Result<(), Failure> {
    Ok(memories::print_receipt(&mut app.output, stored.memory.id, &stored.path)?)
}

impl InboxEditArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let content = self.content.as_deref().map(|given| args::read_content(given, &mut app.output)).transpose()?;
        let changed = match content {
            Some(content) => {
                let policy = secret_policy(self.allow_secret);
                memory_core::edit_proposal(&home.services, &self.id, &content, None, policy)?
            }
            None => edit_with_editor(&home, &self.id, secret_policy(self.allow_secret), app)?,
        };
        if app.output.is_json() {
            return Ok(app.output.json(&json::memory(&changed, home.services.inbox_ttl))?);
        }
        memories::print_receipt(&mut app.output, changed.memory.id, &changed.path)?;
        Ok(app.output.note(&format!("updated to version {}", changed.memory.version))?)
    }
}

/// Opens the text of a proposal or note in the editor, and stores the result.
fn edit_with_editor(home: &Home, reference: &str, secrets: SecretPolicy, app: &App) -> Result<StoredMemory, Failure> {
    let stored = home.services.store.get_by(reference)?;
    if !stored.memory.is_proposal() && stored.memory.phase != Phase::Inbox {
        return Err(StoreError::Invalid { why: format!("{} is neither a proposal nor in the inbox", stored.path) }.into());
    }
    let id = stored.memory.id.to_string();
    let editor = editor_command(app)?;
    edit_in_editor(&editor, &stored, &|text| memory_core::edit_proposal(&home.services, &id, text, Some(stored.stamp), secrets))
}

impl InboxMergeArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open()?;
        let secrets = secret_policy(self.allow_secret);
        let merged = memory_core::merge_proposal(&home.services, &self.id, &self.into, None, secrets)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::memory(&merged, home.services.inbox_ttl))?);
        }
        memories::print_receipt(&mut app.output, merged.memory.id, &merged.path)?;
        Ok(app.output.note(&format!("merged into version {}", merged.memory.version))?)
    }
}
