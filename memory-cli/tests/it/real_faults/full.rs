//! Tests of a full disk of 4 MB: a write succeeds or is refused, and works again with free space.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use memory_core::testing::is_sampled;

use super::shapes::{SHAPES, assert_healthy, combined_output, name, query_item};
use super::small_disk::{is_in_mount_namespace, mount};
use crate::sandbox::Sandbox;

const SIZE: u64 = 4 << 20;

/// The free space in each round, in KiB.
const FREE_SPACES: [u64; 14] = [0, 4, 8, 12, 16, 20, 28, 40, 60, 90, 140, 220, 400, 800];

/// A home on a small disk, and a file that fills the disk.
struct SmallDisk {
    home: Sandbox,
    filler: PathBuf,
}

impl SmallDisk {
    fn new() -> Self {
        let home = Sandbox::new();
        mount(&home.path(""), SIZE);
        let filler = home.path("filler");
        Self { home, filler }
    }

    /// Fills the disk up to `room` KiB.
    fn leave_free(&self, room: u64) {
        self.free_space();
        let mut bytes = SIZE;
        // Only the disk knows its free space.
        while fs::write(
            &self.filler,
            vec![0; usize::try_from(bytes).expect("a size")],
        )
        .is_err()
        {
            bytes -= 4096;
        }
        let filler = fs::File::options()
            .write(true)
            .open(&self.filler)
            .expect("a file");
        filler
            .set_len(bytes.saturating_sub(room << 10))
            .expect("it gets shorter");
    }

    fn free_space(&self) {
        let _ = fs::remove_file(&self.filler);
    }

    /// Runs a command with `room` KiB left; returns whether it succeeded.
    ///
    /// Asserts that a failure reports the full disk.
    fn run_and_check(&self, room: u64, mut command: std::process::Command) -> bool {
        self.leave_free(room);
        command.current_dir(self.home.path(""));
        let output = Sandbox::finish(command, "");
        let said = combined_output(&output).to_lowercase();
        let is_told =
            output.status.success() || said.contains("no space left") || said.contains("disk_full");
        assert!(is_told, "with {room} KiB left: {}: {said}", output.status);
        self.free_space();
        output.status.success()
    }
}

#[test]
fn what_is_written_on_a_full_disk_is_kept_or_refused() {
    if !is_in_mount_namespace(
        "real_faults::full::what_is_written_on_a_full_disk_is_kept_or_refused",
    ) {
        return;
    }
    for shape in &SHAPES {
        let small = SmallDisk::new();
        let mut kept = BTreeSet::new();
        let mut refused = 0;
        for (number, room) in FREE_SPACES.into_iter().enumerate() {
            let name = name(1, number);
            if small.run_and_check(room, shape.command(&small.home, &name)) {
                kept.insert(name);
            } else {
                refused += 1;
            }
            assert_eq!(
                shape.names(&small.home),
                kept,
                "{} with {room} KiB left",
                shape.name
            );
        }
        assert!(
            0 < refused && !kept.is_empty(),
            "{}: {refused} refused",
            shape.name
        );
        assert!(
            shape.write(&small.home, &name(2, 0)).status.success(),
            "with room, {} goes on",
            shape.name
        );
        assert_healthy(&small.home);
        println!(
            "{}: {} kept, {refused} refused, 0 lost",
            shape.name,
            kept.len()
        );
    }
}

/// Long commands, which run one after the other on the same home.
const WORK: [(&str, &[&str]); 4] = [
    (
        "ingest",
        &["ingest", "--source", "obsidian", "--path", "vault"],
    ),
    ("dream", &["dream", "--level", "2"]),
    ("reindex", &["reindex"]),
    ("import", &["import", "--input", "more.jsonl"]),
];

#[test]
fn work_on_a_full_disk_is_done_to_its_end_once_there_is_room() {
    if !is_in_mount_namespace(
        "real_faults::full::work_on_a_full_disk_is_done_to_its_end_once_there_is_room",
    ) {
        return;
    }
    let small = SmallDisk::new();
    for number in 0..60 {
        small.home.file(
            &format!("vault/{}.md", name(1, number)),
            &format!(
                "note {} of a vault, see [[{}]]\n",
                name(1, number),
                name(1, 0)
            ),
        );
    }
    for number in 0..20 {
        query_item(
            &small.home,
            &[
                "write",
                &format!(
                    "The server {} runs PostgreSQL 16 on port 5433.",
                    name(2, number)
                ),
            ],
        );
    }
    for (what, arguments) in WORK {
        if what == "import" {
            fs::write(
                small.home.path("more.jsonl"),
                query_item(&small.home, &["export"]),
            )
            .expect("room");
        }
        let before = SHAPES[0].names(&small.home);
        let mut refused = 0;
        for room in FREE_SPACES {
            if room != 0 && !is_sampled((what, room), 8) {
                continue;
            }
            refused += usize::from(!small.run_and_check(room, small.home.command(arguments)));
            if what == "reindex" {
                let builds = fs::read_dir(small.home.path(".memory/index/text"))
                    .expect("the full text")
                    .count();
                assert_eq!(builds, 1, "a failed build leaves nothing");
            }
            assert!(
                before.is_subset(&SHAPES[0].names(&small.home)),
                "{what} has lost something"
            );
        }
        query_item(&small.home, arguments);
        assert_healthy(&small.home);
        println!("{what}: {refused} of {} refused, 0 lost", FREE_SPACES.len());
    }
    let names = SHAPES[0].names(&small.home);
    let all: BTreeSet<String> = (0..60)
        .map(|number| name(1, number))
        .chain((0..20).map(|number| name(2, number)))
        .collect();
    assert_eq!(names, all);
}
