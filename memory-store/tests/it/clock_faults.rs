//! After a clock that stops, or jumps back a year, the second of two changes is the one that is undone.

use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::bank::{Banks, ScopeChoice};
use memory_core::instance::history::{Messages, RecordDraft as Said};
use memory_core::instance::kv::KeyValues;
use memory_core::testing::{banks, messages, topics, values};
use memory_core::topic::Topics;
use memory_core::{
    Clock, Draft, LocalZone, Patch, SecretPolicy, Services, bank, instance, topic, update, write,
};
use memory_store::bank::{BankFolder, BankOptions};
use memory_store::history::HistoryFolder;
use memory_store::kv::ValueFolder;
use memory_store::topic::TopicFolder;
use memory_store::{FileStore, FileStoreOptions, RandomIds};

use crate::home::{TestHome, repeatable_services};
use crate::requests::{bank_entry_request, topic_request};

/// A clock that always returns the same time.
#[derive(Debug, Clone, Copy)]
struct FixedClock(DateTime<Utc>);

impl Clock for FixedClock {
    fn now(&self) -> DateTime<Utc> {
        self.0
    }

    fn zone(&self) -> LocalZone {
        LocalZone::utc()
    }
}

/// Calls `check` with the first time and the later time of each clock.
fn each_clock(check: impl Fn(Arc<FixedClock>, Arc<FixedClock>)) {
    let first: DateTime<Utc> = "2026-05-07T10:00:00Z".parse().unwrap();
    for jump in [TimeDelta::zero(), TimeDelta::days(-365)] {
        check(
            Arc::new(FixedClock(first)),
            Arc::new(FixedClock(first + jump)),
        );
    }
}

#[test]
fn the_last_change_of_a_memory_is_the_one_that_was_made_last() {
    each_clock(|first, then| {
        let home = TestHome::new();
        let services = |clock: Arc<FixedClock>| {
            let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
            Services {
                clock,
                ids: Arc::new(RandomIds),
                ..repeatable_services(store)
            }
        };
        let id = write(&services(first), Draft::new("one"), SecretPolicy::Refuse)
            .unwrap()
            .id
            .to_string();
        let services = services(then);
        let patch = Patch {
            content: Some("two".into()),
            ..Patch::default()
        };
        update(&services, &id, &patch, None, SecretPolicy::Refuse).unwrap();
        write(&services, Draft::new("three"), SecretPolicy::Refuse).unwrap();
        memory_core::undo(&services, None).unwrap();
        assert_eq!(
            memory_core::read(&services, &id).unwrap().memory.content,
            "two"
        );
    });
}

fn banks_in(folder: &Path, clock: Arc<FixedClock>) -> Banks {
    let (banks, _) = banks(
        Arc::new(BankFolder::new(folder, BankOptions::default())),
        None,
    );
    Banks {
        ids: Arc::new(RandomIds),
        clock,
        ..banks
    }
}

#[test]
fn the_last_change_of_a_bank_is_the_one_that_was_made_last() {
    each_clock(|first, then| {
        let home = tempfile::tempdir().unwrap();
        let open = |clock: Arc<FixedClock>| banks_in(home.path(), clock);
        bank::write(&open(first), &bank_entry_request("session", "a", "1")).unwrap();
        let banks = open(then);
        bank::write(&banks, &bank_entry_request("session", "a", "2")).unwrap();
        let last = bank::last(&banks).unwrap().unwrap();
        bank::undo(&banks, last.operation.id.as_str()).unwrap();
        let read = bank::read(
            &banks,
            &"session".parse().unwrap(),
            &"a".parse().unwrap(),
            ScopeChoice::Detected,
        )
        .unwrap();
        assert_eq!(read.entry.value.as_str(), "1");
    });
}

#[test]
fn the_last_change_of_a_session_is_the_one_that_was_made_last() {
    each_clock(|first, then| {
        let home = tempfile::tempdir().unwrap();
        let open = |clock: Arc<FixedClock>| Messages {
            ids: Arc::new(RandomIds),
            clock,
            ..messages(Arc::new(HistoryFolder::new(home.path()))).0
        };
        let say = |all: &Messages, session: &str| {
            instance::history::append(
                all,
                &session.parse().unwrap(),
                &Said::from_text("user".parse().unwrap(), session),
                SecretPolicy::Refuse,
            )
            .unwrap();
        };
        let all = open(first);
        for session in ["one", "two"] {
            say(&all, session);
        }
        instance::history::delete(&all, &"one".parse().unwrap()).unwrap();
        let all = open(then);
        instance::history::delete(&all, &"two".parse().unwrap()).unwrap();
        instance::history::undo(&all, None).unwrap();
        let sessions = instance::history::sessions(&all).unwrap();
        assert_eq!(
            sessions
                .iter()
                .map(|one| one.session.as_str())
                .collect::<Vec<_>>(),
            ["two"]
        );
    });
}

#[test]
fn the_last_change_of_a_value_is_the_one_that_was_made_last() {
    each_clock(|first, then| {
        let home = tempfile::tempdir().unwrap();
        let store = || {
            Arc::new(ValueFolder::new(
                home.path().join("kv"),
                home.path().join("state"),
            ))
        };
        let open = |clock: Arc<FixedClock>| KeyValues {
            ids: Arc::new(RandomIds),
            clock,
            ..values(store())
        };
        let key = "a".parse().unwrap();
        instance::kv::set(&open(first), &key, "1", SecretPolicy::Refuse).unwrap();
        let all = open(then);
        instance::kv::set(&all, &key, "2", SecretPolicy::Refuse).unwrap();
        instance::kv::set(&all, &key, "3", SecretPolicy::Refuse).unwrap();
        instance::kv::undo(&all, None).unwrap();
        assert_eq!(instance::kv::get(&all, &key).unwrap().text, "2");
    });
}

#[test]
fn the_last_change_of_a_topic_is_the_one_that_was_made_last() {
    each_clock(|first, then| {
        let home = tempfile::tempdir().unwrap();
        let open = |clock: Arc<FixedClock>| Topics {
            ids: Arc::new(RandomIds),
            clock,
            ..topics(Arc::new(TopicFolder::new(home.path()))).0
        };
        topic::write(&open(first), &topic_request("tea", "one")).unwrap();
        let topics = open(then);
        topic::write(&topics, &topic_request("tea", "two")).unwrap();
        let last = topic::last(&topics).unwrap().unwrap();
        topic::undo(&topics, last.operation.id.as_str()).unwrap();
        assert!(topic::read(&topics, "tea").unwrap().text.contains("one"));
    });
}

#[test]
fn what_was_purged_is_gone_though_the_clock_was_ahead_and_what_is_taken_back_is_whole() {
    let home = tempfile::tempdir().unwrap();
    let at = |text: &str| -> DateTime<Utc> { text.parse().unwrap() };
    let open = |moment: &str| banks_in(home.path(), Arc::new(FixedClock(at(moment))));
    bank::write(
        &open("2026-07-07T10:00:00Z"),
        &bank_entry_request("ahead", "a", "1"),
    )
    .unwrap();
    let banks = open("2026-05-07T10:00:00Z");
    bank::write(
        &banks,
        &bank_entry_request("gone", "a", r#""a word that must go""#),
    )
    .unwrap();
    bank::delete_bank(&banks, &"gone".parse().unwrap(), ScopeChoice::Detected).unwrap();
    bank::purge(&banks, at("2026-06-15T00:00:00Z")).unwrap();
    let left = bank::last(&banks).unwrap().unwrap();
    assert_eq!(
        left.subject.bank.as_str(),
        "ahead",
        "what was purged cannot be taken back"
    );
    let lines = std::fs::read_to_string(home.path().join(".trash/2026-07.jsonl")).unwrap();
    assert!(
        lines.contains("ahead") && !lines.contains("a word that must go"),
        "{lines}"
    );
}
