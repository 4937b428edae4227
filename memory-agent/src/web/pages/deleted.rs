//! The list of deleted memories, which can be restored.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use memory_core::{MemoryId, StoreError, TrashedFile};
use serde_json::Value;

use crate::web::card::title;
use crate::web::error::{PageError, render};
use crate::web::html::Label;
use crate::web::layout::Layout;
use crate::web::operations::past_tense;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/memories/deleted", get(show))
}

/// Number of memories on the page.
const PAGE_SIZE: usize = 50;

#[derive(Template)]
#[template(path = "deleted.html")]
struct DeletedPage {
    layout: Layout,
    memories: Vec<DeletedMemory>,
    has_more: bool,
    /// Time after which the daemon purges a file, if it does.
    retention: Option<Label>,
}

struct DeletedMemory {
    id: MemoryId,
    title: Label,
    action: &'static str,
    by: Label,
    at: TimeLabel,
    trash: String,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let (memories, has_more) = deleted_memories(request)?;
            let retention = retention(&request.web.config.host.settings()?);
            Ok(render(&DeletedPage { layout: request.layout("Deleted memories"), memories, has_more, retention }))
        })
        .await
}

/// Returns the value of `storage.trash_retention`; `None` if nothing is purged.
fn retention(settings: &Value) -> Option<Label> {
    let mut settings = settings["settings"].as_array()?.iter();
    let setting = settings.find(|setting| setting["key"] == "storage.trash_retention")?;
    setting["value"].as_str().map(Label::new)
}

/// Returns the memories that were deleted last, and whether there are more.
fn deleted_memories(request: &WebRequest) -> Result<(Vec<DeletedMemory>, bool), PageError> {
    let services = &request.services;
    let mut seen = std::collections::HashSet::new();
    let mut memories = Vec::new();
    for trashed in services.history.trashed() {
        let TrashedFile { id, trash, operation, .. } = trashed?;
        // An older file of the same memory is a previous version.
        if !seen.insert(id) {
            continue;
        }
        match services.store.get(&id) {
            Err(StoreError::NotFound { .. }) => {}
            Ok(_) | Err(_) => continue,
        }
        if memories.len() == PAGE_SIZE {
            return Ok((memories, true));
        }
        let title = services.history.memory_in_trash(&trash).map_or_else(|_| Label::new("(unreadable)"), |memory| title(&memory));
        memories.push(DeletedMemory {
            id,
            title,
            action: past_tense(operation.verb),
            by: Label::cut(if operation.by.is_empty() { "unknown" } else { &operation.by }, 60),
            at: TimeLabel::exact(request.local(operation.at)),
            trash,
        });
    }
    Ok((memories, false))
}
