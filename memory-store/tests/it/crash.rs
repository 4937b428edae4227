//! A writer process is killed at random times; all acknowledged writes exist afterwards.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use memory_core::testing::extent;
use memory_core::{
    Draft, MemoryStoreExt, SecretPolicy, Services, StoreError, Tags, delete, tag, write,
};
use memory_store::{FileStore, FileStoreOptions};

use crate::home::{TestHome, services};

/// Environment variable with the home of a writer that runs until it is killed.
const HOME: &str = "MEMORY_TEST_CRASH_HOME";

/// The writer process. On its own it runs five rounds; the test below starts it and kills it.
#[test]
fn a_writer_acknowledges_what_it_did() {
    let Ok(home) = std::env::var(HOME) else {
        let home = TestHome::new();
        let services = home.services();
        let mut seen = AcknowledgedWrites::default();
        (0..5).for_each(|round| write_round(&services, round, &mut |line| seen.record_line(line)));
        seen.check(&services);
        return;
    };
    let services =
        services(FileStore::open(Path::new(&home), FileStoreOptions::default()).unwrap());
    for round in 0..usize::MAX {
        write_round(&services, round, &mut |line| println!("\nack {line} ."));
    }
}

/// Writes and tags a memory, deletes it in every third round, and reports each change with `say`.
fn write_round(services: &Services, round: usize, say: &mut dyn FnMut(&str)) {
    let process = std::process::id();
    let id = write(
        services,
        Draft::new(&format!("memory {round} of process {process}")),
        SecretPolicy::Refuse,
    )
    .unwrap()
    .id
    .to_string();
    say(&format!("write {id}"));
    let label: Tags = [format!("round-{round}")].iter().collect();
    tag(services, &id, label, Tags::default()).unwrap();
    say(&format!("tag {id} round-{round}"));
    if round.is_multiple_of(3) {
        say(&format!("deleting {id}"));
        delete(services, &id).unwrap();
        say(&format!("delete {id}"));
    }
}

/// The acknowledged changes.
#[derive(Default)]
struct AcknowledgedWrites {
    written: HashSet<String>,
    tagged: HashMap<String, String>,
    /// Deletions without an acknowledgement, which may have succeeded.
    deleting: HashSet<String>,
    deleted: HashSet<String>,
}

impl AcknowledgedWrites {
    fn record_line(&mut self, line: &str) {
        let mut words = line.split(' ').map(str::to_owned);
        let (Some(verb), Some(id)) = (words.next(), words.next()) else {
            panic!("{line}")
        };
        match verb.as_str() {
            "write" => drop(self.written.insert(id)),
            "tag" => drop(self.tagged.insert(id, words.next().unwrap())),
            "deleting" => drop(self.deleting.insert(id)),
            "delete" => drop(self.deleted.insert(id)),
            _ => panic!("{line}"),
        }
    }

    fn check(&self, services: &Services) {
        services.store.refresh().unwrap();
        for id in &self.written {
            let stored = match services.store.get_by(id) {
                Ok(stored) => stored,
                Err(StoreError::NotFound { .. }) if self.deleting.contains(id) => continue,
                Err(error) => panic!("{id}: {error}"),
            };
            assert!(!self.deleted.contains(id), "{id} is back");
            assert_eq!(stored.problem, None);
            if let Some(tag) = self.tagged.get(id) {
                assert!(stored.memory.tags.contains(tag), "{id} has lost {tag}");
            }
        }
    }
}

#[test]
fn what_a_killed_process_acknowledged_is_there() {
    let home = TestHome::new();
    let mut seen = AcknowledgedWrites::default();
    let kills = extent(20, 200);
    for kill in 0..kills {
        listen_and_kill(&home, &mut seen);
        if kill % 20 == 19 {
            seen.check(&home.services());
        }
    }
    assert!(
        kills < seen.written.len(),
        "only {} writes were acknowledged",
        seen.written.len()
    );
    let services = home.services();
    seen.check(&services);
    // The next writer rolls back the last interrupted operation.
    write(&services, Draft::new("the last word"), SecretPolicy::Refuse).unwrap();
    assert_eq!(home.leftovers(), Vec::<String>::new());
}

/// Starts a writer, reads some of its output, kills it at a random time, and reads the rest.
fn listen_and_kill(home: &TestHome, seen: &mut AcknowledgedWrites) {
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "crash::a_writer_acknowledges_what_it_did",
            "--nocapture",
        ])
        .env(HOME, home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(writer.stdout.take().unwrap());
    let (patience, delay) = (random() % 6, Duration::from_micros(random() % 3_000));
    let mut heard = 0;
    for line in output.lines() {
        let line = line.unwrap();
        // A line cut off by the kill is not an acknowledgement.
        let Some(said) = line
            .strip_prefix("ack ")
            .and_then(|said| said.strip_suffix(" ."))
        else {
            continue;
        };
        seen.record_line(said);
        heard += 1;
        if heard == patience + 1 {
            std::thread::park_timeout(delay);
            writer.kill().unwrap();
        }
    }
    writer.wait().unwrap();
}

fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
