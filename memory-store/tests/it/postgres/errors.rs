//! Every problem of a database is reported with a code and a hint, and without the address.

use std::sync::Arc;
use std::time::Duration;

use chrono::DateTime;
use memory_core::instance::InstanceError;
use memory_core::instance::history::{
    MessageStore, RecordDraft, RecordFilter, SessionRecord, Window,
};
use memory_core::instance::kv::KeyValueStore;
use memory_core::secret::Checked;
use memory_core::{Code, IdSource, Operation, Verb};
use memory_store::RandomIds;
use memory_store::postgres::{Database, DatabaseLimits, PostgresMessages, PostgresValues};

use super::proxy::PostgresProxy;
use super::server::{free_port, shared_server};

const QUICK: Duration = Duration::from_millis(300);

fn open(address: &str) -> Result<Arc<Database>, InstanceError> {
    Database::new(
        address,
        DatabaseLimits {
            patience: QUICK,
            ..DatabaseLimits::default()
        },
    )
    .map(Arc::new)
}

fn operation() -> Operation {
    Operation {
        id: RandomIds.operation_id(),
        verb: Verb::Set,
        by: String::new(),
        at: DateTime::UNIX_EPOCH,
    }
}

fn append(database: &Arc<Database>) -> Result<(), InstanceError> {
    let record = SessionRecord::new(
        &RecordDraft::from_text("user".parse().unwrap(), "hi"),
        DateTime::UNIX_EPOCH,
    )
    .unwrap();
    PostgresMessages::new(Arc::clone(database))
        .append(
            &"s".parse().unwrap(),
            Checked::allowed(&[record]),
            &operation(),
        )
        .map(drop)
}

fn set(database: &Arc<Database>) -> Result<(), InstanceError> {
    PostgresValues::new(Arc::clone(database))
        .set(&"a".parse().unwrap(), Checked::allowed("1"), &operation())
        .map(drop)
}

fn count(database: &Arc<Database>) -> usize {
    let all = PostgresMessages::new(Arc::clone(database));
    all.records(
        &"s".parse().unwrap(),
        &RecordFilter::default(),
        Window::default(),
    )
    .unwrap()
    .count()
}

/// Returns the code, the message with its cause, and the hint.
fn error_text(error: &InstanceError) -> String {
    let cause = std::error::Error::source(error)
        .map(|cause| format!(": {cause}"))
        .unwrap_or_default();
    let whole = format!(
        "{}: {error}{cause}\n{}",
        error.code(),
        error.hint().unwrap_or_default()
    );
    assert!(
        !format!("{whole} {error:?}").contains("hunter"),
        "no password is told"
    );
    whole
}

#[test]
fn a_database_that_is_not_there_is_told_at_once() {
    if shared_server("what is told of a database that does not exist").is_none() {
        return;
    }
    let nowhere = format!("postgres://u:hunter2@127.0.0.1:{}/d", free_port());
    insta::assert_snapshot!(error_text(&open(&nowhere).unwrap().prepare().unwrap_err()), @"
    DATABASE_UNREACHABLE: the database cannot be reached: Connection refused (os error 111)
    check that it is running and that the address is correct; `memory instance connect` sets another address
    ");
    let no_socket = "host=/nowhere/at/all user=u password=hunter2";
    assert_eq!(
        open(no_socket).unwrap().prepare().unwrap_err().code(),
        Code::DatabaseUnreachable
    );
    let no_name = "postgres://u:hunter2@nowhere.invalid/d";
    assert_eq!(
        open(no_name).unwrap().prepare().unwrap_err().code(),
        Code::DatabaseUnreachable
    );
    // A server that accepts connections but never responds.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!(
        "postgres://u:hunter2@127.0.0.1:{}/d",
        silent.local_addr().unwrap().port()
    );
    let silent = Database::new(
        &silent,
        DatabaseLimits {
            connect: QUICK,
            ..DatabaseLimits::default()
        },
    )
    .unwrap();
    insta::assert_snapshot!(error_text(&silent.prepare().unwrap_err()), @r"
    DATABASE_UNREACHABLE: the database did not respond within 0.3 s
    check that it is running and that the address is correct; `memory instance connect` sets another address
    ");
}

#[test]
fn whoever_is_not_let_in_is_told_so() {
    let Some(server) = shared_server("what is told of wrong passwords") else {
        return;
    };
    let name = server.database();
    server.sql(
        "postgres",
        "DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN PASSWORD 'hunter2'",
    );
    server.sql(&name, "GRANT CREATE ON SCHEMA public TO guarded");
    let prepare =
        |user: &str, database: &str| open(&server.url(user, database, "")).unwrap().prepare();
    prepare("guarded:hunter2", &name).unwrap();
    insta::assert_snapshot!(error_text(&prepare("guarded:hunter3", &name).unwrap_err()), @r#"
    PERMISSION_DENIED: the database rejected the login: password authentication failed for user "guarded" (28P01)
    `memory instance connect` sets another user and password
    "#);
    assert_eq!(
        prepare("guarded", &name).unwrap_err().code(),
        Code::PermissionDenied,
        "without a password"
    );
    insta::assert_snapshot!(error_text(&prepare("postgres", "nothing_here").unwrap_err()), @r#"
    DATABASE_UNREACHABLE: the database does not exist: database "nothing_here" does not exist (3D000)
    create it with createdb
    "#);
}

#[test]
fn whoever_may_not_write_is_told_so_and_nothing_is_written() {
    let Some(server) = shared_server("what is told of permissions") else {
        return;
    };
    let (database, name) = super::open(server);
    database.prepare().unwrap();
    server.sql(
        &name,
        "CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    );
    let reader = open(&server.url("reader", &name, "")).unwrap();
    insta::assert_snapshot!(error_text(&append(&reader).unwrap_err()), @r"
    PERMISSION_DENIED: the database user lacks a permission: permission denied for table memory_sessions (42501)
    grant CREATE on the schema for the first use, and SELECT, INSERT, UPDATE and DELETE on the tables memory_*
    ");
    assert_eq!(set(&reader).unwrap_err().code(), Code::PermissionDenied);
    let stranger = open(&server.url("reader", &server.database(), "")).unwrap();
    assert_eq!(
        stranger.prepare().unwrap_err().code(),
        Code::PermissionDenied,
        "tables may not be made"
    );
    server.sql(
        &name,
        &format!("ALTER DATABASE {name} SET default_transaction_read_only = on"),
    );
    let replica = open(&server.address(&name)).unwrap();
    insta::assert_snapshot!(error_text(&append(&replica).unwrap_err()), @r"
    PERMISSION_DENIED: the database is read-only: cannot execute INSERT in a read-only transaction (25006)
    it may be a replica: use the address of the primary, or several hosts with target_session_attrs=read-write
    ");
    assert_eq!(
        (set(&replica).unwrap_err().code(), count(&replica)),
        (Code::PermissionDenied, 0)
    );
    server.sql("postgres", &format!("ALTER DATABASE {name} RESET ALL"));
}

#[test]
fn a_full_disk_is_told_and_nothing_is_half_written() {
    let Some(server) = shared_server("what is told of a full disk") else {
        return;
    };
    let (_, name) = super::open(server);
    let database = open(&server.address(&name)).unwrap();
    append(&database).unwrap();
    let full = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;";
    server.sql(&name, full);
    for table in ["memory_records", "memory_values"] {
        server.sql(
            &name,
            &format!(
                "CREATE TRIGGER full_disk AFTER INSERT ON {table} EXECUTE FUNCTION full_disk()"
            ),
        );
    }
    insta::assert_snapshot!(error_text(&append(&database).unwrap_err()), @r"
    DISK_FULL: the disk of the database is full: could not extend file: No space left on device (53100)
    free some space and try again; nothing was changed
    ");
    assert_eq!(
        (set(&database).unwrap_err().code(), count(&database)),
        (Code::DiskFull, 1)
    );
    server.sql(
        &name,
        "DROP TRIGGER full_disk ON memory_records; DROP TRIGGER full_disk ON memory_values",
    );
    append(&database).unwrap();
    set(&database).unwrap();
    let state = "SELECT next_position, records, (SELECT count(*) FROM memory_values_trash) FROM memory_sessions";
    assert_eq!(server.sql(&name, state), "2|2|1");
}

#[test]
fn a_server_without_connections_is_told_within_the_time_that_is_allowed() {
    let Some(server) = shared_server("what is told of a server without connections") else {
        return;
    };
    let name = server.database();
    server.sql(
        "postgres",
        "DROP ROLE IF EXISTS few; CREATE ROLE few LOGIN CONNECTION LIMIT 0",
    );
    insta::assert_snapshot!(error_text(&open(&server.url("few", &name, "")).unwrap().prepare().unwrap_err()), @r#"
    DATABASE_UNREACHABLE: the database accepts no more connections: too many connections for role "few" (53300)
    raise max_connections of the server or CONNECTION LIMIT of the role, or put a pooler such as pgbouncer in front of it
    "#);
}

#[test]
fn what_takes_too_long_is_stopped_and_nothing_of_it_is_there() {
    let Some(server) = shared_server("what is told of a slow database") else {
        return;
    };
    let (_, name) = super::open(server);
    let database = open(&server.address(&name)).unwrap();
    append(&database).unwrap();
    let slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN new; END $$;
        CREATE TRIGGER slow BEFORE INSERT ON memory_records FOR EACH ROW EXECUTE FUNCTION slow();
        CREATE TRIGGER slow BEFORE INSERT ON memory_values FOR EACH ROW EXECUTE FUNCTION slow()";
    server.sql(&name, slow);
    let hasty = DatabaseLimits {
        statement: QUICK,
        ..DatabaseLimits::default()
    };
    let hasty = Arc::new(Database::new(&server.address(&name), hasty).unwrap());
    insta::assert_snapshot!(error_text(&append(&hasty).unwrap_err()), @r"
    DATABASE_TIMEOUT: the database took longer than 0.3 s
    nothing was changed; try again
    ");
    assert_eq!(set(&hasty).unwrap_err().code(), Code::DatabaseTimeout);
    server.sql(
        &name,
        "DROP TRIGGER slow ON memory_records; DROP TRIGGER slow ON memory_values",
    );
    // No lock is held any more.
    append(&database).unwrap();
    set(&database).unwrap();
    assert_eq!(count(&database), 2);
    assert_eq!(
        server.sql(&name, "SELECT count(*) FROM memory_values_trash"),
        "1"
    );
}

#[test]
fn a_server_that_stops_answering_is_given_up_and_then_refused_at_once() {
    let Some(server) = shared_server("a server that stops answering") else {
        return;
    };
    let (_, name) = super::open(server);
    let proxy = PostgresProxy::start(server.port());
    let address = format!(
        "postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable",
        proxy.port
    );
    let limits = DatabaseLimits {
        connect: QUICK,
        pause: Duration::from_hours(1),
        ..DatabaseLimits::default()
    };
    let database = Arc::new(Database::new(&address, limits).unwrap());
    append(&database).unwrap();
    proxy.set_silent(true);
    insta::assert_snapshot!(error_text(&append(&database).unwrap_err()), @r"
    DATABASE_UNREACHABLE: the database stopped responding for 0.3 s
    check that it is running, and whether the change took effect before you retry
    ");
    let tried = proxy.connections();
    for _ in 0..3 {
        assert_eq!(
            append(&database).unwrap_err().code(),
            Code::DatabaseUnreachable
        );
    }
    assert_eq!(proxy.connections(), tried, "nothing is tried for a while");
    // After the pause, calls try the server again.
    let limits = DatabaseLimits {
        connect: QUICK,
        pause: Duration::ZERO,
        ..DatabaseLimits::default()
    };
    let database = Arc::new(Database::new(&address, limits).unwrap());
    assert_eq!(
        append(&database).unwrap_err().code(),
        Code::DatabaseUnreachable
    );
    proxy.set_silent(false);
    append(&database).unwrap();
}

#[test]
fn a_slow_statement_of_a_server_that_answers_is_waited_for() {
    let Some(server) = shared_server("a slow statement") else {
        return;
    };
    let (_, name) = super::open(server);
    let limits = DatabaseLimits {
        connect: QUICK,
        ..DatabaseLimits::default()
    };
    let database = Arc::new(Database::new(&server.address(&name), limits).unwrap());
    append(&database).unwrap();
    let slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN new; END $$;
        CREATE TRIGGER slow BEFORE INSERT ON memory_records FOR EACH ROW EXECUTE FUNCTION slow()";
    server.sql(&name, slow);
    append(&database).unwrap();
}

#[test]
fn whoever_waits_too_long_for_a_connection_is_told_so() {
    let Some(server) = shared_server("what is told when all connections are in use") else {
        return;
    };
    let (_, name) = super::open(server);
    let limits = DatabaseLimits {
        wait: QUICK,
        connections: 1,
        ..DatabaseLimits::default()
    };
    let database = Arc::new(Database::new(&server.address(&name), limits).unwrap());
    append(&database).unwrap();
    // The only connection waits in a trigger until the other call has timed out.
    let held = "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            WHILE NOT EXISTS (SELECT FROM enough) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN new; END $$;
        CREATE TABLE enough (one integer);
        CREATE TRIGGER wait BEFORE INSERT ON memory_values FOR EACH ROW EXECUTE FUNCTION wait()";
    server.sql(&name, held);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| set(&database));
        let error = loop {
            // Before the other call has the connection, this one can use it.
            if let Err(error) = append(&database) {
                break error;
            }
        };
        insta::assert_snapshot!(error_text(&error), @r"
        DATABASE_TIMEOUT: all connections to the database were in use for 0.3 s
        try again when fewer calls are running
        ");
        server.sql(&name, "INSERT INTO enough VALUES (1)");
        waiting.join().unwrap().unwrap();
    });
    append(&database).unwrap();
}

#[test]
fn tables_that_are_gone_are_missed_by_name() {
    let Some(server) = shared_server("tables that are gone") else {
        return;
    };
    let (database, name) = super::open(server);
    set(&database).unwrap();
    server.sql(&name, "DROP TABLE memory_values");
    insta::assert_snapshot!(error_text(&set(&database).unwrap_err()), @r#"
    FILE_DAMAGED: tables of the database are missing or changed: relation "memory_values" does not exist (42P01)
    restore the tables memory_* from a backup; without memory_schema, missing tables are created empty on the next use
    "#);
}
