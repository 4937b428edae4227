//! The codec, from outside.

mod decoding;
mod encoding;
mod inputs;
mod memories;
mod rewriting;

use chrono::{DateTime, Utc};
use memory_core::{Memory, Problem};

use super::decode;

/// When the files of these tests were last changed.
pub(super) fn modified() -> DateTime<Utc> {
    "2020-02-02T02:02:02Z".parse().unwrap()
}

/// Reads a file that is in order.
#[track_caller]
pub(super) fn read(path: &str, bytes: impl AsRef<[u8]>) -> Memory {
    let parsed = decode(path, bytes.as_ref(), modified());
    assert_eq!(parsed.problem, None);
    parsed.memory
}

/// Reads a file with something wrong, and returns the content and what is wrong.
#[track_caller]
pub(super) fn damaged(bytes: impl AsRef<[u8]>) -> (Memory, Problem) {
    let parsed = decode("note.md", bytes.as_ref(), modified());
    (parsed.memory, parsed.problem.expect("something is wrong"))
}
