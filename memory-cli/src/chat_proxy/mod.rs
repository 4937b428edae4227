//! A language model that remembers, put together.

mod arguments;
mod model;
mod open;
mod watcher;
mod worker;

pub(crate) use arguments::ProxyArgs;
pub(crate) use open::{Opened, open};
pub(crate) use watcher::Watcher;
pub(crate) use worker::Worker;
