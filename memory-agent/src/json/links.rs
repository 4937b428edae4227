//! What following all wikilinks led to, in JSON.

use memory_core::LinksResolved;
use serde::Serialize;
use serde_json::Value;

use super::value;

#[derive(Serialize)]
struct Followed {
    resolved: u64,
    unresolved: u64,
    updated: u64,
}

/// Writes what following all wikilinks led to: `{resolved, unresolved, updated}`; `updated` counts memories.
pub fn links_resolved(report: &LinksResolved) -> Value {
    let LinksResolved { resolved, unresolved, updated } = *report;
    value(&Followed { resolved, unresolved, updated })
}
