//! The graph: how memories are connected.
//!
//! - Purpose: to see what there is and what belongs together, and to find a memory by its neighbours.
//! - First: the map of all memories in one window, with a circle for each category and the memories with the most links.
//! - Actions by frequency: open a group or a memory, enlarge and move the graph, open the page of the memory in its middle,
//!   search for a memory or a tag as the middle.
//!
//! The map depends on the change mark alone and is cached. The marks and labels of a graph are bounded, however many memories
//! there are.

use std::collections::BTreeSet;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use memory_core::{
    Category, Filter, GraphNode, GraphSubject, HomeSection, MapGroup, MapMemory, MemoryMap,
    NeighbourhoodCentre, Query, facets, neighbourhood,
};

use crate::web::charts::{
    graph_path, group_name, group_path, memory_name, memory_path, page_path, render_graph,
    render_legend, render_map,
};
use crate::web::error::{PageError, render};
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::memory_choice::{MemoryCandidate, find_candidates, memory_reference};
use crate::web::request::WebRequest;
use crate::web::state::WebState;

/// Number of tags to begin with.
const BEGINNINGS: usize = 24;

/// Number of memories of a group in the list below the map.
const LISTED: usize = 3;

/// Maximum number of characters of a headline.
const MAX_HEADLINE: usize = 60;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/graph", get(show))
}

/// A node in the list below the graph.
struct NodeRow {
    name: Label,
    graph: String,
    page: String,
    kind: &'static str,
    distance: usize,
}

impl NodeRow {
    fn new(node: &GraphNode) -> Self {
        let (name, kind) = match &node.subject {
            GraphSubject::Memory {
                headline, category, ..
            } => (Label::cut(headline, MAX_HEADLINE), category.as_str()),
            GraphSubject::Tag(tag) => (Label::cut(&format!("#{tag}"), MAX_HEADLINE), "tag"),
        };
        Self {
            name,
            graph: graph_path(&node.subject),
            page: page_path(&node.subject),
            kind,
            distance: node.distance,
        }
    }
}

/// A group in the list below the map, with the memories that have the most links.
struct GroupRow {
    name: Label,
    path: String,
    count: u64,
    memories: Vec<(String, Label)>,
}

impl GroupRow {
    fn new(group: &MapGroup, memories: &[&MapMemory], category: Option<Category>) -> Self {
        let memory = |memory: &&MapMemory| {
            let name = Label::cut(&memory_name(memory), MAX_HEADLINE);
            (memory_path(&memory.id), name)
        };
        Self {
            name: Label::cut(&group_name(&group.subject), MAX_HEADLINE),
            path: group_path(&group.subject, category),
            count: group.count,
            memories: memories.iter().take(LISTED).map(memory).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "graph.html")]
struct GraphPage {
    layout: Layout,
    graph: SafeHtml,
    legend: SafeHtml,
    /// The memory or the tag in the middle.
    centre: Option<NodeRow>,
    nodes: Vec<NodeRow>,
    relations: u64,
    is_cut: bool,
    /// The category of the map.
    category: Option<Category>,
    groups: Vec<GroupRow>,
    total: u64,
    shown: usize,
    /// The words with which the person searches a centre, and the memories that match them.
    words: String,
    candidates: Vec<MemoryCandidate>,
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
                (None, None) => return show_map(request, words),
            };
            show_neighbourhood(request, &centre)
        })
        .await
}

fn show_neighbourhood(
    request: &WebRequest,
    centre: &NeighbourhoodCentre,
) -> Result<Response, PageError> {
    let found = neighbourhood(&request.services, centre)?;
    let categories: BTreeSet<Category> = found
        .nodes
        .iter()
        .filter_map(|node| match &node.subject {
            GraphSubject::Memory { category, .. } => Some(*category),
            GraphSubject::Tag(_) => None,
        })
        .collect();
    let mut nodes = found.nodes.iter().map(NodeRow::new);
    let page = GraphPage {
        layout: request.layout("Graph"),
        graph: render_graph(&found),
        legend: render_legend(categories),
        centre: nodes.next(),
        nodes: nodes.collect(),
        relations: found.edges.len() as u64,
        is_cut: found.is_cut,
        category: None,
        groups: Vec::new(),
        total: 0,
        shown: 0,
        words: String::new(),
        candidates: Vec::new(),
        tags: Vec::new(),
    };
    Ok(render(&page))
}

/// Shows the map of all memories or of a category, and the memories that match `words`.
fn show_map(request: &WebRequest, words: &str) -> Result<Response, PageError> {
    let category = request
        .query
        .text("category")
        .map(str::parse::<Category>)
        .transpose()?;
    let Some(map) = request.memory_map(category)? else {
        return Ok(request.page_in_progress("Graph", "The map is being drawn"));
    };
    let categories: BTreeSet<Category> = map.memories.iter().map(|own| own.category).collect();
    let page = GraphPage {
        layout: request.layout("Graph"),
        graph: render_map(&map, category),
        legend: render_legend(categories),
        centre: None,
        nodes: Vec::new(),
        relations: map.links,
        is_cut: false,
        category,
        groups: group_rows(&map, category),
        total: map.total,
        shown: map.memories.len(),
        words: words.to_owned(),
        candidates: if words.is_empty() {
            Vec::new()
        } else {
            find_candidates(request, words)?
        },
        tags: frequent_tags(request, category, words)?,
    };
    Ok(render(&page))
}

fn group_rows(map: &MemoryMap, category: Option<Category>) -> Vec<GroupRow> {
    let mut members = vec![Vec::new(); map.groups.len()];
    for memory in &map.memories {
        members[memory.group].push(memory);
    }
    map.groups
        .iter()
        .zip(members)
        .map(|(group, members)| GroupRow::new(group, &members, category))
        .collect()
}

/// Returns the tags with the most memories that contain one of `words`, each as the path of its graph, its name and their number.
fn frequent_tags(
    request: &WebRequest,
    category: Option<Category>,
    words: &str,
) -> Result<Vec<(String, Label, u64)>, PageError> {
    // The map of a category has its tags.
    if category.is_some() {
        return Ok(Vec::new());
    }
    let notes = Filter {
        place: Some(HomeSection::Notes),
        ..Filter::default()
    };
    let tags = facets(&request.services, &Query::new("").filter(notes))?.tags;
    let row = |(tag, count): (String, u64)| {
        let path = graph_path(&GraphSubject::Tag(tag.clone()));
        (path, Label::cut(&tag, 60), count)
    };
    let matching = tags
        .into_iter()
        .filter(|(tag, _)| matches_words(tag, words));
    Ok(matching.take(BEGINNINGS).map(row).collect())
}

/// Returns whether a tag contains one of `words`. Without words, each tag does.
fn matches_words(tag: &str, words: &str) -> bool {
    let (tag, words) = (tag.to_lowercase(), words.to_lowercase());
    words.is_empty() || words.split_whitespace().any(|word| tag.contains(word))
}
