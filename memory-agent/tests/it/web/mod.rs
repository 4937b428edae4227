//! The web page, tested with a byte-level client.

mod activity;
mod ask;
mod assistants;
mod crawl;
mod data;
mod forms;
mod graph;
mod inbox;
mod memories;
mod memory;
mod phone;
mod projects;
mod reminders;
mod security;
pub(crate) mod server;
mod settings;
mod suggestions;
mod today;
mod transfer;
mod write;
