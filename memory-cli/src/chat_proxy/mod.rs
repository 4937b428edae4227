//! Construction of the chat proxy: a language model server with memory.

mod arguments;
mod background_writer;
mod base_url;
mod embedder;
mod log_level;
mod model;
mod open;
mod watcher;
mod worker;

pub(crate) use arguments::ProxyArgs;
pub(crate) use background_writer::BackgroundWriter;
pub(crate) use log_level::{LogLevel, RequestLines};
pub(crate) use open::{Opened, open};
pub(crate) use watcher::Watcher;
pub(crate) use worker::Worker;
