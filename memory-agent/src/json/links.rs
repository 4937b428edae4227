//! The JSON of links between memories.

use memory_core::{InboxTtl, LinkReport, MemoryId, StoredMemory};
use serde::Serialize;
use serde_json::Value;

use super::value;

#[derive(Serialize)]
struct LinkReportShape<'a> {
    resolved: u64,
    unresolved: u64,
    updated: u64,
    unresolved_links: Vec<WikilinkShape<'a>>,
}

#[derive(Serialize)]
struct WikilinkShape<'a> {
    id: String,
    link: &'a str,
}

/// Returns the JSON of resolving all wikilinks.
///
/// `{resolved, unresolved, updated, unresolved_links: [{id, link}]}`; `updated` is a number of memories.
pub fn link_report(report: &LinkReport) -> Value {
    let LinkReport { resolved, unresolved, updated, unresolved_links } = report;
    let links = unresolved_links.iter().map(|link| WikilinkShape { id: link.from.to_string(), link: &link.target });
    value(&LinkReportShape { resolved: *resolved, unresolved: *unresolved, updated: *updated, unresolved_links: links.collect() })
}

/// Returns the JSON of two unlinked memories: `{memories, wikilinks?: [{id, link}]}`.
///
/// `wikilinks` are those in the texts, which still link the two memories.
pub fn unlink_result(memories: [&StoredMemory; 2], wikilinks: &[(MemoryId, String)], inbox_ttl: InboxTtl) -> Value {
    let mut shape = super::memories(memories, inbox_ttl);
    if !wikilinks.is_empty() {
        let links: Vec<_> = wikilinks.iter().map(|(id, link)| WikilinkShape { id: id.to_string(), link }).collect();
        shape["wikilinks"] = value(&links);
    }
    shape
}
