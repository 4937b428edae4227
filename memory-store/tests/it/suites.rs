//! The file driver passes the suites of the traits.

use std::cell::RefCell;
use std::sync::Arc;

use memory_core::conversation::ConversationStore;
use memory_core::instance::history::MessageStore;
use memory_core::instance::kv::KeyValueStore;
use memory_core::testing::{
    bank_suite, conversation_suite, conversation_vector_suite, embeddings_suite, history_suite,
    job_queue_suite, key_value_suite, key_value_undo_suite, message_suite, message_undo_suite,
    reminder_suite, store_suite, summaries_suite, topic_suite, view_suite,
};
use memory_store::bank::{BankFolder, BankOptions};
use memory_store::conversation::{ConversationFolder, JobFile};
use memory_store::history::HistoryFolder;
use memory_store::kv::ValueFolder;
use memory_store::topic::TopicFolder;
use memory_store::{FileStore, FileStoreOptions};

use crate::home::{TestHome, repeatable_services};

#[test]
fn the_file_store_keeps_the_promises_of_a_store() {
    let homes = RefCell::new(Vec::new());
    store_suite(&|| {
        let home = TestHome::new();
        let services = home.services();
        homes.borrow_mut().push(home);
        services
    });
}

#[test]
fn a_folder_keeps_the_promises_of_banks_plain_or_compressed() {
    for compress_above in [None, Some(0), Some(1024)] {
        let homes = RefCell::new(Vec::new());
        bank_suite(&|| {
            let home = TestHome::new();
            let banks = BankFolder::new(
                home.path().join("banks"),
                BankOptions {
                    compress_above,
                    ..BankOptions::default()
                },
            );
            homes.borrow_mut().push(home);
            Arc::new(banks)
        });
    }
}

#[test]
fn a_folder_keeps_the_promises_of_conversations_and_jobs() {
    let homes = RefCell::new(Vec::new());
    let make = || -> Arc<dyn ConversationStore> {
        let home = TestHome::new();
        let conversations = ConversationFolder::new(home.path());
        homes.borrow_mut().push(home);
        Arc::new(conversations)
    };
    conversation_suite(&make);
    conversation_vector_suite(&make);
    job_queue_suite(&|| {
        let home = TestHome::new();
        let jobs = JobFile::new(home.path());
        homes.borrow_mut().push(home);
        Arc::new(jobs)
    });
}

#[test]
fn a_folder_keeps_the_promises_of_sessions() {
    let homes = RefCell::new(Vec::new());
    let make = || -> Arc<dyn MessageStore> {
        let home = TestHome::new();
        let sessions = HistoryFolder::new(home.path().join("history"));
        homes.borrow_mut().push(home);
        Arc::new(sessions)
    };
    message_suite(&make);
    message_undo_suite(&make);
}

#[test]
fn a_folder_keeps_the_promises_of_values() {
    let homes = RefCell::new(Vec::new());
    let make = || -> Arc<dyn KeyValueStore> {
        let home = TestHome::new();
        let values = ValueFolder::new(home.path().join("kv"), home.path().join("state"));
        homes.borrow_mut().push(home);
        Arc::new(values)
    };
    key_value_suite(&make);
    key_value_undo_suite(&make);
}

#[test]
fn a_folder_keeps_the_promises_of_topics() {
    let homes = RefCell::new(Vec::new());
    topic_suite(&|| {
        let home = TestHome::new();
        let topics = TopicFolder::new(home.path().join("topics"));
        homes.borrow_mut().push(home);
        Arc::new(topics)
    });
}

#[test]
fn the_file_store_keeps_the_promises_of_a_history() {
    let homes = RefCell::new(Vec::new());
    history_suite(&|| {
        let home = TestHome::new();
        let services = home.services();
        homes.borrow_mut().push(home);
        services
    });
}

#[test]
fn the_file_store_keeps_the_promises_of_a_store_of_vectors() {
    let homes = RefCell::new(Vec::new());
    embeddings_suite(&|| {
        let home = TestHome::new();
        let services = home.services();
        homes.borrow_mut().push(home);
        services
    });
}

#[test]
fn the_file_store_keeps_the_promises_of_reminders() {
    let homes = RefCell::new(Vec::new());
    reminder_suite(&|| {
        let home = TestHome::new();
        let services = home.services();
        homes.borrow_mut().push(home);
        services
    });
}

#[test]
fn the_file_store_keeps_the_promises_of_outlines() {
    let homes = RefCell::new(Vec::new());
    summaries_suite(&|| {
        let home = TestHome::new();
        let services = home.services();
        homes.borrow_mut().push(home);
        services
    });
}

#[test]
fn what_an_agent_does_not_see_is_not_there_in_a_file_store() {
    let homes = RefCell::new(Vec::new());
    let make = || {
        let home = TestHome::new();
        let services =
            repeatable_services(FileStore::open(home.path(), FileStoreOptions::default()).unwrap());
        homes.borrow_mut().push(home);
        services
    };
    view_suite(&make, 24);
}
