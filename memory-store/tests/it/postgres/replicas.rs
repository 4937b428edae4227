//! Several nodes with replicas of one database.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use memory_core::secret::Checked;
use memory_core::testing::{
    embeddings_suite, history_suite, reminder_suite, store_suite, summaries_suite, view_suite,
};
use memory_core::{
    Change, ChangeSet, Code, Draft, Filter, MemoryStoreExt, PageRequest, Patch, Query, Scope,
    SecretPolicy, Services, Verb, delete, search, undo, update, write,
};
use memory_store::postgres::{Database, DatabaseLimits};
use memory_store::{FileStore, FileStoreOptions};

use super::pooler::Pooler;
use super::proxy::PostgresProxy;
use super::server::{PostgresServer, report_skipped, shared_server};
use crate::home::{TestHome, repeatable_services, services};

/// Number of memories that each writer writes.
const WRITES: usize = 12;

/// A replica in a folder of its own.
pub(super) struct Node {
    pub(super) home: TestHome,
    pub(super) services: Services,
}

impl Node {
    pub(super) fn new(database: Arc<Database>) -> Self {
        Self::with_interval(database, Duration::ZERO)
    }

    pub(super) fn with_interval(database: Arc<Database>, interval: Duration) -> Self {
        let home = TestHome::new();
        let services = services(open(home.path(), database, interval));
        Self { home, services }
    }

    pub(super) fn write(&self, content: &str) -> String {
        write(&self.services, Draft::new(content), SecretPolicy::Refuse)
            .unwrap()
            .id
            .to_string()
    }

    pub(super) fn content(&self, id: &str) -> String {
        self.services.store.get_by(id).unwrap().memory.content
    }

    /// Returns the files of the memories, the journal and the trash.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.services.store.refresh().unwrap();
        ["categories", "journal", "trash"]
            .into_iter()
            .flat_map(|folder| self.home.files(folder))
            .collect()
    }

    /// Returns the journal lines without their order.
    pub(super) fn sorted_files(&self) -> BTreeMap<String, Vec<String>> {
        let lines = |bytes: Vec<u8>| {
            let mut lines: Vec<_> = String::from_utf8_lossy(&bytes)
                .lines()
                .map(str::to_owned)
                .collect();
            lines.sort();
            lines
        };
        self.files()
            .into_iter()
            .map(|(path, bytes)| (path, lines(bytes)))
            .collect()
    }
}

pub(super) fn open(folder: &Path, database: Arc<Database>, interval: Duration) -> FileStore {
    FileStore::open_replica(folder, FileStoreOptions::default(), database, interval).unwrap()
}

/// Returns a function that makes services over a new database, with random or repeatable ids.
fn new_stores<'a>(
    open_database: impl Fn() -> Arc<Database> + 'a,
    with_ids: fn(FileStore) -> Services,
) -> impl Fn() -> Services + 'a {
    let homes = std::cell::RefCell::new(Vec::new());
    move || {
        let home = TestHome::new();
        let made = with_ids(open(home.path(), open_database(), Duration::ZERO));
        homes.borrow_mut().push(home);
        made
    }
}

#[test]
fn a_replica_keeps_the_promises_of_a_store() {
    let Some(server) = shared_server("the promises of a store") else {
        return;
    };
    store_suite(&new_stores(|| super::open(server).0, services));
}

#[test]
fn a_replica_keeps_the_promises_of_a_history_also_behind_a_pooler() {
    let claim = "the promises of a history";
    let Some(server) = shared_server(claim) else {
        return;
    };
    history_suite(&new_stores(|| super::open(server).0, services));
    let Some(pooler) = Pooler::start(server, claim) else {
        return;
    };
    history_suite(&new_stores(|| pooler.open(&server.database()), services));
}

#[test]
fn a_replica_keeps_the_promises_of_vectors_reminders_and_outlines() {
    let Some(server) = shared_server("the promises of vectors") else {
        return;
    };
    let make = new_stores(|| super::open(server).0, services);
    embeddings_suite(&make);
    reminder_suite(&make);
    summaries_suite(&make);
}

#[test]
fn what_an_agent_does_not_see_is_not_there_in_a_replica() {
    let Some(server) = shared_server("views of a replica") else {
        return;
    };
    view_suite(
        &new_stores(|| super::open(server).0, repeatable_services),
        4,
    );
}

#[test]
fn a_memory_of_one_node_is_found_on_another_with_the_same_score() {
    let Some(server) = shared_server("two nodes") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, second) = (Node::new(database), Node::new(super::reopen(server, &name)));
    for number in 0..30 {
        let node = [&first, &second][number % 2];
        node.write(&format!(
            "note {number}: the team deploys release {} on Tuesdays 部署",
            number % 7
        ));
    }
    let id = first.write("Deploys need a second reviewer");
    update(
        &second.services,
        &id,
        &content_patch("Deploys need two reviewers"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(first.content(&id), "Deploys need two reviewers");
    let hits = |node: &Node, query: &str| {
        let found = search(&node.services, &Query::new(query)).unwrap();
        found
            .hits
            .iter()
            .map(|hit| (hit.memory.id, hit.score.to_bits()))
            .collect::<Vec<_>>()
    };
    for query in ["deploys release 3", "部署", "reviewers", "note tuesdays"] {
        let found = hits(&first, query);
        assert_eq!(found, hits(&second, query), "{query}");
        assert!(!found.is_empty(), "{query}");
    }
    let count = |node: &Node| {
        node.services
            .store
            .list(
                &Filter::default(),
                &PageRequest::default(),
                node.services.clock.now(),
            )
            .unwrap()
            .total
    };
    assert_eq!((count(&first), count(&second)), (31, 31));
    assert_eq!(first.files(), second.files());
    let columns = "SELECT scope, category, phase, source, count(*), bool_and(created_at IS NOT NULL AND updated_at IS NOT NULL), \
        bool_and(sha256(content) = hash) FROM memory_documents GROUP BY 1, 2, 3, 4";
    assert_eq!(server.sql(&name, columns), "global|inbox|inbox||31|t|t");
}

#[test]
fn a_new_node_and_one_that_lost_its_replica_have_all_files_of_the_others() {
    let Some(server) = shared_server("a new node") else {
        return;
    };
    let (database, name) = super::open(server);
    let first = Node::new(database);
    let ids: Vec<_> = (0..5)
        .map(|number| first.write(&format!("note {number}")))
        .collect();
    update(
        &first.services,
        &ids[0],
        &content_patch("changed"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    delete(&first.services, &ids[1]).unwrap();
    undo(&first.services, None).unwrap();
    delete(&first.services, &ids[2]).unwrap();
    let second = Node::new(super::reopen(server, &name));
    assert_eq!(second.files(), first.files());
    // The undo of the last operation, by the node that has not seen it happen.
    undo(&second.services, None).unwrap();
    assert_eq!(first.content(&ids[2]), "note 2");
    let home = second.home.path();
    for name in ["categories", "journal", "trash", "index", "replica.json"] {
        let place = home.join(name);
        if place.is_dir() {
            fs::remove_dir_all(place).unwrap();
        } else {
            fs::remove_file(place).unwrap();
        }
    }
    let reopened = Node {
        services: services(open(home, super::reopen(server, &name), Duration::ZERO)),
        home: second.home,
    };
    assert_eq!(reopened.files(), first.files());
    // A missing journal is noticed, and the replica is created again.
    fs::remove_dir_all(reopened.home.path().join("journal")).unwrap();
    assert_eq!(reopened.files(), first.files());
    reopened.write("after that");
    assert_eq!(reopened.files(), first.files());
}

#[test]
fn an_interruption_between_database_and_replica_loses_nothing_and_repeats_nothing() {
    let Some(server) = shared_server("interruptions") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, second) = (Node::new(database), Node::new(super::reopen(server, &name)));
    let id = first.write("before");
    let state = first.home.path().join("replica.json");
    let (former_state, former_files) = (fs::read(&state).unwrap(), first.home.files(""));
    update(
        &first.services,
        &id,
        &content_patch("after"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    // After the files and before the state.
    fs::write(&state, &former_state).unwrap();
    assert_eq!(first.content(&id), "after");
    assert_eq!(first.files(), second.files());
    fs::write(&state, &former_state).unwrap();
    let other = first.write("another one");
    assert_eq!(first.files(), second.files());
    // After the database and before the files.
    for folder in ["categories", "journal", "trash", "index"] {
        fs::remove_dir_all(first.home.path().join(folder)).unwrap();
    }
    for (path, bytes) in former_files
        .iter()
        .filter(|(path, _)| path.strip_prefix("index/").is_none())
    {
        fs::create_dir_all(first.home.path().join(path).parent().unwrap()).unwrap();
        fs::write(first.home.path().join(path), bytes).unwrap();
    }
    let first = Node {
        services: services(open(
            first.home.path(),
            super::reopen(server, &name),
            Duration::ZERO,
        )),
        ..first
    };
    assert_eq!(
        (first.content(&id).as_str(), first.content(&other).as_str()),
        ("after", "another one")
    );
    assert_eq!(first.files(), second.files());
}

#[test]
fn writers_on_four_nodes_lose_no_write_and_end_with_the_same_files() {
    let Some(server) = shared_server("writers on four nodes") else {
        return;
    };
    let (database, name) = super::open(server);
    let first = Node::new(database);
    let shared = first.write("0");
    let nodes: Vec<_> = (0..4)
        .map(|_| Node::new(super::reopen(server, &name)))
        .collect();
    thread::scope(|scope| {
        for (number, node) in nodes.iter().enumerate() {
            let shared = &shared;
            scope.spawn(move || {
                for count in 0..WRITES {
                    let mut draft = Draft::new(&format!("writer {number} note {count}"));
                    if count % 3 == 1 {
                        draft.scope = Scope::Agent(format!("agent-{}", number % 2));
                    }
                    write(&node.services, draft, SecretPolicy::Refuse).unwrap();
                    // A counter that all nodes increase; the version that was read is expected.
                    loop {
                        let stored = node.services.store.get_by(shared).unwrap();
                        let next =
                            (stored.memory.content.parse::<usize>().unwrap() + 1).to_string();
                        match update(
                            &node.services,
                            shared,
                            &content_patch(&next),
                            Some(stored.stamp),
                            SecretPolicy::Refuse,
                        ) {
                            Ok(_) => break,
                            Err(error) => assert_eq!(error.code(), Code::Conflict, "{error}"),
                        }
                    }
                }
            });
        }
    });
    let files = first.sorted_files();
    for node in &nodes {
        assert_eq!(node.content(&shared), (4 * WRITES).to_string());
        assert_eq!(node.sorted_files(), files);
    }
    let new = Node::new(super::reopen(server, &name));
    assert_eq!(new.sorted_files(), files);
    let documents = server.sql(&name, "SELECT count(*) FROM memory_documents");
    assert_eq!(documents, (4 * WRITES + 1).to_string());
    assert_eq!(
        server.sql(&name, "SELECT count(*) FROM memory_documents_trash"),
        (4 * WRITES).to_string()
    );
}

#[test]
fn two_undos_of_one_operation_at_once_apply_once() {
    let Some(server) = shared_server("two undos at once") else {
        return;
    };
    let (database, name) = super::open(server);
    let nodes = [Node::new(database), Node::new(super::reopen(server, &name))];
    for round in 0..5 {
        let id = nodes[0].write(&format!("note {round}"));
        delete(&nodes[0].services, &id).unwrap();
        let history = &nodes[0].services.history;
        let deletion = history.records().next().unwrap().unwrap().operation.id;
        nodes[1].services.store.refresh().unwrap();
        let start = Barrier::new(2);
        let undone = thread::scope(|scope| {
            let runs = nodes.each_ref().map(|node| {
                let (start, deletion) = (&start, &deletion);
                scope.spawn(move || {
                    start.wait();
                    node.services
                        .history
                        .revert(deletion, &node.services.operation(Verb::Undo))
                })
            });
            runs.map(|run| run.join().unwrap())
        });
        let refusals: Vec<_> = undone
            .iter()
            .filter_map(|undone| undone.as_ref().err().map(memory_core::StoreError::code))
            .collect();
        assert_eq!(refusals, [Code::OperationNotFound]);
        for node in &nodes {
            assert_eq!(node.content(&id), format!("note {round}"));
        }
    }
    assert_eq!(nodes[0].files(), nodes[1].files());
}

#[test]
fn a_node_that_was_not_informed_plans_its_write_again() {
    let Some(server) = shared_server("a node that was not informed") else {
        return;
    };
    let (database, name) = super::open(server);
    let hour = Duration::from_hours(1);
    let (first, second) = (
        Node::new(database),
        Node::with_interval(super::reopen(server, &name), hour),
    );
    second.services.store.refresh().unwrap();
    let id = first.write("the same text");
    // The second node does not know the memory, and writes no duplicate.
    assert_eq!(second.write("the same text"), id);
    let (stored, other) = (
        second.services.store.get_by(&id).unwrap(),
        first.write("another text"),
    );
    update(
        &first.services,
        &id,
        &content_patch("changed"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    let refused = update(
        &second.services,
        &id,
        &content_patch("lost"),
        Some(stored.stamp),
        SecretPolicy::Refuse,
    )
    .unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
    assert_eq!(
        (
            second.content(&id).as_str(),
            second.content(&other).as_str()
        ),
        ("changed", "another text")
    );
}

#[test]
fn all_nodes_apply_the_operations_on_one_path_and_one_id_in_their_order() {
    let Some(server) = shared_server("one id in two scopes") else {
        return;
    };
    let (database, name) = super::open(server);
    let first = Node::new(database);
    let id = first.write("a note");
    let mut memory = first.services.store.get_by(&id).unwrap().memory;
    memory.scope = Scope::Agent("other".into());
    first.write("another note");
    delete(&first.services, &id).unwrap();
    let second = Node::with_interval(super::reopen(server, &name), Duration::from_hours(1));
    let change = Change::Create {
        memory: Box::new(memory),
        front_matter: String::new(),
    };
    let set = ChangeSet {
        changes: vec![change],
        ..ChangeSet::new(second.services.operation(Verb::Import))
    };
    second
        .services
        .store
        .commit(Checked::allowed(&set))
        .unwrap();
    assert!(
        second
            .services
            .store
            .get_by(&id)
            .unwrap()
            .path
            .ends_with("@agent-other.md")
    );
    let new = Node::new(super::reopen(server, &name));
    assert_eq!(new.sorted_files(), first.sorted_files());
    assert_eq!(
        (first.content(&id).as_str(), new.content(&id).as_str()),
        ("a note", "a note")
    );
}

#[test]
fn a_write_whose_answer_is_lost_happens_once() {
    let Some(server) = shared_server("writes whose answers are lost") else {
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
    let id = node.write("first");
    let store = &node.services.store;
    // Each answer of a write is lost in turn; the last ones are those of the commit and of later reads.
    for lost in 1..14 {
        let set = {
            let mut memory = store.get_by(&id).unwrap();
            memory.memory.content = format!("version {lost}");
            let change = Change::Replace {
                expected: memory.stamp,
                memory: Box::new(memory.memory),
            };
            ChangeSet {
                changes: vec![change],
                ..ChangeSet::new(node.services.operation(Verb::Update))
            }
        };
        proxy.lose_response_after(lost);
        store.commit(Checked::allowed(&set)).unwrap();
        proxy.lose_response_after(0);
        assert_eq!(node.content(&id), format!("version {lost}"));
    }
    assert_eq!(
        server.sql(
            &name,
            "SELECT count(*), count(DISTINCT operation) FROM memory_document_operations"
        ),
        "14|14"
    );
    assert_eq!(
        server.sql(&name, "SELECT count(*) FROM memory_documents_trash"),
        "13"
    );
    assert_eq!(
        node.files(),
        Node::new(super::reopen(server, &name)).files()
    );
}

#[test]
fn a_write_whose_outcome_is_unknown_is_queued_and_happens_once() {
    let Some(server) = shared_server("writes with an unknown outcome") else {
        return;
    };
    let name = server.database();
    let proxy = PostgresProxy::start(server.port());
    let address = format!(
        "postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable",
        proxy.port
    );
    let node = Node::new(Arc::new(
        Database::new(&address, impatient_limits()).unwrap(),
    ));
    let id = node.write("first");
    // Each response of a write is lost in turn, and no call is repeated.
    for lost in 1..10 {
        proxy.lose_response_after(lost);
        let text = format!("version {lost}");
        let written = update(
            &node.services,
            &id,
            &content_patch(&text),
            None,
            SecretPolicy::Refuse,
        );
        proxy.lose_response_after(0);
        written.unwrap();
        assert_eq!(node.content(&id), text);
    }
    let other = Node::new(super::reopen(server, &name));
    assert_eq!(node.files(), other.files());
    assert_eq!(other.content(&id), "version 9");
    assert_eq!(
        server.sql(
            &name,
            "SELECT count(*), count(DISTINCT operation) FROM memory_document_operations"
        ),
        "10|10"
    );
}

#[test]
fn without_the_database_a_node_finds_what_it_has_and_reports_that_and_queues_writes() {
    let claim = "a node without its database";
    let Some(server) = PostgresServer::start() else {
        return report_skipped(claim, "there is no initdb");
    };
    let name = server.database();
    let database = || Arc::new(Database::new(&server.address(&name), impatient_limits()).unwrap());
    let node = Node::new(database());
    node.write("The team deploys on Tuesdays");
    server.control(&["-w", "-m", "fast", "stop"]);
    let new = TestHome::new();
    for (number, services) in [
        &node.services,
        &services(open(node.home.path(), database(), Duration::ZERO)),
    ]
    .into_iter()
    .enumerate()
    {
        let found = search(services, &Query::new("deploys")).unwrap();
        assert_eq!(found.hits.len(), 1);
        let degraded = found.degraded.unwrap();
        assert!(degraded.starts_with("offline since 20"), "{degraded}");
        assert!(
            degraded.contains("; the memories may be outdated: the database cannot be reached"),
            "{degraded}"
        );
        write(
            services,
            Draft::new(&format!("another note {number}")),
            SecretPolicy::Refuse,
        )
        .unwrap();
        assert_eq!(
            search(services, &Query::new("note")).unwrap().hits.len(),
            number + 1
        );
    }
    // A new node has nothing to find, and does not report an empty result.
    let empty = services(open(new.path(), database(), Duration::ZERO));
    assert_eq!(
        search(&empty, &Query::new("deploys")).unwrap_err().code(),
        Code::DatabaseUnreachable
    );
    let refused = write(&empty, Draft::new("a note"), SecretPolicy::Refuse).unwrap_err();
    assert_eq!(refused.code(), Code::DatabaseUnreachable);
    server.control(&["-w", "start"]);
    let found = search(&node.services, &Query::new("note")).unwrap();
    assert_eq!((found.hits.len(), found.degraded), (2, None));
    assert_eq!(search(&empty, &Query::new("note")).unwrap().hits.len(), 2);
    assert_eq!(
        server.sql(&name, "SELECT count(*) FROM memory_document_operations"),
        "3"
    );
}

#[test]
fn a_notification_makes_another_node_fetch_operations_at_once() {
    let Some(server) = shared_server("notifications") else {
        return;
    };
    let (database, name) = super::open(server);
    let first = Node::new(database);
    let home = TestHome::new();
    let second = Arc::new(open(
        home.path(),
        super::reopen(server, &name),
        Duration::from_hours(1),
    ));
    let (heard, news) = std::sync::mpsc::channel();
    let heard = std::sync::Mutex::new(heard);
    assert!(second.listen_for_news(move || heard.lock().unwrap().send(()).unwrap_or_default()));
    // The first hint shows that notifications arrive.
    news.recv().unwrap();
    for number in 0..3 {
        let id = first.write(&format!("note {number}"));
        news.recv().unwrap();
        assert_eq!(
            second.get_by(&id).unwrap().memory.content,
            format!("note {number}")
        );
    }
    // Without the connection of the listener, operations are fetched at intervals.
    let stop = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    assert_eq!(server.sql(&name, stop), "1");
    let id = first.write("without a listener");
    let polling = open(home.path(), super::reopen(server, &name), Duration::ZERO);
    assert_eq!(
        polling.get_by(&id).unwrap().memory.content,
        "without a listener"
    );
}

/// Returns limits with which no call is repeated after its connection was lost.
fn impatient_limits() -> DatabaseLimits {
    DatabaseLimits {
        patience: Duration::from_millis(300),
        restart: Duration::ZERO,
        ..DatabaseLimits::default()
    }
}

#[test]
fn a_file_that_another_program_changed_in_a_replica_is_set_aside() {
    let Some(server) = shared_server("changed replicas") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, second) = (Node::new(database), Node::new(super::reopen(server, &name)));
    let id = first.write("as written");
    let path = first.services.store.get_by(&id).unwrap().path;
    let place = first.home.path().join(&path);
    let edited = fs::read_to_string(&place)
        .unwrap()
        .replace("as written", "as edited");
    fs::write(&place, &edited).unwrap();
    // The edit is not in the database, so the version that the user read is not the current one.
    let refused = update(
        &first.services,
        &id,
        &content_patch("next"),
        None,
        SecretPolicy::Refuse,
    );
    assert_eq!(
        refused.map(|_| ()).map_err(|error| error.code()),
        Err(Code::Conflict)
    );
    assert_eq!(first.content(&id), "as written");
    let aside: Vec<_> = first.home.files("unsynced").into_values().collect();
    assert_eq!(aside, [edited.into_bytes()]);
    update(
        &second.services,
        &id,
        &content_patch("next"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(first.files(), second.files());
}

#[test]
fn a_purged_version_is_in_no_new_replica() {
    let Some(server) = shared_server("purged versions") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, late) = (
        Node::new(database),
        Node::with_interval(super::reopen(server, &name), Duration::from_hours(1)),
    );
    late.services.store.refresh().unwrap();
    let id = first.write("a first version");
    update(
        &first.services,
        &id,
        &content_patch("a second version"),
        None,
        SecretPolicy::Refuse,
    )
    .unwrap();
    let after = first.services.clock.now() + chrono::TimeDelta::days(1);
    assert_eq!(first.services.history.purge(after).unwrap().0, 1);
    assert_eq!(
        server.sql(&name, "SELECT count(*) FROM memory_documents_trash"),
        "0"
    );
    let find = "SELECT count(*) FROM memory_document_changes WHERE position('first version'::bytea IN content) > 0";
    assert_eq!(server.sql(&name, find), "0");
    let new = Node::new(super::reopen(server, &name));
    assert_eq!(new.files(), first.files());
    late.write("a late note");
    assert_eq!(late.files(), first.files());
    assert_eq!(new.content(&id), "a second version");
}

#[test]
fn a_folder_with_other_memories_is_not_used_as_a_replica() {
    let Some(server) = shared_server("folders with other memories") else {
        return;
    };
    let home = TestHome::new();
    write(
        &home.services(),
        Draft::new("a private note"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let before = home.files("categories");
    let (database, name) = super::open(server);
    let in_use = services(open(home.path(), database, Duration::ZERO));
    for refused in [
        write(&in_use, Draft::new("a note"), SecretPolicy::Refuse).map(|_| ()),
        search(&in_use, &Query::new("note")).map(|_| ()),
    ] {
        assert_eq!(refused.unwrap_err().code(), Code::InvalidInput);
    }
    assert_eq!(home.files("categories"), before);
    // A replica of one database is not used for another one.
    let node = Node::new(super::reopen(server, &name));
    node.write("a note");
    let other = services(open(
        node.home.path(),
        super::open(server).0,
        Duration::ZERO,
    ));
    assert_eq!(
        write(&other, Draft::new("b"), SecretPolicy::Refuse)
            .unwrap_err()
            .code(),
        Code::InvalidInput
    );
}

pub(super) fn content_patch(text: &str) -> Patch {
    Patch {
        content: Some(text.to_owned()),
        ..Patch::default()
    }
}
