//! The `memory log` command.

use std::path::PathBuf;

use clap::Args;
use memory_agent::json;
use memory_core::bank::{BankRecord, Banks};
use memory_core::conversation::{ConversationLocation, ConversationOperations, ConversationRecord, ConversationStore, EntryId};
use memory_core::instance::{InstanceRecord, NamedInstance};
use memory_core::topic::{TopicRecord, Topics};
use memory_core::{LogEntry, OperationId, OperationRecord, RecordedChange, RecordedFile, StoreError};
use memory_store::conversation::ConversationFolder;

use crate::app::{App, Home};
use crate::banks;
use crate::conversations;
use crate::datetime;
use crate::failure::Failure;
use crate::instances;
use crate::print::{OutputForm, Table, TableColumn};
use crate::versions;

/// Show the operation log, newest first, or the changes of one operation
///
/// If the home is versioned with git, the commits follow; `memory diff ID` shows those of one memory.
///
/// JSON: {operations: [{operation, at, verb, by?, undoes?, undone_by?, files, bank?, scope?, keys?, instance?, session?,
/// key?, records?, topics?, conversation?, memory_path?, entries?}], versions?: [{version, at, message}]}; with --versions
/// {versions}; with an OPERATION only that one, for memories with changes: [{id, before?, after?}], each a file: {path,
/// hash, trash?}
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Operation to show; 4 or more digits of its id
    operation: Option<String>,
    /// Maximum number of operations; 0 means no limit
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Folder of the conversations [default: the home, and the folder of the proxy]
    #[arg(long, value_name = "DIR")]
    memory_path: Option<PathBuf>,
    /// Show only the git commits
    #[arg(long, conflicts_with_all = ["operation", "dir", "memory_path"])]
    versions: bool,
}

impl LogArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        if self.versions {
            return versions::print_versions(&settings.root.value, self.limit, app);
        }
        let home = app.open_with_topics(&settings, self.dir.as_deref())?;
        let banks = banks::open(&settings, app.environment, "cli");
        let instances = instances::file_operation_logs(&settings, app)?;
        let folders = conversations::folders(&settings, app.environment, self.memory_path.as_deref())?;
        if let Some(operation) = &self.operation {
            print_operation(operation, &home, &banks, &instances, &folders, app)
        } else {
            let kept = conversations::operation_logs(&settings, app.environment, self.memory_path.as_deref())?;
            self.list(&home, &banks, &instances, &kept, app)
        }
    }

    fn list(
        &self,
        home: &Home,
        banks: &Banks,
        instances: &[NamedInstance],
        conversations: &[ConversationLocation],
        app: &mut App,
    ) -> Result<(), Failure> {
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let logged = memory_core::log(&home.services, banks, instances, conversations, limit)?;
        // A failure of git does not hide the other operations.
        let versions = match versions::list_versions(home.store.root(), self.limit) {
            Ok(versions) => versions,
            Err(error) => {
                app.output.warning(&error.to_string())?;
                Vec::new()
            }
        };
        if app.output.is_json() {
            let mut shape = json::operations(&logged);
            if !versions.is_empty() {
                shape["versions"] = versions::versions_json(&versions).into();
            }
            return Ok(app.output.json(&shape)?);
        }
        let columns = ["operation", "when", "what", "by", "files", "state"].map(|name| match name {
            "files" => TableColumn::Number(name),
            "operation" | "when" | "what" => TableColumn::Whole(name),
            _ => TableColumn::Text(name),
        });
        let mut table = Table::new(columns);
        for one in &logged {
            let when = match app.output.form() {
                OutputForm::Drawn(_) => datetime::format_minute(one.at()),
                OutputForm::Json | OutputForm::Tabbed => one.at().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
            };
            let (what, by, files, state) = match one {
                LogEntry::Notes(record) => {
                    let state = undo_state(record.undoes.as_ref(), record.undone_by.as_ref());
                    (record.verb.as_str().to_owned(), record.by.as_str(), record.files, state)
                }
                LogEntry::Bank(_, record) => {
                    let state = undo_state(record.undoes.as_ref(), record.undone_by.as_ref());
                    let what = format!("{} {}", record.operation.verb.as_str(), bank_subject(record));
                    (what, record.operation.by.as_str(), 1, state)
                }
                LogEntry::Topics(record) => {
                    let state = undo_state(record.undoes.as_ref(), record.undone_by.as_ref());
                    let what = format!("{} topic {}", record.operation.verb.as_str(), files_text(record));
                    (what, record.operation.by.as_str(), record.files.len() as u64, state)
                }
                LogEntry::Instance(name, record) => {
                    let state = undo_state(record.undoes.as_ref(), record.undone_by.as_ref());
                    (format!("{} {name}: {}", record.verb.as_str(), record.subject), "-", 1, state)
                }
                LogEntry::Conversation(_, record) => {
                    let state = undo_state(record.undoes.as_ref(), record.undone_by.as_ref());
                    let what = format!("{} conversation {}", record.operation.verb.as_str(), record.conversation);
                    let files = (record.added.len() + record.deleted.len()) as u64;
                    (what, record.operation.by.as_str(), files, state)
                }
            };
            table.push([one.id().as_str(), &when, &what, by, &files.to_string(), &state]);
        }
        app.output.table(&table)?;
        if logged.is_empty() {
            app.output.note("no operations yet")?;
        }
        if !versions.is_empty() {
            app.output.table(&versions::versions_table(&versions))?;
        }
        Ok(())
    }
}

/// Returns the bank and key that an operation changed.
fn bank_subject(record: &BankRecord) -> String {
    match record.keys.as_slice() {
        [] => format!("bank {}", record.bank),
        [key] => format!("bank {}: {key}", record.bank),
        keys => format!("bank {}: {} keys", record.bank, keys.len()),
    }
}

/// Returns the files of topics that an operation changed.
fn files_text(record: &TopicRecord) -> String {
    match record.files.as_slice() {
        [file] => file.clone(),
        files => format!("{} files", files.len()),
    }
}

fn print_operation(
    operation: &str,
    home: &Home,
    banks: &Banks,
    instances: &[NamedInstance],
    conversations: &[ConversationFolder],
    app: &mut App,
) -> Result<(), Failure> {
    let record = match find_record(operation, home) {
        Err(StoreError::OperationNotFound { wanted }) => {
            return print_other_operation(
                operation,
                wanted,
                (banks, home.services.topics.as_ref(), instances, conversations),
                app,
            );
        }
        found => found?,
    };
    let changes = home.services.history.changes(&record.id).collect::<Result<Vec<_>, _>>()?;
    if app.output.is_json() {
        return Ok(app.output.json(&json::record(&record, &changes))?);
    }
    let mut table = Table::new(["id", "before", "after", "former file", "why"].map(|name| match name {
        "why" => TableColumn::Text(name),
        _ => TableColumn::Whole(name),
    }));
    for RecordedChange { id, before, after, why } in &changes {
        let id = if app.output.form() == OutputForm::Tabbed { id.to_string() } else { id.short() };
        let path = |file: &Option<RecordedFile>| file.as_ref().map_or_else(|| "-".to_owned(), |file| file.path.clone());
        let trash = before.as_ref().and_then(|before| before.trash.as_deref()).unwrap_or("-");
        table.push([&id, &path(before), &path(after), trash, why.as_deref().unwrap_or("-")]);
    }
    Ok(app.output.table(&table)?)
}

fn print_other_operation(
    operation: &str,
    missing: String,
    (banks, topics, instances, conversations): (&Banks, Option<&Topics>, &[NamedInstance], &[ConversationFolder]),
    app: &mut App,
) -> Result<(), Failure> {
    let wanted = operation.trim().to_lowercase();
    let is_wanted = |id: &OperationId| 4 <= wanted.len() && id.as_str().starts_with(&wanted);
    let found = memory_core::bank::history(banks)?.into_iter().find(|(_, record)| is_wanted(&record.operation.id));
    let Some((scope, record)) = found else {
        let done = topics.map(memory_core::topic::history).transpose()?.unwrap_or_default();
        if let Some(record) = done.into_iter().find(|record| is_wanted(&record.operation.id)) {
            return print_topic_operation(&record, app);
        }
        for one in instances {
            let is_it = |record: &InstanceRecord| is_wanted(&record.operation.id);
            let found = one.store.operations()?.find(|record| record.as_ref().map_or(true, is_it)).transpose()?;
            if let Some(record) = found {
                return print_instance_operation(&one.name, &record, app);
            }
        }
        for folder in conversations {
            if let Some(record) = folder.operations()?.into_iter().find(|record| is_wanted(&record.operation.id)) {
                return print_conversation_operation(folder, &record, app);
            }
        }
        return Err(StoreError::OperationNotFound { wanted: missing }.into());
    };
    if app.output.is_json() {
        return Ok(app.output.json(&json::bank_record(&LogEntry::Bank(scope, record)))?);
    }
    let mut table = Table::new(["bank", "scope", "key"].map(TableColumn::Whole));
    for key in record.keys.iter().map(String::as_str).chain(record.keys.is_empty().then_some("-")) {
        table.push([record.bank.as_str(), scope.as_str(), key]);
    }
    Ok(app.output.table(&table)?)
}

fn print_topic_operation(record: &TopicRecord, app: &mut App) -> Result<(), Failure> {
    if app.output.is_json() {
        return Ok(app.output.json(&json::topic::record(record))?);
    }
    let mut table = Table::new([TableColumn::Whole("topic")]);
    for file in &record.files {
        table.push([file.as_str()]);
    }
    Ok(app.output.table(&table)?)
}

fn print_instance_operation(name: &str, record: &InstanceRecord, app: &mut App) -> Result<(), Failure> {
    if app.output.is_json() {
        return Ok(app.output.json(&json::instance_record(name, record))?);
    }
    let mut table = Table::new([TableColumn::Whole("instance"), TableColumn::Text("of"), TableColumn::Number("count")]);
    table.push([name, &record.subject, &record.count.to_string()]);
    Ok(app.output.table(&table)?)
}

/// Prints the entries that an operation on a conversation changed, with their present texts.
fn print_conversation_operation(folder: &ConversationFolder, record: &ConversationRecord, app: &mut App) -> Result<(), Failure> {
    let active = folder.read(&record.conversation)?;
    let deleted = folder.deleted(&record.conversation)?;
    let text = |id: &EntryId| active.get(id).map(|entry| &**entry).or_else(|| deleted.iter().rev().find(|entry| entry.id == *id));
    if app.output.is_json() {
        return Ok(app.output.json(&json::conversation_record(&folder.location(), record, &text))?);
    }
    let mut table = Table::new(["id", "change", "replaced by", "text"].map(|name| match name {
        "id" | "replaced by" => TableColumn::Whole(name),
        _ => TableColumn::Text(name),
    }));
    let is_tabbed = app.output.form() == OutputForm::Tabbed;
    let short = |id: &EntryId| if is_tabbed { id.to_string() } else { id.as_str().chars().take(8).collect() };
    let added = record.added.iter().map(|id| (id, "added", None));
    let deleted = record.deleted.iter().map(|(id, by)| (id, "deleted", by.as_ref()));
    for (id, change, by) in deleted.chain(added) {
        let (id, by, content) =
            (short(id), by.map_or_else(|| "-".to_owned(), short), text(id).map_or("-", |entry| &*entry.content));
        table.push([id.as_str(), change, by.as_str(), content]);
    }
    Ok(app.output.table(&table)?)
}

fn find_record(operation: &str, home: &Home) -> Result<OperationRecord, StoreError> {
    let wanted = operation.trim().to_lowercase();
    for record in home.services.history.records() {
        let record = record?;
        if 4 <= wanted.len() && record.id.as_str().starts_with(&wanted) {
            return Ok(record);
        }
    }
    Err(StoreError::OperationNotFound { wanted: format!("no operation matches {operation}") })
}

fn undo_state(undoes: Option<&OperationId>, undone_by: Option<&OperationId>) -> String {
    match (undoes, undone_by) {
        (_, Some(by)) => format!("undone by {by}"),
        (Some(undone), None) => format!("undoes {undone}"),
        (None, None) => String::new(),
    }
}
