//! The conformance suite of [`ConversationStore`].

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{CountingIds, FakeClock, FakeEmbedder, FakeReranker};
use crate::conversation::{
    ConversationEntry, ConversationId, ConversationStore, Conversations, EntryChange, EntryId,
    EntryRole, EntryVector, MAX_CONTENT, RecallRules, add, plan_eviction, recall, store_turn,
    summary_entry,
};
use crate::secret::Checked;
use crate::{Code, ContentHash, Embedder, SecretPolicy};

/// Returns conversations over `store`, with a deterministic clock and deterministic ids.
pub fn conversations(store: Arc<dyn ConversationStore>) -> Conversations {
    let (clock, ids) = (
        Arc::new(FakeClock::default()),
        Arc::new(CountingIds::default()),
    );
    Conversations {
        store,
        clock,
        ids,
        embedder: None,
        reranker: None,
        chat: None,
    }
}

/// Checks the contract of [`ConversationStore`] on new and empty stores from `make`.
///
/// # Panics
/// If the contract is violated, with the violated rule.
pub fn conversation_suite(make: &dyn Fn() -> Arc<dyn ConversationStore>) {
    let case = || ConversationCase {
        conversations: conversations(make()),
    };
    check_rules!(
        case;
        what_is_kept_is_read,
        conversations_are_kept_apart_even_where_they_share_a_folder,
        changes_of_several_conversations_are_made_together,
        what_is_deleted_stays_as_a_tombstone,
        a_summary_takes_the_place_of_the_former_one,
        the_same_changes_again_change_nothing,
        what_is_global_is_recalled_everywhere,
        a_recall_is_relevant_and_names_the_summary,
        a_turn_whose_fact_was_replaced_or_deleted_is_superseded,
        nothing_wanted_and_nothing_there_is_nothing,
        what_people_said_after_a_moment_is_found,
        what_could_not_be_read_again_is_refused,
    );
}

/// Checks that a [`ConversationStore`] stores vectors, and that a recall uses them.
///
/// # Panics
/// If the contract is violated, with the violated rule.
pub fn conversation_vector_suite(make: &dyn Fn() -> Arc<dyn ConversationStore>) {
    let case = || ConversationCase {
        conversations: conversations(make()),
    };
    check_rules!(case; vectors_and_a_cross_encoder_tell_more);
}

struct ConversationCase {
    conversations: Conversations,
}

fn id(text: &str) -> ConversationId {
    text.parse().expect("an id")
}

impl ConversationCase {
    fn add(&self, conversation: &str, facts: &[&str]) -> Vec<EntryId> {
        let facts: Vec<String> = facts.iter().map(|fact| (*fact).to_owned()).collect();
        let entries = add(
            &self.conversations,
            &id(conversation),
            &facts,
            SecretPolicy::Refuse,
        )
        .expect("they are kept");
        entries.into_iter().map(|entry| entry.id).collect()
    }

    fn commit(&self, conversation: &str, changes: &[EntryChange]) {
        self.conversations
            .store
            .commit(&id(conversation), Checked::allowed(changes))
            .expect("it is done");
    }

    fn texts(&self, conversation: &str) -> Vec<String> {
        let kept = self
            .conversations
            .store
            .read(&id(conversation))
            .expect("it is read");
        assert_eq!(kept.problems().count(), 0, "nothing is damaged");
        kept.entries()
            .iter()
            .map(|entry| entry.content.clone())
            .collect()
    }

    fn deleted(&self, conversation: &str) -> Vec<ConversationEntry> {
        self.conversations
            .store
            .deleted(&id(conversation))
            .expect("it is read")
    }

    fn recalled(&self, conversation: &str, message: &str) -> Vec<String> {
        let recalled = recall(
            &self.conversations,
            &id(conversation),
            message,
            &RecallRules::default(),
        )
        .expect("it is recalled");
        assert_eq!(recalled.degraded, None);
        recalled
            .memories
            .iter()
            .map(|remembered| remembered.entry.content.clone())
            .collect()
    }
}

fn what_is_kept_is_read(case: &ConversationCase) {
    let said = "  Multi\nline --- text\n---\nwith: colon \r\n";
    let turn = store_turn(&case.conversations, &id("default"), EntryRole::User, said)
        .expect("it is kept")
        .expect("it says something");
    store_turn(
        &case.conversations,
        &id("default"),
        EntryRole::Assistant,
        "好的。",
    )
    .expect("it is kept");
    let facts = case.add(
        "default",
        &["The user's name is Anna.", " ", "用户叫安娜。"],
    );
    assert_eq!(facts.len(), 2, "an empty fact is none");
    let kept = case
        .conversations
        .store
        .read(&id("default"))
        .expect("it is read");
    assert_eq!(
        kept.get(&turn.id).map(|entry| (**entry).clone()),
        Some(turn.clone()),
        "all of it is read back"
    );
    assert_eq!(turn.content, "Multi\nline --- text\n---\nwith: colon");
    let mut texts = case.texts("default");
    texts.sort();
    assert_eq!(
        texts,
        [
            "Multi\nline --- text\n---\nwith: colon",
            "The user's name is Anna.",
            "好的。",
            "用户叫安娜。"
        ]
    );
    let refused = add(
        &case.conversations,
        &id("default"),
        &["token ghp_0123456789abcdefghijABCDEFGHIJ012345".into()],
        SecretPolicy::Refuse,
    );
    assert_eq!(
        refused.expect_err("it is refused").code(),
        Code::SecretFound
    );
    let named = id("ghp_0123456789abcdefghijABCDEFGHIJ012345");
    let refused = add(
        &case.conversations,
        &named,
        &["likes tea".into()],
        SecretPolicy::Refuse,
    );
    assert_eq!(
        refused.expect_err("it is refused").code(),
        Code::SecretFound
    );
    let said = "use ghp_0123456789abcdefghijABCDEFGHIJ012345 please";
    let blotted = store_turn(&case.conversations, &id("default"), EntryRole::User, said)
        .expect("it is kept")
        .expect("it says something");
    assert!(
        !blotted.content.contains("ghp_01234"),
        "{}",
        blotted.content
    );
    assert!(
        store_turn(&case.conversations, &id("default"), EntryRole::User, " \n")
            .expect("it is none")
            .is_none()
    );
}

fn changes_of_several_conversations_are_made_together(case: &ConversationCase) {
    // Two of these conversations share a folder.
    let names = ["a:b", "a/b", "work"].map(id);
    let kept: Vec<EntryId> = names
        .iter()
        .flat_map(|name| case.add(name.as_str(), &["old"]))
        .collect();
    let changes: Vec<Vec<EntryChange>> = names
        .iter()
        .zip(&kept)
        .map(|(name, old)| {
            let now = case.conversations.clock.now();
            let new = ConversationEntry::new(
                case.conversations.ids.memory_id().into(),
                name,
                EntryRole::Memory,
                "new",
                now,
            );
            let delete = EntryChange::Delete {
                id: old.clone(),
                replaced_by: Some(new.id.clone()),
            };
            let summary = summary_entry(name, &format!("summary of {name}"), now);
            vec![EntryChange::Add(new), EntryChange::Add(summary), delete]
        })
        .collect();
    let all: Vec<_> = names
        .iter()
        .zip(&changes)
        .map(|(name, changes)| (name, Checked::allowed(changes.as_slice())))
        .collect();
    for _ in 0..2 {
        // A repeated call has no effect.
        case.conversations
            .store
            .commit_all(&all)
            .expect("they are made");
    }
    for name in &names {
        assert_eq!(
            (case.texts(name.as_str()), case.deleted(name.as_str()).len()),
            (vec!["new".to_owned()], 1)
        );
        let shelf = case.conversations.store.read(name).expect("it is read");
        assert_eq!(
            shelf.summary().map(|summary| summary.content.clone()),
            Some(format!("summary of {name}"))
        );
    }
}

fn conversations_are_kept_apart_even_where_they_share_a_folder(case: &ConversationCase) {
    for name in ["a:b", "a/b", "..", "deleted", "work/项目 1"] {
        case.add(name, &[&format!("fact of {name}")]);
        let summary = summary_entry(
            &id(name),
            &format!("summary of {name}"),
            case.conversations.clock.now(),
        );
        case.commit(name, &[EntryChange::Add(summary)]);
    }
    for name in ["a:b", "a/b", "..", "deleted", "work/项目 1"] {
        assert_eq!(case.texts(name), [format!("fact of {name}")]);
        let kept = case
            .conversations
            .store
            .read(&id(name))
            .expect("it is read");
        assert_eq!(
            kept.summary().map(|summary| summary.content.clone()),
            Some(format!("summary of {name}"))
        );
    }
    let mut names = ["a:b", "a/b", "..", "deleted", "work/项目 1"]
        .map(id)
        .to_vec();
    names.sort();
    assert_eq!(
        case.conversations
            .store
            .conversations()
            .expect("they are read"),
        names
    );
    assert!(case.texts("a_b").is_empty());
}

fn what_is_deleted_stays_as_a_tombstone(case: &ConversationCase) {
    let facts = case.add("default", &["loves pizza", "lives in Ghent", "likes tea"]);
    let lyon = case.add("default", &["lives in Lyon"]).remove(0);
    let delete = |number: usize, by: Option<&EntryId>| EntryChange::Delete {
        id: facts[number].clone(),
        replaced_by: by.cloned(),
    };
    case.commit("default", &[delete(0, None), delete(1, Some(&lyon))]);
    assert_eq!(case.texts("default"), ["likes tea", "lives in Lyon"]);
    let told = |entry: &ConversationEntry| (entry.content.clone(), entry.replaced_by.clone());
    let mut deleted: Vec<_> = case.deleted("default").iter().map(told).collect();
    deleted.sort();
    assert_eq!(
        deleted,
        [
            ("lives in Ghent".into(), Some(lyon)),
            ("loves pizza".into(), None)
        ]
    );
    let kept = case
        .conversations
        .store
        .read(&id("default"))
        .expect("it is read");
    case.commit("default", &plan_eviction(&kept.entries(), 1));
    assert_eq!(case.texts("default"), ["lives in Lyon"]);
    assert_eq!(case.deleted("default").len(), 3);
}

fn a_summary_takes_the_place_of_the_former_one(case: &ConversationCase) {
    for text in ["first", "second", "third"] {
        let summary = summary_entry(&id("default"), text, case.conversations.clock.now());
        case.commit("default", &[EntryChange::Add(summary)]);
    }
    let kept = case
        .conversations
        .store
        .read(&id("default"))
        .expect("it is read");
    assert_eq!(
        kept.summary().map(|summary| summary.content.as_str()),
        Some("third")
    );
    let deleted: Vec<String> = case
        .deleted("default")
        .into_iter()
        .map(|entry| entry.content)
        .collect();
    assert_eq!(deleted, ["first", "second"], "no former summary is lost");
}

fn the_same_changes_again_change_nothing(case: &ConversationCase) {
    let now = case.conversations.clock.now();
    let new = |name: &str| {
        ConversationEntry::new(
            name.parse().expect("an id"),
            &id("default"),
            EntryRole::Memory,
            name,
            now,
        )
    };
    case.commit("default", &[EntryChange::Add(new("old"))]);
    let changes = [
        EntryChange::Add(new("new")),
        EntryChange::Delete {
            id: new("old").id,
            replaced_by: Some(new("new").id),
        },
        EntryChange::Add(summary_entry(&id("default"), "a summary", now)),
        EntryChange::Delete {
            id: new("never").id,
            replaced_by: None,
        },
    ];
    for _ in 0..3 {
        case.commit("default", &changes);
        assert_eq!(case.texts("default"), ["new"]);
        let tombstones: Vec<_> = case
            .deleted("default")
            .into_iter()
            .map(|entry| (entry.content, entry.replaced_by))
            .collect();
        assert_eq!(tombstones, [("old".to_owned(), Some(new("new").id))]);
    }
    case.commit("default", &[EntryChange::Add(new("old"))]);
    assert_eq!(
        case.texts("default"),
        ["new"],
        "what was deleted does not come back by being added again"
    );
    let all: BTreeSet<EntryId> = case
        .deleted("default")
        .into_iter()
        .map(|entry| entry.id)
        .collect();
    assert_eq!(all.len(), 1);
}

fn what_is_global_is_recalled_everywhere(case: &ConversationCase) {
    case.add("global", &["The user's dog is Rex."]);
    case.add("work", &["The dog of the office is Bello."]);
    case.add("other", &["The dog of the neighbour is Fido."]);
    let mut found = case.recalled("work", "Which dog is there?");
    found.sort();
    assert_eq!(
        found,
        ["The dog of the office is Bello.", "The user's dog is Rex."]
    );
    assert_eq!(
        case.recalled("global", "Which dog is there?"),
        ["The user's dog is Rex."]
    );
}

fn a_recall_is_relevant_and_names_the_summary(case: &ConversationCase) {
    case.add(
        "default",
        &[
            "The user's name is Anna.",
            "The user hates pizza.",
            "用户对花生过敏。",
        ],
    );
    case.commit(
        "default",
        &[EntryChange::Add(summary_entry(
            &id("default"),
            "Anna hates pizza.",
            case.conversations.clock.now(),
        ))],
    );
    assert_eq!(
        case.recalled("default", "What is my name?"),
        ["The user's name is Anna."]
    );
    assert_eq!(
        case.recalled("default", "我对什么过敏"),
        ["用户对花生过敏。"]
    );
    let recalled = recall(
        &case.conversations,
        &id("default"),
        "Hello!",
        &RecallRules::default(),
    )
    .expect("it is recalled");
    assert_eq!(
        recalled.summary.map(|summary| summary.content.clone()),
        Some("Anna hates pizza.".into())
    );
    assert!(recalled.memories.is_empty());
}

fn vectors_and_a_cross_encoder_tell_more(case: &ConversationCase) {
    case.add("default", &["green tea with milk", "black coffee"]);
    let kept = case
        .conversations
        .store
        .read(&id("default"))
        .expect("it is read");
    let model = FakeEmbedder;
    let vectors: Vec<EntryVector> = kept
        .entries_without_vector(model.identity())
        .iter()
        .map(|entry| EntryVector {
            text: ContentHash::of(&entry.content),
            vector: model.embed(&[&entry.content]).expect("a vector").remove(0),
        })
        .collect();
    assert_eq!(vectors.len(), 2);
    case.conversations
        .store
        .store_vectors(&id("default"), model.identity(), &vectors)
        .expect("they are kept");
    let kept = case
        .conversations
        .store
        .read(&id("default"))
        .expect("it is read");
    assert!(kept.entries_without_vector(model.identity()).is_empty());
    let with = Conversations {
        embedder: Some(Arc::new(model)),
        reranker: Some(Arc::new(FakeReranker)),
        ..case.conversations.clone()
    };
    let recalled =
        recall(&with, &id("default"), "tea", &RecallRules::default()).expect("it is recalled");
    let found: Vec<_> = recalled
        .memories
        .iter()
        .map(|remembered| (remembered.entry.content.as_str(), remembered.relevance))
        .collect();
    assert_eq!(
        found,
        [("green tea with milk", crate::rank::sigmoid(1.0))],
        "what it does not find relevant is left out"
    );
}

fn a_turn_whose_fact_was_replaced_or_deleted_is_superseded(case: &ConversationCase) {
    let say = |text: &str| {
        store_turn(&case.conversations, &id("default"), EntryRole::User, text)
            .expect("it is kept")
            .expect("it says something")
    };
    let fact = |name: &str, text: &str, turn: &ConversationEntry| {
        let now = case.conversations.clock.now();
        let entry = ConversationEntry::new(
            name.parse().expect("an id"),
            &id("default"),
            EntryRole::Memory,
            text,
            now,
        );
        ConversationEntry {
            source_id: Some(turn.id.clone()),
            ..entry
        }
    };
    let delete = |fact: &ConversationEntry, by: Option<&ConversationEntry>| EntryChange::Delete {
        id: fact.id.clone(),
        replaced_by: by.map(|by| by.id.clone()),
    };
    let recalled = || {
        let recalled = recall(
            &case.conversations,
            &id("default"),
            "pizza, please",
            &RecallRules::default(),
        )
        .expect("it is recalled");
        let told = |remembered: &crate::conversation::RecalledMemory| {
            (remembered.entry.id.clone(), remembered.is_superseded)
        };
        recalled.memories.iter().map(told).collect::<Vec<_>>()
    };
    let (first, second) = (
        say("Pizza is what I want for lunch at work"),
        say("Pizza was on the menu of the office today"),
    );
    let loves = fact("loves", "The user wants pizza for lunch at work.", &first);
    case.commit("default", &[EntryChange::Add(loves.clone())]);
    // The replacement has the same source turn, so this turn is not superseded.
    let better = fact("better", "The user has pizza for lunch at work.", &first);
    case.commit(
        "default",
        &[
            EntryChange::Add(better.clone()),
            delete(&loves, Some(&better)),
        ],
    );
    assert!(
        recalled().iter().all(|(_, is_superseded)| !is_superseded),
        "{:?}",
        recalled()
    );
    let hates = fact("hates", "The user hates pizza.", &second);
    case.commit(
        "default",
        &[
            EntryChange::Add(hates.clone()),
            delete(&better, Some(&hates)),
        ],
    );
    let found = recalled();
    assert_eq!(found.last(), Some(&(first.id.clone(), true)), "{found:?}");
    assert!(
        1 < found.len()
            && found[..found.len() - 1]
                .iter()
                .all(|(_, is_superseded)| !is_superseded),
        "{found:?}"
    );
    case.commit("default", &[delete(&hates, None)]);
    assert!(
        recalled().iter().all(|(_, is_superseded)| *is_superseded),
        "{:?}",
        recalled()
    );
    assert_eq!(recalled().len(), 2);
}

fn nothing_wanted_and_nothing_there_is_nothing(case: &ConversationCase) {
    assert!(
        case.recalled("never", "anything").is_empty()
            && case.texts("never").is_empty()
            && case.deleted("never").is_empty()
    );
    assert!(
        case.conversations
            .store
            .conversations()
            .expect("there are none")
            .is_empty()
    );
    case.commit("never", &[]);
    case.add("default", &["likes tea"]);
    let none = RecallRules {
        top_k: 0,
        ..RecallRules::default()
    };
    assert!(
        recall(&case.conversations, &id("default"), "tea", &none)
            .expect("nothing")
            .memories
            .is_empty()
    );
}

fn what_people_said_after_a_moment_is_found(case: &ConversationCase) {
    let keep = |place: &str, role, text: &str| {
        store_turn(&case.conversations, &id(place), role, text)
            .expect("it is kept")
            .expect("it says something")
    };
    let first = keep("default", EntryRole::User, "first");
    keep("default", EntryRole::Assistant, "an answer");
    case.add("default", &["a fact"]);
    let gone = keep("work", EntryRole::User, "deleted");
    case.commit(
        "work",
        &[EntryChange::Delete {
            id: gone.id,
            replaced_by: None,
        }],
    );
    let last = keep("work/项目 1", EntryRole::User, "last");
    let since = |moment| {
        let found = case
            .conversations
            .store
            .user_turns_since(moment)
            .expect("it is read");
        let mut texts: Vec<_> = found.iter().map(|entry| entry.content.clone()).collect();
        texts.sort();
        texts
    };
    assert_eq!(since(chrono::DateTime::UNIX_EPOCH), ["first", "last"]);
    assert_eq!(since(first.created_at), ["last"]);
    assert!(since(last.created_at).is_empty());
}

fn what_could_not_be_read_again_is_refused(case: &ConversationCase) {
    let long = |length: usize| {
        EntryChange::Add(summary_entry(
            &id("default"),
            &"x".repeat(length),
            case.conversations.clock.now(),
        ))
    };
    let refused = case
        .conversations
        .store
        .commit(&id("default"), Checked::allowed(&[long(MAX_CONTENT + 1)]))
        .expect_err("it is refused");
    assert_eq!(refused.code(), Code::InvalidInput);
    case.commit("default", &[long(MAX_CONTENT)]);
    let kept = case
        .conversations
        .store
        .read(&id("default"))
        .expect("it is read");
    assert_eq!(
        kept.summary().map(|summary| summary.content.len()),
        Some(MAX_CONTENT)
    );
}
