//! The conversations: their summary, facts and turns.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use memory_core::conversation::{
    self, ConversationEntry, ConversationId, ConversationStore, Conversations, EntryChange,
    EntryId, EntryRole,
};
use memory_core::{Code, StoreError, Verb};

use crate::web::error::{PageError, render};
use crate::web::fields::encode;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::markdown::render_markdown;
use crate::web::pager::Pager;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

/// Number of conversations of a page.
const PAGE: usize = 50;

/// Number of turns of a page.
const TURNS: usize = 60;

/// Maximum number of facts that are listed.
const MAX_FACTS: usize = 500;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/conversations", get(show))
        .route("/conversations/{id}", get(show_one))
        .route("/conversations/{id}/delete", post(delete))
}

/// A conversation as a row.
struct ConversationRow {
    path: String,
    id: Label,
    turns: usize,
    facts: usize,
    has_summary: bool,
    last_used: TimeLabel,
}

#[derive(Template)]
#[template(path = "conversations.html")]
struct ConversationsPage {
    layout: Layout,
    search: String,
    rows: Vec<ConversationRow>,
    pager: Pager,
    problems: usize,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let search = request
                .query
                .text("search")
                .unwrap_or_default()
                .to_lowercase();
            let (mut all, mut problems) = (Vec::new(), 0);
            for store in request.web.config.host.conversations()? {
                let found = conversation::list(store.as_ref())?;
                problems += found.problems.len();
                all.extend(found.conversations);
            }
            all.retain(|one| one.id.as_str().to_lowercase().contains(&search));
            all.sort_by(|one, other| {
                other
                    .last_used
                    .cmp(&one.last_used)
                    .then_with(|| one.id.cmp(&other.id))
            });
            let page = Pager::page(request);
            let rows = all
                .iter()
                .skip(page * PAGE)
                .take(PAGE)
                .map(|one| ConversationRow {
                    path: format!("/conversations/{}", encode(one.id.as_str())),
                    id: Label::cut(one.id.as_str(), 80),
                    turns: one.turns,
                    facts: one.facts,
                    has_summary: one.has_summary,
                    last_used: TimeLabel::exact(request.local(one.last_used)),
                });
            let page = ConversationsPage {
                layout: request.layout("Conversations"),
                rows: rows.collect(),
                search: request.query.get("search").to_owned(),
                pager: Pager::new(request, page, PAGE, all.len() as u64),
                problems,
            };
            Ok(render(&page))
        })
        .await
}

/// An entry of a conversation.
struct ConversationEntryRow {
    id: String,
    role: &'static str,
    time: TimeLabel,
    text: SafeHtml,
    is_assistant: bool,
}

impl ConversationEntryRow {
    fn new(request: &WebRequest, entry: &ConversationEntry) -> Self {
        Self {
            id: entry.id.to_string(),
            role: match entry.role {
                EntryRole::User => "User",
                EntryRole::Assistant => "Assistant",
                EntryRole::Memory => "Fact",
                EntryRole::Summary => "Summary",
            },
            time: TimeLabel::exact(request.local(entry.created_at)),
            text: render_markdown(&entry.content, &|_| None),
            is_assistant: entry.role == EntryRole::Assistant,
        }
    }
}

#[derive(Template)]
#[template(path = "conversation.html")]
struct ConversationPage {
    layout: Layout,
    path: String,
    id: Label,
    summary: Option<SafeHtml>,
    facts: Vec<ConversationEntryRow>,
    more_facts: usize,
    turns: Vec<ConversationEntryRow>,
    total_turns: usize,
    pager: Pager,
    problems: Vec<Label>,
}

/// Returns the store that has entries of a conversation.
fn find(
    request: &WebRequest,
    id: &ConversationId,
) -> Result<Arc<dyn ConversationStore>, PageError> {
    let stores = request.web.config.host.conversations()?;
    for store in &stores {
        if store.conversations()?.contains(id) {
            return Ok(Arc::clone(store));
        }
    }
    Err(StoreError::ConversationNotFound {
        conversation: id.to_string(),
        place: stores
            .first()
            .map(|store| store.location())
            .unwrap_or_default(),
    }
    .into())
}

async fn show_one(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let id: ConversationId = id.parse()?;
            let contents = conversation::show(find(request, &id)?.as_ref(), &id)?;
            let page = Pager::page(request);
            // The latest turns are on the first page, each page in the order of time.
            let end = contents.turns.len().saturating_sub(page * TURNS);
            let start = end.saturating_sub(TURNS);
            let page = ConversationPage {
                layout: request.layout(id.as_str()),
                path: format!("/conversations/{}", encode(id.as_str())),
                id: Label::cut(id.as_str(), 120),
                summary: contents
                    .summary
                    .as_ref()
                    .map(|summary| render_markdown(&summary.content, &|_| None)),
                more_facts: contents.facts.len().saturating_sub(MAX_FACTS),
                facts: contents
                    .facts
                    .iter()
                    .rev()
                    .take(MAX_FACTS)
                    .map(|entry| ConversationEntryRow::new(request, entry))
                    .collect(),
                turns: contents.turns[start..end]
                    .iter()
                    .map(|entry| ConversationEntryRow::new(request, entry))
                    .collect(),
                total_turns: contents.turns.len(),
                pager: Pager::new(request, page, TURNS, contents.turns.len() as u64),
                problems: contents
                    .problems
                    .iter()
                    .map(|problem| Label::new(&format!("{}: {}", problem.path, problem.what)))
                    .collect(),
            };
            Ok(render(&page))
        })
        .await
}

/// Deletes a fact or a turn.
async fn delete(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let id: ConversationId = id.parse()?;
            let entry: EntryId = request.form.get("entry").parse()?;
            let store = find(request, &id)?;
            let contents = conversation::show(store.as_ref(), &id)?;
            if !contents
                .facts
                .iter()
                .chain(&contents.turns)
                .any(|own| own.id == entry)
            {
                return Err(PageError::new(
                    Code::MemoryNotFound,
                    "the entry does not exist any more",
                    "reload the conversation",
                ));
            }
            let conversations = Conversations {
                store,
                clock: Arc::clone(&request.services.clock),
                ids: Arc::clone(&request.services.ids),
                embedder: None,
                reranker: None,
                chat: None,
            };
            let change = EntryChange::Delete {
                id: entry,
                replaced_by: None,
            };
            conversation::change(
                &conversations,
                &id,
                &[change],
                Verb::Delete,
                &request.services.actor,
            )?;
            // Without its last entry, the conversation has no page.
            let is_last =
                contents.facts.len() + contents.turns.len() == 1 && contents.summary.is_none();
            let path = if is_last {
                "/conversations".to_owned()
            } else {
                format!("/conversations/{}", encode(id.as_str()))
            };
            Ok(request.redirect(&path))
        })
        .await
}
