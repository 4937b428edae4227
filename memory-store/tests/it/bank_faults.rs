//! Every change of a bank on a faulty disk takes effect completely or not at all.
//!
//! The disk fails or dies at every step.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use memory_core::SecretPolicy;
use memory_core::bank::{
    BankError, BankRepairMode, BankStore, Banks, MissingBank, MissingKey, ScopeChoice, delete,
    delete_bank, export, history, import, last, repair, set_schema, undo, update, write,
};
use memory_core::testing::banks;
use memory_store::bank::{BankFolder, BankOptions, parse_bank};
use memory_store::disk::RealDisk;
use tempfile::TempDir;

use crate::faulty_disk::{DiskFault, FaultyDisk, run_fault_table};
use crate::requests::bank_entry_request;

type BankOperationFn = fn(&Banks) -> Result<(), BankError>;

const ANY: ScopeChoice = ScopeChoice::Detected;

const CHANGES: [(&str, BankOperationFn); 10] = [
    ("write of a new key", |banks| {
        write(banks, &bank_entry_request("session", "new", "[1,2]")).map(drop)
    }),
    ("write of a known key", |banks| {
        write(banks, &bank_entry_request("session", "a", "2")).map(drop)
    }),
    ("write of a new bank", |banks| {
        write(banks, &bank_entry_request("other", "a", "1")).map(drop)
    }),
    ("write that compresses the bank", |banks| {
        write(
            banks,
            &bank_entry_request("session", "large", &format!("\"{}\"", "x".repeat(2000))),
        )
        .map(drop)
    }),
    ("update", |banks| {
        let (bank, key) = (name("session"), "a".parse()?);
        update(
            banks,
            &bank,
            &key,
            ".+1",
            ANY,
            MissingKey::Refuse,
            SecretPolicy::Refuse,
        )
        .map(drop)
    }),
    ("delete of a key", |banks| {
        delete(banks, &name("session"), &"b".parse()?, ANY).map(drop)
    }),
    ("delete of a bank", |banks| {
        delete_bank(banks, &name("session"), ANY).map(drop)
    }),
    ("import", |banks| {
        let text = r#"{"entries":{"a":{"value":7},"x":{"value":8},"y":{"value":9}}}"#;
        let bank = parse_bank(&name("session"), text, chrono::DateTime::UNIX_EPOCH)?;
        import(banks, &bank, ANY, SecretPolicy::Refuse).map(drop)
    }),
    ("schema", |banks| {
        set_schema(
            banks,
            &name("names"),
            Some(&r#"{"type":"string"}"#.parse()?),
            ANY,
            MissingBank::Refuse,
        )
        .map(drop)
    }),
    ("undo", |banks| {
        let last = last(banks)?.expect("something was done");
        undo(banks, last.operation.id.as_str()).map(drop)
    }),
];

fn name(text: &str) -> memory_core::bank::BankName {
    text.parse().expect("a name")
}

fn options() -> BankOptions {
    BankOptions {
        compress_above: Some(1500),
        ..BankOptions::default()
    }
}

fn open(path: &Path) -> Banks {
    // The ids after the preparation must differ from those of the preparation.
    let (banks, _) = banks(Arc::new(BankFolder::new(path, options())), None);
    Banks {
        ids: Arc::new(memory_store::RandomIds),
        ..banks
    }
}

fn prepare(path: &Path) {
    let banks = open(path);
    for (bank, key, value) in [
        ("session", "a", "1"),
        ("session", "b", "[true]"),
        ("names", "a", "\"Anna\""),
    ] {
        write(&banks, &bank_entry_request(bank, key, value)).unwrap();
    }
    delete(&banks, &name("session"), &"b".parse().unwrap(), ANY).unwrap();
    write(&banks, &bank_entry_request("session", "b", "3")).unwrap();
}

/// Runs `act` on banks with a disk that has `fault` at step `at`.
///
/// Returns the folder, whether `act` succeeded, and its number of steps.
fn run(act: BankOperationFn, fault: DiskFault, at: u64) -> (TempDir, bool, u64) {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let (disk, steps) = FaultyDisk::new(RealDisk::open(home.path()).unwrap(), fault, at);
    let clock = disk.clock();
    let store: Arc<dyn BankStore> = Arc::new(BankFolder::with_disk(
        home.path(),
        Arc::new(disk),
        options(),
    ));
    let banks = Banks {
        clock,
        ..banks(store, None).0
    };
    // Skip the ids that the preparation used.
    (0..20).for_each(|_| drop(banks.ids.operation_id()));
    let acknowledged = act(&banks).is_ok();
    (home, acknowledged, steps.load(Ordering::Relaxed))
}

/// Returns the content of the banks and the number of operations, as a later process reads them.
fn state(home: &Path) -> (Vec<String>, usize) {
    let banks = open(home);
    let mut held = Vec::new();
    for listing in memory_core::bank::list(&banks, ANY).unwrap() {
        let (_, text) = export(&banks, &listing.name, ANY).unwrap();
        let bank = parse_bank(&listing.name, &text, chrono::DateTime::UNIX_EPOCH).unwrap();
        held.push(format!("{} {:?}", bank.name, bank.meta.schema));
        held.extend(
            bank.entries
                .iter()
                .map(|(key, entry)| format!("{} {key} {}", bank.name, entry.value)),
        );
    }
    (held, history(&banks).unwrap().len())
}

fn check(what: &str, act: BankOperationFn, fault: DiskFault) -> u64 {
    let (untouched, ..) = run(|_| Ok(()), DiskFault::Dies, u64::MAX);
    let before = state(untouched.path());
    let (whole, acknowledged, _) = run(act, DiskFault::Dies, u64::MAX);
    assert!(acknowledged, "{what} works on a disk that works");
    let after = state(whole.path());
    let (.., steps) = run(act, fault, u64::MAX);
    for at in fault.steps(what, steps) {
        let (home, acknowledged, _) = run(act, fault, at);
        // The next writer runs first: it recovers from the interrupted operation.
        let banks = open(home.path());
        write(&banks, &bank_entry_request("next", "a", "1"))
            .unwrap_or_else(|error| panic!("{what}, {fault:?} at step {at}: then {error}"));
        let id = last(&banks).unwrap().unwrap().operation.id;
        undo(&banks, id.as_str()).unwrap();
        let (held, operations) = state(home.path());
        let now = (held, operations - 2);
        let is_whole = now == after;
        assert!(
            is_whole || now == before,
            "{what}, {fault:?} at step {at} is half done: {now:#?}"
        );
        assert!(
            is_whole || !acknowledged,
            "{what}, {fault:?} at step {at} was acknowledged and is lost"
        );
        // If a bank was compressed, its old file may still exist.
        repair(&banks, None, ANY, BankRepairMode::All).unwrap();
        assert_eq!(
            repair(&banks, None, ANY, BankRepairMode::None).unwrap(),
            [],
            "{what}, {fault:?} at step {at}"
        );
        let leftovers: Vec<_> = std::fs::read_dir(home.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.contains("tmp") && name != ".index.tmp")
            .collect();
        assert_eq!(
            leftovers,
            Vec::<String>::new(),
            "{what}, {fault:?} at step {at} leaves something behind"
        );
    }
    steps
}

#[test]
fn a_fault_at_any_step_leaves_every_change_of_a_bank_whole_or_undone() {
    run_fault_table(&CHANGES, &DiskFault::ALL, check);
}

#[test]
fn a_write_of_one_key_takes_three_syncs() {
    let home = tempfile::tempdir().unwrap();
    prepare(home.path());
    let (disk, _) = FaultyDisk::new(
        RealDisk::open(home.path()).unwrap(),
        DiskFault::Dies,
        u64::MAX,
    );
    let syncs = disk.sync_counter();
    let (banks, _) = banks(
        Arc::new(BankFolder::with_disk(
            home.path(),
            Arc::new(disk),
            options(),
        )),
        None,
    );
    write(&banks, &bank_entry_request("session", "a", "5")).unwrap();
    assert_eq!(syncs.load(Ordering::Relaxed), 3);
}
