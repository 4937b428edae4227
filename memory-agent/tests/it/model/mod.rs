//! Tests of models in a local folder and behind an address.

mod chat;
mod damage;
mod embedder;
mod real;
mod reference;
mod remote;
mod reranker;
mod server;
mod static_table;
mod tiny_bert;
mod xlm_r;
