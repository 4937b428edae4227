//! The lists of deleted memories and of proposals that were not accepted, which can be restored.

use std::collections::HashSet;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use memory_core::{Memory, MemoryId, ProposalEnd, StoreError, TrashedFile, Verb, proposal_end};

use crate::web::card::title;
use crate::web::changed_object::past_tense;
use crate::web::error::{PageError, render};
use crate::web::html::Label;
use crate::web::layout::Layout;
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
    /// The proposals that were rejected or withdrawn.
    proposals: Vec<DeletedMemory>,
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
        .respond(|request| Ok(render(&list_deleted(request)?)))
        .await
}

/// Returns the page with the memories and proposals that moved to the trash last.
///
/// An accepted proposal had its effect, so that it is not listed.
fn list_deleted(request: &WebRequest) -> Result<DeletedPage, PageError> {
    let services = &request.services;
    let settings = request.web.config.host.settings();
    let mut page = DeletedPage {
        layout: request.layout("Deleted memories"),
        memories: Vec::new(),
        proposals: Vec::new(),
        has_more: false,
        retention: settings.ok().and_then(|settings| {
            let retention = settings.value("storage.trash_retention")?;
            Some(Label::new(retention))
        }),
    };
    let mut seen = HashSet::new();
    for trashed in services.history.trashed() {
        let TrashedFile {
            id,
            trash,
            operation,
            ..
        } = trashed?;
        // An older file of the same memory is a previous version.
        if !seen.insert(id) {
            continue;
        }
        match services.store.get(&id) {
            Err(StoreError::NotFound { .. }) => {}
            Ok(_) | Err(_) => continue,
        }
        if page.memories.len() + page.proposals.len() == PAGE_SIZE {
            page.has_more = true;
            break;
        }
        let former = services.history.memory_in_trash(&trash).ok();
        let is_proposal = former.as_ref().is_some_and(Memory::is_proposal);
        let (list, action) = match if is_proposal {
            proposal_end(services, &id)?
        } else {
            None
        } {
            Some(ProposalEnd::Accepted) => continue,
            Some(ProposalEnd::Rejected) => (&mut page.proposals, "Rejected"),
            Some(ProposalEnd::Withdrawn) => (&mut page.proposals, "Withdrawn"),
            // An accepted deletion, or a merged note.
            None if operation.verb == Verb::Accept => {
                (&mut page.memories, "Removed by a decision in the inbox")
            }
            None => (&mut page.memories, past_tense(operation.verb)),
        };
        let title = former.map_or_else(|| Label::new("(unreadable)"), |memory| title(&memory));
        let by = Label::cut(
            if operation.by.is_empty() {
                "unknown"
            } else {
                &operation.by
            },
            60,
        );
        list.push(DeletedMemory {
            id,
            title,
            action,
            by,
            at: TimeLabel::exact(request.local(operation.at)),
            trash,
        });
    }
    Ok(page)
}
