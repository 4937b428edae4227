//! Construction of the chat proxy: a language model server with memory.
//!
//! A worker processes the jobs of the queue after an exchange is over, with the model of the settings, or else
//! with the model of the last request, whose key is held in memory only. After a start, remaining jobs wait for
//! the next request.

mod builder;
mod home;
mod log;
mod models;
mod setup;
mod watcher;
mod worker;

pub(crate) use builder::ProxyServer;
pub use builder::{Proxy, ProxyBuilder};
pub(crate) use home::open_home_later;
pub(crate) use log::{BackgroundWriter, RequestLineLogger};
pub(crate) use setup::{OpenedProxy, open};
pub(crate) use watcher::Watcher;
pub(crate) use worker::Worker;
