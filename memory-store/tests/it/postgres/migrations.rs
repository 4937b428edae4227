//! The tables are created once, by the first client.

use std::sync::Barrier;
use std::thread;

use chrono::DateTime;
use memory_core::instance::history::{MessageStore, RecordDraft, SessionRecord};
use memory_core::secret::Checked;
use memory_core::{Code, IdSource, Operation, Verb};
use memory_store::RandomIds;
use memory_store::postgres::PostgresMessages;

use super::server::shared_server;

#[test]
fn eight_at_once_make_the_tables_once() {
    let Some(server) = shared_server("eight that make tables at once") else {
        return;
    };
    for _ in 0..3 {
        let name = server.database();
        let all = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let database = super::reopen(server, &name);
                    all.wait();
                    database.prepare().unwrap();
                });
            }
        });
        assert_eq!(server.sql(&name, "SELECT * FROM memory_schema"), "1|1");
    }
}

#[test]
fn tables_that_are_there_are_left_alone_and_those_of_a_newer_version_are_refused() {
    let Some(server) = shared_server("tables of a newer version") else {
        return;
    };
    let (database, name) = super::open(server);
    database.prepare().unwrap();
    // A user who may not create tables can use the existing ones.
    server.sql(
        &name,
        "CREATE ROLE careful LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO careful",
    );
    let careful = memory_store::postgres::Database::new(
        &server.url("careful", &name, ""),
        memory_store::postgres::DatabaseLimits::default(),
    );
    careful.unwrap().prepare().unwrap();
    server.sql(&name, "UPDATE memory_schema SET version = 7");
    let error = super::reopen(server, &name).prepare().unwrap_err();
    assert_eq!(error.code(), Code::FileDamaged);
    insta::assert_snapshot!(
        error,
        @"the database is damaged: its tables were created by a newer version of this program (version 7; supported: 1)"
    );
    // A migration that was interrupted, in a database that does not roll it back, is repeated.
    server.sql(
        &name,
        "UPDATE memory_schema SET version = 0; DROP TABLE memory_values",
    );
    super::reopen(server, &name).prepare().unwrap();
    assert_eq!(server.sql(&name, "SELECT count(*) FROM memory_values"), "0");
}

#[test]
fn a_database_without_functions_keeps_records_all_the_same() {
    let Some(server) = shared_server("a database without functions") else {
        return;
    };
    let (database, name) = super::open(server);
    database.prepare().unwrap();
    let messages = PostgresMessages::new(database);
    let append = |text: &str| {
        let record = SessionRecord::new(
            &RecordDraft::from_text("user".parse().unwrap(), text),
            DateTime::UNIX_EPOCH,
        )
        .unwrap();
        let operation = Operation {
            id: RandomIds.operation_id(),
            verb: Verb::Set,
            by: String::new(),
            at: DateTime::UNIX_EPOCH,
        };
        messages
            .append(
                &"s".parse().unwrap(),
                Checked::allowed(&[record]),
                &operation,
            )
            .unwrap();
    };
    append("with");
    server.sql(&name, "DROP FUNCTION memory_append");
    append("without");
    append("again");
    assert_eq!(
        server.sql(
            &name,
            "SELECT string_agg(position::text, ' ' ORDER BY position) FROM memory_records"
        ),
        "0 1 2"
    );
}
