//! The search of sessions.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use memory_core::instance::InstanceOperations;
use memory_core::instance::history::{self, Messages, RecordDraft, RecordFilter, SessionName};
use memory_core::testing::messages;
use memory_core::{Code, Query, SecretPolicy};
use memory_store::history::HistoryFolder;
use tempfile::TempDir;

/// A folder of sessions with an index in a home.
struct Sessions {
    folder: TempDir,
    home: TempDir,
    messages: Messages,
}

impl Sessions {
    fn new() -> Self {
        let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let store = HistoryFolder::new(folder.path()).with_index(home.path());
        let messages = messages(Arc::new(store)).0;
        Self {
            folder,
            home,
            messages,
        }
    }

    fn append(&self, session: &str, role: &str, text: &str) {
        let draft = RecordDraft::from_text(role.parse().unwrap(), text);
        let session = session.parse().unwrap();
        history::append(&self.messages, &session, &draft, SecretPolicy::Keep).unwrap();
    }

    /// Returns the sessions and texts of the messages that match, best first.
    fn find(&self, query: &str) -> Vec<(String, String)> {
        let found = history::search(&self.messages, &Query::new(query), &mut |_| ()).unwrap();
        found
            .expect("the folder has an index")
            .hits
            .into_iter()
            .map(|hit| {
                (
                    hit.stored.memory.scope.to_string(),
                    hit.stored.memory.content,
                )
            })
            .collect()
    }

    fn texts(&self, query: &str) -> Vec<String> {
        self.find(query).into_iter().map(|(_, text)| text).collect()
    }
}

#[test]
fn messages_are_found_by_their_words_in_every_session_and_script() {
    let sessions = Sessions::new();
    assert_eq!(sessions.texts("harbour"), [""; 0]);
    sessions.append("a/b: trip", "user", "Which harbour has the ferry to Oslo?");
    sessions.append("a/b: trip", "assistant", "The ferry leaves from Kiel.");
    sessions.append("二", "user", "我喜欢深色模式");
    let trip = |text: &str| ("conversation:a/b: trip".to_owned(), text.to_owned());
    assert_eq!(
        sessions.find("ferry Kiel"),
        [
            trip("The ferry leaves from Kiel."),
            trip("Which harbour has the ferry to Oslo?"),
        ]
    );
    assert_eq!(sessions.texts("深"), ["我喜欢深色模式"]);
    assert_eq!(
        history::search(&sessions.messages, &Query::new("tag:kite"), &mut |_| ())
            .unwrap_err()
            .code(),
        Code::InvalidInput
    );
}

#[test]
fn the_text_of_parts_is_found_and_calls_of_tools_are_not() {
    let sessions = Sessions::new();
    let content = r#"[{"type":"text","text":"a red kite"},{"type":"image"},"and a blue one"]"#;
    let draft = RecordDraft {
        content: Some(content.parse().unwrap()),
        ..RecordDraft::from_text("user".parse().unwrap(), "")
    };
    let session: SessionName = "s".parse().unwrap();
    history::append(&sessions.messages, &session, &draft, SecretPolicy::Keep).unwrap();
    let deep = format!(
        "{{\"role\":\"user\",\"content\":\"a deep dragon\",\"meta\":{}{}}}\n",
        "[".repeat(200),
        "]".repeat(200)
    );
    fs::write(sessions.folder.path().join("deep.jsonl"), deep).unwrap();
    assert_eq!(sessions.texts("dragon"), ["a deep dragon"]);
    sessions.append("s", "tool", "a green kite");
    sessions.append("s", "system", "Answer about a kite.");
    assert_eq!(sessions.texts("kite"), ["a red kite\nand a blue one"]);
    assert_eq!(sessions.texts("image"), [""; 0]);
}

#[test]
fn the_next_search_sees_purged_deleted_restored_and_edited_sessions() {
    let sessions = Sessions::new();
    for text in ["one kite", "two kites", "three kites"] {
        sessions.append("s", "user", text);
        sessions.append("t", "assistant", text);
    }
    assert_eq!(sessions.texts("kite").len(), 6);
    let filter = RecordFilter {
        roles: vec!["user".parse().unwrap()],
        ..RecordFilter::default()
    };
    history::purge(&sessions.messages, &"s".parse().unwrap(), &filter).unwrap();
    assert_eq!(sessions.texts("kite").len(), 3);
    history::delete(&sessions.messages, &"t".parse().unwrap()).unwrap();
    assert_eq!(sessions.texts("kite"), [""; 0]);
    history::undo(&sessions.messages, None).unwrap();
    assert_eq!(sessions.texts("kite").len(), 3);
    let edited = "{\"role\":\"user\",\"content\":\"a paper dragon\"}\nno record\n";
    fs::write(sessions.folder.path().join("t.jsonl"), edited).unwrap();
    assert_eq!(sessions.texts("kite"), [""; 0]);
    assert_eq!(sessions.texts("dragon"), ["a paper dragon"]);
    sessions.append("t", "user", "another dragon");
    assert_eq!(sessions.texts("dragon").len(), 2);
}

#[test]
fn a_lost_index_is_built_anew_and_a_purge_of_the_trash_removes_it() {
    let sessions = Sessions::new();
    sessions.append("s", "user", "a kite");
    assert_eq!(sessions.texts("kite"), ["a kite"]);
    let place = sessions.home.path().join("index/sessions");
    fs::remove_dir_all(&place).unwrap();
    assert_eq!(sessions.texts("kite"), ["a kite"]);
    history::delete(&sessions.messages, &"s".parse().unwrap()).unwrap();
    let store = HistoryFolder::new(sessions.folder.path()).with_index(sessions.home.path());
    store.purge_trash(memory_core::MAX_TIME).unwrap();
    assert!(!place.exists(), "the index may contain the deleted message");
    assert_eq!(sessions.texts("kite"), [""; 0]);
}

#[test]
fn a_damaged_index_is_repaired_and_a_link_is_no_session() {
    let sessions = Sessions::new();
    sessions.append("s", "user", "a kite");
    assert_eq!(sessions.texts("kite"), ["a kite"]);
    fs::remove_dir_all(sessions.home.path().join("index/sessions/text")).unwrap();
    let other = HistoryFolder::new(sessions.folder.path()).with_index(sessions.home.path());
    let other = messages(Arc::new(other)).0;
    let search = || history::search(&other, &Query::new("kite"), &mut |_| ());
    assert_eq!(search().unwrap().unwrap().total, 1);
    symlink("s.jsonl", sessions.folder.path().join("t.jsonl")).unwrap();
    let file = sessions.folder.path().join("u.jsonl");
    fs::write(&file, "{\"role\":\"user\",\"content\":\"my kite\"}\n").unwrap();
    assert_eq!(search().unwrap().unwrap().total, 2);
}

#[test]
fn of_several_sessions_the_best_message_each_is_chosen() {
    let sessions = Sessions::new();
    for number in 0..40 {
        sessions.append("long", "user", &format!("kite kite number {number}"));
    }
    for session in ["a", "b", "c"] {
        sessions.append(session, "user", "one kite among other toys");
    }
    let query = Query::new("kite");
    let best = history::search_sessions(&sessions.messages, &query, 3, &mut |_| ()).unwrap();
    let scopes: Vec<String> = best
        .hits
        .iter()
        .map(|hit| hit.stored.memory.scope.to_string())
        .collect();
    assert_eq!((scopes.len(), best.total), (3, 43), "{scopes:?}");
    assert_eq!(scopes[0], "conversation:long");
}

#[test]
fn a_folder_without_an_index_has_no_results() {
    let folder = TempDir::new().unwrap();
    let messages = messages(Arc::new(HistoryFolder::new(folder.path()))).0;
    assert_eq!(
        history::search(&messages, &Query::new("kite"), &mut |_| ()).unwrap(),
        None
    );
}
