//! Tests of the file format through its public functions.

mod decoding;
mod encoding;
mod inputs;
mod memories;
mod rewriting;

use chrono::{DateTime, Utc};
use memory_core::{Memory, Problem};

use super::decode;

/// The modification time of the files in these tests.
pub(super) fn modified() -> DateTime<Utc> {
    "2020-02-02T02:02:02Z".parse().unwrap()
}

/// Parses a valid file.
#[track_caller]
pub(super) fn read(path: &str, bytes: impl AsRef<[u8]>) -> Memory {
    let parsed = decode(path, bytes.as_ref(), modified());
    assert_eq!(parsed.problem, None);
    parsed.memory
}

#[test]
fn fields_of_other_programs_are_read_as_text() {
    let text = "---\ncategory: people\ncssclass: wide\nweights: [1, 2]\naddress:\n  city: Oslo\nempty:\n---\nAnna\n";
    let fields = decode("note.md", text.as_bytes(), modified()).other_fields;
    let expected = [
        ("cssclass", "wide"),
        ("weights", "1, 2"),
        ("address", "city: Oslo"),
        ("empty", ""),
    ];
    assert_eq!(
        fields,
        expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
}

/// Parses an invalid file, and returns the memory and the problem.
#[track_caller]
pub(super) fn damaged(bytes: impl AsRef<[u8]>) -> (Memory, Problem) {
    let parsed = decode("note.md", bytes.as_ref(), modified());
    (parsed.memory, parsed.problem.expect("something is wrong"))
}
