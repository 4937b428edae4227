//! Construction of the chat proxy: a language model server with memory.
//!
//! A worker processes the jobs of the queue after an exchange is over, with the model of the settings, or else
//! with the model of the last request, whose key is held in memory only. After a start, remaining jobs wait for
//! the next request.

mod background_writer;
mod base_url;
mod builder;
mod embedder;
mod home;
mod last_chat_model;
mod request_line_logger;
mod setup;
mod watcher;
mod worker;

pub(crate) use background_writer::BackgroundWriter;
pub(crate) use builder::ProxyServer;
pub use builder::{Proxy, ProxyBuilder};
pub(crate) use home::open_home_later;
pub(crate) use request_line_logger::RequestLineLogger;
pub(crate) use setup::{OpenedProxy, open};
pub(crate) use watcher::Watcher;
pub(crate) use worker::Worker;
