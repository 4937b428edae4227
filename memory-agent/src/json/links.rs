//! The JSON of links between memories.

use memory_core::{InboxTtl, LinksResolved, MemoryId, Stored};
use serde::Serialize;
use serde_json::Value;

use super::value;

#[derive(Serialize)]
struct Followed<'a> {
    resolved: u64,
    unresolved: u64,
    updated: u64,
    unresolved_links: Vec<LinkShape<'a>>,
}

#[derive(Serialize)]
struct LinkShape<'a> {
    id: String,
    link: &'a str,
}

/// Returns the JSON of resolving all wikilinks.
///
/// `{resolved, unresolved, updated, unresolved_links: [{id, link}]}`; `updated` is a number of memories.
pub fn links_resolved(report: &LinksResolved) -> Value {
    let LinksResolved { resolved, unresolved, updated, unresolved_links } = report;
    let links = unresolved_links.iter().map(|link| LinkShape { id: link.from.to_string(), link: &link.target });
    value(&Followed { resolved: *resolved, unresolved: *unresolved, updated: *updated, unresolved_links: links.collect() })
}

/// Returns the JSON of two unlinked memories: `{memories, wikilinks?: [{id, link}]}`.
///
/// `wikilinks` are those in the texts, which still link the two memories.
pub fn unlinked(memories: [&Stored; 2], wikilinks: &[(MemoryId, String)], inbox_ttl: InboxTtl) -> Value {
    let mut shape = super::memories(memories, inbox_ttl);
    if !wikilinks.is_empty() {
        let links: Vec<_> = wikilinks.iter().map(|(id, link)| LinkShape { id: id.to_string(), link }).collect();
        shape["wikilinks"] = value(&links);
    }
    shape
}
