//! Search in replicas has the same results as in files without a database.

use std::time::Duration;

use memory_core::secret::Checked;
use memory_core::{Change, ChangeSet, Draft, Query, Services, Verb, search};
use memory_store::{FileStore, FileStoreOptions};

use super::replicas::{Node, open};
use super::server::shared_server;
use crate::home::{TestHome, repeatable_services};

/// Number of memories. A benchmark compares more.
const NOTES: usize = 1_000;

const WORDS: [&str; 24] = [
    "team",
    "deploy",
    "release",
    "Tuesday",
    "review",
    "database",
    "index",
    "backup",
    "garden",
    "water",
    "plants",
    "meeting",
    "budget",
    "office",
    "train",
    "ticket",
    "部署",
    "数据库",
    "会议",
    "预算",
    "東京",
    "テスト",
    "회의",
    "настройка",
];

#[test]
fn replicas_and_files_have_the_same_hits_with_the_same_scores_for_the_same_notes() {
    let Some(server) = shared_server("search in replicas") else {
        return;
    };
    let (database, name) = super::open(server);
    let (home, folder) = (TestHome::new(), TestHome::new());
    let files =
        repeatable_services(FileStore::open(home.path(), FileStoreOptions::default()).unwrap());
    let first = repeatable_services(open(folder.path(), database, Duration::ZERO));
    for services in [&files, &first] {
        write_notes(services);
    }
    let second = Node::new(super::reopen(server, &name));
    let queries = [
        "deploy release",
        "部署",
        "数据库 budget",
        "東",
        "テスト",
        "회의 office",
        "настройка",
        "\"team deploy\"",
        "gardn water -train",
    ];
    for query in queries {
        let expected = results(&files, query);
        assert!(!expected.is_empty(), "{query}");
        assert_eq!(results(&first, query), expected, "{query}");
        assert_eq!(results(&second.services, query), expected, "{query}");
    }
}

fn write_notes(services: &Services) {
    let mut random = 1_u64;
    let mut word = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        WORDS[usize::try_from(random >> 33).unwrap() % WORDS.len()]
    };
    for batch in 0..NOTES / 500 {
        let mut set = ChangeSet::new(services.operation(Verb::Import));
        for number in 0..500 {
            let words: Vec<_> = (0..12).map(|_| word()).collect();
            let draft = Draft::new(&format!(
                "note {} {}",
                batch * 500 + number,
                words.join(" ")
            ));
            let memory = Box::new(draft.into_memory(services.ids.memory_id(), set.operation.at));
            set.changes.push(Change::Create {
                memory,
                front_matter: String::new(),
            });
        }
        services.store.commit(Checked::allowed(&set)).unwrap();
    }
}

/// Returns the hits with their scores and explanations, all at the same time.
fn results(services: &Services, query: &str) -> Vec<String> {
    let clock = std::sync::Arc::new(memory_core::testing::FakeClock::default());
    let services = Services {
        clock,
        ..services.clone()
    };
    let found = search(&services, &Query::new(query)).unwrap();
    found
        .hits
        .iter()
        .map(|hit| {
            format!(
                "{} {} {:?}",
                hit.stored.path,
                hit.score.to_bits(),
                hit.explanation
            )
        })
        .collect()
}
