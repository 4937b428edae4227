//! Tests of replicas with a log in main memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use memory_core::secret::Checked;
use memory_core::{
    AcceptOptions, Change, ChangeOutcome, ChangeSet, Clock, Code, Draft, History, Memory, MemoryId,
    MemoryStore, MemoryStoreExt, Patch, ProposedAction, Query, SecretPolicy, StaleProposals, Verb,
    accept, delete, proposals, search, undo, update, write,
};
use proptest::prelude::*;

use super::CONFLICT_REASON;
use crate::file_store::replica::tests::{
    MemoryNode, assert_equal_nodes, open, read_files, two_nodes,
};
use crate::file_store::{FileStoreOptions, Freshness, QueueNotices};

#[test]
fn a_write_without_the_database_is_used_here_at_once_and_elsewhere_after_the_connection_returns() {
    let (first, second) = two_nodes();
    let id = first.write("The team deploys on Mondays");
    first.disconnect();
    first.update(&id, "The team deploys on Tuesdays");
    let other = first.write("Anna reviews all deploys");
    assert_eq!(
        search(&first.services, &Query::new("deploys"))
            .unwrap()
            .hits
            .len(),
        2
    );
    assert_eq!(first.content(&id).unwrap(), "The team deploys on Tuesdays");
    let verbs: Vec<_> = first
        .services
        .history
        .records()
        .map(|record| record.unwrap().operation.verb)
        .collect();
    assert_eq!(verbs, [Verb::Write, Verb::Update, Verb::Write]);
    assert_eq!(
        first.store.take_queue_notices(),
        QueueNotices {
            is_queued: true,
            proposed: 0
        }
    );
    assert_eq!(first.store.take_queue_notices(), QueueNotices::default());
    let status = first.store.shared_store_status().unwrap().unwrap();
    let oldest = first
        .services
        .history
        .records()
        .map(|record| record.unwrap().operation.at)
        .nth(1);
    assert_eq!((status.queued, status.queued_since), (2, oldest));
    assert_eq!(
        status.trouble.as_deref(),
        Some("the database cannot be reached")
    );
    assert_eq!(
        (
            second.content(&id).unwrap().as_str(),
            second.content(&other)
        ),
        ("The team deploys on Mondays", Err(Code::MemoryNotFound))
    );
    // The next write sends the queue first.
    first.connect();
    first.write("a third note");
    assert_eq!(
        (first.queued(), first.store.take_queue_notices()),
        (0, QueueNotices::default())
    );
    assert_eq!(second.content(&other).unwrap(), "Anna reviews all deploys");
    assert_equal_nodes(&[&first, &second]);
    assert_eq!(
        first.store.shared_store_status().unwrap().unwrap().trouble,
        None
    );
}

#[test]
fn the_topics_of_a_withdrawn_project_are_deleted_although_a_write_is_queued() {
    let (node, _) = two_nodes();
    let set_readable = |scopes: &[&str]| {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        node.connection.log.lock().unwrap().readable = Some(scopes);
    };
    set_readable(&["global", "project:web"]);
    node.write("a note");
    let topics = node.home.path().join("topics/web");
    fs::create_dir_all(&topics).unwrap();
    node.disconnect();
    node.write("an offline note");
    set_readable(&["global"]);
    assert!(topics.exists());
    node.synchronize();
    assert!(!topics.exists());
}

#[test]
fn a_write_fails_without_the_database_only_if_its_node_never_was_complete_or_the_write_is_wrong() {
    let (first, second) = two_nodes();
    second.disconnect();
    let refused = write(&second.services, Draft::new("a note"), SecretPolicy::Refuse).unwrap_err();
    assert_eq!(refused.code(), Code::DatabaseUnreachable);
    let id = first.write("a note");
    first.disconnect();
    assert_eq!(
        delete(
            &first.services,
            &MemoryId::for_path("no memory").to_string()
        )
        .unwrap_err()
        .code(),
        Code::MemoryNotFound
    );
    let stale = first.services.store.get_by(&id).unwrap().stamp;
    first.update(&id, "changed");
    let patch = Patch {
        content: Some("lost".to_owned()),
        ..Patch::default()
    };
    let refused = update(
        &first.services,
        &id,
        &patch,
        Some(stale),
        SecretPolicy::Refuse,
    )
    .map(drop)
    .unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
    assert_eq!(first.queued(), 1);
    second.connect();
    assert_equal_nodes(&[&first, &second]);
}

#[test]
fn a_write_whose_response_is_lost_together_with_the_connection_happens_once() {
    let (mut first, second) = two_nodes();
    first.write("before");
    for round in 0..4 {
        first
            .connection
            .loses_response
            .store(true, Ordering::SeqCst);
        let id = first.write(&format!("note {round}"));
        assert_eq!(first.queued(), 1);
        if round == 1 {
            second.write("another operation");
        }
        if round == 2 {
            first.update(&id, "changed before the response is known");
        }
        if round == 3 {
            first.restart();
        }
        first.synchronize();
    }
    assert_eq!(first.connection.log.lock().unwrap().operations.len(), 7);
    assert_equal_nodes(&[&first, &second]);
}

#[test]
fn an_operation_whose_response_is_lost_happens_once_if_the_replica_is_created_again() {
    let (first, mut second) = two_nodes();
    let id = second.write("two");
    second.update(&id, "two, changed");
    second.disconnect();
    undo(&second.services, None).unwrap();
    second
        .connection
        .loses_response
        .store(true, Ordering::SeqCst);
    second.connect();
    // This sends the undo, and is queued itself because the response is lost.
    second.update(&id, "two, changed again");
    assert_eq!(second.queued(), 2);
    first.write("three");
    fs::remove_dir_all(second.home.path().join("journal")).unwrap();
    second.connect();
    second.restart();
    assert_equal_nodes(&[&first, &second]);
    assert_eq!(
        (
            second.connection.log.lock().unwrap().operations.len(),
            second.queued()
        ),
        (5, 0)
    );
    assert_eq!(first.content(&id).unwrap(), "two, changed again");
}

#[test]
fn a_change_of_a_memory_that_another_node_changed_becomes_a_proposal() {
    let (first, second) = two_nodes();
    let [updated, deleted, gone, same] =
        ["one", "two", "three", "four"].map(|text| first.write(text));
    second.store.refresh().unwrap();
    first.disconnect();
    first.update(&updated, "one, offline");
    delete(&first.services, &deleted).unwrap();
    first.update(&gone, "three, offline");
    delete(&first.services, &same).unwrap();
    let new = first.write("a new note");
    second.update(&updated, "one, online");
    second.update(&deleted, "two, online");
    delete(&second.services, &gone).unwrap();
    delete(&second.services, &same).unwrap();
    first.synchronize();
    assert_eq!(
        first.store.take_queue_notices(),
        QueueNotices {
            is_queued: true,
            proposed: 3
        }
    );
    let mut proposed = first.proposals();
    proposed.sort_unstable();
    let expected = [
        ("delete", "two, online"),
        ("update", "one, offline"),
        ("write", "three, offline"),
    ];
    assert_eq!(
        proposed,
        expected.map(|(action, text)| (action, text.to_owned()))
    );
    for node in [&first, &second] {
        assert_eq!(node.content(&updated).unwrap(), "one, online");
        assert_eq!(node.content(&deleted).unwrap(), "two, online");
        assert_eq!(node.content(&gone), Err(Code::MemoryNotFound));
        assert_eq!(node.content(&new).unwrap(), "a new note");
    }
    assert_equal_nodes(&[&first, &second]);
    let waiting = proposals(&second.services).unwrap();
    let mut reasons: Vec<_> = second
        .services
        .history
        .changes_of(Verb::Propose)
        .map(|change| change.unwrap().why)
        .collect();
    reasons.dedup();
    assert_eq!(reasons, [Some(CONFLICT_REASON.to_owned())]);
    let update = waiting
        .iter()
        .find(|one| matches!(one.proposal.action, ProposedAction::Update(_)))
        .unwrap();
    assert!(update.is_stale && update.proposal.by == "test");
    let options = AcceptOptions {
        category: None,
        stale: StaleProposals::Overwrite,
        secrets: SecretPolicy::Refuse,
        expected: None,
    };
    for one in &waiting {
        accept(&second.services, &one.stored.memory.id.to_string(), options).unwrap();
    }
    assert_eq!(
        (
            first.content(&updated).unwrap().as_str(),
            first.content(&deleted)
        ),
        ("one, offline", Err(Code::MemoryNotFound))
    );
    assert_eq!(
        search(&first.services, &Query::new("three"))
            .unwrap()
            .hits
            .len(),
        1
    );
    assert_equal_nodes(&[&first, &second]);
}

#[test]
fn later_changes_of_a_memory_are_part_of_its_proposal() {
    let (first, second) = two_nodes();
    let [id, other, third] = ["one", "two", "three"].map(|text| first.write(text));
    second.store.refresh().unwrap();
    first.disconnect();
    first.update(&id, "one, offline");
    first.update(&other, "two, offline");
    first.update(&id, "one, offline again");
    first.update(&third, "three, offline");
    undo(&first.services, None).unwrap();
    second.update(&id, "one, online");
    second.update(&third, "three, online");
    first.synchronize();
    assert_eq!(
        first.proposals(),
        [("update", "one, offline again".to_owned())]
    );
    assert_eq!(
        (
            second.content(&id).unwrap().as_str(),
            second.content(&other).unwrap().as_str()
        ),
        ("one, online", "two, offline")
    );
    assert_eq!(second.content(&third).unwrap(), "three, online");
    assert_equal_nodes(&[&first, &second]);
}

#[test]
fn an_equal_change_on_both_nodes_is_no_conflict() {
    let (first, second) = two_nodes();
    let [id, other] = ["one", "two"].map(|text| first.write(text));
    delete(&first.services, &other).unwrap();
    second.store.refresh().unwrap();
    first.disconnect();
    for node in [&first, &second] {
        undo(&node.services, None).unwrap();
        node.update(&id, "one, changed");
    }
    first.synchronize();
    assert_eq!(first.proposals(), []);
    assert_eq!(
        (
            first.content(&id).unwrap().as_str(),
            first.content(&other).unwrap().as_str()
        ),
        ("one, changed", "two")
    );
    assert_equal_nodes(&[&first, &second]);
}

#[test]
fn new_memories_with_one_path_receive_different_paths() {
    let (first, second) = two_nodes();
    first.store.refresh().unwrap();
    second.store.refresh().unwrap();
    first.disconnect();
    let create = |node: &MemoryNode, id: &str, text: &str| {
        let memory = Draft::new(text).into_memory(id.parse().unwrap(), node.clock.now());
        let memory = Memory {
            title: Some("one title".into()),
            ..memory
        };
        let change = Change::Create {
            memory: Box::new(memory),
            front_matter: String::new(),
        };
        let set = ChangeSet {
            changes: vec![change],
            ..node.services.change_set(Verb::Write)
        };
        node.services.store.commit(Checked::allowed(&set)).unwrap();
    };
    let ids = [
        "550e8400-e29b-41d4-a716-446655440000",
        "550e8400-e29b-41d4-a716-446655440001",
    ];
    create(&first, ids[0], "from the first node");
    first.update(ids[0], "from the first node, changed");
    create(&second, ids[1], "from the second node");
    first.synchronize();
    for node in [&first, &second] {
        assert_eq!(
            node.content(ids[0]).unwrap(),
            "from the first node, changed"
        );
        assert_eq!(node.content(ids[1]).unwrap(), "from the second node");
        assert_eq!(node.proposals(), []);
    }
    assert_equal_nodes(&[&first, &second]);
}

#[test]
fn a_queued_operation_can_be_undone_before_and_after_it_is_sent() {
    let (first, second) = two_nodes();
    let id = first.write("before");
    first.disconnect();
    first.update(&id, "undone before");
    undo(&first.services, None).unwrap();
    assert_eq!(first.content(&id).unwrap(), "before");
    first.update(&id, "undone after");
    second.write("an operation that comes first");
    first.synchronize();
    assert_eq!(second.content(&id).unwrap(), "undone after");
    let updates = second
        .services
        .history
        .records()
        .map(Result::unwrap)
        .filter(|record| record.operation.verb == Verb::Update);
    let last = updates.map(|record| record.operation.id).next().unwrap();
    undo(&second.services, Some(last.as_str())).unwrap();
    assert_eq!(first.content(&id).unwrap(), "before");
    assert_equal_nodes(&[&first, &second]);
}

#[test]
fn an_operation_with_the_id_of_a_hidden_memory_becomes_a_proposal_and_does_not_block_later_ones() {
    let (node, other) = two_nodes();
    let id = node.write("The team deploys on Mondays");
    delete(&node.services, &id).unwrap();
    node.disconnect();
    undo(&node.services, None).unwrap();
    let later = node.write("Tea is in the kitchen");
    // Meanwhile, the memory was restored and moved to a scope that the node may not read.
    node.connection
        .log
        .lock()
        .unwrap()
        .hidden
        .insert(id.parse().unwrap());
    node.synchronize();

    assert_eq!(node.content(&later).unwrap(), "Tea is in the kitchen");
    assert_eq!(
        node.proposals(),
        [("write", "The team deploys on Mondays".to_owned())]
    );
    assert_equal_nodes(&[&node, &other]);
}

#[test]
fn a_memory_whose_id_a_hidden_memory_has_is_restored_with_another_id() {
    let (node, other) = two_nodes();
    let id = node.write("The team deploys on Mondays");
    delete(&node.services, &id).unwrap();
    node.connection
        .log
        .lock()
        .unwrap()
        .hidden
        .insert(id.parse().unwrap());

    let refused = undo(&node.services, None).unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
    assert!(
        refused.hint().unwrap().contains("`memory restore`"),
        "{refused}"
    );
    let trashed = node.store.trashed().next().unwrap().unwrap();
    let restored = node
        .store
        .restore(&trashed, &node.services.operation(Verb::Restore))
        .unwrap();
    let ChangeOutcome::Kept { id: new, .. } = restored else {
        panic!("{restored:?}")
    };
    assert_ne!(new.to_string(), id);
    assert_eq!(
        node.content(&new.to_string()).unwrap(),
        "The team deploys on Mondays"
    );
    assert_equal_nodes(&[&node, &other]);
}

#[test]
fn the_queue_survives_the_loss_of_the_replica() {
    let (mut first, second) = two_nodes();
    let [id, other] = ["one", "two"].map(|text| first.write(text));
    second.store.refresh().unwrap();
    first.disconnect();
    first.update(&id, "one, offline");
    first.update(&other, "two, offline");
    let new = first.write("new, offline");
    second.update(&other, "two, online");
    for lost in [
        &["journal"][..],
        &["categories", "journal", "trash", "index", "replica.json"],
    ] {
        for name in lost {
            let place = first.home.path().join(name);
            let _ = if place.is_dir() {
                fs::remove_dir_all(place)
            } else {
                fs::remove_file(place)
            };
        }
        first.restart();
    }
    // An incomplete replica has no results.
    assert_eq!(first.content(&id), Err(Code::DatabaseUnreachable));
    first.synchronize();
    for node in [&first, &second] {
        assert_eq!(node.content(&id).unwrap(), "one, offline");
        assert_eq!(node.content(&new).unwrap(), "new, offline");
        assert_eq!(node.proposals(), [("update", "two, offline".to_owned())]);
    }
    assert_equal_nodes(&[&first, &second]);
}

#[test]
fn a_queued_write_whose_journal_is_lost_and_its_later_update_are_both_sent() {
    let (mut first, second) = two_nodes();
    first.store.refresh().unwrap();
    first.disconnect();
    let id = first.write("one");
    fs::remove_dir_all(first.home.path().join("journal")).unwrap();
    first.restart();
    first.update(&id, "one, changed");
    assert_equal_nodes(&[&first, &second]);
    assert_eq!(second.content(&id).unwrap(), "one, changed");
    assert_eq!(second.proposals(), []);
}

#[test]
fn a_connection_that_is_lost_again_during_the_transfer_loses_nothing() {
    for appends in 0..6 {
        let (first, second) = two_nodes();
        let ids = ["one", "two", "three"].map(|text| first.write(text));
        second.store.refresh().unwrap();
        first.disconnect();
        for id in &ids {
            first.update(id, &format!("{id}, offline"));
        }
        let new = first.write("new, offline");
        second.update(&ids[1], "two, online");
        first.connect();
        first
            .connection
            .appends_left
            .store(appends, Ordering::SeqCst);
        first.store.refresh().unwrap();
        // Without the database, all operations still have their effect here.
        for id in [&ids[0], &ids[2]] {
            assert_eq!(first.content(id).unwrap(), format!("{id}, offline"));
        }
        assert_eq!(first.content(&ids[1]).unwrap(), "two, online");
        assert_eq!(
            first.proposals(),
            [("update", format!("{}, offline", ids[1]))]
        );
        assert_eq!(first.content(&new).unwrap(), "new, offline");
        first.write("one more");
        first.connection.appends_left.store(-1, Ordering::SeqCst);
        assert_equal_nodes(&[&first, &second]);
        assert_eq!(second.proposals().len(), 1);
    }
}

#[test]
fn an_interruption_at_any_step_of_a_write_and_its_transfer_loses_and_repeats_nothing() {
    // The second disk dies during the transfer, without and with operations of another node.
    for (is_transfer, has_conflict) in [(false, false), (true, false), (true, true)] {
        for changes in 0.. {
            let (mut first, second) = two_nodes();
            let [id, other] = ["one", "two"].map(|text| first.write(text));
            second.store.refresh().unwrap();
            first.disconnect();
            first.update(&id, "one, offline");
            if has_conflict {
                second.update(&other, "two, online");
            }
            if !is_transfer {
                first.restart_on_dying_disk(changes);
            }
            let patch = Patch {
                content: Some("two, offline".to_owned()),
                ..Patch::default()
            };
            let is_written =
                update(&first.services, &other, &patch, None, SecretPolicy::Refuse).is_ok();
            if is_transfer {
                first.connect();
                first.restart_on_dying_disk(changes);
                let _ = first.store.refresh();
            }
            let is_complete = if is_transfer {
                first.queued_count() == Some(0)
            } else {
                is_written
            };
            first.restart();
            assert_equal_nodes(&[&first, &second]);
            assert_eq!(second.content(&id).unwrap(), "one, offline");
            if is_written {
                let expected = if has_conflict {
                    "two, online"
                } else {
                    "two, offline"
                };
                assert_eq!(second.content(&other).unwrap(), expected);
                assert_eq!(
                    second.proposals().len(),
                    usize::from(has_conflict),
                    "after {changes} changes"
                );
            }
            if is_complete {
                assert!(2 < changes, "there are more steps");
                break;
            }
        }
    }
}

impl MemoryNode {
    fn queued_count(&self) -> Option<u64> {
        self.store
            .shared_store_status()
            .ok()?
            .map(|status| status.queued)
    }
}

#[test]
fn a_fresh_read_fails_without_the_database() {
    let (first, _) = two_nodes();
    let id = first.write("a note");
    first.disconnect();
    let fresh = open(
        first.home.path(),
        &first.connection,
        FileStoreOptions {
            freshness: Freshness::Fresh,
            ..FileStoreOptions::default()
        },
    );
    assert_eq!(
        fresh.refresh().unwrap_err().code(),
        Code::DatabaseUnreachable
    );
    assert_eq!(
        fresh.get_by(&id).unwrap_err().code(),
        Code::DatabaseUnreachable
    );
    let found = search(&first.services, &Query::new("note")).unwrap();
    let degraded = found.degraded.unwrap();
    assert!(degraded.starts_with("offline since 20"), "{degraded}");
    assert!(
        degraded.ends_with("; the memories may be outdated: the database cannot be reached"),
        "{degraded}"
    );
}

#[test]
fn a_hint_makes_the_next_read_fetch_operations_at_once_and_without_hints_the_interval_counts() {
    let (first, second) = two_nodes();
    let count = Arc::new(AtomicI64::new(0));
    let counter = Arc::clone(&count);
    let is_replica = second.store.listen_for_news(move || {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    assert!(is_replica);
    second.store.refresh().unwrap();
    let id = first.write("a note");
    let news = second.connection.news.get().unwrap();
    // Polling is slower while hints arrive.
    assert_eq!(second.content(&id), Err(Code::MemoryNotFound));
    news.notify();
    assert_eq!(
        (
            second.content(&id).unwrap().as_str(),
            count.load(Ordering::SeqCst)
        ),
        ("a note", 1)
    );
    first.update(&id, "changed");
    news.set_listening(false);
    assert_eq!(second.content(&id).unwrap(), "changed");
}

/// A random action on one of two nodes.
#[derive(Debug, Clone)]
enum NodeAction {
    Write,
    Update(usize),
    Delete(usize),
    Undo,
    Connect,
    Disconnect,
    LoseResponse,
    Read,
    Restart,
    LoseReplica,
}

fn actions() -> impl Strategy<Value = Vec<(bool, NodeAction)>> {
    let action = prop_oneof![
        4 => Just(NodeAction::Write),
        6 => (0_usize..4).prop_map(NodeAction::Update),
        3 => (0_usize..4).prop_map(NodeAction::Delete),
        3 => Just(NodeAction::Undo),
        3 => Just(NodeAction::Connect),
        4 => Just(NodeAction::Disconnect),
        1 => Just(NodeAction::LoseResponse),
        2 => Just(NodeAction::Read),
        1 => Just(NodeAction::Restart),
        1 => Just(NodeAction::LoseReplica),
    ];
    prop::collection::vec((any::<bool>(), action), 1..24)
}

/// Returns the texts of the test in the memories of a node.
fn current_texts(node: &MemoryNode) -> BTreeSet<String> {
    let mut files = BTreeMap::new();
    read_files(
        node.home.path(),
        &node.home.path().join("categories"),
        &mut files,
    );
    let own = |text: &String| {
        text.lines()
            .find(|line| line.starts_with("text "))
            .map(str::to_owned)
    };
    files.values().filter_map(own).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(memory_core::testing::extent(24, 384)))]

    #[test]
    fn nodes_with_random_connections_end_equal_and_lose_no_write(actions in actions()) {
        let (first, second) = two_nodes();
        let mut nodes = [first, second];
        for node in &nodes {
            node.store.refresh().unwrap();
        }
        let mut required = BTreeSet::new();
        for (number, (is_second, action)) in actions.into_iter().enumerate() {
            let node = &mut nodes[usize::from(is_second)];
            node.clock.advance(chrono::TimeDelta::seconds(1));
            let text = format!("text {number} end");
            let former_texts = current_texts(node);
            let known: Vec<_> = node.services.store.memories(&memory_core::Filter::all(), node.clock.now())
                .map(|stored| stored.unwrap().memory.id.to_string()).collect();
            let target = |place: usize| known.get(place % known.len().max(1)).cloned();
            let done = match action {
                NodeAction::Write => write(&node.services, Draft::new(&text), SecretPolicy::Refuse).is_ok().then_some(text),
                NodeAction::Update(place) => target(place).and_then(|id| {
                    let patch = Patch { content: Some(text.clone()), ..Patch::default() };
                    update(&node.services, &id, &patch, None, SecretPolicy::Refuse).is_ok().then_some(text)
                }),
                NodeAction::Delete(place) => {
                    let _ = target(place).map(|id| delete(&node.services, &id));
                    None
                }
                NodeAction::Undo => {
                    let _ = undo(&node.services, None);
                    None
                }
                NodeAction::Connect => { node.connect(); None }
                NodeAction::Disconnect => { node.disconnect(); None }
                NodeAction::LoseResponse => { node.connection.loses_response.store(true, Ordering::SeqCst); None }
                NodeAction::Read => { node.store.refresh().unwrap(); None }
                NodeAction::Restart => { node.restart(); None }
                NodeAction::LoseReplica => {
                    node.connect();
                    let _ = fs::remove_dir_all(node.home.path().join("journal"));
                    node.restart();
                    None
                }
            };
            // Everything is in the log, so the texts stay in a memory, in a proposal or in the trash.
            if node.queued_count() == Some(0) {
                required.extend(former_texts.into_iter().chain(done));
            }
        }
        for node in &nodes {
            required.extend(current_texts(node));
        }
        assert_equal_nodes(&[&nodes[0], &nodes[1]]);
        let (files, _) = nodes[0].state();
        for text in required {
            prop_assert!(files.values().any(|file| file.lines().any(|line| line == text)), "{text} is lost");
        }
    }
}
