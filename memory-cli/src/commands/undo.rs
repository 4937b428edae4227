//! The `memory undo` command.

use std::path::{Path, PathBuf};

use clap::Args;
use memory_agent::json;
use memory_core::UndoneOperation;
use memory_core::bank::BankUndoReport;
use memory_core::conversation::ConversationUndoReport;
use memory_core::instance::InstanceUndoReport;
use memory_core::topic::TopicUndoReport;

use crate::app::App;
use crate::banks;
use crate::config::Settings;
use crate::conversations;
use crate::failure::Failure;
use crate::instances;
use crate::topics;

/// Undo the last operation, or a specific one
///
/// The files return to their previous state; if one of them was changed since, nothing is done. Undoing an undo, by its id,
/// repeats the operation. Added facts, turns and records (`memory add`, the proxy, `append`) are not operations.
///
/// JSON: {operation, undone: {operation, at, verb, by?, files, bank?, scope?, keys?, instance?, session?, key?, records?,
/// topics?, conversation?, memory_path?, entries?}}
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// Operation id as shown by `memory log`; 4 or more digits
    operation: Option<String>,
    /// Folder of the topics [default: .memory of the project]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Folder of the conversations [default: the home, and the folder of the proxy]
    #[arg(long, value_name = "DIR")]
    memory_path: Option<PathBuf>,
}

impl UndoArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let home = app.open_with_topics(&settings, self.dir.as_deref())?;
        let banks = banks::open(&settings, app.environment, "cli");
        let instances = instances::file_operation_logs(&settings, app)?;
        let kept = conversations::operation_logs(&settings, app.environment, self.memory_path.as_deref())?;
        let undone = match memory_core::undo_logged(&home.services, &banks, &instances, &kept, self.operation.as_deref())? {
            UndoneOperation::Notes(undone) => undone,
            UndoneOperation::Bank(undone) => return print_bank_undo(&undone, app),
            UndoneOperation::Topics(undone) => return print_topic_undo(&undone, self.dir.as_deref(), app),
            UndoneOperation::Instance(name, undone) => return print_instance_undo(&name, &undone, app),
            UndoneOperation::Conversation(place, undone) => return print_conversation_undo(&place, &undone, &settings, app),
        };
        home.update_pending_page(&mut app.output)?;
        if app.output.is_json() {
            return Ok(app.output.json(&json::undo_result(&undone))?);
        }
        let record = &undone.record;
        let files = record.files.to_string();
        app.output.fields(&[record.id.as_str(), record.verb.as_str(), &files])?;
        let plural = if record.files == 1 { "" } else { "s" };
        let again = format!("`memory undo {}` redoes it", undone.undo);
        Ok(app.output.note(&format!("undid {} of {files} file{plural}; {again}", record.verb))?)
    }
}

/// Prints the operation on a bank that was undone.
fn print_bank_undo(undone: &BankUndoReport, app: &mut App) -> Result<(), Failure> {
    if app.output.is_json() {
        return Ok(app.output.json_text(&json::bank::undo_result(undone))?);
    }
    let record = &undone.record;
    let (id, verb) = (record.operation.id.as_str(), record.operation.verb.as_str());
    let what = match record.keys.as_slice() {
        [] => record.bank.to_string(),
        keys => format!("{} in {}", keys.join(", "), record.bank),
    };
    app.output.fields(&[id, verb, &what])?;
    let again = format!("`memory undo {}` redoes it", undone.undo);
    Ok(app.output.note(&format!("undid {verb} of {what}; {again}"))?)
}

/// Prints the operation on topics that was undone.
fn print_topic_undo(undone: &TopicUndoReport, dir: Option<&Path>, app: &mut App) -> Result<(), Failure> {
    if app.output.is_json() {
        return Ok(app.output.json(&json::topic::undo_result(undone))?);
    }
    let record = &undone.record;
    let (id, verb, what) = (record.operation.id.as_str(), record.operation.verb.as_str(), record.files.join(", "));
    app.output.fields(&[id, verb, &what])?;
    let again = format!("`{}` redoes it", topics::undo_command(Some(&undone.undo), dir));
    Ok(app.output.note(&format!("undid {verb} of {what}; {again}"))?)
}

/// Prints the operation on an instance that was undone.
fn print_instance_undo(name: &str, undone: &InstanceUndoReport, app: &mut App) -> Result<(), Failure> {
    if app.output.is_json() {
        return Ok(app.output.json(&json::instance_undo(name, undone))?);
    }
    let record = &undone.record;
    let (id, verb, what) = (record.operation.id.as_str(), record.verb.as_str(), format!("{} in {name}", record.subject));
    app.output.fields(&[id, verb, &what])?;
    let again = format!("`memory undo {}` redoes it", undone.undo);
    Ok(app.output.note(&format!("undid {verb} of {what}; {again}"))?)
}

/// Commits the undone operation on a conversation with git if enabled, and prints it.
fn print_conversation_undo(
    place: &str,
    undone: &ConversationUndoReport,
    settings: &Settings,
    app: &mut App,
) -> Result<(), Failure> {
    let record = &undone.record;
    let (id, verb) = (record.operation.id.as_str(), record.operation.verb.as_str());
    let folder = Path::new(place);
    conversations::commit_versions(settings, folder, &format!("Undo {verb} {id}"), &mut app.output);
    if app.output.is_json() {
        return Ok(app.output.json(&json::conversation_undo(place, undone))?);
    }
    let what = format!("{} in conversation {}", entries_text(record.added.len() + record.deleted.len()), record.conversation);
    app.output.fields(&[id, verb, &what])?;
    let is_usual = *folder == *settings.root.value || settings.proxy.memory_path.value.as_deref() == Some(folder);
    let path = if is_usual { String::new() } else { format!(" --memory-path {}", app.output.display_path(folder)) };
    let again = format!("`memory undo {}{path}` redoes it", undone.undo);
    Ok(app.output.note(&format!("undid {verb} of {what}; {again}"))?)
}

fn entries_text(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}
