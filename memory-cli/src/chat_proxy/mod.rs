//! Construction of the chat proxy: a language model server with memory.
//!
//! A worker processes the jobs of the queue after an exchange is over, with the model of the settings, or else
//! with the model of the last request, whose key is held in memory only. After a start, remaining jobs wait for
//! the next request.

mod builder;
mod log;
mod models;
mod principals;
mod setup;
mod worker;

pub use builder::{Proxy, ProxyBuilder};
pub(crate) use builder::{ProxyServer, open_home_later};
pub(crate) use log::{BackgroundWriter, RequestLineLogger};
pub(crate) use setup::{OpenedProxy, Watcher, open};
pub(crate) use worker::Workers;
