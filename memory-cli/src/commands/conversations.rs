//! The `memory conversations` command.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use memory_agent::json;
use memory_core::conversation::{
    self, ConversationContents, ConversationEntry, ConversationId, ConversationStore,
    ConversationSummary, EntryRole,
};
use memory_core::{Problem, StoreError};
use memory_store::conversation::ConversationFolder;
use serde_json::json;

use super::add::AddArgs;
use crate::app::App;
use crate::conversations;
use crate::failure::Failure;
use crate::print::{Table, TableColumn};

/// List conversations, most recently used first; show one, or add facts
///
/// `memory proxy` and `memory conversations add` store conversations. Those in the home are listed, and those in proxy.memory_path if it
/// is set; `memory conversations show ID` prints the summary, facts and turns of one.
///
/// JSON: {conversations: [{id, turns, facts, has_summary, last_used, memory_path}…], total}
///
/// In a pipe: id, turns, facts, time of last use, and folder.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = false)]
pub(crate) struct ConversationsArgs {
    /// Folder of the conversations [default: the home, and the folder of the proxy]
    #[arg(long, global = true, value_name = "DIR")]
    memory_path: Option<PathBuf>,
    /// Maximum number of conversations, or of facts and turns of one; 0 means no limit [default: 50]
    #[arg(long, global = true, value_name = "N")]
    limit: Option<usize>,
    #[command(subcommand)]
    command: Option<ConversationCommand>,
}

#[derive(Debug, Subcommand)]
enum ConversationCommand {
    /// List conversations, most recently used first
    ///
    /// JSON: {conversations: [{id, turns, facts, has_summary, last_used, memory_path}…], total}
    List,
    Show(ConversationShowArgs),
    Add(AddArgs),
}

/// Show the summary, facts and turns of a conversation
///
/// The newest facts and turns are shown, oldest first.
///
/// JSON: {id, memory_path, summary?: ENTRY, facts: [ENTRY…], turns: [ENTRY…], total_facts, total_turns}; ENTRY is {id,
/// role, content, created_at, source_id?}
///
/// In a pipe: summary, fact, user or assistant; creation time; id; and text.
#[derive(Debug, Args)]
struct ConversationShowArgs {
    /// The conversation
    #[arg(value_name = "ID")]
    id: ConversationId,
}

/// Default maximum number of rows.
const DEFAULT_LIMIT: usize = 50;

impl ConversationsArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if let Some(ConversationCommand::Add(command)) = &self.command {
            return command.run(self.memory_path.as_deref(), app);
        }
        let settings = app.settings()?;
        let folders = conversations::folders(&settings, self.memory_path.as_deref())?;
        let limit = match self.limit {
            Some(0) => usize::MAX,
            limit => limit.unwrap_or(DEFAULT_LIMIT),
        };
        match &self.command {
            None | Some(ConversationCommand::List | ConversationCommand::Add(_)) => {
                list(&folders, limit, app)
            }
            Some(ConversationCommand::Show(command)) => command.run(&folders, limit, app),
        }
    }
}

fn list(folders: &[ConversationFolder], limit: usize, app: &mut App) -> Result<(), Failure> {
    let mut listed: Vec<(ConversationSummary, &ConversationFolder)> = Vec::new();
    for folder in folders {
        let list = conversation::list(folder)?;
        warn_of_problems(&list.problems, app)?;
        listed.extend(list.conversations.into_iter().map(|one| (one, folder)));
    }
    listed.sort_by(|(one, _), (other, _)| {
        other
            .last_used
            .cmp(&one.last_used)
            .then_with(|| one.id.cmp(&other.id))
    });
    let total = listed.len();
    listed.truncate(limit);
    if app.output.is_json() {
        let shape = |(one, folder): &(ConversationSummary, &ConversationFolder)| {
            json::conversation_summary(one, &folder.location())
        };
        let conversations: Vec<_> = listed.iter().map(shape).collect();
        return app
            .output
            .json(&json!({ "conversations": conversations, "total": total }));
    }
    let is_drawn = app.output.is_drawn();
    let has_folders = !is_drawn || 1 < folders.len();
    let columns = [
        TableColumn::Whole("id"),
        TableColumn::Number("turns"),
        TableColumn::Number("facts"),
        TableColumn::Whole("last used"),
    ];
    let mut table = Table::new(
        [
            &columns[..],
            if has_folders {
                &[TableColumn::Whole("folder")]
            } else {
                &[]
            },
        ]
        .concat(),
    );
    for (one, folder) in &listed {
        let (turns, facts, when) = (
            one.turns.to_string(),
            one.facts.to_string(),
            app.output.time(one.last_used),
        );
        let place = app.output.display_path(folder.root());
        let cells = [one.id.as_str(), &turns, &facts, &when, &place];
        table.push(cells.into_iter().take(if has_folders { 5 } else { 4 }));
    }
    app.output.table(&table)?;
    if total == 0 {
        let places: Vec<String> = folders
            .iter()
            .map(|folder| app.output.display_path(folder.root()))
            .collect();
        let places = places.join(" and in ");
        app.output.note(&format!(
            "no conversations in {places}; use --memory-path for another folder"
        ))?;
    } else if listed.len() < total {
        app.output.note(&format!(
            "{} of {total} shown; use --limit 0 for all",
            listed.len()
        ))?;
    }
    Ok(())
}

impl ConversationShowArgs {
    fn run(
        &self,
        folders: &[ConversationFolder],
        limit: usize,
        app: &mut App,
    ) -> Result<(), Failure> {
        let mut found: Vec<(ConversationContents, &ConversationFolder)> = Vec::new();
        for folder in folders {
            match conversation::show(folder, &self.id) {
                Ok(contents) => found.push((contents, folder)),
                Err(StoreError::ConversationNotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut found = found.into_iter();
        let Some((contents, folder)) = found.next() else {
            let places: Vec<String> = folders
                .iter()
                .map(|folder| app.output.display_path(folder.root()))
                .collect();
            let (conversation, place) = (self.id.to_string(), places.join(" and in "));
            return Err(StoreError::ConversationNotFound {
                conversation,
                place,
            }
            .into());
        };
        for (_, other) in found {
            let other = app.output.display_path(other.root());
            app.output.warning(&format!(
                "{other} also contains a conversation {}; use --memory-path to show it",
                self.id
            ))?;
        }
        warn_of_problems(&contents.problems, app)?;
        if app.output.is_json() {
            return app.output.json(&json::conversation(
                &self.id,
                &contents,
                limit,
                &folder.location(),
            ));
        }
        let mut table = Table::new([
            TableColumn::Text("what"),
            TableColumn::Whole("when"),
            TableColumn::Whole("id"),
            TableColumn::Text("text"),
        ]);
        let newest = |entries: &[std::sync::Arc<ConversationEntry>]| {
            entries[entries.len().saturating_sub(limit)..].to_vec()
        };
        let shown = [
            contents.summary.iter().cloned().collect(),
            newest(&contents.facts),
            newest(&contents.turns),
        ]
        .concat();
        for entry in &shown {
            let what = if entry.role == EntryRole::Memory {
                "fact"
            } else {
                entry.role.as_str()
            };
            table.push([
                what,
                &app.output.time(entry.created_at),
                display_id(entry, app),
                &entry.content,
            ]);
        }
        app.output.table(&table)?;
        for (name, entries) in [("facts", &contents.facts), ("turns", &contents.turns)] {
            if limit < entries.len() {
                app.output.note(&format!(
                    "the newest {limit} of {} {name} shown; use --limit 0 for all",
                    entries.len()
                ))?;
            }
        }
        Ok(())
    }
}

/// Returns the id of an entry for output, and `-` for a summary.
///
/// A summary's id is never typed, since each conversation has only one summary.
fn display_id<'a>(entry: &'a ConversationEntry, app: &App) -> &'a str {
    match entry.role {
        EntryRole::Summary => "-",
        _ => app.output.short_id(entry.id.as_str()),
    }
}

fn warn_of_problems(problems: &[Problem], app: &mut App) -> Result<(), Failure> {
    problems
        .iter()
        .try_for_each(|problem| app.output.warn_incomplete(&problem.to_string()))
}
