//! Calls wait for a server that restarts, and no operation is lost or carried out twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use memory_core::instance::history::{Messages, RecordDraft, RecordFilter, Window, append, read};
use memory_core::instance::kv::{KeyValues, get, set};
use memory_core::testing::{FakeClock, wait_until};
use memory_core::{Code, SecretPolicy};
use memory_store::RandomIds;
use memory_store::postgres::{Database, DatabaseLimits, PostgresMessages, PostgresValues};

use super::pooler::Pooler;
use super::server::{PostgresServer, report_skipped};

const WRITERS: usize = 4;

fn write_during_restarts(
    claim: &str,
    open: impl Fn(&PostgresServer, &str) -> Option<Arc<Database>>,
) {
    let Some(server) = PostgresServer::start() else {
        return report_skipped(claim, "there is no initdb");
    };
    let name = server.database();
    let Some(database) = open(&server, &name) else {
        return;
    };
    let (clock, ids) = (Arc::new(FakeClock::default()), Arc::new(RandomIds));
    let all = Messages {
        store: Arc::new(PostgresMessages::new(Arc::clone(&database))),
        clock: clock.clone(),
        ids: ids.clone(),
    };
    let values = KeyValues {
        store: Arc::new(PostgresValues::new(Arc::clone(&database))),
        clock,
        ids,
    };
    let (is_over, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    let counts: Vec<usize> = thread::scope(|scope| {
        let write = |writer: usize| {
            let mut count = 0;
            while !is_over.load(Ordering::Relaxed) {
                // Two of the writers share a session.
                let session = format!("s{}", writer % 3).parse().unwrap();
                let draft =
                    RecordDraft::from_text("user".parse().unwrap(), &format!("{writer} {count}"));
                append(&all, &session, &draft, SecretPolicy::Refuse).unwrap();
                let key = format!("w{writer}/{}", count % 5).parse().unwrap();
                set(&values, &key, &count.to_string(), SecretPolicy::Refuse).unwrap();
                assert_eq!(get(&values, &key).unwrap().text, count.to_string());
                count += 1;
                written.fetch_add(1, Ordering::Relaxed);
            }
            count
        };
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write(writer)))
            .collect();
        for mode in ["fast", "immediate", "fast"] {
            let before = written.load(Ordering::Relaxed);
            wait_until("50 values are written", || {
                before + 50 <= written.load(Ordering::Relaxed)
                    || writers.iter().any(thread::ScopedJoinHandle::is_finished)
            });
            server.control(&["-w", "-m", mode, "restart"]);
        }
        is_over.store(true, Ordering::Relaxed);
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    for (writer, &count) in counts.iter().enumerate() {
        let reading = read(
            &all,
            &format!("s{}", writer % 3).parse().unwrap(),
            &RecordFilter::default(),
            Window::default(),
        )
        .unwrap();
        let said = reading.records.iter().map(|record| {
            record.text().to_value()["content"]
                .as_str()
                .unwrap()
                .to_owned()
        });
        let own = said.filter_map(|text| {
            text.strip_prefix(&format!("{writer} "))
                .map(|number| number.parse::<usize>().unwrap())
        });
        assert!(
            own.eq(0..count),
            "nothing is lost, and nothing is there twice"
        );
    }
    let sets = format!("{}", counts.iter().sum::<usize>());
    assert_eq!(
        server.sql(&name, "SELECT count(*) FROM memory_values_trash"),
        sets,
        "each value was set once"
    );
}

#[test]
fn four_writers_lose_nothing_while_the_server_is_restarted() {
    write_during_restarts("a server that is restarted", |server, name| {
        Some(super::reopen(server, name))
    });
}

#[test]
fn four_writers_behind_a_pooler_lose_nothing_while_the_server_is_restarted() {
    let claim = "a server behind a pooler that is restarted";
    write_during_restarts(claim, |server, name| {
        let pooler = Pooler::start(server, claim)?;
        let database = pooler.open(name);
        // The pooler stops together with the server, at the end of the test.
        server.keep_alive(pooler);
        Some(database)
    });
}

#[test]
fn a_server_that_stays_away_is_told_in_time_and_found_again_later() {
    let claim = "a server that stays away";
    let Some(server) = PostgresServer::start() else {
        return report_skipped(claim, "there is no initdb");
    };
    let name = server.database();
    let limits = DatabaseLimits {
        patience: Duration::from_millis(300),
        ..DatabaseLimits::default()
    };
    let database = Database::new(&server.address(&name), limits).unwrap();
    database.prepare().unwrap();
    server.control(&["-w", "-m", "fast", "stop"]);
    assert_eq!(
        database.prepare().unwrap_err().code(),
        Code::DatabaseUnreachable
    );
    server.control(&["-w", "start"]);
    database.prepare().unwrap();
}

#[test]
fn a_server_that_was_reached_and_is_gone_is_given_up_long_before_patience_ends() {
    let claim = "a server that is gone";
    let Some(server) = PostgresServer::start() else {
        return report_skipped(claim, "there is no initdb");
    };
    let name = server.database();
    let limits = DatabaseLimits {
        patience: Duration::from_mins(10),
        restart: Duration::ZERO,
        ..DatabaseLimits::default()
    };
    let database = Database::new(&server.address(&name), limits).unwrap();
    database.prepare().unwrap();
    server.control(&["-w", "-m", "fast", "stop"]);
    // With the patience of ten minutes alone, this would not end in time.
    for _ in 0..2 {
        assert_eq!(
            database.prepare().unwrap_err().code(),
            Code::DatabaseUnreachable
        );
    }
    server.control(&["-w", "start"]);
    database.prepare().unwrap();
}
