//! Models: in a folder on this machine, and behind an address.

mod chat;
mod damage;
mod embedder;
mod real;
mod reference;
mod remote;
mod reranker;
mod server;
mod tiny_bert;
