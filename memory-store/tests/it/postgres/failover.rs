//! A standby that takes over from a killed primary.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use memory_core::testing::wait_until;
use memory_core::{
    Code, Draft, Filter, MemoryStoreExt, Patch, SecretPolicy, StoreError, update, write,
};
use memory_store::postgres::Database;

use super::replicas::Node;
use super::server::{PostgresServer, report_skipped};

/// Number of memories that each node writes before and after the failover.
const WRITES: u64 = 15;

#[test]
fn nodes_continue_on_the_standby_of_a_killed_primary_and_no_write_is_lost_or_applied_twice() {
    let claim = "a failover";
    let Some(primary) = PostgresServer::start() else {
        return report_skipped(claim, "there is no initdb");
    };
    let name = primary.database();
    let standby = primary.start_standby();
    let address = format!(
        "host=127.0.0.1,127.0.0.1 port={},{} user=postgres dbname={name} sslmode=disable target_session_attrs=read-write",
        primary.port(),
        standby.port()
    );
    let open = || Arc::new(Database::new(&address, super::patient_limits()).unwrap());
    let nodes = [Node::new(open()), Node::new(open())];
    let counter = nodes[0].write("0");
    let (written, is_over) = (
        [AtomicU64::new(0), AtomicU64::new(0)],
        AtomicBool::new(false),
    );
    let (tries, counts) = (AtomicU64::new(0), AtomicU64::new(0));
    let acknowledged: Vec<Vec<String>> = thread::scope(|scope| {
        let run = |number: usize| {
            let (node, mut ids) = (&nodes[number], Vec::new());
            while !is_over.load(Ordering::Relaxed) {
                let text = format!("note {} of node {number}", ids.len());
                ids.push(
                    until_done(|| write(&node.services, Draft::new(&text), SecretPolicy::Refuse))
                        .id
                        .to_string(),
                );
                loop {
                    let stored = until_done(|| node.services.store.get_by(&counter));
                    let next = (stored.memory.content.parse::<u64>().unwrap() + 1).to_string();
                    let patch = Patch {
                        content: Some(next),
                        ..Patch::default()
                    };
                    tries.fetch_add(1, Ordering::Relaxed);
                    match update(
                        &node.services,
                        &counter,
                        &patch,
                        Some(stored.stamp),
                        SecretPolicy::Refuse,
                    ) {
                        Ok(_) => break,
                        Err(error) => assert!(
                            error.code() == Code::Conflict || is_temporary(&error),
                            "{error}"
                        ),
                    }
                }
                counts.fetch_add(1, Ordering::Relaxed);
                written[number].fetch_add(1, Ordering::Relaxed);
            }
            ids
        };
        let writers: Vec<_> = (0..2)
            .map(|number| scope.spawn(move || run(number)))
            .collect();
        let wait_for_writes = || {
            let before = written
                .each_ref()
                .map(|count| count.load(Ordering::Relaxed));
            let is_done = || {
                written
                    .iter()
                    .zip(before)
                    .all(|(count, before)| before + WRITES <= count.load(Ordering::Relaxed))
            };
            wait_until("each node has written", || {
                is_done() || writers.iter().any(thread::ScopedJoinHandle::is_finished)
            });
        };
        wait_for_writes();
        primary.kill();
        standby.control(&["-w", "promote"]);
        wait_for_writes();
        is_over.store(true, Ordering::Relaxed);
        writers
            .into_iter()
            .map(|writer| writer.join().unwrap())
            .collect()
    });
    let new = Node::new(open());
    let count: u64 = new.content(&counter).parse().unwrap();
    let (counts, tries) = (counts.into_inner(), tries.into_inner());
    assert!(
        (counts..=tries).contains(&count),
        "{counts} <= {count} <= {tries}"
    );
    for (number, ids) in acknowledged.iter().enumerate() {
        for (round, id) in ids.iter().enumerate() {
            assert_eq!(new.content(id), format!("note {round} of node {number}"));
        }
    }
    let all = new
        .services
        .store
        .memories(&Filter::all(), new.services.clock.now())
        .count();
    assert_eq!(
        all,
        1 + acknowledged.concat().len(),
        "nothing was applied twice"
    );
    assert_eq!(nodes[0].sorted_files(), new.sorted_files());
    assert_eq!(nodes[1].sorted_files(), new.sorted_files());
    let rows = standby.sql(&name, "SELECT count(*) FROM memory_document_operations");
    assert_eq!(
        rows,
        (1 + acknowledged.concat().len() as u64 + count).to_string()
    );
}

/// Repeats `work` while the database cannot be reached.
fn until_done<T>(mut work: impl FnMut() -> Result<T, StoreError>) -> T {
    loop {
        match work() {
            Ok(done) => return done,
            Err(error) => assert!(is_temporary(&error), "{error}"),
        }
    }
}

fn is_temporary(error: &StoreError) -> bool {
    [
        Code::DatabaseUnreachable,
        Code::DatabaseTimeout,
        Code::Locked,
    ]
    .contains(&error.code())
}
