//! Example programs that embed the crates; `memory` itself does not need them.
//!
//! `hello.rs` writes and searches, `custom_tool.rs` adds a tool to those of an agent, and `custom_store.rs` wraps a store.
//! `reminders.rs`, `vault_ingest.rs`, `dream_dry_run.rs` and `bank_jq.rs` show one use case each. `agent_loop.rs` is an agent with a memory,
//! and `topics/agent_loop.sh` is the same as a shell script; `instances/` contains more scripts. `classify.rs` trains the weights of the category classifier on the notes in `classify/`. `vault/`
//! is the sample vault of `memory tour`.

#![forbid(unsafe_code)]
