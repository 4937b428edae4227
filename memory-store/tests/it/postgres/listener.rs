//! Notifications about files.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::DateTime;
use memory_core::conversation::EntryRole;
use memory_core::{Filter, MemoryStore, PageRequest};
use memory_store::{FileStore, FileStoreOptions};

use super::conversations::ConversationNode;
use super::server::shared_server;
use crate::home::TestHome;

#[test]
fn a_notification_makes_another_node_fetch_files_at_once_and_not_its_own() {
    let Some(server) = shared_server("notifications about files") else {
        return;
    };
    let (database, name) = super::open(server);
    let first = ConversationNode::new(database);
    let (home, database) = (TestHome::new(), super::reopen(server, &name));
    let hour = Duration::from_hours(1);
    let second = FileStore::open_replica(
        home.path(),
        FileStoreOptions::default(),
        Arc::clone(&database),
        hour,
    )
    .unwrap();
    let (heard, news) = channel();
    let heard = Mutex::new(heard);
    assert!(second.listen_for_news(move || heard.lock().unwrap().send(()).unwrap_or_default()));
    // The first hint shows that notifications arrive.
    news.recv().unwrap();
    let own = ConversationNode::in_home(home, database);
    for number in 0..3 {
        // A notification of the node itself would be heard before that of the other one.
        own.say(&format!("own turn {number}"), number).unwrap();
        first.say(&format!("turn {number}"), number).unwrap();
        news.recv().unwrap();
        second.refresh().unwrap();
        let page = second
            .list(
                &Filter::all(),
                &PageRequest::default(),
                DateTime::UNIX_EPOCH,
            )
            .unwrap();
        assert!(
            page.memories
                .iter()
                .any(|stored| stored.memory.content == format!("turn {number}"))
        );
        assert!(news.try_recv().is_err());
    }
    first.add(EntryRole::Memory, "a fact", 3).unwrap();
    news.recv().unwrap();
}
