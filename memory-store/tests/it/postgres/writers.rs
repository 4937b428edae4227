//! Several processes append to one session; no record is lost, and each writer's order is preserved.

use std::process::{Command, Stdio};
use std::sync::Arc;

use memory_core::instance::history::{Messages, RecordDraft, RecordFilter, Window, append, read};
use memory_core::testing::FakeClock;
use memory_core::{Code, SecretPolicy};
use memory_store::RandomIds;
use memory_store::postgres::{Database, DatabaseLimits, PostgresMessages};

use super::server::shared_server;

/// Environment variable with the address, the writer and the number of appends.
const TASK: &str = "MEMORY_TEST_POSTGRES_APPENDER";
const TIMES: usize = 50;

fn append_records(address: &str, writer: &str, times: usize) {
    let database = Arc::new(Database::new(address, DatabaseLimits::default()).unwrap());
    let all = Messages {
        store: Arc::new(PostgresMessages::new(database)),
        clock: Arc::new(FakeClock::default()),
        ids: Arc::new(RandomIds),
    };
    for number in 0..times {
        let draft = RecordDraft::from_text("user".parse().unwrap(), &format!("{writer} {number}"));
        append(&all, &"s".parse().unwrap(), &draft, SecretPolicy::Refuse).unwrap();
    }
}

/// A writer process. On its own it does nothing; the test below starts it with a task.
#[test]
fn a_process_appends_to_a_database() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let [address, writer, times] = task.split('\n').collect::<Vec<_>>().try_into().unwrap();
    append_records(address, writer, times.parse().unwrap());
}

#[test]
fn eight_processes_that_begin_with_an_empty_database_lose_nothing_and_keep_their_order() {
    let Some(server) = shared_server("eight processes that append at once") else {
        return;
    };
    let name = server.database();
    let start = |writer: usize| {
        Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "postgres::writers::a_process_appends_to_a_database",
                "--nocapture",
            ])
            .env(
                TASK,
                format!("{}\nw{writer}\n{TIMES}", server.address(&name)),
            )
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let writers: Vec<_> = (0..8).map(start).collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let all = memory_core::testing::messages(Arc::new(PostgresMessages::new(super::reopen(
        server, &name,
    ))))
    .0;
    let reading = read(
        &all,
        &"s".parse().unwrap(),
        &RecordFilter::default(),
        Window::default(),
    )
    .unwrap();
    let heard: Vec<_> = reading
        .records
        .iter()
        .map(|record| record.text().to_value()["content"].to_string())
        .collect();
    assert_eq!(heard.len(), 8 * TIMES);
    for writer in 0..8 {
        let own = heard
            .iter()
            .filter_map(|text| text.trim_matches('"').strip_prefix(&format!("w{writer} ")));
        assert!(
            own.map(|number| number.parse::<usize>().unwrap())
                .eq(0..TIMES)
        );
    }
    assert_eq!(
        server.sql(
            &name,
            "SELECT count(*), min(position), max(position) FROM memory_records"
        ),
        "400|0|399"
    );
}

#[test]
fn keys_that_would_be_namespaces_of_each_other_are_not_set_at_once() {
    let Some(server) = shared_server("keys that are set at once") else {
        return;
    };
    let (database, name) = super::open(server);
    database.prepare().unwrap();
    std::thread::scope(|scope| {
        for key in ["a", "a/b", "a/b/c", "a/b/c/d"] {
            let values = memory_core::instance::kv::KeyValues {
                store: Arc::new(memory_store::postgres::PostgresValues::new(Arc::clone(
                    &database,
                ))),
                clock: Arc::new(FakeClock::default()),
                ids: Arc::new(RandomIds),
            };
            scope.spawn(move || {
                let key = key.parse().unwrap();
                for _ in 0..20 {
                    match memory_core::instance::kv::set(&values, &key, "1", SecretPolicy::Refuse) {
                        Ok(_) => memory_core::instance::kv::delete(&values, &key).unwrap(),
                        Err(error) => assert_eq!(error.code(), Code::KeyExists),
                    }
                }
            });
        }
    });
    assert_eq!(server.sql(&name, "SELECT count(*) FROM memory_values"), "0");
    // No two of the keys existed at the same time, so sets and deletions alternate.
    let both = "SELECT count(*) FILTER (WHERE kind = 'set') = count(*) FILTER (WHERE kind = 'delete') FROM memory_values_trash";
    assert_eq!(server.sql(&name, both), "t");
}
