//! What became of one memory, in JSON.

use memory_core::{Stored, Written};
use serde::Serialize;
use serde_json::Value;

use super::value;

#[derive(Serialize)]
struct Receipt<'a> {
    id: String,
    path: &'a str,
    created: bool,
}

#[derive(Serialize)]
struct Deleted<'a> {
    id: String,
    path: &'a str,
}

/// Writes what became of a draft: `{id, path, created}`.
pub fn written(written: &Written) -> Value {
    value(&Receipt { id: written.id.to_string(), path: &written.path, created: written.created })
}

/// Writes which memory was deleted and where it was: `{id, path}`.
pub fn deleted(stored: &Stored) -> Value {
    value(&Deleted { id: stored.memory.id.to_string(), path: &stored.path })
}
