//! Example programs that embed the crates; `memory` itself does not need them.
//!
//! `hello.rs` writes and searches, `custom_tool.rs` adds a tool to those of an agent, and `custom_store.rs` wraps a store.
//! `reminders.rs`, `vault_ingest.rs`, `dream_dry_run.rs` and `bank_jq.rs` show one use case each. `daemon.rs` runs the daemon with a
//! custom tool, and `proxy.rs` the chat proxy. `chat_loop.rs` is a chat that stores its messages, `agent_loop.rs` an agent with tools,
//! and `topics/agent_loop.sh` is the same as a shell script; `instances/` contains more scripts. `classify.rs` trains the
//! weights of the category classifier on the notes in `classify/`.

#![forbid(unsafe_code)]

mod chat_client;

pub use chat_client::ChatClient;
