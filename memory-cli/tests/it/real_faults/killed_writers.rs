//! Tests of eight concurrent writers, with commands killed at random times.
//!
//! Acknowledged writes remain, and no write appears twice.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use memory_core::testing::extent;

use super::shapes::{SHAPES, assert_healthy, name, query_item};
use crate::sandbox::Sandbox;

const WRITERS: usize = 8;

/// Initial maximum delay before a command is killed, in microseconds.
///
/// It grows with each killed command and shrinks with each completed one, so that about half are killed at any speed of the machine.
const MAX_DELAY: u64 = 60_000;

/// Interval between checks for the end of a command, short in comparison with the delays.
const PAUSE: Duration = Duration::from_micros(200);

/// The writes of one writer, by shape.
#[derive(Default)]
struct WriterResult {
    acknowledged: [BTreeSet<String>; SHAPES.len()],
    attempted: [BTreeSet<String>; SHAPES.len()],
    /// Number of successful increments of the shared counter.
    counted: usize,
    counting: usize,
}

#[test]
fn what_killed_writers_acknowledged_is_there_and_nothing_else() {
    let home = Sandbox::new();
    query_item(&home, &["bank", "write", "counters", "all", "0"]);
    let (place, kills) = (home.path(""), AtomicUsize::new(0));
    let all: Vec<WriterResult> = std::thread::scope(|scope| {
        let write = |writer| {
            let (place, kills) = (&place, &kills);
            scope.spawn(move || write(place, writer, kills))
        };
        let writers: Vec<_> = (0..WRITERS).map(write).collect();
        writers
            .into_iter()
            .map(|writer| writer.join().expect("it ends"))
            .collect()
    });
    // The next writer repairs incomplete writes.
    for shape in &SHAPES {
        let output = shape.write(&home, &name(WRITERS, 0));
        assert!(
            output.status.success(),
            "{}: {}",
            shape.name,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    for (number, shape) in SHAPES.iter().enumerate() {
        let names = shape.names(&home);
        let last = name(WRITERS, 0);
        for done in &all {
            let missing: Vec<_> = done.acknowledged[number].difference(&names).collect();
            assert_eq!(
                missing,
                Vec::<&String>::new(),
                "{} has lost what it acknowledged",
                shape.name
            );
        }
        let attempted: BTreeSet<String> = all
            .iter()
            .flat_map(|done| done.attempted[number].iter().cloned())
            .chain([last])
            .collect();
        assert!(
            names.is_subset(&attempted),
            "{} has what nobody wrote",
            shape.name
        );
    }
    let (counted, counting): (usize, usize) = (
        all.iter().map(|done| done.counted).sum(),
        all.iter().map(|done| done.counting).sum(),
    );
    let there: usize = query_item(&home, &["bank", "query", "counters", "all", "."])
        .trim()
        .parse()
        .expect("a number");
    assert!(
        (counted..=counting).contains(&there),
        "{counted} of {counting} additions were acknowledged, and {there} were made"
    );
    assert_healthy(&home);
    let acknowledged: usize = all
        .iter()
        .flat_map(|done| &done.acknowledged)
        .map(BTreeSet::len)
        .sum();
    println!(
        "killed: {}; acknowledged: {}; lost: 0",
        kills.load(Ordering::Relaxed),
        acknowledged + counted
    );
}

/// Writes to every shape in turn until enough commands were killed.
fn write(home: &Path, writer: usize, kills: &AtomicUsize) -> WriterResult {
    let own = Sandbox::new();
    let mut done = WriterResult::default();
    let (mut number, mut longest) = (0, MAX_DELAY);
    let mut run = |command: Command| run(command, home, kills, &mut longest);
    let enough = extent(50, 500);
    while kills.load(Ordering::Relaxed) < enough {
        let name = name(writer, number);
        for (place, shape) in SHAPES.iter().enumerate() {
            done.attempted[place].insert(name.clone());
            if run(shape.command(&own, &name)) {
                done.acknowledged[place].insert(name.clone());
            }
        }
        done.counting += 1;
        done.counted += usize::from(run(
            own.command(&["bank", "update", "counters", "all", ". + 1"])
        ));
        number += 1;
    }
    done
}

/// Runs a command, kills it after a random delay, and returns whether it succeeded.
fn run(mut command: Command, home: &Path, kills: &AtomicUsize, longest: &mut u64) -> bool {
    command
        .current_dir(home)
        .env("HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let luck = Duration::from_micros(RandomState::new().build_hasher().finish() % *longest);
    let begun = Instant::now();
    while begun.elapsed() < luck {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            *longest -= *longest / 8;
            return has_succeeded(status, child);
        }
        std::thread::park_timeout(PAUSE.min(luck.saturating_sub(begun.elapsed())));
    }
    *longest += *longest / 8 + 1;
    child.kill().expect("it can be killed");
    let status = child.wait().expect("it ends");
    kills.fetch_add(usize::from(status.code().is_none()), Ordering::Relaxed);
    status.code().is_some() && has_succeeded(status, child)
}

fn has_succeeded(status: ExitStatus, child: Child) -> bool {
    let said = child
        .wait_with_output()
        .map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(
        status.success(),
        "nobody is refused for what another was killed at: {status}: {said:?}"
    );
    true
}
