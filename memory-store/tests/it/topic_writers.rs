//! Several processes write topics in one folder; no write is lost, and no partial index is visible.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use memory_core::SecretPolicy;
use memory_core::testing::topics;
use memory_core::topic::{Topics, history, list, read, update, view, write};
use memory_store::topic::TopicFolder;

use crate::requests::topic_request;

/// Environment variable with the folder, the writer and the number of writes.
const TASK: &str = "MEMORY_TEST_TOPICS";
const WRITERS: usize = 6;
const TIMES: usize = 25;

fn open(path: &Path) -> Topics {
    // Random ids keep the operations of the writers distinct.
    let (topics, _) = topics(Arc::new(TopicFolder::new(path)));
    Topics {
        ids: Arc::new(memory_store::RandomIds),
        ..topics
    }
}

/// Writes topics of this writer, and adds lines to the shared topic.
fn write_topics(topics: &Topics, writer: &str, times: usize) {
    for number in 0..times {
        write(topics, &topic_request(&format!("{writer}-{number}"), "x")).unwrap();
        update(
            topics,
            "shared",
            "END",
            &format!("{writer}-{number}\nEND"),
            SecretPolicy::Refuse,
        )
        .unwrap();
        let index = view(topics).unwrap();
        assert!(index.starts_with("# Memory\n\n## Project\n- [") && index.ends_with('\n'));
        let file = topics.store.index().unwrap().unwrap().text;
        assert!(
            file.starts_with("# Memory\n\n## Project\n- [") && file.ends_with('\n'),
            "half an index: {file}"
        );
    }
}

/// A writer process. On its own it writes a few topics; the test below starts it with a task.
#[test]
fn a_writer_writes_topics() {
    if let Ok(task) = std::env::var(TASK) {
        let [folder, writer, times] = task.split('\n').collect::<Vec<_>>().try_into().unwrap();
        write_topics(&open(Path::new(folder)), writer, times.parse().unwrap());
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let topics = open(home.path());
    write(&topics, &topic_request("shared", "END")).unwrap();
    write_topics(&topics, "w", 2);
    assert!(
        read(&topics, "shared")
            .unwrap()
            .text
            .ends_with("\nw-0\nw-1\nEND\n")
    );
}

#[test]
fn six_processes_that_write_topics_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let topics = open(home.path());
    write(&topics, &topic_request("shared", "END")).unwrap();
    let writers: Vec<Child> = (0..WRITERS)
        .map(|number| start(home.path(), &format!("w{number}")))
        .collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    assert_eq!(list(&topics).unwrap().topics.len(), 1 + WRITERS * TIMES);
    let shared = read(&topics, "shared").unwrap().text;
    for number in 0..WRITERS {
        let own: Vec<_> = shared
            .lines()
            .filter_map(|line| {
                line.strip_prefix(&format!("w{number}-"))?
                    .parse::<usize>()
                    .ok()
            })
            .collect();
        assert_eq!(own, (0..TIMES).collect::<Vec<_>>());
    }
    assert_eq!(
        history(&topics).unwrap().len(),
        1 + 2 * WRITERS * TIMES,
        "each can be taken back"
    );
    assert_eq!(
        topics.store.index().unwrap().unwrap().text,
        view(&topics).unwrap()
    );
}

fn start(folder: &Path, writer: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "topic_writers::a_writer_writes_topics",
            "--nocapture",
        ])
        .env(TASK, format!("{}\n{writer}\n{TIMES}", folder.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}
