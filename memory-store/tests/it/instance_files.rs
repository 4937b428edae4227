//! The file formats of sessions and values, and the handling of foreign files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use memory_core::bank::ScopeChoice;
use memory_core::instance::InstanceError;
use memory_core::instance::history::{
    self, Messages, RecordDraft, RecordFilter, SessionName, Window, WindowEnd, append,
};
use memory_core::instance::kv::{self, KeyValues, ValueKey, get, set};
use memory_core::testing::{banks, messages, values};
use memory_core::{Code, SecretPolicy, bank};
use memory_store::bank::{BankFolder, BankOptions};
use memory_store::history::HistoryFolder;
use memory_store::kv::ValueFolder;
use tempfile::TempDir;

use crate::requests::bank_entry_request;

fn sessions(home: &TempDir) -> Messages {
    messages(Arc::new(HistoryFolder::new(home.path()))).0
}

fn values_in(home: &TempDir) -> KeyValues {
    values(Arc::new(ValueFolder::new(
        home.path().join("kv"),
        home.path().join("state"),
    )))
}

fn session(text: &str) -> SessionName {
    text.parse().unwrap()
}

fn key(text: &str) -> ValueKey {
    text.parse().unwrap()
}

fn error_code<T: std::fmt::Debug>(result: Result<T, InstanceError>) -> Code {
    result.unwrap_err().code()
}

fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_session_is_a_file_of_lines_as_they_were_said() {
    let home = tempfile::tempdir().unwrap();
    let all = sessions(&home);
    append(
        &all,
        &session("s1"),
        &RecordDraft::from_text("system".parse().unwrap(), "Be brief."),
        SecretPolicy::Refuse,
    )
    .unwrap();
    append(
        &all,
        &session("s1"),
        &RecordDraft::from_text("user".parse().unwrap(), "深色\n?"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let path = home.path().join("s1.jsonl");
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "{\"ts\":\"2026-05-07T10:00:00Z\",\"role\":\"system\",\"content\":\"Be brief.\"}\n\
         {\"ts\":\"2026-05-07T10:00:01Z\",\"role\":\"user\",\"content\":\"深色\\n?\"}\n"
    );
    assert_eq!(
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn lines_of_others_are_kept_and_what_is_no_record_is_named_and_passed_over() {
    let home = tempfile::tempdir().unwrap();
    let own = "{\"role\":\"user\",\"content\":\"1\",\"extra\":1.0}";
    let text = format!("{own}\nnonsense\n\n{{\"role\":7}}\n{own}");
    std::fs::write(home.path().join("s.jsonl"), &text).unwrap();
    let all = sessions(&home);
    let reading = history::read(
        &all,
        &session("s"),
        &RecordFilter::default(),
        Window::default(),
    )
    .unwrap();
    assert_eq!(
        reading
            .records
            .iter()
            .map(|record| record.text().as_str())
            .collect::<Vec<_>>(),
        [own, own]
    );
    let told: Vec<_> = reading.damaged.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2);
    assert!(
        told[0].contains("s.jsonl") && told[0].contains(&format!("byte {}", own.len() + 1)),
        "{told:?}"
    );
    let last = Window {
        offset: 0,
        limit: Some(2),
        end: WindowEnd::Last,
    };
    assert_eq!(
        history::read(&all, &session("s"), &RecordFilter::default(), last)
            .unwrap()
            .records
            .len(),
        2
    );
    // Only the newline of the last line is missing, so the record is complete.
    let appended = append(
        &all,
        &session("s"),
        &RecordDraft::from_text("user".parse().unwrap(), "2"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(appended.set_aside, None);
    assert_eq!(
        std::fs::read_to_string(home.path().join("s.jsonl")).unwrap(),
        format!("{text}\n{}\n", appended.record.text())
    );
}

#[test]
fn what_was_cut_off_is_named_by_whoever_reads() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(
        home.path().join("s.jsonl"),
        "{\"role\":\"user\",\"content\":\"1\"}\n{\"role\":\"us",
    )
    .unwrap();
    let all = sessions(&home);
    for window in [
        Window::default(),
        Window {
            offset: 0,
            limit: Some(5),
            end: WindowEnd::Last,
        },
    ] {
        let reading = history::read(&all, &session("s"), &RecordFilter::default(), window).unwrap();
        assert_eq!((reading.records.len(), reading.damaged.len()), (1, 1));
        assert!(
            reading.damaged[0].to_string().contains("is incomplete"),
            "{}",
            reading.damaged[0]
        );
    }
    assert_eq!(history::sessions(&all).unwrap()[0].records, 1);
}

#[test]
fn a_session_does_not_lead_out_of_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(
        outside.path().join("secret.jsonl"),
        "{\"role\":\"user\",\"content\":\"secret\"}\n",
    )
    .unwrap();
    symlink(
        outside.path().join("secret.jsonl"),
        home.path().join("s.jsonl"),
    )
    .unwrap();
    let all = sessions(&home);
    let read = history::read(
        &all,
        &session("s"),
        &RecordFilter::default(),
        Window::default(),
    );
    assert_eq!(error_code(read), Code::PathRefused);
    let said = RecordDraft::from_text("user".parse().unwrap(), "1");
    assert!(append(&all, &session("s"), &said, SecretPolicy::Refuse).is_err());
    assert!(
        append(&all, &session("../s"), &said, SecretPolicy::Refuse).is_ok(),
        "a name is no path"
    );
    assert_eq!(files(outside.path()), ["secret.jsonl"]);
    assert!(
        std::fs::read_to_string(outside.path().join("secret.jsonl"))
            .unwrap()
            .ends_with("\"secret\"}\n")
    );
}

#[test]
fn the_folder_mirrors_the_keys_and_holds_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let all = values_in(&home);
    for (at, value) in [
        ("chat-1/draft", "Hello\n"),
        ("chat-1/deep/step", "2"),
        (".hidden", ""),
        ("chat-1/draft", "Bye"),
    ] {
        set(&all, &key(at), value, SecretPolicy::Refuse).unwrap();
    }
    assert_eq!(
        files(&home.path().join("kv")),
        [".hidden", "chat-1/deep/step", "chat-1/draft"]
    );
    assert_eq!(
        std::fs::read_to_string(home.path().join("kv/chat-1/draft")).unwrap(),
        "Bye"
    );
    let mode = |path: &str| {
        std::fs::metadata(home.path().join(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(
        (mode("kv"), mode("kv/chat-1"), mode("kv/chat-1/draft")),
        (0o700, 0o700, 0o600)
    );
    std::fs::write(home.path().join("kv/chat-1/by-hand"), "3").unwrap();
    std::fs::write(home.path().join("kv/no key.txt"), "3").unwrap();
    assert_eq!(get(&all, &key("chat-1/by-hand")).unwrap().text, "3");
    kv::delete(&all, &key("chat-1/deep/step")).unwrap();
    let listed: Vec<_> = kv::list(&all, &"".parse().unwrap())
        .unwrap()
        .into_iter()
        .map(|one| one.key.to_string())
        .collect();
    assert_eq!(listed, [".hidden", "chat-1/by-hand", "chat-1/draft"]);
    assert!(
        !home.path().join("kv/chat-1/deep").exists(),
        "a namespace without keys does not exist"
    );
    let kept = std::fs::read_to_string(home.path().join("state/trash/2026-05.jsonl")).unwrap();
    assert!(
        kept.contains(r#""key":"chat-1/draft","value":"Hello\n""#)
            && kept.contains(r#""key":"chat-1/deep/step","value":"2""#)
    );
}

#[test]
fn a_key_does_not_lead_out_of_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    let all = values_in(&home);
    set(&all, &key("a"), "1", SecretPolicy::Refuse).unwrap();
    symlink(outside.path(), home.path().join("kv/folder")).unwrap();
    symlink(outside.path().join("secret"), home.path().join("kv/file")).unwrap();
    assert_eq!(
        error_code(get(&all, &key("folder/secret"))),
        Code::PathRefused
    );
    assert_eq!(error_code(get(&all, &key("file"))), Code::PathRefused);
    assert_eq!(
        error_code(set(&all, &key("folder/new"), "1", SecretPolicy::Refuse)),
        Code::PathRefused
    );
    assert_eq!(
        error_code(kv::delete(&all, &key("folder/secret"))),
        Code::PathRefused
    );
    assert_eq!(
        error_code(kv::list(&all, &"folder/".parse().unwrap())),
        Code::PathRefused
    );
    let listed: Vec<_> = kv::list(&all, &"".parse().unwrap())
        .unwrap()
        .into_iter()
        .map(|one| one.key.to_string())
        .collect();
    assert_eq!(listed, ["a"]);
    assert_eq!(files(outside.path()), ["secret"]);
}

#[test]
fn a_value_that_is_no_text_is_told_and_can_be_set_again() {
    let home = tempfile::tempdir().unwrap();
    let all = values_in(&home);
    set(&all, &key("a"), "1", SecretPolicy::Refuse).unwrap();
    std::fs::write(home.path().join("kv/a"), b"\xff\xfe").unwrap();
    assert_eq!(error_code(get(&all, &key("a"))), Code::FileDamaged);
    set(&all, &key("a"), "2", SecretPolicy::Refuse).unwrap();
    let month = home.path().join("state/trash/2026-05");
    let kept = std::fs::read_dir(month)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(
        std::fs::read(kept).unwrap(),
        b"\xff\xfe",
        "what it was is kept whole"
    );
}

#[test]
fn a_home_that_was_moved_is_told_and_not_begun_anew_and_one_that_was_removed_is() {
    let place = tempfile::tempdir().unwrap();
    let (home, elsewhere) = (place.path().join("home"), place.path().join("elsewhere"));
    let (all, values, late) = (
        messages(Arc::new(HistoryFolder::new(home.join("history")))).0,
        values(Arc::new(ValueFolder::new(
            home.join("kv"),
            home.join("state"),
        ))),
        |name: &str| messages(Arc::new(HistoryFolder::new(home.join(name)))).0,
    );
    std::fs::create_dir(&home).unwrap();
    let said = RecordDraft::from_text("user".parse().unwrap(), "hello");
    let say = |all: &Messages| append(all, &session("s"), &said, SecretPolicy::Refuse);
    let never = late("never");
    let banks = banks(
        Arc::new(BankFolder::new(home.join("banks"), BankOptions::default())),
        None,
    )
    .0;
    let note = || bank::write(&banks, &bank_entry_request("session", "a", "1"));
    say(&all).unwrap();
    set(&values, &key("a"), "1", SecretPolicy::Refuse).unwrap();
    note().unwrap();
    std::fs::rename(&home, &elsewhere).unwrap();
    assert!(
        say(&all).is_err()
            && say(&never).is_err()
            && set(&values, &key("a"), "2", SecretPolicy::Refuse).is_err()
    );
    assert!(note().is_err() && bank::list(&banks, ScopeChoice::Detected).is_err());
    let read = history::read(
        &all,
        &session("s"),
        &RecordFilter::default(),
        Window::default(),
    );
    assert!(
        read.is_err() && get(&values, &key("a")).is_err(),
        "it is not for want of anything that nothing is there"
    );
    assert!(!home.exists(), "{:?}", files(&home));
    std::fs::rename(&elsewhere, &home).unwrap();
    say(&all).unwrap();
    std::fs::rename(home.join("history"), home.join("before")).unwrap();
    std::fs::create_dir(home.join("history")).unwrap();
    let read = history::read(
        &all,
        &session("s"),
        &RecordFilter::default(),
        Window::default(),
    )
    .unwrap();
    assert_eq!(
        read.records.len(),
        0,
        "what took its place, as from a backup, is what is there"
    );
    say(&all).unwrap();
    std::fs::remove_dir_all(home.join("history")).unwrap();
    say(&all).unwrap();
    let read = history::read(
        &all,
        &session("s"),
        &RecordFilter::default(),
        Window::default(),
    )
    .unwrap();
    assert_eq!(read.records.len(), 1, "what was removed begins anew");
}
