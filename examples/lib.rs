//! Programs that embed the crates; none is needed to build or use `memory`.
//!
//! So far there is only data: `vault/`, the sample vault of `memory tour`.

#![forbid(unsafe_code)]
