//! The conversations: their summary, facts and turns.

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use memory_core::conversation::{
    self, ConversationEntry, ConversationId, ConversationStore, ConversationSummary, Conversations,
    EntryChange, EntryId, EntryRole,
};
use memory_core::text::counted;
use memory_core::{Code, StoreError, Verb};

use crate::web::collection::{
    ActionButton, Cell, CollectionPage, EntryList, Message, NoParameters, PagePart, change, show,
};
use crate::web::error::PageError;
use crate::web::fields::encode;
use crate::web::html::Label;
use crate::web::markdown::render_markdown;
use crate::web::pager::Pager;
use crate::web::request::WebRequest;
use crate::web::state::WebState;

/// Number of turns of a page.
const TURNS: usize = 60;

/// Maximum number of facts that are listed.
const MAX_FACTS: usize = 500;

const CONVERSATIONS: EntryList = EntryList {
    columns: &["Conversation", "Facts", "Turns", "Summary", "Last used"],
    search: "Name of a conversation",
    orders: &[
        ("used", "last used", 4),
        ("name", "name", 0),
        ("turns", "most turns", 2),
        ("facts", "most facts", 1),
    ],
    empty: (
        "No conversations",
        "They appear here when an application uses the chat proxy.",
    ),
};

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/conversations", show(show_conversations))
        .route("/conversations/{id}", show(show_conversation))
        .route("/conversations/{id}/delete", change(delete))
}

fn path_of(id: &ConversationId) -> String {
    format!("/conversations/{}", encode(id.as_str()))
}

fn show_conversations(request: &WebRequest, _: &NoParameters) -> Result<Response, PageError> {
    let about = "Dialogues with language models through the chat proxy, and the facts that were derived from them.";
    let mut page = CollectionPage::new(request, "Conversations", about);
    let (mut all, mut problems) = (Vec::new(), 0);
    for store in request.web.config.host.conversations()? {
        let found = conversation::list(store.as_ref())?;
        problems += found.problems.len() as u64;
        all.extend(found.conversations);
    }
    if problems != 0 {
        let files = counted(problems, "file");
        page.note(format!(
            "{files} cannot be read. The page Health lists defects."
        ));
    }
    let row = |one: ConversationSummary| {
        let summary = if one.has_summary { "yes" } else { "no" };
        let cells = vec![
            Cell::Number(one.facts as u64),
            Cell::Number(one.turns as u64),
            Cell::Text(summary.to_owned()),
            Cell::Time(one.last_used),
        ];
        (one.id.to_string(), Some(path_of(&one.id)), cells)
    };
    page.list(request, all.into_iter().map(row).collect(), &CONVERSATIONS);
    Ok(page.respond())
}

fn message(request: &WebRequest, path: &str, entry: &ConversationEntry) -> Message {
    Message {
        author: match entry.role {
            EntryRole::User => Some(Label::new("User")),
            EntryRole::Assistant => Some(Label::new("Assistant")),
            EntryRole::Memory | EntryRole::Summary => None,
        },
        time: Some(request.exact(entry.created_at)),
        text: render_markdown(&entry.content, &|_| None),
        is_assistant: entry.role == EntryRole::Assistant,
        delete: (entry.role == EntryRole::Memory).then(|| ActionButton {
            label: "Delete this fact",
            path: format!("{path}/delete"),
            field: Some(("entry", entry.id.to_string())),
        }),
    }
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
    let first = stores.first().map(|store| store.location());
    Err(StoreError::ConversationNotFound {
        conversation: id.to_string(),
        place: first.unwrap_or_default(),
    }
    .into())
}

fn show_conversation(request: &WebRequest, id: &str) -> Result<Response, PageError> {
    let id: ConversationId = id.parse()?;
    let contents = conversation::show(find(request, &id)?.as_ref(), &id)?;
    let (facts, turns, path) = (&contents.facts, &contents.turns, path_of(&id));
    let mut page =
        CollectionPage::new(request, id.as_str(), "").below("Conversations", "/conversations");
    let problems = contents.problems.iter();
    page.unreadable(
        "Files that cannot be read:",
        problems.map(|problem| (problem.path.as_str(), problem.what.as_str())),
    );
    if let Some(summary) = &contents.summary {
        page.push(PagePart::Heading("Summary"));
        page.push(PagePart::Text(render_markdown(&summary.content, &|_| None)));
    }
    let message = |entry: &Arc<ConversationEntry>| message(request, &path, entry);
    page.push(PagePart::Heading("Facts"));
    page.note(match facts.len() {
        0 => "No facts were derived from it.".to_owned(),
        count if MAX_FACTS < count => format!("The last {MAX_FACTS} of {count} facts"),
        count => counted(count as u64, "fact"),
    });
    let latest = facts.iter().rev().take(MAX_FACTS);
    page.push(PagePart::Messages(latest.map(message).collect()));
    // The latest turns are on the first page, each page in the order of time.
    let number = Pager::page(request);
    let end = turns.len().saturating_sub(number * TURNS);
    let shown = &turns[end.saturating_sub(TURNS)..end];
    page.push(PagePart::Heading("Turns"));
    page.note(counted(turns.len() as u64, "turn"));
    page.push(PagePart::Messages(shown.iter().map(message).collect()));
    let pager = Pager::new(request, number, TURNS, turns.len() as u64);
    page.push(PagePart::Pager(pager));
    Ok(page.respond())
}

/// Deletes a fact or a turn.
fn delete(request: &WebRequest, id: &str) -> Result<Response, PageError> {
    let id: ConversationId = id.parse()?;
    let entry: EntryId = request.form.get("entry").parse()?;
    let store = find(request, &id)?;
    let contents = conversation::show(store.as_ref(), &id)?;
    let (facts, turns) = (&contents.facts, &contents.turns);
    if !facts.iter().chain(turns).any(|own| own.id == entry) {
        let message = "the entry does not exist any more";
        return Err(PageError::new(
            Code::MemoryNotFound,
            message,
            "reload the conversation",
        ));
    }
    let services = &request.services;
    let conversations = Conversations {
        store,
        clock: Arc::clone(&services.clock),
        ids: Arc::clone(&services.ids),
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
        &services.actor,
    )?;
    // Without its last entry, the conversation has no page.
    let is_last = facts.len() + turns.len() == 1 && contents.summary.is_none();
    let path = if is_last {
        "/conversations".to_owned()
    } else {
        path_of(&id)
    };
    Ok(request.redirect(&path))
}
