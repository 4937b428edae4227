//! The `memory status` command.

use chrono::{DateTime, TimeDelta, Utc};
use clap::Args;
use memory_core::text::to_one_line;
use memory_core::{ProposalSummary, StoredMemory};
use memory_store::SharedStoreStatus;

use crate::app::App;
use crate::failure::Failure;
use crate::print::{Output, Table, TableColumn, counted, escape_hidden};
use crate::shared_store::find_database;
use crate::status::{StatusSnapshot, page_url};

/// Show the state of the daemon, its last chores, and what is due
///
/// Works without a running daemon (`memory daemon run`) as well, and then shows the last one.
///
/// JSON: {daemon: {running, pid?, version?, started_at?, stopped_at?, watching?, socket?}, page?, principal?, memories, inbox, proposals,
/// overdue: [ID…], entries, due, trash_files, trash_bytes, chores: [{name, began_at?, ended_at?, ending?, said?, worked_at?, due_at?}],
/// database?: {reachable, queued, last_contact?, queued_since?, problem?, set_aside?}, outdated_assistants?: [NAME…],
/// outdated_plugins?: [{client, version}], newer_format?: {version, program}, expiring};
/// `page` is the address of the web page if it is served; `proposals` counts changes of agents that wait for a review, `overdue` are
/// those that have been waiting for more than a week, `entries` counts facts and turns of conversations, which are not included in memories, `due` counts reminders, and
/// `worked_at` is when a chore last made changes; `database` is the shared database, `queued` counts the operations that wait for it, and `set_aside` the files in unsynced/ that it does not have;
/// `outdated_assistants` use another program or other entries than this version, and `memory install NAME` updates them; `outdated_plugins` have another
/// version than this program;
/// `newer_format` is the format of a home that this version can only read; `expiring` counts memories that automatic work would remove within 3 days
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {}

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The time within which memories are counted that automatic work will remove.
pub(super) const SOON: TimeDelta = TimeDelta::days(3);

/// Cell of a row without a value.
const NO_VALUE: &str = "-";

impl StatusArgs {
    #[expect(clippy::unused_self, reason = "all commands run alike")]
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        // The home uses this database as long as it is open.
        let database = find_database(app.settings()?.as_ref())?;
        if let Some(database) = &database {
            database.ignore_other_outages();
        }
        let home = app.open()?;
        let standing = StatusSnapshot::of(&home)?;
        let expiring = home.expiring(SOON)?.len();
        if app.output.is_json() {
            let mut shape = standing.to_json();
            shape["expiring"] = expiring.into();
            return app.output.json(&shape);
        }
        let mut table = standing.table(&app.output);
        if 0 < expiring {
            let text = format!("{expiring} within 3 days; `memory list --expiring 3d` lists them");
            table.push(["moves to the trash", &text]);
        }
        app.output.table(&table)?;
        let chores = standing.chores_table(&app.output);
        if !chores.is_empty() {
            app.output.table(&chores)?;
        }
        Ok(())
    }
}

impl StatusSnapshot {
    fn table(&self, output: &Output) -> Table {
        let mut table = Table::new([TableColumn::Text("what"), TableColumn::Text("state")]);
        table.push(["daemon", &self.daemon_text(output)]);
        if let Some(socket) = self.socket() {
            table.push([
                "socket",
                if socket.is_empty() {
                    "none; see daemon.log"
                } else {
                    socket
                },
            ]);
        }
        let page = self
            .page
            .map_or_else(|| "`memory ui` opens it".to_owned(), page_url);
        table.push(["page", &page]);
        if let Some(principal) = &self.principal {
            table.push(["principal", principal]);
        }
        if let Some(newer) = &self.newer {
            table.push(["format", &newer.to_string()]);
        }
        table.push(["memories", &self.memories.to_string()]);
        table.push(["inbox", &self.inbox.to_string()]);
        if 0 < self.proposals.waiting {
            table.push(["proposals", &proposals_text(&self.proposals)]);
        }
        if 0 < self.entries {
            table.push(["conversation entries", &self.entries.to_string()]);
        }
        table.push(["reminders due", &self.due.to_string()]);
        let (files, bytes) = self.trash;
        table.push([
            "trash",
            &format!(
                "{files} {}, {bytes} bytes",
                if files == 1 { "file" } else { "files" }
            ),
        ]);
        if let Some(database) = &self.database {
            table.push(["database", &database_text(database, output)]);
        }
        for client in &self.outdated {
            let text = format!(
                "{} uses another program or version; run `memory install {}`",
                client.title, client.name
            );
            table.push(["assistant", &text]);
        }
        for plugin in &self.outdated_plugins {
            table.push(["plugin", &plugin.describe()]);
        }
        table
    }

    fn daemon_text(&self, output: &Output) -> String {
        let at = |at| output.time(at);
        match (&self.running, &self.state) {
            (Some(process), state) => {
                let pid = process
                    .pid
                    .map_or_else(String::new, |pid| format!(", process {pid}"));
                let since = state.as_ref().map_or_else(String::new, |state| {
                    format!(", since {}", at(state.started_at))
                });
                let version = self.daemon_version().filter(|version| *version != VERSION);
                let version = version.map_or_else(String::new, |version| {
                    format!(
                        "; version {version}, and this program is {VERSION}: restart the daemon"
                    )
                });
                format!("running{pid}{since}{version}")
            }
            (None, None) => "not running".into(),
            (None, Some(state)) => match state.stopped_at {
                Some(stopped) => format!("not running; last stopped {}", at(stopped)),
                None => format!(
                    "not running; the last run, started {}, was interrupted",
                    at(state.started_at)
                ),
            },
        }
    }

    fn chores_table(&self, output: &Output) -> Table {
        let columns = ["chore", "last", "ending", "what", "next"].map(|name| match name {
            "chore" => TableColumn::Whole(name),
            _ => TableColumn::Text(name),
        });
        let mut table = Table::new(columns);
        for chore in self.state.iter().flat_map(|state| &state.chores) {
            let at = |at: Option<DateTime<Utc>>| {
                at.map_or_else(|| NO_VALUE.to_owned(), |at| output.time(at))
            };
            let ending = chore.ending.map_or(NO_VALUE, |ending| ending.as_str());
            let said = chore.said.as_deref().unwrap_or(NO_VALUE);
            table.push([
                &chore.name,
                &at(chore.began_at),
                ending,
                said,
                &at(self.due_at(chore)),
            ]);
        }
        table
    }
}

fn database_text(database: &SharedStoreStatus, output: &Output) -> String {
    let at = |at: Option<DateTime<Utc>>| {
        at.map_or_else(|| "an unknown time".to_owned(), |at| output.time(at))
    };
    let state = match &database.trouble {
        None => "reachable".to_owned(),
        Some(trouble) => format!("offline since {} ({trouble})", at(database.last_contact)),
    };
    let state = match database.set_aside {
        0 => state,
        count => format!(
            "{state}; {} set aside in unsynced/, `memory doctor` lists them",
            counted(count, "file")
        ),
    };
    match database.queued {
        0 => state,
        1 => format!(
            "{state}; 1 operation waits since {}",
            at(database.queued_since)
        ),
        count => format!(
            "{state}; {count} operations wait since {}",
            at(database.queued_since)
        ),
    }
}

/// Maximum number of overdue proposals that are named.
const MAX_NAMED: usize = 3;

/// Describes the waiting proposals, and names those that have been waiting for more than a week.
fn proposals_text(summary: &ProposalSummary) -> String {
    let describe = |stored: &StoredMemory| {
        let headline = to_one_line(stored.memory.headline(), MAX_HEADLINE_CHARACTERS);
        format!("{} {}", stored.memory.id.short(), escape_hidden(&headline))
    };
    let overdue: Vec<String> = summary
        .overdue
        .iter()
        .take(MAX_NAMED)
        .map(describe)
        .collect();
    let more = summary.overdue.len().saturating_sub(MAX_NAMED);
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    let overdue = match overdue.join(", ") {
        none if none.is_empty() => none,
        overdue => format!("; waiting for more than a week: {overdue}{more}"),
    };
    format!("{} to review with `memory inbox`{overdue}", summary.waiting)
}

/// Maximum number of characters of a named proposal.
const MAX_HEADLINE_CHARACTERS: usize = 60;
