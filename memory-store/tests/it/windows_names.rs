//! New files have names that Windows allows, because homes move between systems. Existing files keep their names.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use memory_core::bank::{self, BankName, ScopeChoice};
use memory_core::conversation::{ConversationId, EntryChange, EntryRole, store_turns};
use memory_core::instance::history::{self, RecordDraft, SessionName};
use memory_core::instance::kv::{self, ValueKey};
use memory_core::secret::Checked;
use memory_core::testing::{
    CountingIds, FakeClock, banks, conversations, messages, topics, values,
};
use memory_core::text::windows_name_problem;
use memory_core::topic::TopicName;
use memory_core::{
    Code, Draft, Operation, Patch, SecretPolicy, Verb, delete, topic, undo, update, write,
};
use memory_store::bank::{BankFolder, BankOptions};
use memory_store::conversation::ConversationFolder;
use memory_store::history::HistoryFolder;
use memory_store::kv::ValueFolder;
use memory_store::sealed::{InstanceFolder, NewFieldValue};
use memory_store::topic::TopicFolder;
use memory_store::{FileStore, FileStoreOptions};

use crate::home::repeatable_services;
use crate::requests::{bank_entry_request, topic_request};

/// Returns the names of files and folders below `folder` that Windows does not allow.
fn refused_names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.extend(refused_names(&entry.path()));
        }
        names.extend(
            entry
                .file_name()
                .into_string()
                .ok()
                .filter(|name| windows_name_problem(name).is_some()),
        );
    }
    names
}

#[test]
fn the_file_of_a_memory_has_such_a_name() {
    let home = tempfile::tempdir().unwrap();
    let services =
        repeatable_services(FileStore::open(home.path(), FileStoreOptions::default()).unwrap());
    for title in [
        "CON",
        "nul",
        "com1",
        "aux.",
        "a: b?",
        "dots...",
        " <tag> | \"quoted\" * \\ ",
        "NUL.txt",
    ] {
        let draft = Draft {
            title: Some(title.to_owned()),
            ..Draft::new(&format!("the text of {title}"))
        };
        let id = write(&services, draft, SecretPolicy::Refuse)
            .unwrap()
            .id
            .to_string();
        let patch = Patch {
            content: Some(format!("another text of {title}")),
            ..Patch::default()
        };
        update(&services, &id, &patch, None, SecretPolicy::Refuse).unwrap();
        delete(&services, &id).unwrap();
        undo(&services, None).unwrap();
    }
    assert_eq!(refused_names(home.path()), Vec::<String>::new());
}

#[test]
fn a_new_bank_with_another_name_is_refused_and_an_existing_one_stays() {
    let home = tempfile::tempdir().unwrap();
    let (banks, _) = banks(
        Arc::new(BankFolder::new(home.path(), BankOptions::default())),
        None,
    );
    bank::write(&banks, &bank_entry_request("console", "a", "1")).unwrap();
    for name in ["con", "prn", "aux", "nul", "com1", "lpt9"] {
        let refusal = bank::write(&banks, &bank_entry_request(name, "a", "1")).unwrap_err();
        assert_eq!(refusal.code(), Code::InvalidBankName, "{name}");
        assert!(
            refusal
                .to_string()
                .contains("the name of a device on Windows"),
            "{refusal}"
        );
    }
    assert_eq!(refused_names(home.path()), Vec::<String>::new());
    fs::copy(
        home.path().join("console.json"),
        home.path().join("con.json"),
    )
    .unwrap();
    bank::write(&banks, &bank_entry_request("con", "a", "2")).unwrap();
    let (name, key): (BankName, bank::Key) = ("con".parse().unwrap(), "a".parse().unwrap());
    bank::delete_bank(&banks, &name, ScopeChoice::Detected).unwrap();
    let last = bank::last(&banks).unwrap().unwrap().operation.id;
    bank::undo(&banks, last.as_str()).unwrap();
    assert_eq!(
        bank::read(&banks, &name, &key, ScopeChoice::Detected)
            .unwrap()
            .entry
            .value
            .as_str(),
        "2"
    );
}

#[test]
fn a_new_value_with_another_key_is_refused_and_an_existing_one_stays() {
    let home = tempfile::tempdir().unwrap();
    let values = values(Arc::new(ValueFolder::new(
        home.path().join("kv"),
        home.path().join("state"),
    )));
    let key = |text: &str| text.parse::<ValueKey>().unwrap();
    for fine in ["console", "b.con", "nul-1"] {
        kv::set(&values, &key(fine), "1", SecretPolicy::Refuse).unwrap();
    }
    for wrong in [
        "con",
        "NUL",
        "chat/con.1/a",
        "a/com1",
        "aux/a",
        "lpt1.txt",
        "a.",
        "a./b",
    ] {
        assert_eq!(
            kv::set(&values, &key(wrong), "1", SecretPolicy::Refuse)
                .unwrap_err()
                .code(),
            Code::InvalidKey,
            "{wrong}"
        );
    }
    kv::delete(&values, &key("b.con")).unwrap();
    assert_eq!(refused_names(home.path()), Vec::<String>::new());
    fs::write(home.path().join("kv/con"), "1").unwrap();
    kv::set(&values, &key("con"), "2", SecretPolicy::Refuse).unwrap();
    kv::delete(&values, &key("con")).unwrap();
    kv::undo(&values, None).unwrap();
    assert_eq!(kv::get(&values, &key("con")).unwrap().text, "2");
}

#[test]
fn a_new_session_with_another_name_is_refused_and_an_existing_one_stays() {
    let home = tempfile::tempdir().unwrap();
    let (messages, _) = messages(Arc::new(HistoryFolder::new(home.path())));
    let append = |name: &str| {
        let record = RecordDraft::from_text("user".parse().unwrap(), "hi");
        history::append(
            &messages,
            &name.parse::<SessionName>().unwrap(),
            &record,
            SecretPolicy::Refuse,
        )
    };
    for fine in ["console", "con: 1", "a.", "a ", "what?", "<a>|*"] {
        append(fine).unwrap();
    }
    for wrong in ["con", "NUL", "com1", "aux.1"] {
        let refusal = append(wrong).unwrap_err();
        assert_eq!(refusal.code(), Code::PathRefused, "{wrong}");
        assert!(
            refusal
                .to_string()
                .contains("the name of a device on Windows"),
            "{refusal}"
        );
    }
    let session: SessionName = "what?".parse().unwrap();
    history::delete(&messages, &session).unwrap();
    history::undo(&messages, None).unwrap();
    assert_eq!(refused_names(home.path()), Vec::<String>::new());
    fs::copy(
        home.path().join("console.jsonl"),
        home.path().join("con.jsonl"),
    )
    .unwrap();
    append("con").unwrap();
}

#[test]
fn a_new_instance_with_another_name_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let instances = InstanceFolder::new(
        home.path().join("instances"),
        home.path().join("keys"),
        None,
    );
    let operation = Operation::new(
        Verb::Set,
        "cli",
        &FakeClock::default(),
        &CountingIds::default(),
    );
    let fields = [("dsn".to_owned(), NewFieldValue::secret("a"))];
    for name in ["con", "NUL", "com1.x", "a."] {
        let written = instances.write(
            &"kv".parse().unwrap(),
            &name.parse().unwrap(),
            &fields,
            &operation,
        );
        assert_eq!(written.unwrap_err().code(), Code::InvalidInput, "{name}");
    }
    assert!(
        !home.path().join("keys/master.key").exists(),
        "no key was created"
    );
    instances
        .write(
            &"kv".parse().unwrap(),
            &"console".parse().unwrap(),
            &fields,
            &operation,
        )
        .unwrap();
    fs::copy(
        home.path().join("instances/kv/console.yaml"),
        home.path().join("instances/kv/con.yaml"),
    )
    .unwrap();
    instances
        .write(
            &"kv".parse().unwrap(),
            &"con".parse().unwrap(),
            &fields,
            &operation,
        )
        .unwrap();
}

#[test]
fn the_folder_of_a_new_conversation_has_such_a_name_and_an_existing_one_stays() {
    let home = tempfile::tempdir().unwrap();
    let conversations = self::conversations(Arc::new(ConversationFolder::new(home.path())));
    let turns = [(EntryRole::User, "hi".to_owned())];
    for name in [
        "con",
        "NUL",
        "com1.x",
        "aux.",
        "What now.",
        "a<b>:*",
        "console",
    ] {
        let id: ConversationId = name.parse().unwrap();
        let stored = store_turns(&conversations, &id, &turns).unwrap();
        let deletion = EntryChange::Delete {
            id: stored[0].id.clone(),
            replaced_by: None,
        };
        store_turns(&conversations, &id, &turns).unwrap();
        conversations
            .store
            .commit(&id, Checked::allowed(&[deletion]))
            .unwrap();
        assert_eq!(
            (
                conversations.store.read(&id).unwrap().entries().len(),
                conversations.store.deleted(&id).unwrap().len()
            ),
            (1, 1)
        );
    }
    assert_eq!(refused_names(home.path()), Vec::<String>::new());
    assert_eq!(conversations.store.conversations().unwrap().len(), 7);

    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("entries/con")).unwrap();
    let conversations = self::conversations(Arc::new(ConversationFolder::new(home.path())));
    store_turns(&conversations, &"con".parse().unwrap(), &turns).unwrap();
    assert_eq!(refused_names(home.path()), ["con"]);
    assert_eq!(
        conversations
            .store
            .read(&"con".parse().unwrap())
            .unwrap()
            .entries()
            .len(),
        1
    );
}

#[test]
fn a_topic_with_another_name_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let (topics, _) = topics(Arc::new(TopicFolder::new(home.path())));
    topic::write(&topics, &topic_request("console", "one")).unwrap();
    topic::delete(&topics, "console").unwrap();
    assert_eq!(refused_names(home.path()), Vec::<String>::new());
    for name in [
        "con",
        "NUL.md",
        "com1",
        "COM\u{b9}",
        "a.",
        "a ",
        "a:b",
        "a?b",
        "conin$",
    ] {
        assert!(name.parse::<TopicName>().is_err(), "{name:?}");
    }
}
