//! Tests of conversation processing.

use std::sync::Arc;

use memory_core::conversation::{
    ConversationId, Conversations, EntryRole, JobQueue, JobState, RecallRules, enqueue, recall,
    store_turn,
};
use memory_core::secret::Checked;
use memory_core::testing::{FakeChat, FakeConversations, FakeEmbedder, FakeJobs, conversations};
use memory_core::{ChatError, ChatFailure, TokenUsage};
use memory_dream::conversation::{Backoff, ProcessReport, ProcessRules, process_jobs};

struct ConversationFixture {
    conversations: Conversations,
    queue: FakeJobs,
    chat: Arc<FakeChat>,
}

impl ConversationFixture {
    fn new(answers: &[&str]) -> Self {
        let chat = Arc::new(FakeChat::with_answers(answers));
        let conversations = conversations(Arc::new(FakeConversations::default()));
        let conversations = Conversations {
            chat: Some(Arc::clone(&chat) as _),
            ..conversations
        };
        Self {
            conversations,
            queue: FakeJobs::default(),
            chat,
        }
    }

    fn add_turn(&self, text: &str) {
        let turn = store_turn(
            &self.conversations,
            &ConversationId::default_conversation(),
            EntryRole::User,
            text,
        )
        .unwrap()
        .unwrap();
        enqueue(&self.queue, &turn).unwrap();
    }

    fn process(&self) -> ProcessReport {
        process_jobs(
            &self.conversations,
            &self.queue,
            &ProcessRules::default(),
            &mut Backoff::default(),
            &|| true,
        )
        .unwrap()
    }

    fn facts(&self) -> Vec<String> {
        let kept = self
            .conversations
            .store
            .read(&ConversationId::default_conversation())
            .unwrap();
        let facts = kept
            .entries()
            .into_iter()
            .filter(|entry| entry.role == EntryRole::Memory);
        facts.map(|entry| entry.content.clone()).collect()
    }

    fn summary(&self) -> Option<String> {
        let kept = self
            .conversations
            .store
            .read(&ConversationId::default_conversation())
            .unwrap();
        kept.summary().map(|summary| summary.content.clone())
    }

    fn deleted(&self) -> Vec<String> {
        let deleted = self
            .conversations
            .store
            .deleted(&ConversationId::default_conversation())
            .unwrap();
        deleted
            .into_iter()
            .filter(|entry| entry.role == EntryRole::Memory)
            .map(|entry| entry.content)
            .collect()
    }
}

fn timeout_error() -> ChatError {
    ChatError::Timeout(ChatFailure {
        why: "it took too long".into(),
        hint: None,
    })
}

#[test]
fn facts_are_drawn_reconciled_and_summed_up() {
    let case = ConversationFixture::new(&[
        r#"["The user loves pizza.", "The user lives in Ghent."]"#,
        "Loves pizza, lives in Ghent.",
        r#"["The user hates pizza.", "The user moved to Lyon where the user lives."]"#,
        "```json\n[{\"event\": \"DELETE\", \"id\": 0}, {\"event\": \"ADD\", \"text\": \"The user hates pizza.\"}, \
         {\"event\": \"UPDATE\", \"id\": 1, \"text\": \"The user lives in Lyon.\"}]\n```",
        r#"{"summary": "Hates pizza, lives in Lyon."}"#,
    ]);
    case.add_turn("I love pizza. I live in Ghent.");
    assert_eq!(
        (case.process().done, case.summary().as_deref()),
        (1, Some("Loves pizza, lives in Ghent."))
    );
    case.add_turn("I moved to Lyon. And I hate pizza.");
    let done = case.process();
    assert_eq!((done.done, done.waiting, done.troubles), (1, 0, vec![]));
    let mut facts = case.facts();
    facts.sort();
    assert_eq!(facts, ["The user hates pizza.", "The user lives in Lyon."]);
    assert_eq!(case.deleted().len(), 2);
    assert_eq!(
        case.summary().as_deref(),
        Some("Hates pizza, lives in Lyon.")
    );
    let purposes: Vec<String> = case
        .chat
        .requests()
        .iter()
        .map(|request| request.purpose.to_string())
        .collect();
    assert_eq!(
        purposes,
        ["facts", "summarise", "facts", "reconcile", "summarise"]
    );
    // The request contains only messages of the user, as data.
    assert_eq!(
        case.chat.requests()[2].messages[1].content,
        "\"I moved to Lyon. And I hate pizza.\""
    );
}

#[test]
fn facts_that_a_model_cannot_reconcile_are_tried_again_and_then_added() {
    let wrong = r#"[{"event": "UPDATE", "id": 7, "text": "x"}]"#;
    let first = [
        r#"["The user likes tea."]"#,
        "Tea.",
        r#"["The user likes green tea."]"#,
    ];
    let case =
        ConversationFixture::new(&[&first[..], &[wrong; 6], &["Tea and green tea."]].concat());
    case.add_turn("I like tea");
    case.process();
    case.add_turn("I like green tea");
    let both = ["The user likes tea.", "The user likes green tea."];
    for (end, waiting, facts) in [
        ("they will be retried", 1, &both[..1]),
        ("they are added to the existing ones", 0, &both[..]),
    ] {
        let done = case.process();
        assert_eq!(done.waiting, waiting);
        assert_eq!(case.facts(), facts);
        let [trouble] = done.troubles.as_slice() else {
            panic!("{done:?}")
        };
        assert!(
            trouble.contains("UPDATE names the id 7") && trouble.ends_with(end),
            "{trouble}"
        );
    }
    let told = case.chat.requests()[4]
        .messages
        .last()
        .unwrap()
        .content
        .clone();
    assert!(
        told.contains("none of those given; they go from 0 to 0"),
        "{told}"
    );
    assert_eq!(
        (
            case.chat.requests().len(),
            case.queue.pending().unwrap().len()
        ),
        (10, 0)
    );
    let recalled = recall(
        &case.conversations,
        &ConversationId::default_conversation(),
        "green",
        &RecallRules::default(),
    )
    .unwrap();
    assert_eq!(recalled.memories[0].text, "The user likes green tea.");
}

#[test]
fn prose_and_wrong_json_give_no_facts_and_lose_no_turn() {
    for answer in [
        "I think the user likes tea.",
        "[\"The user",
        "{\"facts\": 3}",
    ] {
        let case = ConversationFixture::new(&[answer, answer]);
        case.add_turn("I like tea");
        for (done, waiting) in [(0, 1), (1, 0)] {
            let processed = case.process();
            assert_eq!(
                (processed.done, processed.waiting, processed.troubles.len()),
                (done, waiting, 1),
                "{answer}"
            );
        }
        assert_eq!(case.facts().len(), 0, "{answer}");
        let recalled = recall(
            &case.conversations,
            &ConversationId::default_conversation(),
            "Which tea?",
            &RecallRules::default(),
        )
        .unwrap();
        assert_eq!(recalled.memories[0].entry.content, "I like tea");
    }
}

#[test]
fn a_model_that_does_not_answer_is_asked_another_time_and_not_for_ever() {
    let case = ConversationFixture::new(&[]);
    case.chat.will_fail(timeout_error());
    case.chat
        .will_answer(r#"["The user likes tea."]"#, TokenUsage::default());
    case.chat.will_fail(timeout_error());
    case.add_turn("I like tea");
    let done = case.process();
    assert_eq!((done.done, done.waiting), (0, 1));
    let done = case.process();
    assert_eq!((done.done, done.waiting, case.facts().len()), (1, 0, 1));
    assert!(done.troubles[0].ends_with("the summary was not updated"));
    case.add_turn("I like coffee");
    let rounds = (0..20).take_while(|_| case.process().waiting == 1).count();
    assert_eq!(
        (
            rounds,
            case.facts().len(),
            case.queue.pending().unwrap().len()
        ),
        (4, 1, 0)
    );
}

#[test]
fn what_was_decided_is_done_after_a_crash_without_asking_again() {
    let case = ConversationFixture::new(&["Likes tea."]);
    case.add_turn("I like tea");
    let job = case.queue.pending().unwrap().remove(0).job;
    let other = ConversationFixture::new(&[r#"["The user likes tea."]"#, "Likes tea."]);
    other.add_turn("I like tea");
    other.process();
    let fact = other
        .conversations
        .store
        .read(&ConversationId::default_conversation())
        .unwrap()
        .entries()[1]
        .clone();
    let changes = vec![memory_core::conversation::EntryChange::Add((*fact).clone())];
    // The changes were applied, but the process died before that was recorded.
    case.conversations
        .store
        .commit(&job.conversation, Checked::allowed(&changes))
        .unwrap();
    case.queue
        .record_states(&[(
            job.id.clone(),
            JobState::Decided {
                changes,
                facts: vec!["The user likes tea.".into()],
            },
        )])
        .unwrap();
    assert_eq!(case.process().done, 1);
    assert_eq!(
        (case.facts(), case.summary().as_deref()),
        (vec!["The user likes tea.".to_owned()], Some("Likes tea."))
    );
    assert_eq!(case.chat.requests().len(), 1);
    assert_eq!(case.process(), ProcessReport::default());
}

#[test]
fn without_a_model_turns_are_kept_found_and_let_go_of() {
    let case = ConversationFixture::new(&[]);
    let without = Conversations {
        chat: None,
        embedder: Some(Arc::new(FakeEmbedder)),
        ..case.conversations.clone()
    };
    for number in 0..4 {
        case.add_turn(&format!("I drank tea number {number}"));
    }
    let rules = ProcessRules {
        max_entries: 3,
        ..ProcessRules::default()
    };
    let done = process_jobs(
        &without,
        &case.queue,
        &rules,
        &mut Backoff::default(),
        &|| true,
    )
    .unwrap();
    assert_eq!(
        (done.done, done.troubles.len(), case.chat.requests().len()),
        (4, 0, 0)
    );
    let kept = without
        .store
        .read(&ConversationId::default_conversation())
        .unwrap();
    assert_eq!(
        (kept.len(), kept.entries_without_vector("words-64").len()),
        (3, 0)
    );
    assert!(
        kept.entries()[0].content.ends_with('1'),
        "the oldest has gone"
    );
    let recalled = recall(
        &without,
        &ConversationId::default_conversation(),
        "tea number 2",
        &RecallRules::default(),
    )
    .unwrap();
    assert_eq!(recalled.memories[0].entry.content, "I drank tea number 2");
}

#[test]
fn whoever_must_stop_leaves_the_rest_for_later() {
    let case = ConversationFixture::new(&["[]", "[]"]);
    case.add_turn("one");
    case.add_turn("two");
    let asked = std::cell::Cell::new(0);
    let goes_on = || {
        asked.set(asked.get() + 1);
        asked.get() <= 1
    };
    let done = process_jobs(
        &case.conversations,
        &case.queue,
        &ProcessRules::default(),
        &mut Backoff::default(),
        &goes_on,
    )
    .unwrap();
    assert_eq!((done.done, case.queue.pending().unwrap().len()), (1, 1));
    assert_eq!(case.process().done, 1);
}

#[test]
fn a_conversation_that_cannot_be_read_delays_no_other() {
    let chat = Arc::new(FakeChat::with_answers(&[
        r#"["The user likes tea."]"#,
        "Tea.",
    ]));
    let store = Arc::new(FakeConversations::default());
    let conversations = Conversations {
        chat: Some(Arc::clone(&chat) as _),
        ..conversations(Arc::clone(&store) as _)
    };
    let (broken, sound) = ("broken".parse().unwrap(), "sound".parse().unwrap());
    let queue = FakeJobs::default();
    for conversation in [&broken, &sound] {
        let turn = store_turn(&conversations, conversation, EntryRole::User, "I like tea");
        enqueue(&queue, &turn.unwrap().unwrap()).unwrap();
    }
    store.make_unreadable(&broken);
    let done = process_jobs(
        &conversations,
        &queue,
        &ProcessRules::default(),
        &mut Backoff::default(),
        &|| true,
    )
    .unwrap();
    assert_eq!(
        (done.done, done.waiting, queue.pending().unwrap().len()),
        (1, 1, 1)
    );
    assert!(done.troubles[0].contains("conversation broken"), "{done:?}");
    let facts = conversations.store.read(&sound).unwrap().entries();
    assert!(facts.iter().any(|entry| entry.role == EntryRole::Memory));
}
