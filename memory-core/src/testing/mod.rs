//! Fakes, generators, and one conformance suite per trait. [`crate::MemStore`] is the store of memories for tests.
//!
//! A suite takes a function that makes a fresh implementation, and checks the contract of the trait on it. Each rule is a function of the
//! suite, named after its claim; a suite panics with the name of the violated rule. Each implementation runs the suites in its own tests.
//!
//! A store of memories runs one suite for each feature, and leaves out those of features that it does not have:
//!
//! | suite | feature |
//! |---|---|
//! | [`store_suite`] | memories, search, links, and the views of agents: every store |
//! | [`summaries_suite`] | summaries of memories and cached analyses: every store that dreams read |
//! | [`history_suite`] | the record of operations, undo and the trash; a store without it returns no records |
//! | [`reminder_suite`] | the use cases of reminders; it needs a history and [`FakeClock`] |
//! | [`embeddings_suite`] | vectors; a store without them reports none in [`crate::MemoryStore::has_vectors`] |
//! | [`view_suite`] | random operations of an agent, compared with a store that contains only its view; it needs a history |
//!
//! The suites of the other stores are divided in the same way:
//!
//! | suite | feature |
//! |---|---|
//! | [`topic_suite`], [`bank_suite`] | topics, or banks, with their undo: every store |
//! | [`message_suite`], [`key_value_suite`] | sessions, or values: every store |
//! | [`message_undo_suite`], [`key_value_undo_suite`] | the record of operations, undo and the trash; a store without them records no operation |
//! | [`conversation_suite`], [`job_queue_suite`] | conversations, or jobs: every store |
//! | [`conversation_vector_suite`] | vectors of entries, for recall by meaning |
//! | [`meter_suite`] | the usage of language models |
//! | [`recall_ledger_suite`] | the recalls of agents |

/// Checks each rule on a fresh implementation, which `dyn` takes out of its pointer.
macro_rules! check_rules {
    (dyn $make:ident; $($rule:path),* $(,)?) => {
        $(crate::testing::check_rule(stringify!($rule), || $rule($make().as_ref()));)*
    };
    ($make:ident; $($rule:path),* $(,)?) => {
        $(crate::testing::check_rule(stringify!($rule), || $rule(&$make()));)*
    };
}

mod bank_suite;
mod conversation_suite;
mod embeddings_suite;
mod extent;
mod fake_banks;
mod fake_clock;
mod fake_conversations;
mod fake_instances;
mod fake_log;
mod fake_meter;
mod fake_models;
mod fake_recall_ledger;
mod fake_source;
mod fake_topics;
mod generators;
mod history_suite;
mod job_queue_suite;
mod key_value_suite;
mod message_suite;
mod meter_suite;
mod operations_suite;
mod processes;
mod recall_ledger_suite;
mod reminder_suite;
mod service_suites;
mod store_suite;
mod summaries_suite;
mod topic_suite;
mod view_suite;

pub use bank_suite::{bank_suite, banks};
pub use conversation_suite::{conversation_suite, conversation_vector_suite, conversations};
pub use embeddings_suite::embeddings_suite;
pub use extent::{extent, in_any_order, is_exhaustive, is_sampled, leave_out};
pub use fake_banks::{FakeBanks, FakeFilter, FakeSchemas};
pub use fake_clock::{CountingIds, FakeClock};
pub use fake_conversations::{FakeConversations, FakeJobs, HookStep};
pub use fake_instances::{FakeMessages, FakeValues};
pub use fake_meter::FakeMeter;
pub use fake_models::{FakeChat, FakeEmbedder, FakeNotifier, FakeReranker};
pub use fake_recall_ledger::FakeRecallLedger;
pub use fake_source::FakeSource;
pub use fake_topics::FakeTopics;
pub use generators::{any_draft, any_memory, any_scope, any_text};
pub use history_suite::history_suite;
pub use job_queue_suite::job_queue_suite;
pub use key_value_suite::{key_value_suite, key_value_undo_suite, values};
pub use message_suite::{message_suite, message_undo_suite, messages};
pub use meter_suite::meter_suite;
pub use processes::{command_of_another_user, copy_folder, copy_program, wait_until};
pub use recall_ledger_suite::recall_ledger_suite;
pub use reminder_suite::reminder_suite;
pub use service_suites::{
    chat_suite, clock_suite, embedder_suite, id_suite, notifier_suite, reranker_suite, source_suite,
};
pub use store_suite::store_suite;
pub use summaries_suite::summaries_suite;
pub use topic_suite::{topic_suite, topics};
pub use view_suite::view_suite;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::{History, MemoryStore, Services};

/// Runs `check`, and adds the name of the rule to the message of its panic.
fn check_rule(rule: &str, check: impl FnOnce()) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(check)) else {
        return;
    };
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    panic!(
        "the rule {rule} is violated: {}",
        message.unwrap_or_default()
    );
}

/// Returns services over `store`, with a deterministic clock and deterministic ids.
pub fn services<S: MemoryStore + History + 'static>(store: Arc<S>) -> Services {
    Services {
        clock: Arc::new(FakeClock::default()),
        ids: Arc::new(CountingIds::default()),
        banks: Some(banks(Arc::new(FakeBanks::default()), None).0),
        topics: Some(topics(Arc::new(FakeTopics::default())).0),
        actor: "test".into(),
        ..Services::new(store)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_check_names_the_rule() {
        let failed = catch_unwind(|| check_rule("nothing_is_lost", || assert_eq!(1, 2)))
            .expect_err("it fails");
        let message = failed.downcast_ref::<String>().expect("a text");
        assert!(
            message.starts_with(
                "the rule nothing_is_lost is violated: assertion `left == right` failed"
            ),
            "{message}"
        );
        check_rule("all_is_well", || ());
    }
}
