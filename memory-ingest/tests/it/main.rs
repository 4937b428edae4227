//! What the adapters make of real and of odd files.

mod claude;
mod front_matter;
mod inputs;
mod logseq;
mod obsidian;
mod sandbox;
mod small;
