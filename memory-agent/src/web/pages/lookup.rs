//! Parts of pages that the script loads: the preview of a link to a memory, similar memories, and those of the command palette.
//!
//! Purpose: a person sees what a link leads to and what else is about the same without leaving the page, and opens a memory by some of
//! its words. The first thing they see is the title, then the first lines. The only action is to open the memory.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use memory_core::{MemoryStoreExt, NeighbourRelation, Query, Services, search};

use crate::web::card::{MemoryCard, memory_path, title};
use crate::web::error::render;
use crate::web::html::Label;
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;

/// Number of memories that the command palette lists.
const MAX_FOUND: usize = 6;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/find", get(find))
        .route("/memories/{id}/preview", get(preview))
        .route("/memories/{id}/similar", get(similar))
}

#[derive(Template)]
#[template(path = "found.html")]
struct FoundPart {
    cards: Vec<MemoryCard>,
}

/// Finds memories by the words of the field `q`.
async fn find(request: WebRequest) -> Response {
    request
        .respond(|request| {
            // The list is shown while the person types.
            let services = Services {
                embedder: None,
                reranking: None,
                ..request.services.clone()
            };
            let query = Query::new(request.query.get("q")).limit(MAX_FOUND);
            let cards = search(&services, &query)?
                .hits
                .iter()
                .map(|hit| MemoryCard::new(request, &hit.stored))
                .collect();
            Ok(render(&FoundPart { cards }))
        })
        .await
}

#[derive(Template)]
#[template(path = "preview.html")]
struct PreviewPart {
    card: MemoryCard,
}

/// Shows the start of a memory. This does not count as a use.
async fn preview(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let stored = request.services.store.get_by(&id)?;
            Ok(render(&PreviewPart {
                card: MemoryCard::new(request, &stored),
            }))
        })
        .await
}

#[derive(Template)]
#[template(path = "similar.html")]
struct SimilarPage {
    layout: Layout,
    path: String,
    title: Label,
    /// The similar memories, each with what it is to this one.
    rows: Vec<(&'static str, MemoryCard)>,
}

/// Lists the memories that have similar words, or that the memory updates, contradicts or repeats.
async fn similar(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let services = &request.services;
            let stored = services.store.get_by(&id)?;
            let mut rows = Vec::new();
            for neighbour in services.neighbours(&stored.memory, None)? {
                let relation = match neighbour.relation {
                    NeighbourRelation::Updates => "one of both updates the other",
                    NeighbourRelation::Contradicts => "may contradict it",
                    NeighbourRelation::Duplicate => "says the same",
                    NeighbourRelation::Related => "similar",
                };
                let other = services.store.get(&neighbour.id)?;
                rows.push((relation, MemoryCard::new(request, &other)));
            }
            Ok(render(&SimilarPage {
                layout: request.layout("Similar memories"),
                path: memory_path(&stored.memory),
                title: title(&stored.memory),
                rows,
            }))
        })
        .await
}
