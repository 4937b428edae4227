//! A language model that remembers, put together.

mod arguments;
mod model;
mod open;
mod worker;

pub(crate) use arguments::ProxyArgs;
pub(crate) use open::{Opened, open};
pub(crate) use worker::Worker;
