//! Fuzz targets: each function checks the properties of a parser of untrusted input on the bytes of one input.
//!
//! `fuzz_targets` has a program for each function, which libFuzzer calls; the tests call each function with its corpus.
#![expect(
    clippy::missing_panics_doc,
    reason = "each target panics if a property is violated"
)]

mod agent_sessions;
mod bank;
mod clock;
mod encoder;
mod export;
mod fixtures;
mod front_matter;
mod import;
mod jq;
mod json_rpc;
mod logseq;
mod markdown_notes;
mod mcp;
mod notebooks;
mod obsidian;
mod query;
mod records;
mod sealed;
mod sources;
mod sse;
mod time;
mod wikilinks;

pub use agent_sessions::agent_sessions;
pub use bank::bank;
pub use clock::clock;
pub use encoder::encoder;
pub use export::export;
pub use front_matter::front_matter;
pub use import::import;
pub use jq::{jq, serve_jq_child};
pub use json_rpc::json_rpc;
pub use logseq::logseq;
pub use markdown_notes::markdown_notes;
pub use mcp::mcp;
pub use notebooks::notebooks;
pub use obsidian::obsidian;
pub use query::query;
pub use records::records;
pub use sealed::sealed;
pub use sse::sse;
pub use time::time;
pub use wikilinks::wikilinks;
