//! `memory trash`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use memory_agent::json;
use memory_core::topic::Trashed;

use crate::app::App;
use crate::banks;
use crate::failure::Failure;
use crate::instances;
use crate::moments::{self, span};
use crate::print::{Column, Form, Table};

/// Show what is in the trash, or remove it for good
#[derive(Debug, Args)]
pub(crate) struct Trash {
    #[command(subcommand)]
    command: TrashCommand,
}

#[derive(Debug, Subcommand)]
enum TrashCommand {
    List(TrashList),
    Purge(TrashPurge),
}

/// List the files in the trash, newest first
///
/// JSON: {files: [{id?, path, trash, operation, verb, at, size, topics?}], total, bytes}, where topics is the folder of topics in which the
/// file lay
#[derive(Debug, Args)]
struct TrashList {
    /// How many at most; 0 means no limit
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
    /// The folder of the topics, if it is another than the project's
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Remove files from the trash for good
///
/// Operations whose files are gone cannot be taken back any more. What was in banks and topics goes by whole months that lie so
/// far back.
///
/// JSON: {files, bytes}
#[derive(Debug, Args)]
struct TrashPurge {
    /// Only what has been there for so long; 0d means everything
    #[arg(long, default_value = "90d", value_parser = span, value_name = "SPAN")]
    older_than: std::time::Duration,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// The folder of the topics, if it is another than the project's
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Trash {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            TrashCommand::List(command) => command.run(app),
            TrashCommand::Purge(command) => command.run(app),
        }
    }
}

impl TrashList {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let home = app.open_with_topics(&settings, self.dir.as_deref())?;
        let (mut files, mut total, mut bytes) = (Vec::new(), 0, 0);
        for trashed in home.services.history.trashed() {
            let trashed = trashed?;
            (total, bytes) = (total + 1, bytes + trashed.size);
            if self.limit == 0 || files.len() < self.limit {
                files.push(trashed);
            }
        }
        let mut of_topics = Vec::new();
        for trashed in home.services.topics.as_ref().map(|topics| topics.store.trashed()).transpose()?.unwrap_or_default() {
            (total, bytes) = (total + 1, bytes + trashed.size);
            if self.limit == 0 || files.len() + of_topics.len() < self.limit {
                of_topics.push(trashed);
            }
        }
        let place = home.services.topics.as_ref().map(|topics| topics.store.place()).unwrap_or_default();
        if app.output.is_json() {
            let mut answer = json::trashed(&files, total, bytes);
            let rest = of_topics.iter().map(|trashed| json::topic::trashed(trashed, &place));
            answer["files"].as_array_mut().into_iter().for_each(|files| files.extend(rest.clone()));
            return Ok(app.output.json(&answer)?);
        }
        let mut table = Table::new([
            Column::Text("id"),
            Column::Text("when"),
            Column::Text("why"),
            Column::Text("operation"),
            Column::Number("bytes"),
            Column::Text("file"),
        ]);
        let is_drawn = matches!(app.output.form(), Form::Drawn(_));
        for file in &files {
            let id = if is_drawn { file.id.short() } else { file.id.to_string() };
            let when =
                if is_drawn { moments::minute_text(file.at) } else { file.at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true) };
            let size = file.size.to_string();
            let place = if is_drawn { &file.path } else { &file.trash };
            table.push([&id, &when, file.verb.as_str(), file.operation.as_str(), &size, place]);
        }
        for Trashed { path, trash, size, operation } in &of_topics {
            let at = operation.at;
            let when = if is_drawn { moments::minute_text(at) } else { at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true) };
            let file = if is_drawn { path } else { trash };
            table.push(["-", &when, operation.verb.as_str(), operation.id.as_str(), &size.to_string(), file]);
        }
        app.output.table(&table)?;
        Ok(app.output.note(&format!("{total} files, {bytes} bytes in the trash"))?)
    }
}

impl TrashPurge {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let home = app.open_with_topics(&settings, self.dir.as_deref())?;
        let age = chrono::TimeDelta::from_std(self.older_than).unwrap_or(chrono::TimeDelta::MAX);
        let before = home.services.clock.now().checked_sub_signed(age).unwrap_or(chrono::DateTime::<chrono::Utc>::MIN_UTC);
        if !self.yes {
            if !app.output.input_is_terminal() {
                return Err(Failure::usage("nobody is there to be asked", "--yes removes the files without asking"));
            }
            let day = moments::minute_text(before);
            if !app.output.ask(&format!("Remove for good what went to the trash before {day}?"))? {
                return Ok(app.output.note("nothing was removed")?);
            }
        }
        let (mut files, mut bytes) = home.services.history.purge(before)?;
        // What was in banks, topics and instances goes by whole months.
        if let Some(topics) = &home.services.topics {
            let of_topics = memory_core::topic::purge(topics, before)?;
            files += of_topics.0;
            bytes += of_topics.1;
        }
        let banks = banks::open(&settings, app.environment, "cli");
        let of_banks = memory_core::bank::purge(&banks, before)?;
        files += of_banks.0;
        bytes += of_banks.1;
        for one in instances::kept_in_files(&settings, app)? {
            let of_instance = one.store.purge_trash(before)?;
            files += of_instance.0;
            bytes += of_instance.1;
        }
        if app.output.is_json() {
            return Ok(app.output.json(&json::purged(files, bytes))?);
        }
        Ok(app.output.table(&Table::of_counts([("files", files), ("bytes", bytes)]))?)
    }
}
