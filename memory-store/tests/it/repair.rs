//! The detection and repair of damage in a home.

use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use memory_core::instance::history;
use memory_core::secret::Checked;
use memory_core::testing::{FakeSource, banks, messages};
use memory_core::{
    Change, Code, Draft, Filter, Operation, SecretPolicy, Services, Tags, Verb, bank, ingest, read,
    tag, undo, write,
};
use memory_store::bank::{BankFolder, BankOptions};
use memory_store::disk::{MAX_FILE, RealDisk};
use memory_store::history::HistoryFolder;
use memory_store::{FileStore, FileStoreOptions};

use crate::faulty_disk::{DiskFault, FaultyDisk};
use crate::home::{TestHome, services};
use crate::requests::bank_entry_request;

fn store(home: &TestHome) -> FileStore {
    FileStore::open(home.path(), FileStoreOptions::default()).unwrap()
}

fn put(services: &Services, text: &str) -> (String, String) {
    let written = write(services, Draft::new(text), SecretPolicy::Refuse).unwrap();
    (written.id.to_string(), written.path)
}

fn repair(services: &Services) -> Operation {
    services.operation(Verb::Repair)
}

/// Returns the codes and paths of the problems of a home.
fn doctor_findings(home: &TestHome, repair: Option<&Operation>) -> Vec<String> {
    let report = store(home).doctor(repair).unwrap();
    report
        .findings
        .into_iter()
        .map(|finding| format!("{} {}", finding.code, finding.path))
        .collect()
}

#[test]
fn files_of_an_interrupted_operation_are_not_taken_for_deleted_ones() {
    let notes: Vec<_> = (0..12)
        .map(|number| (format!("{number:02}.md"), format!("note {number}")))
        .collect();
    let notes: Vec<_> = notes
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let ingest_until = |at| {
        let home = TestHome::new();
        put(&home.services(), "there before");
        let (disk, steps) =
            FaultyDisk::new(RealDisk::open(home.path()).unwrap(), DiskFault::Dies, at);
        let services = services(FileStore::on_disk(
            Arc::new(disk),
            home.path(),
            FileStoreOptions::default(),
        ));
        let _ = ingest(
            &services,
            &FakeSource::with_notes(&notes),
            &memory_core::IngestOptions::default(),
            &mut |_| (),
        );
        (home, steps.load(Ordering::Relaxed))
    };
    let (_, steps) = ingest_until(u64::MAX);
    for at in [2, steps / 2, steps - 4] {
        let (home, _) = ingest_until(at);
        assert_eq!(
            doctor_findings(&home, Some(&repair(&home.services()))),
            Vec::<String>::new(),
            "after a power cut at step {at}"
        );
        let verbs: Vec<_> = home
            .services()
            .history
            .records()
            .map(|record| record.unwrap().operation.verb)
            .collect();
        assert_eq!(verbs, [Verb::Write], "after a power cut at step {at}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_not_taken_for_a_deleted_one() {
    let home = TestHome::new();
    let (_, path) = put(&home.services(), "about to become too large");
    File::options()
        .write(true)
        .open(home.path().join(&path))
        .unwrap()
        .set_len(MAX_FILE + 1)
        .unwrap();
    assert_eq!(
        doctor_findings(&home, Some(&repair(&home.services()))),
        [format!("file_too_large {path}")]
    );
    let records = home.services().history.records().count();
    assert_eq!(records, 1, "nothing was recorded as gone");
}

#[test]
fn an_unreadable_line_of_the_journal_costs_the_order_and_says_so() {
    let home = TestHome::new();
    let services = home.services();
    put(&services, "first");
    put(&services, "second");
    assert_eq!(store(&home).journal_warning(), None);
    let journal = home
        .path()
        .join("journal")
        .read_dir()
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = fs::read_to_string(&journal).unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    fs::write(&journal, format!("{{\"torn\n{rest}")).unwrap();

    let report = store(&home).doctor(None).unwrap();
    let [finding] = report.findings.as_slice() else {
        panic!("{:?}", report.findings)
    };
    assert_eq!((finding.code, finding.line), ("journal_damaged", Some(1)));
    assert!(finding.what.contains("creation order"), "{}", finding.what);
    let told = store(&home).journal_warning().unwrap();
    assert!(
        told.starts_with(
            "1 line of the journal is not valid, so the creation order of memories may be wrong"
        ),
        "{told}"
    );

    fs::write(&journal, text).unwrap();
    let (disk, _) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), DiskFault::Dies, 0);
    let dead = FileStore::on_disk(Arc::new(disk), home.path(), FileStoreOptions::default());
    assert!(
        dead.journal_warning()
            .is_some_and(|told| told.starts_with("the journal cannot be read ("))
    );
}

#[test]
fn a_memory_that_cannot_be_read_is_not_said_to_be_gone() {
    let home = TestHome::new();
    let services = home.services();
    let (id, path) = put(&services, "behind a symlink");
    let elsewhere = home.path().join("elsewhere.md");
    fs::rename(home.path().join(&path), &elsewhere).unwrap();
    std::os::unix::fs::symlink(elsewhere, home.path().join(&path)).unwrap();
    let stem = path.rsplit('/').next().unwrap().trim_end_matches(".md");
    for reference in [id.as_str(), &id[..6], stem] {
        assert_ne!(
            read(&services, reference).unwrap_err().code(),
            Code::MemoryNotFound,
            "{reference}"
        );
    }
    assert_eq!(
        read(&services, "00000000").unwrap_err().code(),
        Code::MemoryNotFound
    );
    let unreadable = store(&home).unreadable_files().unwrap();
    assert_eq!(
        unreadable
            .into_iter()
            .map(|problem| problem.path)
            .collect::<Vec<_>>(),
        [path]
    );
}

#[test]
fn damage_in_what_lies_beside_the_memories_is_found() {
    let home = TestHome::new();
    let at = |path: &str| home.path().join(path);
    let banks = banks(
        Arc::new(BankFolder::new(at("banks"), BankOptions::default())),
        None,
    )
    .0;
    bank::write(&banks, &bank_entry_request("whole", "a", "1")).unwrap();
    bank::write(&banks, &bank_entry_request("cut", "a", "1")).unwrap();
    let sessions = messages(Arc::new(HistoryFolder::new(at("history")))).0;
    let said = history::RecordDraft::from_text("user".parse().unwrap(), "hello");
    history::append(
        &sessions,
        &"s".parse().unwrap(),
        &said,
        SecretPolicy::Refuse,
    )
    .unwrap();
    history::append(
        &sessions,
        &"s".parse().unwrap(),
        &said,
        SecretPolicy::Refuse,
    )
    .unwrap();
    assert_eq!(doctor_findings(&home, None), Vec::<String>::new());

    fs::write(
        at("banks/cut.json"),
        &fs::read(at("banks/cut.json")).unwrap()[..20],
    )
    .unwrap();
    let session = fs::read_to_string(at("history/s.jsonl")).unwrap();
    // An incomplete record at the end is not damage: the next writer removes it.
    fs::write(
        at("history/s.jsonl"),
        session.replacen('{', "", 1) + "{\"half",
    )
    .unwrap();
    let trash = fs::read_dir(at("banks/.trash"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    fs::write(&trash, fs::read_to_string(&trash).unwrap() + "[1]\n").unwrap();
    let trash = format!(
        "banks/.trash/{}",
        trash.file_name().unwrap().to_str().unwrap()
    );
    let mut damaged = doctor_findings(&home, None);
    damaged.dedup();
    assert_eq!(
        damaged,
        [
            format!("line_damaged {trash}"),
            "bank_damaged banks/cut".into(),
            "line_damaged history/s.jsonl".into()
        ]
    );
}

#[test]
fn a_file_of_another_name_in_the_journal_is_not_written_to() {
    let home = TestHome::new();
    let services = home.services();
    put(&services, "first");
    let notes = home.path().join("journal/notes--.jsonl");
    fs::write(&notes, "mine").unwrap();
    put(&services, "second");
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine");
    assert_eq!(home.services().history.records().count(), 2);
}

#[test]
fn a_link_to_a_part_of_a_conversation_does_not_stop_the_repair() {
    let home = TestHome::new();
    let services = home.services();
    let at = |path: &str| home.path().join(path);
    fs::create_dir_all(at("entries/default/facts")).unwrap();
    fs::write(at("entries/default/facts/mine.md"), "has a dog\n").unwrap();
    let fact = services
        .store
        .memories(&Filter::all(), services.clock.now())
        .next()
        .unwrap()
        .unwrap()
        .memory
        .id;
    let (other, other_path) = put(&services, "the other one");
    for (text, target) in [
        ("links to the fact", fact.to_string()),
        ("links to the other one", other),
    ] {
        let (_, path) = put(&services, text);
        let file = fs::read_to_string(at(&path)).unwrap();
        let lines: Vec<&str> = file
            .lines()
            .filter(|line| !line.starts_with("links:"))
            .collect();
        fs::write(
            at(&path),
            lines
                .join("\n")
                .replacen("---\n", &format!("---\nlinks: [{target}]\n"), 1)
                + "\n",
        )
        .unwrap();
    }
    let found = doctor_findings(&home, Some(&repair(&services)));
    assert_eq!(found, [format!("link_one_sided {other_path}")]);
    assert_eq!(
        doctor_findings(&home, None),
        Vec::<String>::new(),
        "it is repaired"
    );
}

#[test]
fn leftovers_of_the_same_name_are_all_kept() {
    let home = TestHome::new();
    for folder in ["inbox", "skills"] {
        fs::create_dir_all(home.path().join("categories").join(folder)).unwrap();
        fs::write(
            home.path()
                .join("categories")
                .join(folder)
                .join(".x.md.tmp"),
            folder,
        )
        .unwrap();
    }
    assert_eq!(
        doctor_findings(&home, Some(&repair(&home.services()))).len(),
        2
    );
    let kept: Vec<_> = home.files("trash").into_values().collect();
    assert_eq!(kept, [b"inbox".to_vec(), b"skills".to_vec()]);
}

#[test]
fn files_that_have_no_effect_are_named() {
    let home = TestHome::new();
    for (path, text) in [
        ("reminders/bob.md", "call Bob"),
        (
            "reminders/anna.md",
            "---\ndue: 2026-05-07T09:00:00Z\n---\ncall Anna",
        ),
        ("knowledge/loud.MD", "tea"),
        ("knowledge/long.markdown", "tea"),
        ("knowledge/image.png", "tea"),
    ] {
        let path = home.path().join("categories").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    assert_eq!(
        doctor_findings(&home, None),
        [
            "not_read categories/knowledge/long.markdown",
            "not_read categories/knowledge/loud.MD",
            "no_time categories/reminders/bob.md",
        ]
    );
}

#[test]
fn what_another_program_deleted_is_nothing_to_take_back() {
    let home = TestHome::new();
    let services = home.services();
    let (_, deleted) = put(&services, "deleted by another program");
    let (kept, _) = put(&services, "kept");
    tag(&services, &kept, ["x"].iter().collect(), Tags::default()).unwrap();
    fs::remove_file(home.path().join(&deleted)).unwrap();
    assert_eq!(
        doctor_findings(&home, Some(&repair(&services))),
        [format!("file_missing {deleted}")]
    );
    assert_eq!(doctor_findings(&home, None), Vec::<String>::new());

    let last = services.history.records().next().unwrap().unwrap();
    assert_eq!(
        undo(&services, Some(last.operation.id.as_str()))
            .unwrap_err()
            .code(),
        Code::InvalidInput
    );
    assert_eq!(
        undo(&services, None).unwrap().record.operation.verb,
        Verb::Tag
    );
}

#[test]
fn an_undo_that_was_interrupted_is_gone_on_with() {
    let home = TestHome::new();
    let services = home.services();
    let mut long = services.change_set(Verb::Import);
    for number in 0..2_001 {
        let memory = Draft::new(&format!("memory {number}"))
            .into_memory(services.ids.memory_id(), long.operation.at);
        long.changes.push(Change::Create {
            memory: Box::new(memory),
            front_matter: String::new(),
        });
    }
    services.store.commit(Checked::allowed(&long)).unwrap();

    // The first 2,000 files are a batch: one journal line, a link and a removal per file, and two syncs.
    let (disk, _) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), DiskFault::Dies, 4_004);
    let dying = crate::home::services(FileStore::on_disk(
        Arc::new(disk),
        home.path(),
        FileStoreOptions::default(),
    ));
    undo(&dying, None).unwrap_err();
    assert_eq!(home.files("categories").len(), 1);

    let undone = undo(&home.services(), None).unwrap();
    assert_eq!(
        (undone.record.operation.id, home.files("categories").len()),
        (long.operation.id.clone(), 0)
    );
    let refusal = undo(&home.services(), Some(long.operation.id.as_str())).unwrap_err();
    assert_eq!(
        refusal.code(),
        Code::InvalidInput,
        "it is taken back whole by now"
    );
}

#[test]
fn a_memory_that_could_not_be_read_again_is_not_written() {
    let home = TestHome::new();
    let services = home.services();
    let text = "many words ".repeat(usize::try_from(MAX_FILE).unwrap() / 11 + 1);
    let refusal = write(&services, Draft::new(&text), SecretPolicy::Refuse).unwrap_err();
    assert_eq!(refusal.code(), Code::InvalidInput);
    assert!(home.files("categories").is_empty());
}
