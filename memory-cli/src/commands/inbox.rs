//! The `memory inbox` command.

mod accept;
mod edit;
mod interactive;
mod merge;
mod merges;
mod print;
mod reject;

use clap::{Args, Subcommand};
use memory_agent::json;
use memory_core::{
    Filter, HomeSection, ListOrder, Neighbour, PageRequest, Phase, Services, StoreError,
    StoredMemory, WaitingProposal,
};
use serde_json::{Value, json};

use self::accept::InboxAcceptArgs;
use self::edit::InboxEditArgs;
use self::merge::InboxMergeArgs;
pub(crate) use self::print::field_changes;
use self::reject::InboxRejectArgs;
use crate::app::App;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::counted;

/// Review what agents propose, and the notes that are not filed
///
/// Lists the proposals of agents, oldest first, and then the unfiled notes of the inbox, newest first, each with the memories
/// that contradict, repeat or resemble it. Nothing uses a proposal until you accept it. The settings `review` in config.yaml
/// determine which agents propose. At a terminal, the proposals and then the merges of similar memories are shown one by one, and
/// single keys decide.
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
        let neighbours = services.neighbours(&waiting.stored.memory, target)?;
        Ok(Self {
            item: InboxItemKind::Proposal(Box::new(waiting)),
            neighbours,
        })
    }

    fn note(services: &Services, stored: StoredMemory) -> Result<Self, StoreError> {
        let neighbours = services.neighbours(&stored.memory, None)?;
        Ok(Self {
            item: InboxItemKind::Note(Box::new(stored)),
            neighbours,
        })
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
            InboxItemKind::Proposal(waiting) => {
                json::waiting_proposal(waiting, &self.neighbours, ttl)
            }
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
        let is_interactive = !self.list && app.output.is_drawn() && app.output.input_is_terminal();
        if is_interactive && !waiting.is_empty() {
            interactive::review(waiting, &home, app)?;
            return merges::review(&home, app);
        }
        let limit = Some(self.limit).filter(|limit| *limit != 0);
        let proposals_total = waiting.len() as u64;
        let listed = waiting.into_iter().take(limit.unwrap_or(usize::MAX));
        let proposals = listed
            .map(|waiting| InboxItem::proposal(services, waiting))
            .collect::<Result<Vec<_>, _>>()?;
        let filter = Filter {
            phase: Some(Phase::Inbox),
            place: Some(HomeSection::Notes),
            ..Filter::default()
        };
        let page = memory_core::list(
            services,
            &filter,
            &PageRequest {
                order: ListOrder::Created,
                offset: 0,
                limit,
            },
        )?;
        let notes = page
            .memories
            .into_iter()
            .map(|stored| InboxItem::note(services, stored));
        let notes = notes.collect::<Result<Vec<_>, _>>()?;
        if app.output.is_json() {
            let items = |items: &[InboxItem]| {
                items
                    .iter()
                    .map(|item| item.to_json(&home))
                    .collect::<Vec<_>>()
            };
            let shape = json!({
                "proposals": items(&proposals),
                "proposals_total": proposals_total,
                "notes": items(&notes),
                "notes_total": page.total,
            });
            return app.output.json(&shape);
        }
        for item in proposals.iter().chain(&notes) {
            print::print_item(&mut app.output, item)?;
        }
        if let Some(why) = &page.degraded {
            app.output.warn_incomplete(why)?;
        }
        let shown = (proposals.len() + notes.len()) as u64;
        let left = (proposals_total + page.total).saturating_sub(shown);
        let all = if left == 0 {
            String::new()
        } else {
            format!(" ({left} more; use --limit 0 for all)")
        };
        let summary = match shown {
            0 => "the inbox is empty".to_owned(),
            _ => format!(
                "{}, {}{all}",
                counted(proposals_total, "proposal"),
                counted(page.total, "unfiled note")
            ),
        };
        app.output.note(&summary)?;
        if is_interactive {
            merges::review(&home, app)?;
        }
        Ok(())
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
        Self {
            made: Vec::new(),
            failure: None,
        }
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
            Err(error) => app.output.error(
                &error.code().as_str().to_ascii_lowercase(),
                &error.to_string(),
            )?,
        }
        Ok(())
    }

    /// Returns the first failure.
    fn finish(self) -> Result<(), Failure> {
        self.failure.map_or(Ok(()), |error| Err(error.into()))
    }
}
