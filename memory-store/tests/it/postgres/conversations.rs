//! Conversations of several nodes with replicas of one database.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationOperations, ConversationStore, Conversations,
    EntryChange, EntryId, EntryRole, JobQueue, enqueue, enqueue_missing, list, store_turn, undo,
};
use memory_core::secret::Checked;
use memory_core::testing::{
    FakeClock, conversation_suite, conversation_vector_suite, conversations, services,
};
use memory_core::{
    Change, ChangeSet, Code, Draft, Filter, History, MemoryStore, Operation, OperationId,
    PageRequest, SecretPolicy, Verb, write,
};
use memory_store::conversation::{ConversationFolder, JobFile};
use memory_store::postgres::{Database, DatabaseLimits};
use memory_store::{FileStore, FileStoreOptions, RandomIds, SharedFolderId};

use super::pooler::Pooler;
use super::proxy::PostgresProxy;
use super::server::{PostgresServer, report_skipped, shared_server};
use crate::home::TestHome;

/// Number of turns that each writer appends.
const TURNS: usize = 12;

/// A home with shared conversations.
pub(super) struct ConversationNode {
    home: TestHome,
    database: Arc<Database>,
    store: Arc<ConversationFolder>,
}

impl ConversationNode {
    pub(super) fn new(database: Arc<Database>) -> Self {
        Self::in_home(TestHome::new(), database)
    }

    pub(super) fn in_home(home: TestHome, database: Arc<Database>) -> Self {
        let store = open_folder(
            home.path(),
            Arc::clone(&database),
            SharedFolderId::conversations(),
        );
        Self {
            home,
            database,
            store: Arc::new(store),
        }
    }

    fn memories(&self) -> FileStore {
        let database = Arc::clone(&self.database);
        FileStore::open_replica(
            self.home.path(),
            FileStoreOptions::default(),
            database,
            Duration::ZERO,
        )
        .unwrap()
    }

    pub(super) fn add(&self, role: EntryRole, text: &str, number: i64) -> Result<(), Code> {
        let changes = [EntryChange::Add(entry(role, text, number))];
        self.store
            .commit(&talk(), Checked::allowed(&changes))
            .map_err(|error| error.code())
    }

    pub(super) fn say(&self, text: &str, number: i64) -> Result<(), Code> {
        self.add(EntryRole::User, text, number)
    }

    /// Replaces a fact as a language model does.
    fn replace(&self, old: &str, new: &str, number: i64) -> OperationId {
        let (old, new) = (id_of(old), entry(EntryRole::Memory, new, number));
        let delete = EntryChange::Delete {
            id: old,
            replaced_by: Some(new.id.clone()),
        };
        let operation = operation(Verb::Reconcile, number);
        self.store
            .commit_operation(
                &talk(),
                Checked::allowed(&[EntryChange::Add(new), delete]),
                &operation,
            )
            .unwrap();
        operation.id
    }

    fn undo(&self, operation: &OperationId) -> Result<(), Code> {
        undo(
            self.store.as_ref(),
            operation.as_str(),
            &FakeClock::default(),
            &RandomIds,
        )
        .map(drop)
        .map_err(|error| error.code())
    }

    fn texts(&self) -> Result<Vec<String>, Code> {
        let index = self.store.read(&talk()).map_err(|error| error.code())?;
        let mut texts: Vec<_> = index
            .entries()
            .iter()
            .map(|entry| entry.content.clone())
            .collect();
        texts.sort();
        Ok(texts)
    }

    /// Returns the files that are shared.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.store.conversations().unwrap();
        ["entries", ".conversations/journal"]
            .iter()
            .flat_map(|folder| self.home.files(folder))
            .collect()
    }
}

fn open_folder(root: &Path, database: Arc<Database>, folder: SharedFolderId) -> ConversationFolder {
    ConversationFolder::open_replica(root, database, folder, Duration::ZERO)
}

fn talk() -> ConversationId {
    "talk".parse().unwrap()
}

fn id_of(text: &str) -> EntryId {
    text.replace(' ', "-").parse().unwrap()
}

fn entry(role: EntryRole, text: &str, number: i64) -> ConversationEntry {
    let at = DateTime::UNIX_EPOCH + TimeDelta::seconds(number);
    ConversationEntry::new(id_of(text), &talk(), role, text, at)
}

fn operation(verb: Verb, number: i64) -> Operation {
    let at: DateTime<Utc> = DateTime::UNIX_EPOCH + TimeDelta::seconds(number);
    Operation {
        id: OperationId::from_random(number.unsigned_abs()),
        verb,
        by: "model".into(),
        at,
    }
}

fn stores(database: Arc<Database>) -> impl Fn() -> Arc<dyn ConversationStore> {
    let (count, homes) = (AtomicUsize::new(0), TestHome::new());
    move || {
        let name = count.fetch_add(1, Ordering::Relaxed).to_string();
        let root = homes.path().join(&name);
        Arc::new(open_folder(
            &root,
            Arc::clone(&database),
            SharedFolderId::global(&name),
        ))
    }
}

#[test]
fn shared_conversations_keep_the_promises_of_their_store() {
    let claim = "the promises of shared conversations";
    let Some(server) = shared_server(claim) else {
        return;
    };
    let make = stores(super::open(server).0);
    conversation_suite(&make);
    conversation_vector_suite(&make);
    let Some(pooler) = Pooler::start(server, claim) else {
        return;
    };
    let make = stores(pooler.open(&server.database()));
    conversation_suite(&make);
    conversation_vector_suite(&make);
}

#[test]
fn a_conversation_of_one_node_is_continued_and_undone_on_another() {
    let Some(server) = shared_server("shared conversations") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, second) = (
        ConversationNode::new(database),
        ConversationNode::new(super::reopen(server, &name)),
    );
    first.say("I drink tea", 1).unwrap();
    assert_eq!(
        list(second.store.as_ref()).unwrap().conversations[0].turns,
        1,
        "a node lists what it has not fetched yet"
    );
    second.add(EntryRole::Assistant, "noted", 2).unwrap();
    first.add(EntryRole::Memory, "drinks tea", 3).unwrap();
    first.add(EntryRole::Summary, "first summary", 4).unwrap();
    second.add(EntryRole::Summary, "second summary", 5).unwrap();
    let replaced = second.replace("drinks tea", "drinks coffee", 6);
    assert_eq!(
        first.texts().unwrap(),
        ["I drink tea", "drinks coffee", "noted"]
    );
    assert_eq!(
        first
            .store
            .read(&talk())
            .unwrap()
            .summary()
            .unwrap()
            .content,
        "second summary"
    );
    assert_eq!(first.files(), second.files());
    assert_eq!(
        first.store.operations().unwrap(),
        second.store.operations().unwrap()
    );
    // Each node undoes the operation of the other one, once.
    first.undo(&replaced).unwrap();
    assert_eq!(
        second.texts().unwrap(),
        ["I drink tea", "drinks tea", "noted"]
    );
    assert_eq!(second.undo(&replaced), Err(Code::InvalidInput));
    let undone = second.store.operations().unwrap()[0].operation.id.clone();
    second.undo(&undone).unwrap();
    assert_eq!(
        first.texts().unwrap(),
        ["I drink tea", "drinks coffee", "noted"]
    );
    // The trash is the same on a node that has just fetched it, with the times of the deletions.
    let new = ConversationNode::new(super::reopen(server, &name));
    let facts = |node: &ConversationNode| {
        let trashed = node.store.trashed().unwrap();
        trashed
            .into_iter()
            .filter(|entry| entry.operation.is_some())
            .collect::<Vec<_>>()
    };
    assert_eq!((facts(&new).len(), facts(&new)), (1, facts(&first)));
    new.store
        .restore(&facts(&new)[0], &operation(Verb::Restore, 8))
        .unwrap();
    assert_eq!(
        first.texts().unwrap(),
        ["I drink tea", "drinks coffee", "drinks tea", "noted"]
    );
    let delete = EntryChange::Delete {
        id: id_of("noted"),
        replaced_by: None,
    };
    first
        .store
        .commit(&talk(), Checked::allowed(&[delete]))
        .unwrap();
    assert_eq!(
        new.texts().unwrap(),
        ["I drink tea", "drinks coffee", "drinks tea"]
    );
    assert_eq!(
        first.store.deleted(&talk()).unwrap(),
        new.store.deleted(&talk()).unwrap()
    );
    new.store
        .purge_trash(DateTime::UNIX_EPOCH + TimeDelta::days(100_000))
        .unwrap();
    assert_eq!(
        (first.store.trashed().unwrap(), first.files()),
        (Vec::new(), new.files())
    );
    assert_eq!(first.files(), second.files());
}

#[test]
fn writers_on_several_nodes_lose_no_turn_of_a_conversation() {
    let Some(server) = shared_server("writers of shared conversations") else {
        return;
    };
    let (database, name) = super::open(server);
    let first = ConversationNode::new(database);
    let nodes: Vec<_> = (0..3)
        .map(|_| ConversationNode::new(super::reopen(server, &name)))
        .collect();
    thread::scope(|scope| {
        for (node, own) in nodes.iter().zip(0..) {
            scope.spawn(move || {
                for count in 0..TURNS {
                    node.say(
                        &format!("turn {count} of {own}"),
                        100 * own + i64::try_from(count).unwrap(),
                    )
                    .unwrap();
                }
            });
        }
    });
    assert_eq!(first.texts().unwrap().len(), 3 * TURNS);
    for node in &nodes {
        assert_eq!((node.texts(), node.files()), (first.texts(), first.files()));
    }
    // A commit adds one file, whatever the length of the conversation.
    let parts = "SELECT count(*), max(length(content)) < 1000 FROM memory_file_parts";
    assert_eq!(server.sql(&name, parts), format!("{}|t", 3 * TURNS));
}

#[test]
fn a_turn_whose_answer_is_lost_is_stored_once() {
    let Some(server) = shared_server("turns whose answers are lost") else {
        return;
    };
    let name = server.database();
    let proxy = PostgresProxy::start(server.port());
    let address = format!(
        "postgres://postgres@127.0.0.1:{}/{name}?sslmode=disable",
        proxy.port
    );
    let node = ConversationNode::new(Arc::new(
        Database::new(&address, DatabaseLimits::default()).unwrap(),
    ));
    node.add(EntryRole::Memory, "fact 0", 0).unwrap();
    for lost in 1..12_u8 {
        proxy.lose_response_after(lost.into());
        node.replace(
            &format!("fact {}", lost - 1),
            &format!("fact {lost}"),
            lost.into(),
        );
        proxy.lose_response_after(0);
        assert_eq!(node.texts().unwrap(), [format!("fact {lost}")]);
    }
    assert_eq!(
        server.sql(&name, "SELECT position FROM memory_folders"),
        "12"
    );
    assert_eq!(node.store.operations().unwrap().len(), 11);
    assert_eq!(
        node.files(),
        ConversationNode::new(super::reopen(server, &name)).files()
    );
}

#[test]
fn an_interruption_between_database_and_files_loses_no_entry() {
    let Some(server) = shared_server("interruptions of shared conversations") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, second) = (
        ConversationNode::new(database),
        ConversationNode::new(super::reopen(server, &name)),
    );
    first.add(EntryRole::Memory, "drinks tea", 1).unwrap();
    let before = first.home.files("");
    first.replace("drinks tea", "drinks coffee", 2);
    let after = first.home.files("");
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let changed: Vec<_> = paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .collect();
    // Each subset of the files may have been written; the state is written last.
    for subset in 0..1_usize << changed.len() {
        for (number, path) in changed.iter().enumerate() {
            let is_early = path.ends_with(".replica.jsonl") || *path == ".lock";
            let files = if subset >> number & 1 == 0 || is_early {
                &before
            } else {
                &after
            };
            let place = first.home.path().join(path);
            match files.get(*path) {
                Some(bytes) => fs::create_dir_all(place.parent().unwrap())
                    .and_then(|()| fs::write(&place, bytes))
                    .unwrap(),
                None => fs::remove_file(&place)
                    .or_else(|_| if place.exists() { Err(()) } else { Ok(()) })
                    .unwrap(),
            }
        }
        let store = open_folder(
            first.home.path(),
            Arc::clone(&first.database),
            SharedFolderId::conversations(),
        );
        assert_eq!(store.read(&talk()).unwrap().entries().len(), 1, "{subset}");
        assert_eq!(first.files(), second.files(), "{subset}");
    }
}

#[test]
fn facts_of_other_nodes_are_found_by_a_search_and_deleted_with_a_way_back() {
    let Some(server) = shared_server("searches in shared conversations") else {
        return;
    };
    let (database, name) = super::open(server);
    let (first, second) = (
        ConversationNode::new(database),
        ConversationNode::new(super::reopen(server, &name)),
    );
    first
        .add(EntryRole::Memory, "the user drinks tea", 1)
        .unwrap();
    first.say("I drink tea", 2).unwrap();
    let (own, other) = (first.memories(), second.memories());
    let found = |store: &FileStore| {
        store.refresh().unwrap();
        let page = store
            .list(
                &Filter::all(),
                &PageRequest::default(),
                DateTime::UNIX_EPOCH,
            )
            .unwrap();
        page.memories
            .into_iter()
            .map(|stored| (stored.memory.id, stored.path))
            .collect::<BTreeMap<_, _>>()
    };
    let all = found(&other);
    assert_eq!((all.len(), &all), (2, &found(&own)));
    let (fact, _) = all
        .iter()
        .find(|(_, path)| path.contains("/facts/"))
        .unwrap();
    let delete = |id| ChangeSet {
        changes: vec![Change::Remove { id, expected: None }],
        ..ChangeSet::new(operation(Verb::Delete, 3))
    };
    other.commit(Checked::allowed(&delete(*fact))).unwrap();
    assert_eq!(
        (found(&own).len(), first.texts().unwrap()),
        (1, vec!["I drink tea".to_owned()])
    );
    other
        .revert(&operation(Verb::Delete, 3).id, &operation(Verb::Undo, 4))
        .unwrap();
    assert_eq!((found(&own), found(&other)), (all.clone(), all));
    assert_eq!(first.files(), second.files());
}

#[test]
fn one_operation_on_a_memory_and_a_fact_is_refused_and_changes_nothing() {
    let Some(server) = shared_server("operations on memories and facts") else {
        return;
    };
    let (database, name) = super::open(server);
    let node = ConversationNode::new(database);
    node.add(EntryRole::Memory, "the user drinks tea", 1)
        .unwrap();
    let store = Arc::new(node.memories());
    let services = services(Arc::clone(&store) as _);
    let memory = write(&services, Draft::new("a note"), SecretPolicy::Refuse)
        .unwrap()
        .id;
    let listed = || {
        store.refresh().unwrap();
        let page = store
            .list(
                &Filter::all(),
                &PageRequest::default(),
                DateTime::UNIX_EPOCH,
            )
            .unwrap();
        page.memories
            .into_iter()
            .map(|stored| (stored.memory.id, stored.path))
            .collect::<BTreeMap<_, _>>()
    };
    let before = listed();
    let fact = *before
        .iter()
        .find(|(_, path)| path.contains("/facts/"))
        .unwrap()
        .0;
    let changes = [memory, fact]
        .map(|id| Change::Remove { id, expected: None })
        .to_vec();
    let both = ChangeSet {
        changes,
        ..ChangeSet::new(operation(Verb::Delete, 3))
    };
    let refused = store.commit(Checked::allowed(&both)).unwrap_err();
    assert_eq!(
        (
            refused.code(),
            refused.to_string().contains("nothing was changed")
        ),
        (Code::InvalidInput, true)
    );
    assert_eq!(
        (
            listed(),
            ConversationNode::new(super::reopen(server, &name))
                .texts()
                .unwrap()
                .len()
        ),
        (before, 1)
    );
    for (id, number) in [(memory, 4), (fact, 5)] {
        let one = vec![Change::Remove { id, expected: None }];
        store
            .commit(Checked::allowed(&ChangeSet {
                changes: one,
                ..ChangeSet::new(operation(Verb::Delete, number))
            }))
            .unwrap();
    }
    assert_eq!(listed(), BTreeMap::new());
}

#[test]
fn a_large_folder_is_copied_in_parts_and_an_interrupted_copy_continues() {
    let Some(server) = shared_server("copies of large conversations") else {
        return;
    };
    let (source, interrupted) = (TestHome::new(), TestHome::new());
    let own = ConversationFolder::new(source.path());
    own.commit(
        &talk(),
        Checked::allowed(&[EntryChange::Add(entry(EntryRole::User, "I drink tea", 1))]),
    )
    .unwrap();
    let journal = ".conversations/journal/2026-11.jsonl";
    let bytes: Vec<u8> = (0..20 << 20_u32)
        .map(|number| u8::try_from(number % 251).unwrap())
        .collect();
    for (home, file, size) in [
        (&source, "entries/talk/a.bin", 5 << 20),
        (&source, "entries/talk/b.bin", 6 << 20),
        (&source, journal, 20 << 20),
        // After an interruption, the database has some files, and the start of the last one.
        (&interrupted, "entries/talk/a.bin", 5 << 20),
        (&interrupted, journal, 9 << 20),
    ] {
        let path = home.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &bytes[..size]).unwrap();
    }
    let parts = |name: &str| {
        server.sql(
            name,
            "SELECT position FROM memory_folders WHERE folder = 'conversations'",
        )
    };
    let limit = "SELECT max(length(content)) <= 8388608 FROM memory_file_parts";
    for is_interrupted in [false, true] {
        let (database, name) = super::open(server);
        let node = ConversationNode::new(database);
        if is_interrupted {
            assert_eq!(node.store.copy_files(interrupted.path()).unwrap(), 2);
        }
        for _ in 0..2 {
            assert_eq!(node.store.copy_files(source.path()).unwrap(), 4);
            assert_eq!(
                (parts(&name), server.sql(&name, limit)),
                (if is_interrupted { "5" } else { "4" }.into(), "t".into())
            );
        }
        node.store.conversations().unwrap();
        let copied = |home: &TestHome| {
            ["entries", ".conversations/journal"].map(|folder| home.files(folder))
        };
        assert!(copied(&node.home) == copied(&source));
        fs::write(interrupted.path().join("entries/talk/a.bin"), "other").unwrap();
        assert_eq!(
            node.store
                .copy_files(interrupted.path())
                .unwrap_err()
                .code(),
            Code::InvalidInput
        );
        fs::write(
            interrupted.path().join("entries/talk/a.bin"),
            &bytes[..5 << 20],
        )
        .unwrap();
    }
}

#[test]
fn a_turn_has_a_job_on_the_node_that_stored_it_alone() {
    let Some(server) = shared_server("jobs of shared conversations") else {
        return;
    };
    let (database, name) = super::open(server);
    let nodes = [
        ConversationNode::new(database),
        ConversationNode::new(super::reopen(server, &name)),
    ];
    let jobs = nodes.each_ref().map(|node| JobFile::new(node.home.path()));
    let all = nodes
        .each_ref()
        .map(|node| conversations(Arc::clone(&node.store) as _));
    for (all, jobs) in all.iter().zip(&jobs) {
        assert_eq!(enqueue_missing(all, jobs).unwrap(), 0);
    }
    let said = [0, 1].map(|node: usize| {
        let text = format!("said on {node}");
        let all = Conversations {
            ids: Arc::new(RandomIds),
            ..all[node].clone()
        };
        store_turn(&all, &talk(), EntryRole::User, &text)
            .unwrap()
            .unwrap()
    });
    enqueue(&jobs[0], &said[0]).unwrap();
    // The other node died before it added its job.
    assert_eq!(
        [0, 1].map(|node: usize| enqueue_missing(&all[node], &jobs[node]).unwrap()),
        [0, 1]
    );
    let pending = jobs.each_ref().map(|jobs| jobs.pending().unwrap());
    let turns = pending.map(|pending| {
        pending
            .into_iter()
            .map(|pending| pending.job.turn)
            .collect::<Vec<_>>()
    });
    assert_eq!(turns, said.map(|turn| vec![turn.id]));
}

#[test]
fn without_the_database_conversations_are_read_and_not_changed() {
    let Some(server) = PostgresServer::start() else {
        return report_skipped("conversations without database", "there is no initdb");
    };
    let name = server.database();
    let limits = DatabaseLimits {
        patience: Duration::from_millis(300),
        restart: Duration::ZERO,
        ..DatabaseLimits::default()
    };
    let database = || Arc::new(Database::new(&server.address(&name), limits.clone()).unwrap());
    let node = ConversationNode::new(database());
    node.say("I drink tea", 1).unwrap();
    server.control(&["-w", "-m", "fast", "stop"]);
    assert_eq!(
        (node.texts(), node.say("more", 2)),
        (
            Ok(vec!["I drink tea".into()]),
            Err(Code::DatabaseUnreachable)
        )
    );
    let node = ConversationNode::in_home(node.home, database());
    assert_eq!(node.texts(), Ok(vec!["I drink tea".into()]));
    assert_eq!(
        ConversationNode::new(database()).texts(),
        Err(Code::DatabaseUnreachable)
    );
    server.control(&["-w", "start"]);
    node.say("more", 2).unwrap();
    assert_eq!(node.texts().unwrap().len(), 2);
}

#[test]
fn a_home_with_own_conversations_is_not_shared() {
    let Some(server) = shared_server("homes with own conversations") else {
        return;
    };
    let (database, name) = super::open(server);
    let home = TestHome::new();
    let own = ConversationFolder::new(home.path());
    own.commit(
        &talk(),
        Checked::allowed(&[EntryChange::Add(entry(EntryRole::User, "I drink tea", 1))]),
    )
    .unwrap();
    let node = ConversationNode::in_home(home, database);
    assert_eq!(
        (node.texts(), node.say("more", 2)),
        (Err(Code::InvalidInput), Err(Code::InvalidInput))
    );
    assert_eq!(
        node.memories().refresh().unwrap_err().code(),
        Code::InvalidInput
    );
    // Copied to the database, they are complete on another node.
    let other = ConversationNode::new(super::reopen(server, &name));
    assert_eq!(other.store.copy_files(node.home.path()).unwrap(), 1);
    assert_eq!(
        other.store.copy_files(node.home.path()).unwrap(),
        1,
        "again"
    );
    assert_eq!(
        (other.texts(), other.home.files("entries")),
        (Ok(vec!["I drink tea".into()]), node.home.files("entries"))
    );
}
