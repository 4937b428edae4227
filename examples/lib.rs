//! Programs that embed the crates; none is needed to build or use `memory`.
//!
//! `agent_loop.rs` is an agent that remembers, and `topics/agent_loop.sh` is the same as a script; `instances/` holds more scripts.
//! `classify.rs` fits the weights that memories are classified by, on the notes in `classify/`; `vault/` is the sample vault of
//! `memory tour`.

#![forbid(unsafe_code)]
