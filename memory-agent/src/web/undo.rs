//! Undo of operations: the form of the undo bar, of a history and of the log.

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use axum::routing::post;
use memory_core::{Code, LogEntry, Subject, Verb};

use super::error::PageError;
use super::html::Label;
use super::layout::UndoBar;
use super::request::WebRequest;
use super::state::WebState;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/undo", post(undo))
}

/// Undoes the operations of the fields `operation`, the last one first, and redirects to `next`.
async fn undo(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let operations: Vec<&str> =
                request.form.all("operation").flat_map(|ids| ids.split(',')).filter(|id| !id.is_empty()).collect();
            if operations.is_empty() {
                return Err(PageError::invalid("no operation is given"));
            }
            let mut undone = Vec::new();
            for id in operations.iter().rev() {
                match request.with_logs(|logs| logs.undo(Some(id))) {
                    Ok(report) => undone.push(report.undo),
                    // A use case may request an id for an operation that changes nothing.
                    Err(error) if error.error.code == Code::OperationNotFound && 1 < operations.len() => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(request.redirect_after(request.form.get("next"), &undone))
        })
        .await
}

/// Maximum number of characters of an object in the bar.
const MAX_OBJECT: usize = 60;

impl WebRequest {
    /// Returns the bar for the operations of `done`, which are separated by commas; `None` if none of them can be undone.
    ///
    /// An error hides the bar, since the page does not depend on it.
    pub(super) fn undo_bar(&self, done: &str) -> Option<UndoBar> {
        let ids: Vec<&str> = done.split(',').filter(|id| !id.is_empty()).collect();
        let newest = ids.last()?;
        let entry = self.with_logs(|logs| logs.find(newest)).ok().filter(|entry| entry.undone_by.is_none())?;
        let text =
            if 1 < ids.len() { format!("{} changes made", ids.len()) } else { past_tense(entry.operation.verb).to_owned() };
        let object = if 1 < ids.len() { None } else { object(self, &entry) };
        let operations = if 1 < ids.len() { ids.join(",") } else { entry.operation.id.to_string() };
        Some(UndoBar { operations, text, object, is_undo: entry.operation.verb == Verb::Undo })
    }
}

/// Returns the changed object, if it is a single one.
fn object(request: &WebRequest, entry: &LogEntry) -> Option<Label> {
    match &entry.subject {
        Subject::Notes(files) if files.count == 1 => {
            let change = request.services.history.changes(&entry.operation.id).next()?.ok()?;
            let stored = request.services.store.get(&change.id).ok();
            let memory = stored.map(|stored| stored.memory).or_else(|| {
                let trash = change.before.as_ref()?.trash.as_deref()?;
                request.services.history.memory_in_trash(trash).ok()
            });
            let headline = memory.map(|memory| memory.headline().to_owned()).filter(|headline| !headline.is_empty());
            let path = || change.after.or(change.before).map(|file| file.path);
            headline.or_else(path).map(|text| Label::cut(&text, MAX_OBJECT))
        }
        Subject::Notes(files) => Some(Label::new(&format!("{} memories", files.count))),
        Subject::Bank(_, bank) => Some(Label::cut(bank.bank.as_str(), MAX_OBJECT)),
        Subject::Topics(topics) => topics.files.first().map(|file| Label::cut(file, MAX_OBJECT)),
        Subject::Instance(name, _) => Some(Label::cut(name, MAX_OBJECT)),
        Subject::Conversation(_, conversation) => Some(Label::cut(conversation.conversation.as_str(), MAX_OBJECT)),
    }
}

/// Returns the verb of an operation as a completed action, such as `Deleted`.
pub(crate) const fn past_tense(verb: Verb) -> &'static str {
    match verb {
        Verb::Write => "Written",
        Verb::Update => "Changed",
        Verb::Tag => "Tags changed",
        Verb::Link => "Linked",
        Verb::Unlink => "Unlinked",
        Verb::ResolveLinks => "Links resolved",
        Verb::Upgrade => "Filed",
        Verb::Delete => "Deleted",
        Verb::Ingest => "Ingested",
        Verb::Import => "Imported",
        Verb::Remind => "Reminder created",
        Verb::Notify => "Reminder delivered",
        Verb::Snooze => "Snoozed",
        Verb::Done => "Done",
        Verb::Dream => "Consolidated",
        Verb::Expire => "Expired",
        Verb::Decay => "Removed as unused",
        Verb::Consolidate => "Maintained",
        Verb::Undo => "Undone",
        Verb::Restore => "Restored",
        Verb::Repair => "Repaired",
        Verb::Rename => "Renamed",
        Verb::Gc => "Removed as expired",
        Verb::Schema => "Schema changed",
        Verb::Set => "Value set",
        Verb::Purge => "Records deleted",
        Verb::Reconcile => "Facts updated",
        Verb::Evict => "Oldest facts removed",
        Verb::Propose => "Proposed",
        Verb::Accept => "Accepted",
        Verb::Reject => "Rejected",
    }
}
