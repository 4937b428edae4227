//! The `memory log` command.

use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::bank::BankSubject;
use memory_core::conversation::{ConversationStore, ConversationSubject, EntryId};
use memory_core::{
    Code, LogEntry, MemoryStoreExt, Operation, OperationId, OperationLogs, RecordedChange,
    RecordedFile, Services, Subject, find_trashed,
};
use memory_store::conversation::{ConversationFolder, GitVersion, GitVersionsError};
use memory_store::postgres::AuditRecord;
use serde_json::{Value, json};

use super::diff;
use crate::app::App;
use crate::args;
use crate::banks;
use crate::conversations;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{Table, TableColumn};
use crate::shared_store::open_principals;
use crate::versions;

/// Show the operation log, newest first, or the changes of one operation or memory
///
/// If the home is versioned with git, the commits follow. The changes of a memory are those of the operation log; if the home is
/// versioned with git, which also records changes by other programs, they are its commits.
///
/// JSON: {operations: [{operation, at, verb, by?, undoes?, undone_by?, files, bank?, scope?, keys?, instance?, session?,
/// key?, records?, topics?, conversation?, memory_path?, entries?}], versions?: [{version, at, message}]}; with --versions
/// {versions}; with --audit {audit: [{at, by, action, subject}]}, by is empty for the owner; with an operation only that one, for memories with changes: [{id, before?, after?}], each a file: {path,
/// hash, trash?}; with a memory {id, path, changes}; changes is the text, with git the output of `git log --patch`
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Operation to show, or memory, which may be deleted; 4 or more digits of its id
    id: Option<String>,
    /// Take ID for a memory, even if an operation has the same digits
    #[arg(long, requires = "id", conflicts_with_all = ["dir", "memory_path"])]
    memory: bool,
    /// Maximum number of operations, of which 0 means no limit, or of changes of a memory [default: 20 operations, 5 changes]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Folder of the conversations [default: the home, and the folder of the proxy]
    #[arg(long, value_name = "DIR")]
    memory_path: Option<PathBuf>,
    /// Show only the git commits
    #[arg(long, conflicts_with_all = ["id", "dir", "memory_path"])]
    versions: bool,
    /// Show only the audit log of a shared database, to its owner: tokens, grants, deletions for good, exports and refused tokens
    #[arg(long, conflicts_with_all = ["id", "dir", "memory_path", "versions"])]
    audit: bool,
}

/// Default maximum number of operations.
const MAX_OPERATIONS: usize = 20;

/// Default maximum number of changes of a memory.
const MAX_CHANGES: usize = 5;

/// Returns whether `reference` names a memory, which may be deleted.
fn is_memory(reference: &str, services: &Services) -> bool {
    services.store.find(reference).is_ok() || find_trashed(services, reference).is_ok()
}

impl LogArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if self.versions {
            let root = app.settings()?.root.value.clone();
            return print_versions(&root, self.max_operations(), app);
        }
        if self.audit {
            return print_audit(self.max_operations(), app);
        }
        if let (Some(id), true) = (&self.id, self.memory) {
            return self.print_history(id, app);
        }
        let home = app.open_with_topics(self.dir.as_deref())?;
        home.fetch_operations()?;
        let settings = &home.settings;
        let banks = banks::open(settings, "cli")?;
        let instances = app.instance_logs(settings)?;
        let conversations = conversations::operation_logs(settings, self.memory_path.as_deref())?;
        let logs = OperationLogs {
            services: &home.services,
            banks: &banks,
            instances: &instances,
            conversations: &conversations,
            others: &[],
        };
        let Some(id) = &self.id else {
            return self.list(&home, logs, app);
        };
        let found = logs.find(id).map_err(Failure::from);
        let is_no_operation = |error: &Failure| error.code() == Code::OperationNotFound.as_str();
        if found.as_ref().is_err_and(is_no_operation) && is_memory(id, &home.services) {
            return self.print_history(id, app);
        }
        let entry = found?;
        if let Subject::Conversation(place, subject) = &entry.subject {
            let folders = conversations::folders(settings, self.memory_path.as_deref())?;
            if let Some(folder) = folders.iter().find(|folder| folder.location() == *place) {
                return print_conversation_operation(folder, &entry, subject, app);
            }
        }
        print_operation(&entry, &home, app)
    }

    fn max_operations(&self) -> usize {
        self.limit.unwrap_or(MAX_OPERATIONS)
    }

    fn print_history(&self, id: &str, app: &mut App) -> Result<(), Failure> {
        diff::print_history(id, self.limit.unwrap_or(MAX_CHANGES), app)
    }

    fn list(&self, home: &Home, logs: OperationLogs<'_>, app: &mut App) -> Result<(), Failure> {
        let logged = logs.list(args::max_count(self.max_operations()))?;
        // A failure of git does not hide the other operations.
        let versions = match versions::list_versions(home.store.root(), self.max_operations()) {
            Ok(versions) => versions,
            // The user versions the home without this program.
            Err(GitVersionsError::Untrusted { .. }) if !home.settings.git.value => Vec::new(),
            Err(error) => {
                app.output.warning(&error.to_string())?;
                Vec::new()
            }
        };
        if app.output.is_json() {
            let mut shape = json::operations(&logged);
            if !versions.is_empty() {
                shape["versions"] = versions_json(&versions).into();
            }
            return app.output.json(&shape);
        }
        let columns =
            ["operation", "when", "what", "by", "files", "state"].map(|name| match name {
                "files" => TableColumn::Number(name),
                "operation" | "when" | "what" => TableColumn::Whole(name),
                _ => TableColumn::Text(name),
            });
        let mut table = Table::new(columns);
        for one in &logged {
            let Operation { id, verb, by, at } = &one.operation;
            let when = app.output.time(*at);
            let (what, files) = match &one.subject {
                Subject::Notes(files) => (verb.to_string(), files.count),
                Subject::Bank(_, bank) => (format!("{verb} {}", bank_subject(bank)), 1),
                Subject::Topics(topics) => (
                    format!("{verb} topic {}", files_text(&topics.files)),
                    topics.files.len() as u64,
                ),
                Subject::Instance(instance, own) => {
                    (format!("{verb} {instance}: {}", own.label()), 1)
                }
                Subject::Conversation(_, own) => (
                    format!("{verb} conversation {}", own.conversation),
                    (own.added.len() + own.deleted.len()) as u64,
                ),
            };
            let by = if by.is_empty() { "-" } else { by };
            let state = undo_state(one.undoes.as_ref(), one.undone_by.as_ref());
            table.push([id.as_str(), &when, &what, by, &files.to_string(), &state]);
        }
        app.output.table(&table)?;
        if logged.is_empty() {
            app.output.note("no operations yet")?;
        }
        if !versions.is_empty() {
            app.output.table(&versions_table(&versions))?;
        }
        Ok(())
    }
}

/// Returns the bank and key that an operation changed.
fn bank_subject(subject: &BankSubject) -> String {
    match subject.keys.as_slice() {
        [] => format!("bank {}", subject.bank),
        [key] => format!("bank {}: {key}", subject.bank),
        keys => format!("bank {}: {} keys", subject.bank, keys.len()),
    }
}

/// Returns the files of topics that an operation changed.
fn files_text(files: &[String]) -> String {
    match files {
        [file] => file.clone(),
        files => format!("{} files", files.len()),
    }
}

fn print_operation(entry: &LogEntry, home: &Home, app: &mut App) -> Result<(), Failure> {
    let changes = match &entry.subject {
        Subject::Notes(_) => home
            .services
            .history
            .changes(&entry.operation.id)
            .collect::<Result<Vec<_>, _>>()?,
        _ => Vec::new(),
    };
    if app.output.is_json() {
        let shape = match &entry.subject {
            Subject::Notes(_) => json::record(entry, &changes),
            _ => json::operation(entry),
        };
        return app.output.json(&shape);
    }
    let table = match &entry.subject {
        Subject::Notes(_) => changes_table(&changes, app),
        Subject::Bank(scope, subject) => {
            let mut table = Table::new(["bank", "scope", "key"].map(TableColumn::Whole));
            for key in subject
                .keys
                .iter()
                .map(String::as_str)
                .chain(subject.keys.is_empty().then_some("-"))
            {
                table.push([subject.bank.as_str(), scope.as_str(), key]);
            }
            table
        }
        Subject::Topics(subject) => {
            let mut table = Table::new([TableColumn::Whole("topic")]);
            subject
                .files
                .iter()
                .for_each(|file| table.push([file.as_str()]));
            table
        }
        Subject::Instance(instance, subject) => {
            let columns = [
                TableColumn::Whole("instance"),
                TableColumn::Text("of"),
                TableColumn::Number("count"),
            ];
            let mut table = Table::new(columns);
            table.push([
                instance.as_str(),
                &subject.label(),
                &subject.count.to_string(),
            ]);
            table
        }
        Subject::Conversation(place, subject) => {
            let mut table = Table::new(["folder", "conversation"].map(TableColumn::Whole));
            table.push([place.as_str(), subject.conversation.as_str()]);
            table
        }
    };
    app.output.table(&table)
}

fn changes_table(changes: &[RecordedChange], app: &App) -> Table {
    let mut table = Table::new(["id", "before", "after", "former file", "why"].map(
        |name| match name {
            "why" => TableColumn::Text(name),
            _ => TableColumn::Whole(name),
        },
    ));
    for RecordedChange {
        id,
        before,
        after,
        why,
    } in changes
    {
        let id = app.output.id(*id);
        let path = |file: &Option<RecordedFile>| {
            file.as_ref()
                .map_or_else(|| "-".to_owned(), |file| file.path.clone())
        };
        let trash = before
            .as_ref()
            .and_then(|before| before.trash.as_deref())
            .unwrap_or("-");
        table.push([
            &id,
            &path(before),
            &path(after),
            trash,
            why.as_deref().unwrap_or("-"),
        ]);
    }
    table
}

/// Prints the entries that an operation on a conversation changed, with their present texts.
fn print_conversation_operation(
    folder: &ConversationFolder,
    entry: &LogEntry,
    subject: &ConversationSubject,
    app: &mut App,
) -> Result<(), Failure> {
    let active = folder.read(&subject.conversation)?;
    let deleted = folder.deleted(&subject.conversation)?;
    let text = |id: &EntryId| {
        active
            .get(id)
            .map(|entry| &**entry)
            .or_else(|| deleted.iter().rev().find(|entry| entry.id == *id))
    };
    if app.output.is_json() {
        return app.output.json(&json::conversation_record(entry, &text));
    }
    let mut table = Table::new(
        ["id", "change", "replaced by", "text"].map(|name| match name {
            "id" | "replaced by" => TableColumn::Whole(name),
            _ => TableColumn::Text(name),
        }),
    );
    let short = |id: &EntryId| app.output.short_id(id.as_str()).to_owned();
    let added = subject.added.iter().map(|id| (id, "added", None));
    let deleted = subject
        .deleted
        .iter()
        .map(|(id, by)| (id, "deleted", by.as_ref()));
    for (id, change, by) in deleted.chain(added) {
        let (id, by, content) = (
            short(id),
            by.map_or_else(|| "-".to_owned(), short),
            text(id).map_or("-", |entry| &*entry.content),
        );
        table.push([id.as_str(), change, by.as_str(), content]);
    }
    app.output.table(&table)
}

fn undo_state(undoes: Option<&OperationId>, undone_by: Option<&OperationId>) -> String {
    match (undoes, undone_by) {
        (_, Some(by)) => format!("undone by {by}"),
        (Some(undone), None) => format!("undoes {undone}"),
        (None, None) => String::new(),
    }
}

/// Prints the commits; a limit of 0 means all.
fn print_audit(limit: usize, app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?;
    let entries = open_principals(&settings)?.audit(args::max_count(limit))?;
    if app.output.is_json() {
        let entries: Vec<_> = entries
            .iter()
            .map(
                |AuditRecord {
                     at,
                     actor,
                     action,
                     subject,
                 }| {
                    json!({ "at": at, "by": actor, "action": action, "subject": subject })
                },
            )
            .collect();
        return app.output.json(&json!({ "audit": entries }));
    }
    let mut table = Table::new([
        TableColumn::Whole("when"),
        TableColumn::Whole("by"),
        TableColumn::Whole("what"),
        TableColumn::Text("object"),
    ]);
    for AuditRecord {
        at,
        actor,
        action,
        subject,
    } in &entries
    {
        let by = if actor.is_empty() { "owner" } else { actor };
        table.push([&app.output.time(*at), by, action, subject]);
    }
    app.output.table(&table)
}

fn print_versions(root: &Path, limit: usize, app: &mut App) -> Result<(), Failure> {
    versions::check_has_history(root)?;
    let versions =
        versions::list_versions(root, limit).map_err(|error| versions::git_error(&error))?;
    if app.output.is_json() {
        return app
            .output
            .json(&json!({ "versions": versions_json(&versions) }));
    }
    app.output.table(&versions_table(&versions))
}

/// Returns commits as JSON.
fn versions_json(versions: &[GitVersion]) -> Vec<Value> {
    versions
        .iter()
        .map(|own| json!({ "version": own.id, "at": own.at, "message": own.message }))
        .collect()
}

/// Returns commits as a table.
fn versions_table(versions: &[GitVersion]) -> Table {
    let mut table = Table::new([
        TableColumn::Whole("version"),
        TableColumn::Whole("when"),
        TableColumn::Text("what"),
    ]);
    for GitVersion { id, at, message } in versions {
        table.push([id.as_str(), at, message]);
    }
    table
}
