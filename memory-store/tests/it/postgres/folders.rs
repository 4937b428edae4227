//! Banks and topics of several nodes with replicas of one database.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use memory_core::SecretPolicy;
use memory_core::bank::{
    BankStore, BankWriteCondition, BankWriteRequest, Banks, MissingKey, ScopeChoice, delete_bank,
    history, read, undo, update, write,
};
use memory_core::testing::{bank_suite, banks, topic_suite, topics};
use memory_core::topic::{TopicStore, TopicWriteRequest, Topics};
use memory_core::{Code, topic};
use memory_store::bank::{BankFolder, BankOptions};
use memory_store::postgres::{Database, DatabaseLimits};
use memory_store::topic::TopicFolder;
use memory_store::{RandomIds, SharedFolderId};

use super::pooler::Pooler;
use super::proxy::PostgresProxy;
use super::server::{PostgresServer, report_skipped, shared_server};
use crate::home::TestHome;

/// Number of times that each writer increases a counter.
const INCREASES: usize = 12;

/// Banks and topics in a folder of its own.
struct FolderNode {
    home: TestHome,
    banks: Banks,
    topics: Topics,
}

impl FolderNode {
    fn new(database: Arc<Database>) -> Self {
        Self::in_home(TestHome::new(), database)
    }

    fn in_home(home: TestHome, database: Arc<Database>) -> Self {
        let banks = Banks {
            ids: Arc::new(RandomIds),
            ..banks(open_banks(home.path(), Arc::clone(&database)), None).0
        };
        let topics = Topics {
            ids: Arc::new(RandomIds),
            ..topics(open_topics(home.path(), database)).0
        };
        Self {
            home,
            banks,
            topics,
        }
    }

    fn put(&self, key: &str, value: &str) -> Result<(), Code> {
        let request = BankWriteRequest {
            bank: "shared".parse().unwrap(),
            key: key.parse().unwrap(),
            value: value.parse().unwrap(),
            ttl: None,
            condition: BankWriteCondition::Any,
            scope: ScopeChoice::Detected,
            secrets: SecretPolicy::Refuse,
        };
        write(&self.banks, &request)
            .map(drop)
            .map_err(|error| error.code())
    }

    fn value(&self, key: &str) -> Result<String, Code> {
        let (bank, key) = ("shared".parse().unwrap(), key.parse().unwrap());
        let found = read(&self.banks, &bank, &key, ScopeChoice::Detected);
        found
            .map(|found| found.entry.value.to_string())
            .map_err(|error| error.code())
    }

    fn increase(&self, key: &str) {
        let (bank, key) = ("shared".parse().unwrap(), key.parse().unwrap());
        let (any, missing) = (ScopeChoice::Detected, MissingKey::Refuse);
        update(
            &self.banks,
            &bank,
            &key,
            ".+1",
            any,
            missing,
            SecretPolicy::Refuse,
        )
        .unwrap();
    }

    fn write_topic(&self, name: &str, content: &str) {
        let request = TopicWriteRequest {
            name: name.parse().unwrap(),
            title: None,
            description: Some(format!("About {name}")),
            kind: Some("project".parse().unwrap()),
            content: Some(content.to_owned()),
            secrets: SecretPolicy::Refuse,
        };
        topic::write(&self.topics, &request).unwrap();
    }

    fn topic(&self, name: &str) -> Option<String> {
        self.topics
            .store
            .text(&name.parse().unwrap())
            .unwrap()
            .map(|text| text.text)
    }

    /// Returns the files that are shared.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.banks.user.banks().unwrap();
        self.topics.store.topics().unwrap();
        let is_own = |path: &str| {
            path.contains(".lock")
                || path.contains(".replica")
                || path.ends_with("/.uses.json")
                || path.ends_with("/.gitignore")
        };
        let mut files: BTreeMap<_, _> = ["banks", "topics"]
            .iter()
            .flat_map(|folder| self.home.files(folder))
            .collect();
        files.retain(|path, _| !is_own(path));
        files
    }
}

fn open_banks(home: &Path, database: Arc<Database>) -> Arc<dyn BankStore> {
    let (folder, options) = (SharedFolderId::global("banks"), BankOptions::default());
    Arc::new(BankFolder::open_replica(
        home.join("banks"),
        options,
        database,
        folder,
        Duration::ZERO,
    ))
}

fn open_topics(home: &Path, database: Arc<Database>) -> Arc<dyn TopicStore> {
    Arc::new(TopicFolder::open_replica(
        home.join("topics"),
        database,
        SharedFolderId::global("topics"),
        Duration::ZERO,
    ))
}

/// Returns a function that returns another folder of a database and a home for each call.
fn new_folders() -> impl Fn() -> (SharedFolderId, std::path::PathBuf) {
    let (count, homes) = (AtomicUsize::new(0), TestHome::new());
    move || {
        let name = count.fetch_add(1, Ordering::Relaxed).to_string();
        (SharedFolderId::global(&name), homes.path().join(name))
    }
}

fn bank_stores(database: Arc<Database>) -> impl Fn() -> Arc<dyn BankStore> {
    let next = new_folders();
    move || {
        let (folder, root) = next();
        Arc::new(BankFolder::open_replica(
            root,
            BankOptions::default(),
            Arc::clone(&database),
            folder,
            Duration::ZERO,
        ))
    }
}

fn topic_stores(database: Arc<Database>) -> impl Fn() -> Arc<dyn TopicStore> {
    let next = new_folders();
    move || {
        let (folder, root) = next();
        Arc::new(TopicFolder::open_replica(
            root,
            Arc::clone(&database),
            folder,
            Duration::ZERO,
        ))
    }
}

#[test]
fn shared_banks_and_topics_keep_the_promises_of_their_stores() {
    let claim = "the promises of shared banks and topics";
    let Some(server) = shared_server(claim) else {
        return;
    };
    bank_suite(&bank_stores(super::open(server).0));
    topic_suite(&topic_stores(super::open(server).0));
    let Some(pooler) = Pooler::start(server, claim) else {
        return;
    };
    bank_suite(&bank_stores(pooler.open(&server.database())));
    topic_suite(&topic_stores(pooler.open(&server.database())));
}

#[test]
fn a_file_that_the_store_does_not_write_is_not_placed_on_a_node() {
    let Some(server) = shared_server("files of other programs") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, second) = (
        FolderNode::new(database),
        FolderNode::new(super::reopen(server, &name)),
    );
    first.write_topic("plan", "the plan");
    server.sql(
        &name,
        "UPDATE memory_folders SET position = position + 1 WHERE folder = 'topics';
        INSERT INTO memory_files (scope, folder, path, position, written, is_there, size, hash)
            SELECT scope, folder, '.git/config', position, position, true, 1, sha256('x') FROM memory_folders WHERE folder = 'topics';
        INSERT INTO memory_file_parts (scope, folder, path, start_at, position, content)
            SELECT scope, folder, '.git/config', 0, position, 'x' FROM memory_folders WHERE folder = 'topics'",
    );
    second.write_topic("plan", "the second plan");
    assert!(first.topic("plan.md").unwrap().contains("the second plan"));
    // Files in folders are shared.
    let nested = "notes/list.txt".parse().unwrap();
    topic::file::create(&first.topics, &nested, "tea", SecretPolicy::Refuse).unwrap();
    assert_eq!(
        topic::file::read(&second.topics, &nested)
            .unwrap()
            .as_deref(),
        Some("tea")
    );
    for node in [first, second] {
        assert!(!node.home.path().join("topics/.git").exists());
    }
}

#[test]
fn a_bank_and_a_topic_of_one_node_are_read_and_undone_on_another() {
    let Some(server) = shared_server("shared banks and topics") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, second) = (
        FolderNode::new(database),
        FolderNode::new(super::reopen(server, &name)),
    );
    first.put("a", "1").unwrap();
    assert_eq!(second.value("a"), Ok("1".into()));
    second.put("a", "2").unwrap();
    first.put("b", "3").unwrap();
    let deleted = delete_bank(
        &second.banks,
        &"shared".parse().unwrap(),
        ScopeChoice::Detected,
    )
    .map(|_| ());
    deleted.unwrap();
    assert_eq!(first.value("a"), Err(Code::BankNotFound));
    let ids = |node: &FolderNode| {
        let records = history(&node.banks).unwrap();
        records
            .into_iter()
            .map(|(_, record)| (record.operation.id.to_string(), record.undone_by.is_some()))
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&first), ids(&second));
    undo(&first.banks, &ids(&first)[0].0).unwrap();
    undo(&second.banks, &ids(&second)[2].0).unwrap();
    assert_eq!(
        (first.value("a"), second.value("b")),
        (Ok("2".into()), Err(Code::KeyNotFound))
    );
    first.write_topic("plan", "the first plan");
    second.write_topic("plan", "the second plan");
    assert!(first.topic("plan.md").unwrap().contains("the second plan"));
    let last = topic::history(&first.topics).unwrap()[0]
        .operation
        .id
        .to_string();
    topic::undo(&first.topics, &last).unwrap();
    assert!(second.topic("plan.md").unwrap().contains("the first plan"));
    assert_eq!(
        second.topics.store.trashed().unwrap(),
        first.topics.store.trashed().unwrap()
    );
    assert_eq!(first.files(), second.files());
    // A new node has all files, and a node that lost its replica as well.
    let new = FolderNode::new(super::reopen(server, &name));
    assert_eq!(new.files(), first.files());
    fs::remove_dir_all(new.home.path().join("banks")).unwrap();
    let new = FolderNode::in_home(new.home, super::reopen(server, &name));
    assert_eq!(new.files(), first.files());
    undo(&new.banks, &ids(&new)[0].0).unwrap();
    assert_eq!(first.value("b"), Ok("3".into()));
    let hashes = "SELECT bool_and(sha256(content) = hash) FROM memory_files JOIN memory_file_parts USING (scope, folder, path) \
        WHERE hash IS NOT NULL";
    assert_eq!(server.sql(&name, hashes), "t");
}

#[test]
fn writers_on_several_nodes_lose_no_change_of_a_bank() {
    let Some(server) = shared_server("writers of shared banks") else {
        return;
    };
    let (database, name) = super::open(server);
    let first = FolderNode::new(database);
    first.put("count", "0").unwrap();
    let nodes: Vec<_> = (0..3)
        .map(|_| FolderNode::new(super::reopen(server, &name)))
        .collect();
    thread::scope(|scope| {
        for (number, node) in nodes.iter().enumerate() {
            scope.spawn(move || {
                for count in 0..INCREASES {
                    node.increase("count");
                    node.put(&format!("own-{number}"), &count.to_string())
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(first.value("count"), Ok((3 * INCREASES).to_string()));
    for node in &nodes {
        assert_eq!(node.files(), first.files());
    }
    assert_eq!(history(&first.banks).unwrap().len(), 1 + 6 * INCREASES);
    // Each operation added one part to the log, so its cost does not depend on the length of the log.
    let parts = "SELECT count(*), max(length(content)) < 1000 FROM memory_file_parts WHERE path LIKE '.trash/%.jsonl'";
    assert_eq!(server.sql(&name, parts), format!("{}|t", 1 + 6 * INCREASES));
}

#[test]
fn a_change_of_a_bank_whose_answer_is_lost_happens_once() {
    let Some(server) = shared_server("changes whose answers are lost") else {
        return;
    };
    let name = server.database();
    let proxy = PostgresProxy::start(server.port());
    let address = format!(
        "postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable",
        proxy.port
    );
    let node = FolderNode::new(Arc::new(
        Database::new(&address, DatabaseLimits::default()).unwrap(),
    ));
    node.put("count", "0").unwrap();
    for lost in 1..14 {
        proxy.lose_response_after(lost);
        node.increase("count");
        proxy.lose_response_after(0);
        assert_eq!(node.value("count"), Ok(lost.to_string()));
    }
    assert_eq!(
        server.sql(
            &name,
            "SELECT position FROM memory_folders WHERE folder = 'banks'"
        ),
        "14"
    );
    assert_eq!(
        node.files(),
        FolderNode::new(super::reopen(server, &name)).files()
    );
}

#[test]
fn an_interruption_between_database_and_folder_loses_nothing_and_repeats_nothing() {
    let Some(server) = shared_server("interruptions of shared banks") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, second) = (
        FolderNode::new(database),
        FolderNode::new(super::reopen(server, &name)),
    );
    first.put("count", "0").unwrap();
    let before = first.home.files("banks");
    first.increase("count");
    let after = first.home.files("banks");
    let changed: Vec<_> = after
        .iter()
        .filter(|(path, bytes)| before.get(*path) != Some(bytes))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(
        changed.len(),
        3,
        "the bank, its log and the state: {changed:?}"
    );
    // Each subset of the files may have been written.
    for subset in 0..8_usize {
        for (number, path) in changed.iter().enumerate() {
            let files = if subset >> number & 1 == 0 {
                &before
            } else {
                &after
            };
            // The state is written last.
            let is_early = path.ends_with(".replica.jsonl") && subset != 7;
            fs::write(
                first.home.path().join(path),
                &(if is_early { &before } else { files })[*path],
            )
            .unwrap();
        }
        assert_eq!(first.value("count"), Ok("1".into()));
        assert_eq!(first.files(), second.files());
    }
    first.increase("count");
    assert_eq!(second.value("count"), Ok("2".into()));
    // Half of a line.
    let log = changed.iter().find(|path| path.contains(".jsonl")).unwrap();
    let whole = fs::read(first.home.path().join(log)).unwrap();
    fs::write(first.home.path().join(log), &whole[..whole.len() - 9]).unwrap();
    first.increase("count");
    assert_eq!(second.value("count"), Ok("3".into()));
    assert_eq!(first.files(), second.files());
}

#[test]
fn a_file_that_another_program_changed_is_set_aside_before_it_is_replaced() {
    let Some(server) = shared_server("changed files of replicas") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, second) = (
        FolderNode::new(database),
        FolderNode::new(super::reopen(server, &name)),
    );
    first.write_topic("plan", "as written");
    let place = first.home.path().join("topics/plan.md");
    let edited = fs::read_to_string(&place)
        .unwrap()
        .replace("as written", "as edited");
    fs::write(&place, &edited).unwrap();
    assert_eq!(first.topic("plan.md").as_ref(), Some(&edited));
    second.write_topic("plan", "as written later");
    assert!(first.topic("plan.md").unwrap().contains("as written later"));
    let aside: Vec<_> = first.home.files("topics/.unsynced").into_values().collect();
    assert_eq!(aside, [edited.into_bytes()]);
}

#[test]
fn a_folder_with_other_files_is_not_used_as_a_replica() {
    let Some(server) = shared_server("folders with other banks") else {
        return;
    };
    let home = TestHome::new();
    fs::create_dir(home.path().join("banks")).unwrap();
    fs::write(home.path().join("banks/own.json"), "{\"entries\":{}}").unwrap();
    let (database, name) = super::open(server);
    let node = FolderNode::in_home(home, database);
    assert_eq!(
        (node.put("a", "1"), node.value("a")),
        (Err(Code::InvalidInput), Err(Code::InvalidInput))
    );
    assert_eq!(
        fs::read_to_string(node.home.path().join("banks/own.json")).unwrap(),
        "{\"entries\":{}}"
    );
    assert_eq!(server.sql(&name, "SELECT count(*) FROM memory_files"), "0");
}

#[test]
fn without_the_database_banks_are_read_and_not_changed() {
    let Some(server) = PostgresServer::start() else {
        return report_skipped("banks without database", "there is no initdb");
    };
    let name = server.database();
    let limits = DatabaseLimits {
        patience: Duration::from_millis(300),
        restart: Duration::ZERO,
        ..DatabaseLimits::default()
    };
    let database = || Arc::new(Database::new(&server.address(&name), limits.clone()).unwrap());
    let node = FolderNode::new(database());
    node.put("a", "1").unwrap();
    server.control(&["-w", "-m", "fast", "stop"]);
    assert_eq!(
        (node.value("a"), node.put("a", "2")),
        (Ok("1".into()), Err(Code::DatabaseUnreachable))
    );
    let node = FolderNode::in_home(node.home, database());
    assert_eq!(node.value("a"), Ok("1".into()));
    assert_eq!(
        FolderNode::new(database()).value("a"),
        Err(Code::DatabaseUnreachable)
    );
    server.control(&["-w", "start"]);
    node.increase("a");
    assert_eq!(node.value("a"), Ok("2".into()));
}
