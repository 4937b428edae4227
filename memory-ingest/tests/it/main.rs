//! Tests of the adapters with real files and with unusual ones.

mod claude;
mod front_matter;
mod inputs;
mod logseq;
mod obsidian;
mod sandbox;
mod source_names;
