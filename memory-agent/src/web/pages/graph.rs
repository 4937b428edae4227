//! The graph of what surrounds a memory or a tag.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use memory_core::{
    Filter, GraphNode, GraphSubject, HomeSection, ListOrder, NeighbourhoodCentre, PageRequest,
    Query, facets, list, neighbourhood,
};

use crate::web::charts::{graph_path, page_path, render_graph};
use crate::web::error::render;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::memory_choice::{MemoryCandidate, find_candidates, memory_reference};
use crate::web::request::WebRequest;
use crate::web::state::WebState;

/// Number of memories and of tags to begin with.
const BEGINNINGS: usize = 24;

/// Maximum number of characters of a headline.
const MAX_HEADLINE: usize = 100;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/graph", get(show))
}

/// A node in the list below the graph.
struct NodeRow {
    name: Label,
    graph: String,
    page: String,
    distance: usize,
}

impl NodeRow {
    fn new(node: &GraphNode) -> Self {
        let name = match &node.subject {
            GraphSubject::Memory { headline, .. } => Label::cut(headline, MAX_HEADLINE),
            GraphSubject::Tag(tag) => Label::cut(&format!("#{tag}"), MAX_HEADLINE),
        };
        Self {
            name,
            graph: graph_path(&node.subject),
            page: page_path(&node.subject),
            distance: node.distance,
        }
    }
}

#[derive(Template)]
#[template(path = "graph.html")]
struct GraphPage {
    layout: Layout,
    centre: Option<NodeRow>,
    graph: SafeHtml,
    nodes: Vec<NodeRow>,
    relations: usize,
    is_cut: bool,
    /// The words with which the person searches a centre, and the memories that match them.
    words: String,
    candidates: Vec<MemoryCandidate>,
    memories: Vec<(String, Label)>,
    tags: Vec<(String, Label, u64)>,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let words = request.query.text("q").unwrap_or_default();
            let memory = request
                .query
                .text("memory")
                .or_else(|| memory_reference(words));
            let tag = request
                .query
                .text("tag")
                .or_else(|| words.strip_prefix('#'));
            let centre = match (memory, tag) {
                (Some(memory), _) => NeighbourhoodCentre::Memory(memory.to_owned()),
                (None, Some(tag)) => {
                    NeighbourhoodCentre::Tag(tag.trim_start_matches('#').to_owned())
                }
                (None, None) => return show_beginnings(request, words),
            };
            let found = neighbourhood(&request.services, &centre)?;
            let mut nodes = found.nodes.iter().map(NodeRow::new);
            let page = GraphPage {
                layout: request.layout("Graph"),
                centre: nodes.next(),
                graph: render_graph(&found),
                nodes: nodes.collect(),
                relations: found.edges.len(),
                is_cut: found.is_cut,
                words: String::new(),
                candidates: Vec::new(),
                memories: Vec::new(),
                tags: Vec::new(),
            };
            Ok(render(&page))
        })
        .await
}

/// Shows the memories that match `words`, the latest memories and the most frequent tags, each as a link to its graph.
fn show_beginnings(
    request: &WebRequest,
    words: &str,
) -> Result<Response, crate::web::error::PageError> {
    let notes = Filter {
        place: Some(HomeSection::Notes),
        ..Filter::default()
    };
    let slice = PageRequest {
        order: ListOrder::Updated,
        offset: 0,
        limit: Some(BEGINNINGS),
    };
    let latest = list(&request.services, &notes, &slice)?;
    let tags = facets(&request.services, &Query::new("").filter(notes))?.tags;
    let tag = |(tag, count): &(String, u64)| {
        (
            graph_path(&GraphSubject::Tag(tag.clone())),
            Label::cut(tag, 60),
            *count,
        )
    };
    let page = GraphPage {
        layout: request.layout("Graph"),
        centre: None,
        graph: SafeHtml::default(),
        nodes: Vec::new(),
        relations: 0,
        is_cut: false,
        words: words.to_owned(),
        candidates: if words.is_empty() {
            Vec::new()
        } else {
            find_candidates(request, words)?
        },
        memories: latest
            .memories
            .iter()
            .map(|stored| {
                (
                    format!("/graph?memory={}", stored.memory.id),
                    Label::cut(stored.memory.headline(), MAX_HEADLINE),
                )
            })
            .collect(),
        tags: tags
            .iter()
            .filter(|(tag, _)| matches_words(tag, words))
            .take(BEGINNINGS)
            .map(tag)
            .collect(),
    };
    Ok(render(&page))
}

/// Returns whether a tag contains one of `words`. Without words, each tag does.
fn matches_words(tag: &str, words: &str) -> bool {
    let (tag, words) = (tag.to_lowercase(), words.to_lowercase());
    words.is_empty() || words.split_whitespace().any(|word| tag.contains(word))
}
