//! Tests of imports that end in the middle.

use std::path::Path;
use std::process::{Child, Stdio};

use memory_core::testing::wait_until;

use super::shapes::assert_healthy;
use crate::sandbox::Sandbox;

/// Number of rows of the imported table, several times the size of a batch.
const ROWS: usize = 5_000;

/// Returns the number of memories in the inbox.
fn memories(home: &Path) -> usize {
    std::fs::read_dir(home.join("categories/inbox")).map_or(0, Iterator::count)
}

/// Starts an import, and returns it once `count` memories are written; `None` if it ends before.
fn start_import(sandbox: &Sandbox, count: usize) -> Option<Child> {
    let mut command = sandbox.command(&["ingest", "--source", "csv", "--path", "notes.csv"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut has_ended = false;
    wait_until("the memories are written or the import has ended", || {
        count <= memories(&sandbox.path(".memory")) || {
            has_ended = child.try_wait().expect("it can be waited for").is_some();
            has_ended
        }
    });
    (!has_ended).then_some(child)
}

#[cfg(unix)]
#[test]
fn an_import_that_is_interrupted_twice_completes_without_duplicates() {
    let sandbox = Sandbox::new();
    let rows = (0..ROWS)
        .map(|number| format!("{number},The note number {number}.\n"))
        .collect::<Vec<_>>()
        .concat();
    sandbox.file("notes.csv", &format!("id,text\n{rows}"));
    let mut child = start_import(&sandbox, 1).expect("the import is longer");
    // Shells start background processes with SIGINT ignored, so this is SIGTERM.
    let ended = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .expect("kill runs");
    assert!(ended.success());
    assert!(!child.wait().expect("it ends").success());
    let before = memories(&sandbox.path(".memory"));
    assert!(0 < before && before < ROWS / 4, "{before}");
    // The next run rolls the incomplete batch back.
    let mut child = start_import(&sandbox, ROWS / 4).expect("the import is longer");
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let report = sandbox.run_json(&["ingest", "--source", "csv", "--path", "notes.csv"]);
    let count = |key: &str| {
        report[key]
            .as_u64()
            .and_then(|count| usize::try_from(count).ok())
            .expect("a count")
    };
    assert_eq!(
        (count("new") + count("unchanged"), count("updated")),
        (ROWS, 0),
        "{report}"
    );
    assert!(
        0 < count("unchanged"),
        "the memories of complete batches remain"
    );
    assert_eq!(memories(&sandbox.path(".memory")), ROWS);
    let again = sandbox.run_json(&["ingest", "--source", "csv", "--path", "notes.csv"]);
    assert_eq!(
        (&again["new"], &again["unchanged"]),
        (&0.into(), &ROWS.into())
    );
    assert_healthy(&sandbox);
}
