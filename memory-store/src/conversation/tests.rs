mod foreign_repositories;
mod superseded_turns;
mod versions;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use memory_core::conversation::{
    ConversationEntry, ConversationId, ConversationStore, Conversations, EntryChange, EntryRole,
    RecallRules, add, recall,
};
use memory_core::secret::Checked;
use memory_core::testing::conversations;
use memory_core::{Code, Filter, MemStore, Query, Ranking, SecretPolicy, Services, search};
use proptest::prelude::*;

use super::ConversationFolder;
use super::format::{decode, encode};
use super::layout::is_entry_file;
use crate::disk::file_name;
use crate::{FileStore, FileStoreOptions};

/// Returns the samples of another program, or `None` if they are missing.
fn samples() -> Option<PathBuf> {
    let inputs = std::env::var_os("MEMORY_TEST_INPUTS").map(PathBuf::from);
    let inputs =
        inputs.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/inputs"));
    let folder = inputs.join("agent-cli/memory_db");
    if folder.is_dir() {
        return Some(folder);
    }
    memory_core::testing::leave_out(&format!("{} does not exist", folder.display()));
    None
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::write(place, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

fn id(text: &str) -> ConversationId {
    text.parse().unwrap()
}

fn open(home: &Path) -> Conversations {
    let (conversations, ids) = (
        conversations(Arc::new(ConversationFolder::new(home))),
        Arc::new(crate::RandomIds),
    );
    Conversations {
        ids,
        ..conversations
    }
}

fn texts(conversations: &Conversations, conversation: &str) -> Vec<String> {
    let shelf = conversations.store.read(&id(conversation)).unwrap();
    shelf
        .entries()
        .iter()
        .map(|entry| format!("{} {}", entry.role, entry.content))
        .collect()
}

fn add_facts(home: &Path, facts: &[&str]) -> Vec<ConversationEntry> {
    let facts: Vec<String> = facts.iter().map(|fact| (*fact).to_owned()).collect();
    add(&open(home), &id("default"), &facts, SecretPolicy::Refuse).unwrap()
}

fn file_of(home: &Path, entry: &ConversationEntry) -> PathBuf {
    let folder = home.join("entries/default/facts");
    let ending = format!("__{}.md", entry.id);
    fs::read_dir(folder)
        .unwrap()
        .map(|found| found.unwrap().path())
        .find(|path| path.to_string_lossy().ends_with(&ending))
        .unwrap()
}

#[test]
fn the_folder_of_another_program_is_read_as_it_stands() {
    let Some(samples) = samples() else { return };
    let conversations = open(&samples);
    let names: Vec<String> = conversations
        .store
        .conversations()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(names, ["../evil", "a:b*c", "default", "work/项目 1"]);
    let default = conversations.store.read(&id("default")).unwrap();
    assert_eq!((default.len(), default.problems().count()), (18, 0));
    assert!(
        default
            .summary()
            .unwrap()
            .content
            .starts_with("The user's name is Anna. User loves pizza.")
    );
    assert!(
        texts(&conversations, "default")
            .contains(&"user Multi\nline --- text\n---\nwith: colon".to_owned())
    );
    assert_eq!(texts(&conversations, "work/项目 1").len(), 4);
    let told = |entry: &ConversationEntry| {
        (
            entry.content.clone(),
            entry.replaced_by.as_ref().map(ToString::to_string),
        )
    };
    let deleted: Vec<_> = conversations
        .store
        .deleted(&id("default"))
        .unwrap()
        .iter()
        .map(told)
        .collect();
    let lyon = Some("df62add4-1b5f-4bed-ad05-eb02b1f79429".to_owned());
    assert_eq!(
        deleted,
        [
            ("User loves pizza.".into(), None),
            ("User lives in Ghent.".into(), lyon)
        ]
    );
    let recalled = recall(
        &conversations,
        &id("default"),
        "Where do I live?",
        &RecallRules::default(),
    )
    .unwrap();
    assert!(
        recalled
            .memories
            .iter()
            .any(|remembered| remembered.entry.content == "User lives in Lyon.")
    );
}

#[test]
fn what_is_added_beside_the_files_of_another_program_changes_none_of_them() {
    let Some(samples) = samples() else { return };
    let home = tempfile::tempdir().unwrap();
    copy(&samples, home.path());
    let before = all_files(home.path());
    let conversations = open(home.path());
    add(
        &conversations,
        &id("work/项目 1"),
        &["The user likes 茶.".into()],
        SecretPolicy::Refuse,
    )
    .unwrap();
    let after = all_files(home.path());
    assert!(before.iter().all(|file| after.contains(file)));
    let new: Vec<_> = after
        .into_iter()
        .filter(|file| !before.contains(file) && is_entry_file(file_name(&file.0)))
        .collect();
    let [(path, text)] = new.as_slice() else {
        panic!("{new:?}")
    };
    assert!(
        path.starts_with("entries/work_项目_1/facts/2026-05-07T10-00-"),
        "{path}"
    );
    let head: Vec<&str> = text.lines().skip(2).take(2).collect();
    assert_eq!(head, ["conversation_id: \"work/项目 1\"", "role: memory"]);
    // A deleted file is moved to the folder of tombstones unchanged.
    let first = conversations.store.read(&id("default")).unwrap().entries()[0].clone();
    conversations
        .store
        .commit(
            &id("default"),
            Checked::allowed(&[EntryChange::Delete {
                id: first.id.clone(),
                replaced_by: None,
            }]),
        )
        .unwrap();
    let moved = all_files(home.path())
        .into_iter()
        .find(|(path, _)| path.contains("default/deleted/"))
        .unwrap();
    assert!(
        before.iter().any(|(path, text)| *text == moved.1
            && path.rsplit('/').next() == moved.0.rsplit('/').next())
    );
    assert_eq!(
        conversations.store.deleted(&id("default")).unwrap().len(),
        3
    );
}

fn all_files(home: &Path) -> Vec<(String, String)> {
    let (mut left, mut files) = (vec![home.to_owned()], Vec::new());
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                left.push(entry.path());
            } else {
                let path = entry
                    .path()
                    .strip_prefix(home)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                files.push((
                    path,
                    String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned(),
                ));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_file_is_what_the_other_program_writes() {
    let entry = ConversationEntry {
        source_id: Some("3e5ebe2d-86a5-4b54-8f02-6968b2d6694f".parse().unwrap()),
        replaced_by: Some("df62add4-1b5f-4bed-ad05-eb02b1f79429".parse().unwrap()),
        ..ConversationEntry::new(
            "e285db79-e0d8-435e-898f-ef0310634a71".parse().unwrap(),
            &id("default"),
            EntryRole::Memory,
            "User likes tea.",
            "2026-11-20T21:25:53.124212Z".parse().unwrap(),
        )
    };
    insta::assert_snapshot!(encode(&entry), @"
    ---
    id: e285db79-e0d8-435e-898f-ef0310634a71
    conversation_id: default
    role: memory
    created_at: '2026-11-20T21:25:53.124212+00:00'
    replaced_by: df62add4-1b5f-4bed-ad05-eb02b1f79429
    source_id: 3e5ebe2d-86a5-4b54-8f02-6968b2d6694f
    ---
    User likes tea.
    ");
}

#[test]
fn what_others_do_to_the_files_is_seen_at_once() {
    let home = tempfile::tempdir().unwrap();
    let entries = add_facts(home.path(), &["likes tea", "likes coffee"]);
    let conversations = open(home.path());
    let both = ["memory likes coffee", "memory likes tea"];
    let sorted = || {
        let mut texts = texts(&conversations, "default");
        texts.sort();
        texts
    };
    assert_eq!(sorted(), both);
    let tea = file_of(home.path(), &entries[0]);
    let text = fs::read_to_string(&tea).unwrap();
    fs::write(&tea, text.replace("likes tea", "likes green tea")).unwrap();
    assert_eq!(sorted(), ["memory likes coffee", "memory likes green tea"]);
    fs::write(
        home.path().join("entries/default/facts/mine.md"),
        "has a dog\n",
    )
    .unwrap();
    assert_eq!(
        sorted(),
        [
            "memory has a dog",
            "memory likes coffee",
            "memory likes green tea"
        ]
    );
    fs::remove_file(&tea).unwrap();
    assert_eq!(sorted(), ["memory has a dog", "memory likes coffee"]);
    let (coffee, copied) = (
        file_of(home.path(), &entries[1]),
        home.path().join("entries/default/facts/copy.md"),
    );
    fs::copy(&coffee, &copied).unwrap();
    assert_eq!(sorted(), ["memory has a dog", "memory likes coffee"]);
    fs::remove_file(&copied).unwrap();
    assert_eq!(sorted(), ["memory has a dog", "memory likes coffee"]);
    // Another process writes.
    add_facts(home.path(), &["likes cake"]);
    assert_eq!(sorted().len(), 3);
}

#[test]
fn a_damaged_file_is_told_of_and_left_alone() {
    let home = tempfile::tempdir().unwrap();
    add_facts(home.path(), &["likes tea"]);
    let place = home.path().join("entries/default/facts");
    for (name, text) in [
        ("open.md", "---\nid: x\n"),
        ("role.md", "---\nrole: oracle\n---\nx\n"),
        ("time.md", "---\ncreated_at: soon\n---\nx\n"),
        ("id.md", "---\nid: a/../b\n---\nx\n"),
        ("yaml.md", "---\n: [\n---\nx\n"),
    ] {
        fs::write(place.join(name), text).unwrap();
    }
    fs::write(place.join("bytes.md"), [0xff, 0xfe, 0x41]).unwrap();
    let conversations = open(home.path());
    let shelf = conversations.store.read(&id("default")).unwrap();
    let mut damaged: Vec<&str> = shelf
        .problems()
        .map(|problem| problem.path.rsplit('/').next().unwrap())
        .collect();
    damaged.sort_unstable();
    assert_eq!(
        damaged,
        [
            "bytes.md", "id.md", "open.md", "role.md", "time.md", "yaml.md"
        ]
    );
    assert!(
        shelf
            .problems()
            .all(|problem| problem.code == Code::FileDamaged)
    );
    assert_eq!(texts(&conversations, "default"), ["memory likes tea"]);
    fs::write(place.join("role.md"), "---\nrole: memory\n---\nfixed\n").unwrap();
    assert_eq!(
        conversations
            .store
            .read(&id("default"))
            .unwrap()
            .problems()
            .count(),
        5
    );
}

#[test]
fn a_tombstone_keeps_what_a_person_wrote() {
    let home = tempfile::tempdir().unwrap();
    let entries = add_facts(home.path(), &["lives in Ghent"]);
    let path = file_of(home.path(), &entries[0]);
    let mine = fs::read_to_string(&path).unwrap().replace(
        "role: memory\n",
        "role: memory # mine\nmood:  [good,  bad]\n",
    );
    fs::write(&path, &mine).unwrap();
    let by = "df62add4-1b5f-4bed-ad05-eb02b1f79429";
    let change = EntryChange::Delete {
        id: entries[0].id.clone(),
        replaced_by: Some(by.parse().unwrap()),
    };
    open(home.path())
        .store
        .commit(&id("default"), Checked::allowed(&[change]))
        .unwrap();
    let tombstone = home
        .path()
        .join("entries/default/deleted/facts")
        .join(path.file_name().unwrap());
    let expected = mine.replacen("---\nlives", &format!("replaced_by: {by}\n---\nlives"), 1);
    assert_eq!(fs::read_to_string(tombstone).unwrap(), expected);
}

#[test]
fn two_of_one_name_as_long_as_names_may_be_are_both_tombstones() {
    let home = tempfile::tempdir().unwrap();
    let name = format!("{}.md", "深".repeat(84));
    for text in ["one", "two"] {
        let entries = add_facts(home.path(), &[text]);
        let path = file_of(home.path(), &entries[0]);
        fs::rename(&path, path.with_file_name(&name)).unwrap();
        let change = EntryChange::Delete {
            id: entries[0].id.clone(),
            replaced_by: None,
        };
        open(home.path())
            .store
            .commit(&id("default"), Checked::allowed(&[change]))
            .unwrap();
    }
    assert_eq!(
        fs::read_dir(home.path().join("entries/default/deleted/facts"))
            .unwrap()
            .count(),
        2
    );
}

#[test]
fn many_writers_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let home = home.path();
            scope.spawn(move || {
                for number in 0..5 {
                    add_facts(home, &[&format!("fact {writer} {number}")]);
                }
            });
        }
    });
    assert_eq!(texts(&open(home.path()), "default").len(), 20);
}

#[test]
fn a_day_is_a_moment() {
    let text = "---\nid: a\nrole: memory\ncreated_at: 2026-01-02\n---\nlikes tea\n";
    let entry = decode(
        "entries/default/facts/a.md",
        text.as_bytes(),
        EntryRole::Memory,
        DateTime::UNIX_EPOCH,
    )
    .unwrap();
    assert_eq!(entry.created_at.to_rfc3339(), "2026-01-02T00:00:00+00:00");
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_back(
        content in memory_core::testing::any_text(),
        conversation in "[^\\x00-\\x1f\\x7f-\\x9f]{1,40}",
        micros in 0_i64..4_000_000_000_000_000,
    ) {
        let Ok(conversation) = conversation.parse::<ConversationId>() else { return Ok(()) };
        let at: DateTime<Utc> = DateTime::from_timestamp_micros(micros).unwrap();
        let entry = ConversationEntry::new("1e5".parse().unwrap(), &conversation, EntryRole::User, &content, at);
        let path = format!("entries/{}/turns/user/a.md", conversation.folder());
        prop_assert_eq!(decode(&path, encode(&entry).as_bytes(), EntryRole::User, DateTime::UNIX_EPOCH), Ok(entry));
    }
}

/// Searches a home for a word in the scope of one conversation.
fn search_conversation(store: &FileStore, text: &str, conversation: &str) -> Vec<(String, bool)> {
    let services = memory_core::testing::services(Arc::new(MemStore::default()));
    let services = Services {
        store: Arc::new(FileStore::open(store.root(), FileStoreOptions::default()).unwrap()),
        ..services
    };
    let filter = Filter {
        scope: Some(id(conversation).scope()),
        ..Filter::default()
    };
    let query = Query {
        text: text.into(),
        filter,
        limit: 10,
        ranking: Ranking::default(),
    };
    let hits = search(&services, &query).unwrap().hits;
    hits.into_iter()
        .map(|hit| (hit.stored.memory.content, hit.stored.problem.is_none()))
        .collect()
}

#[test]
fn among_many_files_an_edit_in_place_is_seen_once_somebody_hears_of_it() {
    let home = tempfile::tempdir().unwrap();
    let facts: Vec<String> = (0..600).map(|number| format!("fact {number}")).collect();
    let entries = add(
        &open(home.path()),
        &id("default"),
        &facts,
        SecretPolicy::Refuse,
    )
    .unwrap();
    let folder = ConversationFolder::new(home.path());
    let content = || {
        folder
            .read(&id("default"))
            .unwrap()
            .get(&entries[7].id)
            .unwrap()
            .content
            .clone()
    };
    assert_eq!(content(), "fact 7");
    let path = format!("entries/default/facts/{}", super::layout::name(&entries[7]));
    let text = fs::read_to_string(home.path().join(&path)).unwrap();
    fs::write(
        home.path().join(&path),
        text.replace("fact 7", "fact seven"),
    )
    .unwrap();
    folder.mark_changed(Some(&[path].into()));
    assert_eq!(content(), "fact seven");
    let text = fs::read_to_string(
        home.path()
            .join("entries/default/facts")
            .join(super::layout::name(&entries[8])),
    )
    .unwrap();
    fs::write(
        home.path()
            .join("entries/default/facts")
            .join(super::layout::name(&entries[8])),
        text.replace("fact 8", "fact eight"),
    )
    .unwrap();
    folder.mark_changed(None);
    assert_eq!(
        folder
            .read(&id("default"))
            .unwrap()
            .get(&entries[8].id)
            .unwrap()
            .content,
        "fact eight"
    );
}

#[test]
fn a_search_of_memories_finds_facts_and_turns_in_the_scope_of_their_conversation() {
    let Some(samples) = samples() else { return };
    let home = tempfile::tempdir().unwrap();
    copy(&samples, home.path());
    let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
    let found = |text: &str, conversation: &str| search_conversation(&store, text, conversation);
    assert_eq!(found("tea", "../evil").len(), 2);
    assert_eq!(found("Helen", "work/项目 1").len(), 2);
    let (lyon, ghent) = (found("Lyon", "default"), found("Ghent", "default"));
    let say = |hits: &[(String, bool)], word: &str| {
        hits.iter()
            .map(|(text, _)| text.contains(word))
            .collect::<Vec<_>>()
    };
    // Neighbouring turns may follow.
    assert!(
        say(&lyon, "Lyon").starts_with(&[true, true]) && !say(&lyon[2..], "Lyon").contains(&true),
        "{lyon:?}"
    );
    assert!(
        say(&ghent, "Ghent").starts_with(&[true]) && !say(&ghent[1..], "Ghent").contains(&true),
        "{ghent:?}"
    );
    assert!(
        lyon.iter()
            .all(|(text, is_sound)| *is_sound && !text.contains("loves pizza")),
        "nothing deleted, no summary: {lyon:?}"
    );
    add_facts(home.path(), &["The user plays the violin."]);
    assert_eq!(
        found("violin", "default"),
        [("The user plays the violin.".to_owned(), true)]
    );
    fs::write(
        home.path().join("entries/default/facts/bad.md"),
        "---\nrole: violin\n---\nviolin\n",
    )
    .unwrap();
    assert_eq!(
        found("violin", "default")
            .iter()
            .filter(|(_, is_sound)| !is_sound)
            .count(),
        1
    );
    assert_eq!(store.rebuild(&mut |_| ()).unwrap(), 18 + 1 + 1 + 4 + 3 + 3);
}
