//! Programs that embed the crates; none is needed to build or use `memory`.
//!
//! `classify.rs` fits the weights that memories are classified by, on the notes in `classify/`; `vault/` is the sample vault of
//! `memory tour`.

#![forbid(unsafe_code)]
