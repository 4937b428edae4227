//! Undo of operations: the form of the undo bar, of a history and of the log.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use memory_core::{Category, Code, LogEntry, OperationLogs, Phase, StoreError, Verb};

use super::changed_object::{ChangedObject, few_changes};
use super::error::{PageError, render};
use super::fields::local_path;
use super::layout::{Layout, UndoBar};
use super::operations::OperationRow;
use super::request::WebRequest;
use super::state::WebState;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/undo", post(undo))
}

/// The page that names operations of other people, and sends the form again with their ids in `confirmed`.
#[derive(Template)]
#[template(path = "confirm_undo.html")]
struct ConfirmUndoPage {
    layout: Layout,
    operations: Vec<OperationRow>,
    /// The ids of all operations of the form, separated by commas.
    requested: String,
    next: String,
}

impl ConfirmUndoPage {
    /// Returns the ids that the person confirms, separated by commas.
    fn confirmed(&self) -> String {
        let ids: Vec<_> = self.operations.iter().map(|row| row.id.as_str()).collect();
        ids.join(",")
    }

    /// Returns the label of the button.
    fn label(&self) -> &str {
        match self.operations.as_slice() {
            [row] if !self.requested.contains(',') => row.undo.button().unwrap_or("Undo"),
            _ => "Undo all",
        }
    }
}

/// Undoes the operations of the fields `operation`, the last one first, and redirects to `next`. Those of other people need a
/// confirmation.
async fn undo(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let operations: Vec<&str> =
                request.form.all("operation").flat_map(|ids| ids.split(',')).filter(|id| !id.is_empty()).collect();
            if operations.is_empty() {
                return Err(PageError::invalid("no operation is given"));
            }
            if let Some(response) = request.confirm_undo(&operations)? {
                return Ok(response);
            }
            let mut undone = Vec::new();
            for id in operations.iter().rev() {
                match request.with_logs(|logs| logs.undo(Some(id))) {
                    Ok(report) => undone.push(report.undo),
                    // A use case may request an id for an operation that changes nothing.
                    Err(error) if error.error.code == Code::OperationNotFound && 1 < operations.len() => {}
                    Err(error) if error.error.code == Code::Conflict => {
                        return Err(PageError::new(
                            Code::Conflict,
                            "this change was not undone, because a later change builds on it",
                            "undo the later change first, or restore a former version in the history of the memory",
                        ));
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(request.redirect_after(request.form.get("next"), &undone))
        })
        .await
}

impl WebRequest {
    /// Returns the page that names those of `operations` which other people made and the form does not confirm, if there are any.
    fn confirm_undo(&self, operations: &[&str]) -> Result<Option<Response>, PageError> {
        let confirmed: Vec<&str> = self
            .form
            .all("confirmed")
            .flat_map(|ids| ids.split(','))
            .collect();
        let others = self.web.config.host.other_principals();
        let mut rows = Vec::new();
        for id in operations {
            let found = self.with_logs(|logs| {
                OperationLogs {
                    others: &others,
                    ..logs
                }
                .find_of_other(id)
            });
            match found {
                Ok(Some(entry)) if !confirmed.contains(&entry.operation.id.as_str()) => {
                    rows.push(OperationRow::new(self, &entry)?);
                }
                Ok(_) => {}
                // A use case may request an id for an operation that changes nothing.
                Err(error) if error.error.code == Code::OperationNotFound => {}
                Err(error) => return Err(error),
            }
        }
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        if self.is_in_background() {
            return Err(PageError::new(
                Code::Conflict,
                format!(
                    "nothing was undone, because another person made this change: {}",
                    first.id
                ),
                "open it in Activity, where you can confirm its undo",
            ));
        }
        let page = ConfirmUndoPage {
            layout: self.layout("Undo a change of another person"),
            operations: rows,
            requested: operations.join(","),
            next: local_path(self.form.get("next")).to_owned(),
        };
        Ok(Some((StatusCode::CONFLICT, render(&page)).into_response()))
    }

    /// Returns the bar for the operations of `done`, which are separated by commas; `None` if none of them can be undone.
    ///
    /// An error hides the bar, since the page does not depend on it.
    pub(super) fn undo_bar(&self, done: &str) -> Option<UndoBar> {
        let ids: Vec<&str> = done.split(',').filter(|id| !id.is_empty()).collect();
        // A use case may request an id for an operation that changes nothing.
        let entries: Vec<LogEntry> = ids
            .iter()
            .filter_map(|id| self.with_logs(|logs| logs.find(id)).ok())
            .collect();
        let last = entries.last().filter(|entry| entry.undone_by.is_none())?;
        let operations = entries
            .iter()
            .map(|entry| entry.operation.id.as_str())
            .collect::<Vec<_>>()
            .join(",");
        let filed = filed_under(self, &entries);
        let mut is_undo = last.operation.verb == Verb::Undo;
        let (text, object) = match entries.as_slice() {
            [_] => {
                let object = ChangedObject::of(self, last, &few_changes(self, last).ok()?).ok()?;
                is_undo &= !object.is_redo;
                let text = filed.map_or_else(
                    || completed_action(last, &object),
                    |filed| format!("Filed under {filed}:"),
                );
                (text, Some(object.label))
            }
            several => {
                let text = filed.map_or_else(
                    || describe_several(several),
                    |filed| format!("{} items filed under {filed}", several.len()),
                );
                (text, None)
            }
        };
        Some(UndoBar {
            operations,
            text,
            object,
            is_undo,
        })
    }
}

/// Returns the categories under which these operations filed memories, as a list; `None` if one of them did something else.
fn filed_under(request: &WebRequest, entries: &[LogEntry]) -> Option<String> {
    let mut categories: Vec<Category> = Vec::new();
    for entry in entries {
        if !matches!(entry.operation.verb, Verb::Accept | Verb::Upgrade) {
            return None;
        }
        for change in few_changes(request, entry).ok()? {
            let former = change.before.and_then(|before| {
                request
                    .services
                    .history
                    .memory_in_trash(&before.trash?)
                    .ok()
            });
            if former.is_some_and(|former| former.phase == Phase::Organized) {
                return None;
            }
            match request.services.store.get(&change.id) {
                Ok(stored) if stored.memory.phase == Phase::Organized => {
                    categories.push(stored.memory.category);
                }
                // An accepted change or a merge also deletes the proposal.
                Err(StoreError::NotFound { .. }) => {}
                Ok(_) | Err(_) => return None,
            }
        }
    }
    categories.sort_unstable_by_key(|category| category.as_str());
    categories.dedup();
    let names: Vec<&str> = categories.into_iter().map(Category::as_str).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Returns the description of several operations for the bar. Each decides on one item, or changes one memory.
fn describe_several(entries: &[LogEntry]) -> String {
    let count = entries.len();
    let is_only = |verbs: &[Verb]| {
        entries
            .iter()
            .all(|entry| verbs.contains(&entry.operation.verb))
    };
    if is_only(&[Verb::Accept, Verb::Upgrade]) {
        format!("{count} items accepted")
    } else if is_only(&[Verb::Reject]) {
        format!("{count} proposals rejected")
    } else if is_only(&[Verb::Reject, Verb::Delete]) {
        format!("{count} items rejected or deleted")
    } else if is_only(&[Verb::Undo]) {
        format!("{count} changes undone")
    } else {
        format!("{count} changes made")
    }
}

/// Returns the description of an operation for the bar. That of an undo of one change names its effect.
fn completed_action(entry: &LogEntry, object: &ChangedObject) -> String {
    let verb = object.verb;
    let effect = match object.changes.as_slice() {
        _ if entry.operation.verb != Verb::Undo => return verb.to_owned(),
        [change] if change.after.is_none() && object.is_proposal => "withdrew the proposal",
        [change] if change.after.is_none() => "deleted",
        [change] if change.before.is_none() && object.is_proposal => "returned to the inbox",
        [change] if change.before.is_none() => "restored",
        _ => return verb.to_owned(),
    };
    format!("{verb}, which {effect}")
}
