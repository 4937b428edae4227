//! Tests that the fakes fulfil the contracts of the traits they implement.

mod minimal_store;
mod remind;
mod view;

use std::sync::Arc;

use memory_core::MemStore;
use memory_core::testing::{
    CountingIds, FakeBanks, FakeChat, FakeClock, FakeConversations, FakeEmbedder, FakeJobs,
    FakeMeter, FakeNotifier, FakeReranker, FakeSource, FakeTopics, bank_suite, chat_suite,
    clock_suite, conversation_suite, conversation_vector_suite, embedder_suite, embeddings_suite,
    history_suite, id_suite, job_queue_suite, meter_suite, notifier_suite, reminder_suite,
    reranker_suite, services, source_suite, store_suite, summaries_suite, topic_suite,
};

use self::minimal_store::MinimalStore;

#[test]
fn the_store_in_main_memory_keeps_the_promises_of_a_store() {
    store_suite(&|| services(Arc::new(MemStore::default())));
}

#[test]
fn a_store_without_an_index_keeps_the_promises_of_a_store() {
    store_suite(&|| services(Arc::new(MinimalStore::default())));
    history_suite(&|| services(Arc::new(MinimalStore::default())));
    reminder_suite(&|| services(Arc::new(MinimalStore::default())));
}

#[test]
fn the_fake_banks_keep_the_promises_of_banks() {
    bank_suite(&|| Arc::new(FakeBanks::default()));
}

#[test]
fn the_fake_conversations_keep_the_promises_of_conversations_and_jobs() {
    conversation_suite(&|| Arc::new(FakeConversations::default()));
    conversation_vector_suite(&|| Arc::new(FakeConversations::default()));
    job_queue_suite(&|| Arc::new(FakeJobs::default()));
}

#[test]
fn the_fake_topics_keep_the_promises_of_topics() {
    topic_suite(&|| Arc::new(FakeTopics::default()));
}

#[test]
fn the_store_in_main_memory_keeps_the_promises_of_a_history() {
    history_suite(&|| services(Arc::new(MemStore::default())));
}

#[test]
fn the_store_in_main_memory_keeps_the_promises_of_reminders() {
    reminder_suite(&|| services(Arc::new(MemStore::default())));
}

#[test]
fn the_other_fakes_keep_their_promises() {
    clock_suite(&FakeClock::default());
    id_suite(&CountingIds::default());
    embedder_suite(&FakeEmbedder);
    reranker_suite(&FakeReranker);
    chat_suite(&FakeChat::with_answers(&["Yes."]));
    meter_suite(&|| Box::new(FakeMeter::default()));
    let notifier = FakeNotifier::default();
    notifier_suite(&notifier);
    assert_eq!(notifier.shown().len(), 1);
    source_suite(&FakeSource::with_notes(&[
        ("a.md", "see [[b]]"),
        ("b.md", ""),
    ]));
}

#[test]
fn the_store_in_main_memory_keeps_the_promises_of_a_store_of_vectors() {
    embeddings_suite(&|| services(Arc::new(MemStore::default())));
}

#[test]
fn the_store_in_main_memory_keeps_the_promises_of_stores_of_outlines() {
    summaries_suite(&|| services(Arc::new(MemStore::default())));
}
