//! The web page, tested with a byte-level client.

mod activity;
mod crawl;
mod data;
mod forms;
mod graph;
mod inbox;
mod memories;
mod memory;
mod reminders;
mod security;
pub(crate) mod server;
mod write;
