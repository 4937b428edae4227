//! Backups of the database, and replicas that are ahead of a restored one.

use std::time::Duration;

use memory_core::{Code, delete, restore, undo};

use super::replicas::{Node, open};
use super::server::{PostgresServer, run_to_end, shared_server};
use crate::home::services;

#[test]
fn a_node_on_a_restored_backup_has_the_same_memories_history_and_trash() {
    let Some(server) = shared_server("backups") else {
        return;
    };
    let (database, name) = super::open(server);
    let first = Node::new(database);
    let ids: Vec<_> = (0..4)
        .map(|number| first.write(&format!("note {number} 部署")))
        .collect();
    delete(&first.services, &ids[0]).unwrap();
    delete(&first.services, &ids[1]).unwrap();
    undo(&first.services, None).unwrap();
    for format in ["custom", "plain"] {
        let restored = back_up(server, &name, format, &[]);
        let node = Node::new(super::reopen(server, &restored));
        assert_eq!(node.files(), first.files(), "{format}");
        restore(&node.services, &ids[0]).unwrap();
        assert_eq!(node.content(&ids[0]), "note 0 部署");
    }
}

#[test]
fn a_replica_with_operations_that_a_restored_database_lacks_is_replaced_on_request_and_loses_nothing()
 {
    let Some(server) = shared_server("restored databases") else {
        return;
    };
    let (database, name) = super::open(server);
    let ahead = Node::new(database);
    ahead.write("before the backup");
    let restored = back_up(server, &name, "custom", &[]);
    ahead.write("after the backup");
    let reopened = || {
        services(open(
            ahead.home.path(),
            super::reopen(server, &restored),
            Duration::ZERO,
        ))
    };
    let refusal = || reopened().store.refresh().map_err(|error| error.code());
    assert_eq!(refusal(), Err(Code::FileDamaged));
    // Another operation has the position of the lost one.
    let other = Node::new(super::reopen(server, &restored));
    other.write("after the restore");
    assert_eq!(refusal(), Err(Code::FileDamaged));
    let written = memory_core::write(
        &reopened(),
        memory_core::Draft::new("a note"),
        memory_core::SecretPolicy::Refuse,
    );
    assert_eq!(
        written.map(|_| ()).map_err(|error| error.code()),
        Err(Code::FileDamaged)
    );
    let database = super::reopen(server, &restored);
    let store = open(ahead.home.path(), database, Duration::ZERO);
    store.replace_replica().unwrap();
    let again = Node {
        services: reopened(),
        home: ahead.home,
    };
    assert_eq!(again.files(), other.files());
    // What the database lacks is set aside.
    let unsynced = again.home.path().join("unsynced");
    let found = std::process::Command::new("grep")
        .args(["-rl", "after the backup"])
        .arg(&unsynced)
        .output()
        .unwrap();
    assert!(!found.stdout.is_empty());
}

#[test]
fn the_owner_closes_the_functions_that_a_restore_without_privileges_opened() {
    let Some(server) = shared_server("restores without privileges") else {
        return;
    };
    let (database, name) = super::open(server);
    Node::new(database).write("a note");
    let restored = back_up(server, &name, "plain", &["--no-owner", "--no-privileges"]);
    let open_functions =
        "SELECT count(*) FROM pg_proc WHERE left(proname, 7) = 'memory_' AND prosecdef
        AND has_function_privilege('public', oid, 'EXECUTE')";
    assert_ne!(server.sql(&restored, open_functions), "0");
    Node::new(super::reopen(server, &restored)).write("another note");
    assert_eq!(server.sql(&restored, open_functions), "0");
}

/// Dumps a database, restores the dump into a new one, and returns its name.
fn back_up(server: &PostgresServer, name: &str, format: &str, options: &[&str]) -> String {
    let (restored, folder) = (server.database(), tempfile::tempdir().unwrap());
    let dump = folder.path().join("dump");
    run_to_end(
        server
            .client("pg_dump")
            .args(["-F", format, "-d", name, "-f"])
            .arg(&dump)
            .args(options),
    );
    let mut command = if format == "plain" {
        server.client("psql")
    } else {
        server.client("pg_restore")
    };
    if format == "plain" {
        command.args(["-Xq", "-v", "ON_ERROR_STOP=1", "-f"]);
    }
    run_to_end(command.arg(&dump).args(["-d", &restored]));
    restored
}
