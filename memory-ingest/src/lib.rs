//! Adapters for importing notes of other programs, one per source.
//!
//! An adapter reads the files of another program and yields [`memory_core::SourceItem`]s; it never writes. [`open`]
//! returns the adapter of a source, and [`memory_core::ingest`] imports its findings.
//!
//! | source | reads | default path |
//! |---|---|---|
//! | [`Claude`] | `CLAUDE.md`, rules, sub-agents and their memory, auto memory of projects | `~/.claude` |
//! | [`CarAgent`] | every Markdown file | `~/.car-agent` |
//! | [`Fingersaver`] | the newest messages of `chat.md` | `~/.fingersaver` |
//! | [`Logseq`] | pages and journals, Markdown and Org | `~/logseq` |
//! | [`Obsidian`] | every note of the vault | `~/my-vault` |

#![forbid(unsafe_code)]

mod car_agent;
mod claude;
mod fingersaver;
mod folder;
mod front_matter;
mod logseq;
mod note;
mod obsidian;
mod source_name;
mod source_text;
mod truncation;
mod yaml;

pub use car_agent::CarAgent;
pub use claude::Claude;
pub use fingersaver::Fingersaver;
pub use logseq::Logseq;
pub use obsidian::Obsidian;
pub use source_name::{SourceName, SourceOptions, open};
