//! The `memory trash` command.

use std::cmp::Reverse;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use memory_agent::json;
use memory_core::conversation::DeletedEntry;
use memory_core::{subtract_time, topic};
use serde_json::{Value, json};

use crate::app::App;
use crate::banks;
use crate::conversations;
use crate::datetime::{self, parse_duration};
use crate::failure::Failure;
use crate::print::{Table, TableColumn};

/// Cell of a column without a value.
const NO_VALUE: &str = "-";

/// List or purge the trash
#[derive(Debug, Args)]
pub(crate) struct TrashArgs {
    #[command(subcommand)]
    command: TrashCommand,
}

#[derive(Debug, Subcommand)]
enum TrashCommand {
    List(TrashListArgs),
    Purge(TrashPurgeArgs),
}

/// List the files in the trash, newest first
///
/// Deleted or replaced entries of conversations, and topics, are listed with the memories.
///
/// JSON: {files: [{id?, path, trash, operation?, verb?, by?, at, size, topics?, conversation?, role?, memory_path?}], total,
/// bytes}; topics and memory_path are the original folders of topics and of conversations
#[derive(Debug, Args)]
struct TrashListArgs {
    /// Maximum number of files; 0 means no limit
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Folder of the conversations [default: the home, and the folder of the proxy]
    #[arg(long, value_name = "DIR")]
    memory_path: Option<PathBuf>,
}

/// Purge files from the trash permanently
///
/// Operations whose files are purged can no longer be undone. Banks and topics are purged in whole months.
///
/// JSON: {files, bytes}
#[derive(Debug, Args)]
struct TrashPurgeArgs {
    /// Purge only files that were deleted longer ago than this; 0d means all
    #[arg(long, default_value = "90d", value_parser = parse_duration, value_name = "SPAN")]
    older_than: std::time::Duration,
    /// Purge without confirmation
    #[arg(long)]
    yes: bool,
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Folder of the conversations [default: the home, and the folder of the proxy]
    #[arg(long, value_name = "DIR")]
    memory_path: Option<PathBuf>,
}

impl TrashArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            TrashCommand::List(command) => command.run(app),
            TrashCommand::Purge(command) => command.run(app),
        }
    }
}

impl TrashListArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open_with_topics(self.dir.as_deref())?;
        home.fetch_operations()?;
        let settings = &home.settings;
        let mut listing = TrashListBuilder {
            files: Vec::new(),
            most: self.limit,
            total: 0,
            bytes: 0,
        };
        for trashed in home.services.history.trashed() {
            listing.push(ListedTrashFile::from_note(&trashed?));
        }
        if let Some(topics) = &home.services.topics {
            let place = topics.store.location();
            topics
                .store
                .trashed()?
                .iter()
                .for_each(|trashed| listing.push(ListedTrashFile::from_topic(trashed, &place)));
        }
        for kept in conversations::operation_logs(settings, self.memory_path.as_deref())? {
            kept.store
                .trashed()?
                .iter()
                .for_each(|entry| listing.push(ListedTrashFile::from_entry(entry, &kept.place)));
        }
        listing.sort();
        let TrashListBuilder {
            files,
            total,
            bytes,
            ..
        } = listing;
        if app.output.is_json() {
            let files: Vec<Value> = files.into_iter().map(|file| file.json).collect();
            return app
                .output
                .json(&json!({ "files": files, "total": total, "bytes": bytes }));
        }
        let mut table = Table::new([
            TableColumn::Whole("id"),
            TableColumn::Whole("when"),
            TableColumn::Text("why"),
            TableColumn::Whole("operation"),
            TableColumn::Number("bytes"),
            TableColumn::Whole("file"),
        ]);
        let is_drawn = app.output.is_drawn();
        for ListedTrashFile {
            id,
            at,
            verb,
            operation,
            size,
            path,
            trash,
            ..
        } in &files
        {
            let when = app.output.time(*at);
            let place = if is_drawn { path } else { trash };
            table.push([
                app.output.short_id(id),
                &*when,
                &**verb,
                &**operation,
                &*size.to_string(),
                &**place,
            ]);
        }
        app.output.table(&table)?;
        let noun = if total == 1 { "file" } else { "files" };
        app.output
            .note(&format!("{total} {noun}, {bytes} bytes in the trash"))
    }
}

/// A file in the trash of any store.
struct ListedTrashFile {
    at: DateTime<Utc>,
    id: String,
    verb: String,
    operation: String,
    size: u64,
    /// The path that the file had before its deletion.
    path: String,
    /// The path in the trash.
    trash: String,
    json: Value,
}

impl ListedTrashFile {
    fn from_note(trashed: &memory_core::TrashedFile) -> Self {
        Self {
            at: trashed.operation.at,
            id: trashed.id.to_string(),
            verb: trashed.operation.verb.as_str().to_owned(),
            operation: trashed.operation.id.to_string(),
            size: trashed.size,
            path: trashed.path.clone(),
            trash: trashed.trash.clone(),
            json: json::trashed_file(trashed),
        }
    }

    fn from_topic(trashed: &topic::TrashedTopic, place: &str) -> Self {
        Self {
            at: trashed.operation.at,
            id: NO_VALUE.to_owned(),
            verb: trashed.operation.verb.as_str().to_owned(),
            operation: trashed.operation.id.to_string(),
            size: trashed.size,
            path: trashed.path.clone(),
            trash: trashed.trash.clone(),
            json: json::topic::trashed_file(trashed, place),
        }
    }

    fn from_entry(entry: &DeletedEntry, place: &str) -> Self {
        let (operation, verb) = entry
            .operation
            .as_ref()
            .map_or((NO_VALUE, NO_VALUE), |(id, verb)| {
                (id.as_str(), verb.as_str())
            });
        Self {
            at: entry.at,
            id: entry.id.to_string(),
            verb: verb.to_owned(),
            operation: operation.to_owned(),
            size: entry.size,
            path: entry.path.clone(),
            trash: entry.trash.clone(),
            json: json::deleted_entry(place, entry),
        }
    }
}

/// The newest files of the trash, and the number and bytes of all of them.
struct TrashListBuilder {
    files: Vec<ListedTrashFile>,
    /// Maximum number of files to list; 0 means all.
    most: usize,
    total: u64,
    bytes: u64,
}

impl TrashListBuilder {
    fn push(&mut self, file: ListedTrashFile) {
        self.total += 1;
        self.bytes += file.size;
        self.files.push(file);
        // Sorts and truncates in batches, so that a full trash needs little memory.
        if 0 < self.most && self.most.saturating_mul(2) < self.files.len() {
            self.sort();
        }
    }

    fn sort(&mut self) {
        self.files.sort_by_key(|file| Reverse(file.at));
        if 0 < self.most {
            self.files.truncate(self.most);
        }
    }
}

impl TrashPurgeArgs {
    fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open_with_topics(self.dir.as_deref())?;
        let settings = &home.settings;
        let age = chrono::TimeDelta::from_std(self.older_than).unwrap_or(chrono::TimeDelta::MAX);
        let before = subtract_time(home.services.clock.now(), age);
        if !self.yes {
            let day = datetime::format_minute(before, app.output.zone());
            let question = format!("Purge files deleted before {day} permanently?");
            let unasked = Failure::usage(
                "cannot ask for confirmation without a terminal",
                "use --yes to purge without confirmation",
            );
            if !app.confirm(&question, "nothing was purged", unasked)? {
                return Ok(());
            }
        }
        let (mut files, mut bytes) = home.services.history.purge(before)?;
        // Deleted banks, topics and instances are purged by whole months.
        if let Some(topics) = &home.services.topics {
            let of_topics = memory_core::topic::purge(topics, before)?;
            files += of_topics.0;
            bytes += of_topics.1;
        }
        let banks = banks::open(settings, "cli")?;
        let of_banks = memory_core::bank::purge(&banks, before)?;
        files += of_banks.0;
        bytes += of_banks.1;
        for one in app.instance_logs(settings)? {
            let of_instance = one.store.purge_trash(before)?;
            files += of_instance.0;
            bytes += of_instance.1;
        }
        for kept in conversations::operation_logs(settings, self.memory_path.as_deref())? {
            let of_conversations = kept.store.purge_trash(before)?;
            files += of_conversations.0;
            bytes += of_conversations.1;
        }
        if app.output.is_json() {
            return app.output.json(&json::purge_result(files, bytes));
        }
        app.output
            .table(&Table::from_counts([("files", files), ("bytes", bytes)]))
    }
}
