//! Several processes write at once, and no write is lost.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use memory_core::{
    Draft, Filter, ListOrder, PageRequest, Patch, SecretPolicy, Services, Tags, list, read, tag,
    update, write,
};
use memory_store::{FileStore, FileStoreOptions};

use crate::home::{TestHome, services};

/// Environment variable with the home, the number of the writer and the shared memory.
const TASK: &str = "MEMORY_TEST_WRITER";
const WRITERS: usize = 8;
/// Returns the number of memories of each writer.
fn memories_per_writer() -> usize {
    memory_core::testing::extent(60, 500)
}
/// Number of memories after which a writer changes the shared memory.
const SHARE: usize = 10;

/// A writer process, which writes memories and checks them.
///
/// On its own it writes a few; the test below starts it with a task.
#[test]
fn a_writer_finds_what_it_wrote() {
    if let Ok(task) = std::env::var(TASK) {
        let [home, writer, shared] = task.splitn(3, '\n').collect::<Vec<_>>().try_into().unwrap();
        let services =
            services(FileStore::open(Path::new(home), FileStoreOptions::default()).unwrap());
        write_memories(
            &services,
            writer.parse().unwrap(),
            memories_per_writer(),
            shared,
        );
        return;
    }
    let home = TestHome::new();
    let services = home.services();
    let shared = write(&services, Draft::new("shared"), SecretPolicy::Refuse)
        .unwrap()
        .id
        .to_string();
    write_memories(&services, 0, SHARE, &shared);
    check(&home, 1, SHARE, &shared);
}

fn write_memories(services: &Services, writer: usize, memories: usize, shared: &str) {
    for number in 0..memories {
        let draft = Draft::new(&format!("writer {writer}, memory {number}"));
        let id = write(services, draft, SecretPolicy::Refuse)
            .unwrap()
            .id
            .to_string();
        let patch = Patch {
            content: Some(format!("writer {writer}, memory {number}, changed")),
            ..Patch::default()
        };
        update(services, &id, &patch, None, SecretPolicy::Refuse).unwrap();
        if number % SHARE == 0 {
            tag(
                services,
                shared,
                writer_tag(writer, number),
                Tags::default(),
            )
            .unwrap();
        }
    }
}

fn writer_tag(writer: usize, number: usize) -> Tags {
    [format!("w{writer}-{number}")].iter().collect()
}

#[test]
fn eight_processes_that_write_and_update_at_once_lose_nothing() {
    let home = TestHome::new();
    let shared = write(&home.services(), Draft::new("shared"), SecretPolicy::Refuse)
        .unwrap()
        .id
        .to_string();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| start(&home, writer, &shared))
        .collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    check(&home, WRITERS, memories_per_writer(), &shared);
}

fn start(home: &TestHome, writer: usize, shared: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "writers::a_writer_finds_what_it_wrote",
            "--nocapture",
        ])
        .env(
            TASK,
            format!("{}\n{writer}\n{shared}", home.path().display()),
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// Checks that all memories were written and changed once, and that the shared one has every change.
fn check(home: &TestHome, writers: usize, memories: usize, shared: &str) {
    let services = home.services();
    let page = list(
        &services,
        &Filter::default(),
        &PageRequest {
            order: ListOrder::Created,
            offset: 0,
            limit: None,
        },
    )
    .unwrap();
    let mut found: Vec<_> = page
        .memories
        .into_iter()
        .map(|stored| (stored.memory.content, stored.memory.version))
        .collect();
    found.retain(|(content, _)| content != "shared");
    found.sort();
    let mut wanted = Vec::new();
    for writer in 0..writers {
        wanted.extend(
            (0..memories).map(|number| (format!("writer {writer}, memory {number}, changed"), 2)),
        );
    }
    wanted.sort();
    assert!(
        found == wanted,
        "{} memories instead of {}",
        found.len(),
        wanted.len()
    );
    let shared = read(&services, shared).unwrap().memory;
    let changes = writers * memories.div_ceil(SHARE);
    assert_eq!(
        (shared.tags.as_slice().len(), shared.version),
        (changes, changes as u64 + 1)
    );
}
