//! Tests of files of other programs, large banks, and obstacles.

use std::sync::{Arc, Mutex};

use memory_core::bank::{BankLimits, BankLookup, BankStore};
use memory_core::{Code, Operation, OperationId, Verb};

use super::*;
use crate::disk::{DirEntry as FolderEntry, Disk, FileStat, RealDisk};

fn large_bank(keys: usize) -> String {
    let entries: Vec<_> = (0..keys)
        .map(|key| format!("\"key{key}\": {{\"value\": \"{}{key}\"}}", "x".repeat(1000)))
        .collect();
    format!(
        "{{\"_meta\": {{\"version\": 1}}, \"entries\": {{{}}}}}",
        entries.join(",\n")
    )
}

fn value(found: BankLookup) -> Option<String> {
    match found {
        BankLookup::Entry(entry) => Some(entry.value.to_string()),
        BankLookup::NoKey | BankLookup::NoBank => None,
    }
}

/// A disk that counts the bytes that are read.
#[derive(Debug)]
struct CountingDisk {
    real: RealDisk,
    read: Mutex<Vec<(String, usize)>>,
}

impl CountingDisk {
    fn take_bytes_read(&self, path: &str) -> usize {
        let mut read = self.read.lock().unwrap();
        read.drain(..)
            .filter(|(file, _)| file == path)
            .map(|(_, length)| length)
            .sum()
    }
}

impl Disk for CountingDisk {
    fn read(&self, path: &str) -> std::io::Result<Option<(Vec<u8>, FileStat)>> {
        self.real.read(path)
    }
    fn read_part(&self, path: &str, start: u64, length: usize) -> std::io::Result<Vec<u8>> {
        let bytes = self.real.read_part(path, start, length)?;
        self.read
            .lock()
            .unwrap()
            .push((path.to_owned(), bytes.len()));
        Ok(bytes)
    }
    fn open_lock(&self, path: &str) -> std::io::Result<std::fs::File> {
        self.real.open_lock(path)
    }
    fn open(&self, path: &str) -> std::io::Result<Option<std::fs::File>> {
        self.real.open(path)
    }
    fn stat(&self, path: &str) -> std::io::Result<Option<FileStat>> {
        self.real.stat(path)
    }
    fn list_folder(&self, path: &str) -> std::io::Result<Vec<FolderEntry>> {
        self.real.list_folder(path)
    }
    fn write(&self, path: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.real.write(path, bytes)
    }
    fn append(&self, path: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.real.append(path, bytes)
    }
    fn append_unsynced(&self, path: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.real.append_unsynced(path, bytes)
    }
    fn truncate(&self, path: &str, length: u64) -> std::io::Result<()> {
        self.real.truncate(path, length)
    }
    fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
        self.real.rename(from, to)
    }
    fn hard_link(&self, from: &str, to: &str) -> std::io::Result<()> {
        self.real.hard_link(from, to)
    }
    fn copy_permissions(&self, path: &str, of: &str) -> std::io::Result<()> {
        self.real.copy_permissions(path, of)
    }
    fn check_writable(&self, path: &str) -> std::io::Result<()> {
        self.real.check_writable(path)
    }
    fn remove(&self, path: &str) -> std::io::Result<()> {
        self.real.remove(path)
    }
    fn remove_folder(&self, path: &str) -> std::io::Result<()> {
        self.real.remove_folder(path)
    }
    fn sync_file(&self, path: &str) -> std::io::Result<()> {
        self.real.sync_file(path)
    }
    fn sync_folder(&self, path: &str) -> std::io::Result<()> {
        self.real.sync_folder(path)
    }
    fn sync_everything(&self) -> std::io::Result<bool> {
        self.real.sync_everything()
    }
}

#[test]
fn one_key_of_a_large_bank_is_read_without_the_rest_plain_or_compressed() {
    for (compress_above, path) in [
        (None, "session.json"),
        (Some(1024 * 1024), "session.json.gz"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let disk = Arc::new(CountingDisk {
            real: RealDisk::open(home.path()).unwrap(),
            read: Mutex::default(),
        });
        std::fs::write(home.path().join("session.json"), large_bank(2000)).unwrap();
        let banks = BankFolder::with_disk(
            home.path(),
            Arc::clone(&disk) as Arc<dyn Disk>,
            BankOptions {
                compress_above,
                ..BankOptions::default()
            },
        );
        let operation = Operation {
            id: OperationId::from_random(1),
            verb: Verb::Write,
            by: "test".into(),
            at: at(1),
        };
        banks
            .change(&name(), &operation, &mut |_| {
                Ok(BankChange::Entries(vec![put("key7", "7", 1)]))
            })
            .unwrap();
        disk.take_bytes_read(path);
        for (wanted, expected) in [
            ("key7", "7".to_owned()),
            ("key0", format!("\"{}0\"", "x".repeat(1000))),
            ("key1999", format!("\"{}1999\"", "x".repeat(1000))),
        ] {
            assert_eq!(
                value(banks.entry(&name(), &key(wanted)).unwrap()),
                Some(expected),
                "{path} {wanted}"
            );
            assert!(disk.take_bytes_read(path) < 100_000, "{path} {wanted}");
        }
        assert_eq!(
            banks.entry(&name(), &key("none")).unwrap(),
            BankLookup::NoKey
        );
    }
}

#[test]
fn an_edit_of_a_large_bank_by_hand_is_seen_whatever_the_index_says() {
    let folder = TestBanks::plain();
    folder.put_file("session.json", large_bank(500));
    let read = |wanted: &str| value(folder.banks.entry(&name(), &key(wanted)).unwrap());
    assert!(read("key3").unwrap().ends_with("x3\""));
    assert_eq!(folder.files(), ["_index.json", "session.json"]);
    // The same length, and nearly the same time.
    folder.put_file(
        "session.json",
        large_bank(500)
            .replace("x3\"", "y3\"")
            .replace("\"key4\"", "\"kex4\""),
    );
    assert!(read("key3").unwrap().ends_with("y3\""));
    assert_eq!((read("key4"), read("kex4").is_some()), (None, true));
    for damage in [
        "",
        "{",
        "{\"version\":1,\"banks\":{\n\"session.json\":{\"size\":1}}}\n",
    ] {
        folder.put_file("_index.json", damage);
        assert!(read("key3").unwrap().ends_with("y3\""), "{damage}");
    }
}

#[test]
fn a_bank_that_grows_is_compressed_and_one_that_shrinks_is_plain_again() {
    let folder = TestBanks::new(BankOptions {
        compress_above: Some(10_000),
        ..BankOptions::default()
    });
    folder.put("a", "1");
    folder.put("b", &format!("\"{}\"", "x".repeat(20_000)));
    assert_eq!(folder.files(), ["session.json.gz"]);
    folder.put("a", "2");
    assert_eq!(folder.bank().entries.len(), 2);
    folder.remove("b");
    assert_eq!(
        (
            folder.files(),
            folder.bank().entries[0].1.value.as_str().to_owned()
        ),
        (vec!["session.json".to_owned()], "2".to_owned())
    );
}

#[test]
fn the_limits_are_kept_and_what_is_over_them_may_become_smaller() {
    let limits = BankLimits {
        bank_bytes: 2000,
        keys: 3,
        ..BankLimits::default()
    };
    let folder = TestBanks::new(BankOptions {
        limits,
        ..BankOptions::default()
    });
    for key in ["a", "b", "c"] {
        folder.put(key, "1");
    }
    let code = |change: BankEntryChange| {
        let changed = folder
            .banks
            .change(&name(), &folder.operation(Verb::Write), &mut |_| {
                Ok(BankChange::Entries(vec![change.clone()]))
            });
        changed.unwrap_err().code()
    };
    assert_eq!(code(put("d", "1", 9)), Code::LimitExceeded);
    assert_eq!(
        code(put("c", &format!("\"{}\"", "x".repeat(2000)), 9)),
        Code::LimitExceeded
    );
    assert_eq!(folder.bank().entries.len(), 3);
    folder.put_file(
        "session.json",
        folder.file("session.json").replace(
            "\"value\": 1",
            &format!("\"value\": \"{}\"", "x".repeat(900)),
        ),
    );
    folder.remove("a");
}

#[test]
fn what_is_no_file_of_ours_is_refused_by_name_and_left_alone() {
    let folder = TestBanks::plain();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("target.json");
    std::fs::write(&target, "{\"entries\":{}}").unwrap();
    std::os::unix::fs::symlink(&target, folder.path().join("session.json")).unwrap();
    let write = |value: &str| {
        let mut decide = |_: Option<&Bank>| Ok(BankChange::Entries(vec![put("a", value, 1)]));
        folder
            .banks
            .change(&name(), &folder.operation(Verb::Write), &mut decide)
            .unwrap_err()
            .code()
    };
    assert_eq!(
        folder.banks.bank(&name()).unwrap_err().code(),
        Code::PathRefused
    );
    assert_eq!(write("1"), Code::PathRefused);
    assert_eq!(folder.banks.banks().unwrap().len(), 1, "it is in the list");
    assert_eq!(
        std::fs::read_to_string(&target).unwrap(),
        "{\"entries\":{}}"
    );
    std::fs::remove_file(folder.path().join("session.json")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path().join("session.json"))
        .status()
        .unwrap();
    assert!(made.success());
    assert!(
        folder.banks.bank(&name()).is_err(),
        "nobody waits for somebody to write to it"
    );
    assert_eq!(folder.banks.banks().unwrap().len(), 1, "it is in the list");
    std::fs::remove_file(folder.path().join("session.json")).unwrap();
    std::fs::create_dir(folder.path().join("session.json")).unwrap();
    assert_eq!(
        (folder.banks.bank(&name()).unwrap_err().code(), write("1")),
        (Code::FileDamaged, Code::FileDamaged)
    );
    assert!(folder.path().join("session.json").is_dir());
    let message = folder.banks.bank(&name()).unwrap_err().to_string();
    assert_eq!(message, "session.json is damaged: it is a folder");
}

#[test]
fn a_damaged_bank_is_named_refused_and_can_be_deleted_whole() {
    let folder = TestBanks::plain();
    for (bytes, why) in [
        (
            b"{\"entries\": {\"a\": ".as_slice(),
            "unexpected end of text (byte 18)",
        ),
        (b"{\"entries\": {\"\xff\": 1}}", "it is not UTF-8 (byte 14)"),
        (b"", "unexpected end of text (byte 0)"),
        (
            b"{\"entries\": {\"a\": {\"value\":1}, \"a\": {\"value\":2}}}",
            "duplicate key \"a\"",
        ),
    ] {
        folder.put_file("session.json", bytes);
        let mut decide = |_: Option<&Bank>| Ok(BankChange::Entries(vec![put("a", "1", 1)]));
        let error = folder
            .banks
            .change(&name(), &folder.operation(Verb::Write), &mut decide)
            .unwrap_err();
        assert_eq!(
            (error.code(), error.to_string()),
            (Code::FileDamaged, format!("session.json is damaged: {why}"))
        );
        assert_eq!(
            std::fs::read(folder.path().join("session.json")).unwrap(),
            bytes
        );
        assert_eq!(folder.banks.banks().unwrap().len(), 1, "it is in the list");
    }
    let operation = folder.operation(Verb::Delete);
    folder
        .banks
        .change(&name(), &operation, &mut |_| Ok(BankChange::Remove))
        .unwrap();
    assert_eq!(folder.banks.bank(&name()).unwrap(), None);
    folder.undo(&operation.id);
    assert!(
        folder.file("session.json").contains("stands")
            || folder.file("session.json").contains("\"a\"")
    );
}

#[test]
fn nothing_is_written_through_a_symlink_that_somebody_put_there() {
    for name in [
        ".next.tmp",
        ".next-session.tmp",
        ".index.tmp",
        ".gitignore.tmp",
        ".lock",
        ".locks/session",
        ".locks",
        ".trash/2024-10.jsonl",
    ] {
        let folder = TestBanks::plain();
        let elsewhere = tempfile::tempdir().unwrap();
        let target = elsewhere.path().join("target");
        std::fs::write(&target, "theirs").unwrap();
        std::fs::create_dir_all(folder.path().join(".trash")).unwrap();
        if name.starts_with(".locks/") {
            std::fs::create_dir(folder.path().join(".locks")).unwrap();
        }
        folder.put_file("session.json", large_bank(300));
        std::os::unix::fs::symlink(&target, folder.path().join(name)).unwrap();
        let mut decide = |_: Option<&Bank>| Ok(BankChange::Entries(vec![put("a", "1", 1)]));
        let changed =
            folder
                .banks
                .change(&session_name(), &folder.operation(Verb::Write), &mut decide);
        let _ = folder.banks.entry(&session_name(), &key("key1"));
        assert_eq!(
            std::fs::read_to_string(&target).unwrap(),
            "theirs",
            "{name}"
        );
        assert!(
            changed.is_err_and(|error| error.code() == Code::PathRefused)
                || matches!(name, ".index.tmp" | ".gitignore.tmp" | ".next.tmp"),
            "{name}"
        );
    }
}

fn session_name() -> BankName {
    super::name()
}

#[test]
fn a_project_gets_a_gitignore_for_derived_and_private_files_once() {
    let folder = TestBanks::new(BankOptions {
        is_in_project: true,
        compress_above: Some(0),
        ..BankOptions::default()
    });
    folder.put("a", "1");
    let text = folder.file(".gitignore");
    let ignored: Vec<&str> = text
        .lines()
        .map(|line| line.trim_end_matches('/'))
        .collect();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert_eq!(
            ignored.contains(&name.as_str()),
            !name.starts_with("session.") && name != ".gitignore",
            "{name}"
        );
    }
    assert!(
        [".next-*.tmp", "_index.json"]
            .iter()
            .all(|name| ignored.contains(name)),
        "{text}"
    );
    std::fs::remove_file(folder.path().join(".gitignore")).unwrap();
    folder.put("b", "1");
    assert!(
        !folder.path().join(".gitignore").exists(),
        "it is written once"
    );
    let of_user = TestBanks::plain();
    of_user.put("a", "1");
    assert!(!of_user.path().join(".gitignore").exists());
}
