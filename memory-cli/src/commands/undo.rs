//! The `memory undo` command.

use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::bank::BankSubject;
use memory_core::{
    Operation, OperationId, OperationLogs, RecordedChange, Services, StoreError, Subject,
};

use crate::app::App;
use crate::banks;
use crate::conversations;
use crate::failure::Failure;
use crate::print::counted;
use crate::shared_store;
use crate::topics;

/// Undo the last operation, or a specific one
///
/// The files return to their previous state. If one of them was changed since, nothing is done; of an operation with ten or
/// more notes, the changed ones are left and listed. Undoing an undo, by its id, repeats the operation. Added turns and records
/// are not operations. In a shared home, the last operation is yours or that of your agents; that of another person needs its id
/// and a confirmation.
///
/// JSON: {operation, undone: {operation, at, verb, by?, files, bank?, scope?, keys?, instance?, session?, key?, records?,
/// topics?, conversation?, memory_path?, entries?}, left?}
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// Operation id as shown by `memory log`; 4 or more digits
    operation: Option<String>,
    /// Undo an operation of another person without confirmation
    #[arg(long)]
    yes: bool,
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Folder of the conversations [default: the home, and the folder of the proxy]
    #[arg(long, value_name = "DIR")]
    memory_path: Option<PathBuf>,
}

impl UndoArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let home = app.open_with_topics(self.dir.as_deref())?;
        let settings = &home.settings;
        let banks = banks::open(settings, "cli")?;
        let instances = app.instance_logs(settings)?;
        let conversations = conversations::operation_logs(settings, self.memory_path.as_deref())?;
        let logs = OperationLogs {
            services: &home.services,
            banks: &banks,
            instances: &instances,
            conversations: &conversations,
            others: &shared_store::other_principals(settings),
        };
        if let Some(reference) = &self.operation
            && !self.confirm(app, logs, reference)?
        {
            return Ok(());
        }
        let undone = logs.undo(self.operation.as_deref())?;
        let Operation { id, verb, .. } = &undone.record.operation;
        match &undone.record.subject {
            Subject::Notes(_) => {
                app.update_pending_page(&home)?;
            }
            Subject::Conversation(place, _) => {
                let message = format!("Undo {verb} {id}");
                app.warn_at_end(conversations::commit_versions(
                    settings,
                    Path::new(place),
                    &message,
                ));
            }
            Subject::Bank(..) | Subject::Topics(_) | Subject::Instance(..) => {}
        }
        if app.output.is_json() {
            return app.output.json(&json::undo_result(&undone));
        }
        if !undone.left.is_empty() {
            app.output.warning(&left_text(&undone.left))?;
        }
        let what = undone_text(&undone.record.subject);
        let what = match (&undone.record.subject, undone.left.len()) {
            (Subject::Notes(files), left @ 1..) => {
                format!(
                    "{} of {} files",
                    files.count.saturating_sub(left as u64),
                    files.count
                )
            }
            _ => what,
        };
        let field = match &undone.record.subject {
            Subject::Notes(files) => files.count.to_string(),
            _ => what.clone(),
        };
        app.output.fields(&[id.as_str(), verb.as_str(), &field])?;
        let command = match &undone.record.subject {
            Subject::Topics(_) => topics::undo_command(Some(&undone.undo), self.dir.as_deref()),
            Subject::Conversation(place, _) => {
                let folder = Path::new(place);
                let is_usual = *folder == *settings.root.value
                    || settings.proxy.memory_path.value.as_deref() == Some(folder);
                let path = if is_usual {
                    String::new()
                } else {
                    format!(" --memory-path {}", app.output.display_path(folder))
                };
                format!("memory undo {}{path}", undone.undo)
            }
            _ => format!("memory undo {}", undone.undo),
        };
        let author = match undone.record.operation.by.as_str() {
            "" | "cli" => String::new(),
            author => format!(" by {author}"),
        };
        app.output.note(&format!(
            "undid {verb} of {what}{author}; `{command}` redoes it"
        ))
    }

    /// Returns whether to undo an operation: one of the user, or of another person after a confirmation.
    fn confirm(
        &self,
        app: &mut App,
        logs: OperationLogs<'_>,
        reference: &str,
    ) -> Result<bool, Failure> {
        let entry = match logs.find_of_other(reference)? {
            Some(entry) if !self.yes => entry,
            _ => return Ok(true),
        };
        let Operation { id, verb, by, .. } = &entry.operation;
        let what = match &entry.subject {
            Subject::Notes(_) => changed_notes(logs.services, id)?,
            subject => undone_text(subject),
        };
        let what = format!("{id} is the {verb} of {what} by {by}");
        app.confirm(
            &format!("{what}. Undo it?"),
            "nothing was undone",
            Failure::usage(&what, format!("`memory undo {id} --yes` undoes it")),
        )
    }
}

/// Names the notes that an operation changed.
fn changed_notes(services: &Services, id: &OperationId) -> Result<String, StoreError> {
    let mut names = Vec::new();
    for change in services.history.changes(id) {
        let RecordedChange { before, after, .. } = change?;
        names.extend(after.or(before).map(|file| file.path));
    }
    Ok(shorten_list(&names))
}

/// Describes the files that an undo left as they are.
fn left_text(left: &[String]) -> String {
    format!(
        "left as they are, because they were changed since or other files are in their places: {}; `memory restore PATH` \
         brings back a former version that `memory trash list` shows",
        shorten_list(left)
    )
}

/// The maximum number of files in a message.
const MAX_SHOWN_FILES: usize = 20;

/// Returns the first names, and the number of the others.
fn shorten_list(names: &[String]) -> String {
    let (shown, rest) = names.split_at(names.len().min(MAX_SHOWN_FILES));
    let shown = shown.join(", ");
    match rest.len() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Describes what an undone operation had changed.
fn undone_text(subject: &Subject) -> String {
    match subject {
        Subject::Notes(files) => counted(files.count, "file"),
        Subject::Bank(_, BankSubject { bank, keys }) if keys.is_empty() => bank.to_string(),
        Subject::Bank(_, BankSubject { bank, keys }) => format!("{} in {bank}", keys.join(", ")),
        Subject::Topics(topics) => topics.files.join(", "),
        Subject::Instance(instance, own) => format!("{} in {instance}", own.label()),
        Subject::Conversation(_, own) => {
            format!(
                "{} in conversation {}",
                entries_text(own.added.len() + own.deleted.len()),
                own.conversation
            )
        }
    }
}

fn entries_text(count: usize) -> String {
    if count == 1 {
        "1 entry".to_owned()
    } else {
        format!("{count} entries")
    }
}
