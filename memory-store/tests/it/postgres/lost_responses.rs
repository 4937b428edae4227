//! A connection that is cut during an operation on several files, or during an undo, applies it once.

use std::sync::Arc;

use memory_core::secret::Checked;
use memory_core::{Change, ChangeSet, Draft, MemoryStoreExt, Scope, Verb, delete};
use memory_store::postgres::{Database, DatabaseLimits};

use super::proxy::PostgresProxy;
use super::replicas::Node;
use super::server::shared_server;

/// The responses of a write, and some of the reads after it.
const RESPONSES: usize = 13;

#[test]
fn an_operation_on_several_files_and_its_undo_happen_once_if_a_response_is_lost() {
    let Some(server) = shared_server("undos whose responses are lost") else {
        return;
    };
    let name = server.database();
    let proxy = PostgresProxy::start(server.port());
    let address = format!(
        "postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable",
        proxy.port
    );
    let node = Node::new(Arc::new(
        Database::new(&address, DatabaseLimits::default()).unwrap(),
    ));
    let services = &node.services;
    let id = node.write("first");
    for lost in 1..=RESPONSES {
        let removed = node.write(&format!("removed {lost}"));
        let mut stored = services.store.get_by(&id).unwrap();
        stored.memory.content = format!("version {lost}");
        stored.memory.scope = Scope::Agent(format!("agent-{}", lost % 2));
        let new = Draft::new(&format!("new {lost}"))
            .into_memory(services.ids.memory_id(), services.clock.now());
        let changes = vec![
            Change::Replace {
                expected: stored.stamp,
                memory: Box::new(stored.memory),
            },
            Change::Create {
                memory: Box::new(new),
                front_matter: String::new(),
            },
            Change::Remove {
                id: services.store.find(&removed).unwrap(),
                expected: None,
            },
        ];
        let set = ChangeSet {
            changes,
            ..ChangeSet::new(services.operation(Verb::Import))
        };
        proxy.lose_response_after(lost);
        services.store.commit(Checked::allowed(&set)).unwrap();
        proxy.lose_response_after(0);
        assert_eq!(node.content(&id), format!("version {lost}"));
        proxy.lose_response_after(lost);
        let undone = services
            .history
            .revert(&set.operation.id, &services.operation(Verb::Undo))
            .unwrap();
        proxy.lose_response_after(0);
        assert_eq!(
            (undone.files, node.content(&removed)),
            (3, format!("removed {lost}"))
        );
        assert_eq!(node.content(&id), "first");
        delete(services, &removed).unwrap();
    }
    // Each round has a write, an operation on three files, its undo, and a deletion. A change of the scope has two rows.
    let count =
        "SELECT count(DISTINCT operation), count(DISTINCT token) FROM memory_document_operations";
    assert_eq!(
        server.sql(&name, count),
        format!("{0}|{0}", 1 + 4 * RESPONSES)
    );
    assert_eq!(
        server.sql(&name, "SELECT count(*) FROM memory_document_changes"),
        (1 + 10 * RESPONSES).to_string()
    );
    assert_eq!(
        server.sql(&name, "SELECT count(*) FROM memory_documents"),
        "1"
    );
    let new = Node::new(super::reopen(server, &name));
    assert_eq!(new.sorted_files(), node.sorted_files());
}
