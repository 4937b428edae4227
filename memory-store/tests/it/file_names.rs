//! Valid but unusual file names: with spaces, in other scripts, or of maximum length.
//!
//! Each store is opened in a folder with such a name, and contains items with such names.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use memory_core::bank::{BankWriteCondition, BankWriteRequest, ScopeChoice};
use memory_core::conversation::{self, ConversationId, EntryRole, store_turns};
use memory_core::instance::history::{
    self, RecordDraft as Said, RecordFilter as Which, SessionName, Window,
};
use memory_core::instance::kv::{self, ValueKey};
use memory_core::secret::Checked;
use memory_core::testing::{banks, conversations, messages, topics, values};
use memory_core::topic;
use memory_core::{
    Draft, Filter, ListOrder, PageRequest, Query, Ranking, SecretPolicy, Tags, bank, delete, list,
    read, search, tag, undo, update, write,
};
use memory_store::bank::{BankFolder, BankOptions};
use memory_store::conversation::ConversationFolder;
use memory_store::history::HistoryFolder;
use memory_store::kv::ValueFolder;
use memory_store::topic::TopicFolder;
use memory_store::{FileStore, FileStoreOptions};

use crate::home::repeatable_services;
use crate::requests::{bank_entry_request, topic_request};

/// Maximum length of a file name in bytes on common file systems.
const MAX_FILE_NAME: usize = 255;

/// Returns `start`, repeated `character` and `end` with a total of `length` bytes.
fn padded_name(start: &str, character: char, end: &str, length: usize) -> String {
    let room = length - start.len() - end.len();
    let more: String = std::iter::repeat_n(character, room / character.len_utf8()).collect();
    let rest = "x".repeat(room % character.len_utf8());
    format!("{start}{more}{rest}{end}")
}

/// Returns folders with such names, in a temporary folder.
fn folders() -> (tempfile::TempDir, [PathBuf; 3]) {
    let parent = tempfile::tempdir().unwrap();
    let names = [
        "with  blanks ".to_owned(),
        "深色 모드 ダーク".to_owned(),
        padded_name("long ", '深', "", MAX_FILE_NAME),
    ];
    let folders = names.map(|name| parent.path().join(name));
    (parent, folders)
}

#[test]
fn notes_are_kept_whatever_their_files_and_their_home_are_called() {
    let (_parent, homes) = folders();
    for home in homes {
        let store = FileStore::open(&home, FileStoreOptions::default()).unwrap();
        let services = repeatable_services(store);
        let title = |title: &str| Draft {
            title: Some(title.to_owned()),
            ..Draft::new(&format!("harbour of {title}"))
        };
        for name in ["a b", "深色 모드", &"記憶".repeat(200), &"x".repeat(1000)] {
            let written = write(&services, title(name), SecretPolicy::Refuse).unwrap();
            assert_eq!(
                read(&services, &written.id.to_string())
                    .unwrap()
                    .memory
                    .title
                    .as_deref(),
                Some(name)
            );
        }
        // A user chooses the file names.
        let folder = home.join("categories/ideas of mine");
        fs::create_dir_all(&folder).unwrap();
        let files = [
            "with  blanks .md".to_owned(),
            "深色 모드.md".to_owned(),
            padded_name("l", '深', ".md", MAX_FILE_NAME),
        ];
        for (number, file) in files.iter().enumerate() {
            fs::write(folder.join(file), format!("kettle {number}\n")).unwrap();
        }
        let query = Query {
            text: "kettle".into(),
            filter: Filter::default(),
            limit: 10,
            ranking: Ranking::default(),
        };
        let found = search(&services, &query).unwrap().hits;
        assert_eq!(found.len(), files.len());
        for hit in found {
            let id = hit.stored.memory.id.to_string();
            let tagged = tag(&services, &id, ["mine"].iter().collect(), Tags::default()).unwrap();
            assert_eq!(tagged.path, hit.stored.path);
            let patch = memory_core::Patch {
                content: Some("kettle, changed".into()),
                ..memory_core::Patch::default()
            };
            update(&services, &id, &patch, None, SecretPolicy::Refuse).unwrap();
            delete(&services, &id).unwrap();
            undo(&services, None).unwrap();
            undo(&services, None).unwrap();
            assert_eq!(read(&services, &id).unwrap().memory, tagged.memory);
        }
        let all = list(
            &services,
            &Filter::all(),
            &PageRequest {
                order: ListOrder::Created,
                offset: 0,
                limit: None,
            },
        )
        .unwrap();
        assert_eq!(
            (
                all.total,
                all.memories
                    .iter()
                    .filter(|stored| stored.problem.is_some())
                    .count()
            ),
            (7, 0)
        );
    }
}

#[test]
fn entries_of_banks_are_kept_whatever_they_and_their_folder_are_called() {
    let (_parent, homes) = folders();
    for home in homes {
        let (banks, _) = banks(
            Arc::new(BankFolder::new(&home, BankOptions::default())),
            None,
        );
        let name: bank::BankName = padded_name("b", 'a', "", 64).parse().unwrap();
        let keys = [
            "a b".to_owned(),
            "深色 모드".to_owned(),
            padded_name("k/", '深', "", MAX_FILE_NAME),
        ];
        for key in &keys {
            let key: bank::Key = key.parse().unwrap();
            let request = BankWriteRequest {
                condition: BankWriteCondition::Absent,
                ..bank_entry_request(name.as_str(), key.as_str(), "1")
            };
            bank::write(&banks, &request).unwrap();
            bank::delete(&banks, &name, &key, ScopeChoice::Detected).unwrap();
            let last = bank::last(&banks).unwrap().unwrap().operation.id;
            bank::undo(&banks, last.as_str()).unwrap();
            assert_eq!(
                bank::read(&banks, &name, &key, ScopeChoice::Detected)
                    .unwrap()
                    .entry
                    .value
                    .as_str(),
                "1"
            );
        }
        bank::delete_bank(&banks, &name, ScopeChoice::Detected).unwrap();
        let last = bank::last(&banks).unwrap().unwrap().operation.id;
        bank::undo(&banks, last.as_str()).unwrap();
        assert_eq!(
            bank::read_bank(&banks, &name, ScopeChoice::Detected)
                .unwrap()
                .1
                .entries
                .len(),
            keys.len()
        );
    }
}

#[test]
fn sessions_are_kept_whatever_they_and_their_folder_are_called() {
    let (_parent, homes) = folders();
    for home in homes {
        let (messages, _) = messages(Arc::new(HistoryFolder::new(&home)));
        let most = MAX_FILE_NAME - ".jsonl".len();
        let names = [
            "a b".to_owned(),
            " ".to_owned(),
            "深色 모드".to_owned(),
            "x".repeat(200),
            padded_name("", '深', "", most),
        ];
        for name in &names {
            let session: SessionName = name.parse().unwrap();
            history::append(
                &messages,
                &session,
                &Said::from_text("user".parse().unwrap(), "hi"),
                SecretPolicy::Refuse,
            )
            .unwrap();
            let filter = Which {
                roles: vec!["user".parse().unwrap()],
                ..Which::default()
            };
            assert_eq!(
                history::purge(&messages, &session, &filter).unwrap().purged,
                1
            );
            history::undo(&messages, None).unwrap();
            history::delete(&messages, &session).unwrap();
            history::undo(&messages, None).unwrap();
            assert_eq!(
                history::read(&messages, &session, &Which::default(), Window::default())
                    .unwrap()
                    .records
                    .len(),
                1
            );
        }
        assert_eq!(history::sessions(&messages).unwrap().len(), names.len());
        let too_long: SessionName = "深".repeat(200).parse().unwrap();
        let said = Said::from_text("user".parse().unwrap(), "hi");
        assert!(
            history::append(&messages, &too_long, &said, SecretPolicy::Refuse).is_err(),
            "it is told and not cut"
        );
    }
}

#[test]
fn values_are_kept_whatever_their_folder_is_called_and_as_long_as_their_keys_may_be() {
    let (_parent, homes) = folders();
    for home in homes {
        let values = values(Arc::new(ValueFolder::new(
            home.join("kv"),
            home.join("state"),
        )));
        let part = "k".repeat(ValueKey::MAX_PART);
        for key in [
            "a".to_owned(),
            part.clone(),
            format!("{part}/{}", &part[1..]),
        ] {
            let key: ValueKey = key.parse().unwrap();
            if key.as_str().contains('/') {
                kv::delete(&values, &part.parse().unwrap()).unwrap();
            }
            kv::set(&values, &key, "1", SecretPolicy::Refuse).unwrap();
            kv::set(&values, &key, "2", SecretPolicy::Refuse).unwrap();
            kv::delete(&values, &key).unwrap();
            kv::undo(&values, None).unwrap();
            kv::undo(&values, None).unwrap();
            assert_eq!(kv::get(&values, &key).unwrap().text, "1");
        }
    }
}

#[test]
fn topics_are_kept_whatever_they_and_their_folder_are_called() {
    let (_parent, homes) = folders();
    for home in homes {
        let (topics, _) = topics(Arc::new(TopicFolder::new(&home)));
        let names = [
            "a b".to_owned(),
            "深色 모드".to_owned(),
            padded_name("l", '深', ".md", 200),
        ];
        for name in &names {
            topic::write(&topics, &topic_request(name, "one")).unwrap();
            topic::update(&topics, name, "one", "two", SecretPolicy::Refuse).unwrap();
            topic::delete(&topics, name).unwrap();
            for _ in 0..2 {
                let last = topic::last(&topics).unwrap().unwrap().operation.id;
                topic::undo(&topics, last.as_str()).unwrap();
            }
            assert!(topic::read(&topics, name).unwrap().text.ends_with("one\n"));
        }
        // A user chooses the file names.
        let longest = padded_name("p", '深', ".md", MAX_FILE_NAME);
        fs::write(
            home.join(&longest),
            "---\nname: p\ndescription: x\n---\nkettle\n",
        )
        .unwrap();
        let listed = topic::list(&topics).unwrap();
        assert_eq!(
            listed.topics.len() + listed.misnamed.len(),
            names.len() + 1,
            "it is shown or told of: {listed:?}"
        );
    }
}

#[test]
fn conversations_are_kept_whatever_they_and_their_folder_are_called() {
    let (_parent, homes) = folders();
    for home in homes {
        let conversations = conversations(Arc::new(ConversationFolder::new(&home)));
        for name in [
            "a b".to_owned(),
            "深色 / 모드".to_owned(),
            padded_name("", '深', "", MAX_FILE_NAME),
            "深".repeat(170),
        ] {
            let id: ConversationId = name.parse().unwrap();
            let turns = [
                (EntryRole::User, "hi".to_owned()),
                (EntryRole::Assistant, "hello".to_owned()),
            ];
            let kept = store_turns(&conversations, &id, &turns).unwrap();
            let gone = conversation::EntryChange::Delete {
                id: kept[0].id.clone(),
                replaced_by: None,
            };
            conversations
                .store
                .commit(&id, Checked::allowed(&[gone]))
                .unwrap();
            assert_eq!(conversations.store.read(&id).unwrap().entries().len(), 1);
            assert_eq!(conversations.store.deleted(&id).unwrap().len(), 1);
        }
        assert_eq!(conversations.store.conversations().unwrap().len(), 4);
    }
}
