//! A repeated operation takes effect once, and deleted data is stored for undo.

use std::sync::Arc;

use chrono::DateTime;
use memory_core::instance::InstanceOperations;
use memory_core::instance::history::{
    MessageStore, PurgeResult, RecordDraft, RecordFilter, SessionRecord, Window,
};
use memory_core::instance::kv::KeyValueStore;
use memory_core::secret::Checked;
use memory_core::{Operation, OperationId, Verb};
use memory_store::postgres::{Database, DatabaseLimits, PostgresMessages, PostgresValues};

use super::proxy::PostgresProxy;
use super::server::shared_server;

fn operation(number: u64) -> Operation {
    let at = DateTime::from_timestamp(1_000_000_000, 123_456_789).unwrap();
    Operation {
        id: OperationId::from_random(number),
        verb: Verb::Set,
        by: String::new(),
        at,
    }
}

fn record(role: &str, content: &str) -> SessionRecord {
    SessionRecord::new(
        &RecordDraft::from_text(role.parse().unwrap(), content),
        DateTime::UNIX_EPOCH,
    )
    .unwrap()
}

fn count(store: &PostgresMessages) -> usize {
    store
        .records(
            &"s".parse().unwrap(),
            &RecordFilter::default(),
            Window::default(),
        )
        .unwrap()
        .count()
}

#[test]
fn an_operation_whose_answer_is_lost_is_repeated_and_done_once() {
    let Some(server) = shared_server("operations whose answers are lost") else {
        return;
    };
    let name = server.database();
    let proxy = PostgresProxy::start(server.port());
    let address = format!(
        "postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable",
        proxy.port
    );
    let database = Arc::new(Database::new(&address, DatabaseLimits::default()).unwrap());
    let (history, values) = (
        PostgresMessages::new(Arc::clone(&database)),
        PostgresValues::new(database),
    );
    let (session, key) = ("s".parse().unwrap(), "a/b".parse().unwrap());
    let tools = RecordFilter {
        roles: vec!["tool".parse().unwrap()],
        ..RecordFilter::default()
    };
    history
        .append(
            &session,
            Checked::allowed(&[record("user", "0")]),
            &operation(0),
        )
        .unwrap();
    // A call is repeated after each lost response: once, and then three times.
    for lost in [1, 3] {
        let id = |number: u64| operation(number + 100 * lost);
        let lose = || proxy.lose_responses(usize::try_from(lost).unwrap());
        lose();
        history
            .append(
                &session,
                Checked::allowed(&[record("user", "1"), record("tool", "2")]),
                &id(1),
            )
            .unwrap();
        assert_eq!((proxy.responses_to_lose(), count(&history)), (0, 3));
        lose();
        assert_eq!(
            history.purge(&session, &tools, &id(2)).unwrap(),
            PurgeResult { purged: 1, kept: 2 }
        );
        lose();
        assert_eq!(history.delete(&session, &id(3)).unwrap(), Some(2));
        lose();
        assert_eq!(history.delete(&session, &id(4)).unwrap(), None);
        lose();
        assert_eq!(history.undo(&id(3).id, &id(10)).unwrap().subject.count, 2);
        assert_eq!((proxy.responses_to_lose(), count(&history)), (0, 2));
        lose();
        assert_eq!(history.undo(&id(10).id, &id(11)).unwrap().subject.count, 2);
        assert_eq!((proxy.responses_to_lose(), count(&history)), (0, 0));
        lose();
        assert!(values.set(&key, Checked::allowed("1"), &id(5)).unwrap());
        lose();
        assert!(!values.set(&key, Checked::allowed("2"), &id(6)).unwrap());
        lose();
        assert_eq!(values.get(&key).unwrap().unwrap().text, "2");
        lose();
        assert_eq!(values.undo(&id(6).id, &id(12)).unwrap().subject.name, "a/b");
        assert_eq!(
            (
                proxy.responses_to_lose(),
                values.get(&key).unwrap().unwrap().text.as_str()
            ),
            (0, "1")
        );
        lose();
        assert!(values.delete(&key, &id(7)).unwrap());
        lose();
        assert!(!values.delete(&key, &id(8)).unwrap());
        assert_eq!(proxy.responses_to_lose(), 0);
        history
            .append(&session, Checked::allowed(&[record("user", "0")]), &id(9))
            .unwrap();
    }
    assert_eq!(
        server.sql(
            &name,
            "SELECT count(*), count(DISTINCT position) FROM memory_records_trash"
        ),
        "6|6"
    );
    let kinds =
        "SELECT kind, count(*), count(former) FROM memory_values_trash GROUP BY kind ORDER BY kind";
    assert_eq!(server.sql(&name, kinds), "delete|2|2\nset|4|2\nundo|2|2");
}

#[test]
fn an_operation_that_is_asked_for_again_is_not_done_again_unless_it_is_another_one() {
    let Some(server) = shared_server("operations that are asked for again") else {
        return;
    };
    let (database, _) = super::open(server);
    let (history, values) = (
        PostgresMessages::new(Arc::clone(&database)),
        PostgresValues::new(database),
    );
    let (session, key) = ("s".parse().unwrap(), "a".parse().unwrap());
    for _ in 0..3 {
        history
            .append(
                &session,
                Checked::allowed(&[record("user", "1")]),
                &operation(1),
            )
            .unwrap();
        assert!(
            values
                .set(&key, Checked::allowed("1"), &operation(2))
                .unwrap()
        );
    }
    assert_eq!(count(&history), 1);
    let error = history
        .append(
            &session,
            Checked::allowed(&[record("user", "2")]),
            &operation(1),
        )
        .unwrap_err();
    assert_eq!(
        (error.code(), count(&history)),
        (memory_core::Code::Conflict, 1),
        "what is not kept is not said to be"
    );
}

#[test]
fn what_is_taken_away_is_kept_under_the_operation_that_took_it() {
    let Some(server) = shared_server("the trash") else {
        return;
    };
    let (database, name) = super::open(server);
    let (history, values) = (
        PostgresMessages::new(Arc::clone(&database)),
        PostgresValues::new(database),
    );
    let session = "s".parse().unwrap();
    let records = [
        record("user", "0"),
        record("tool", "深\t1"),
        record("user", "2"),
    ];
    history
        .append(&session, Checked::allowed(&records), &operation(1))
        .unwrap();
    let tools = RecordFilter {
        roles: vec!["tool".parse().unwrap()],
        ..RecordFilter::default()
    };
    history.purge(&session, &tools, &operation(2)).unwrap();
    history.delete(&session, &operation(3)).unwrap();
    history
        .append(&session, Checked::allowed(&records[..1]), &operation(4))
        .unwrap();
    let trash =
        "SELECT taken_by, position, text FROM memory_records_trash ORDER BY taken_by, position";
    let told = [
        ("000000000002", 1),
        ("000000000003", 0),
        ("000000000003", 2),
    ];
    let told = told.map(|(by, position)| format!("{by}|{position}|{}", records[position].text()));
    assert_eq!(server.sql(&name, trash), told.join("\n"));
    let there = "SELECT position FROM memory_records";
    assert_eq!(
        server.sql(&name, there),
        "3",
        "a position is never that of two records"
    );
    let done = "SELECT operation, kind, session, taken, remaining FROM memory_operations ORDER BY operation";
    assert_eq!(
        server.sql(&name, done),
        "000000000002|purge|s|1|2\n000000000003|delete|s|2|0"
    );
    let key = "a".parse().unwrap();
    values
        .set(&key, Checked::allowed("1\0"), &operation(5))
        .unwrap();
    values
        .set(&key, Checked::allowed("2"), &operation(6))
        .unwrap();
    values.delete(&key, &operation(7)).unwrap();
    let trash = "SELECT operation, kind, former FROM memory_values_trash ORDER BY operation";
    assert_eq!(
        server.sql(&name, trash),
        "000000000005|set|\n000000000006|set|\\x3100\n000000000007|delete|\\x32"
    );
}
