//! Tests of changes, and of their effect on other parts of the text.

use std::collections::BTreeMap;

use memory_core::bank::{BankChange, BankStore};
use memory_core::{Code, OperationId, Verb};
use proptest::prelude::*;

use super::*;

const THEIRS: &str = "\u{20}{\n\t\"note\": [1,  2],\n\t\"_meta\": { \"version\": 1, \"owner\": \"me\" },\n\t\"entries\": {\n\t\t\"a\" : { \"value\": {\"x\":  1.50},\n\t\t\t\"description\": \"d\" },\n\t\t\"b\": {\"value\":[ ], \"size\": 9}\n\t}\n}\n\n";

#[test]
fn a_change_leaves_all_else_byte_for_byte() {
    let folder = TestBanks::plain();
    folder.put_file("session.json", THEIRS);
    folder.put("b", r#"{"n":1e1000}"#);
    let step = "\"created_at\": \"2024-10-04T00:00:01Z\", \"updated_at\": \"2024-10-04T00:00:01Z\"";
    let expected = THEIRS
        .replace(
            "{ \"version\"",
            "{\"updated_at\": \"2024-10-04T00:00:01Z\",  \"version\"",
        )
        .replace(
            "{\"value\":[ ], \"size\": 9}",
            &format!("{{\"value\":{{\"n\":1e1000}}, {step}, \"size\": 9}}"),
        );
    assert_eq!(folder.file("session.json"), expected);
}

#[test]
fn an_entry_that_is_deleted_and_brought_back_stands_where_it_stood() {
    let folder = TestBanks::plain();
    for key in ["a", "b", "c", "d"] {
        folder.put(key, "1");
    }
    let whole = folder.file("session.json");
    let gone = folder.change(
        ["a", "b", "d"]
            .map(|key| BankEntryChange::Remove(key.parse().unwrap()))
            .to_vec(),
    );
    assert!(
        folder
            .file("session.json")
            .contains("\"entries\": {\n    \"c\": {")
    );
    folder.undo(&gone);
    let without_time = |text: &str| {
        text.replace("00:00:04Z\",\n    \"schema\"", "")
            .replace("00:00:06Z\",\n    \"schema\"", "")
    };
    assert_eq!(
        without_time(&folder.file("session.json")),
        without_time(&whole)
    );
}

#[test]
fn a_bank_without_entries_is_laid_out_as_a_new_one() {
    let folder = TestBanks::plain();
    folder.put("a", "1");
    folder.remove("a");
    assert!(
        folder
            .file("session.json")
            .ends_with("  \"entries\": {}\n}\n")
    );
    folder.put("b", "2");
    assert!(
        folder
            .file("session.json")
            .contains("  \"entries\": {\n    \"b\": {\n      \"value\": 2,\n")
    );
}

#[test]
fn a_writer_that_takes_no_lock_is_not_overwritten() {
    let folder = TestBanks::plain();
    folder.put("count", "1");
    let mut asked = 0;
    let mut decide = |seen: Option<&Bank>| {
        asked += 1;
        let count: u64 = seen.unwrap().entries[0].1.value.as_str().parse().unwrap();
        if asked == 1 {
            // Another program changes the bank first, once.
            let theirs = folder
                .file("session.json")
                .replace("\"value\": 1", "\"value\": 7");
            folder.put_file("session.json", theirs);
        }
        Ok(BankChange::Entries(vec![put(
            "count",
            &(count + 1).to_string(),
            9,
        )]))
    };
    folder
        .banks
        .change(&name(), &folder.operation(Verb::Update), &mut decide)
        .unwrap();
    assert_eq!((folder.bank().entries[0].1.value.as_str(), asked), ("8", 2));

    let mut number = 100;
    let mut decide = |_: Option<&Bank>| {
        number += 1;
        folder.put_file(
            "session.json",
            format!("{{\"entries\":{{\"count\":{{\"value\":{number}}}}}}}"),
        );
        Ok(BankChange::Entries(vec![put("count", "0", 9)]))
    };
    let error = folder
        .banks
        .change(&name(), &folder.operation(Verb::Update), &mut decide)
        .unwrap_err();
    assert_eq!(
        (error.code(), folder.bank().entries[0].1.value.as_str()),
        (Code::Conflict, "103")
    );
    assert_eq!(
        folder.banks.history().unwrap().len(),
        2,
        "what was not carried out is not told of"
    );
}

#[test]
fn what_was_before_goes_for_good_by_whole_months() {
    let folder = TestBanks::plain();
    let first = folder.put("a", "1");
    folder.put("a", "2");
    // All operations were executed in October 2024.
    let end = at(0) + TimeDelta::days(28);
    assert_eq!(
        folder.banks.purge(end - TimeDelta::seconds(1)).unwrap(),
        (0, 0)
    );
    assert_eq!(folder.banks.history().unwrap().len(), 2);
    assert_eq!(folder.banks.purge(end).unwrap().0, 1);
    assert_eq!(folder.banks.history().unwrap(), []);
    let error = folder
        .banks
        .undo(&first, &folder.operation(Verb::Undo))
        .unwrap_err();
    assert_eq!(
        (error.code(), folder.bank().entries.len()),
        (Code::OperationNotFound, 1)
    );
}

#[derive(Debug, Clone)]
enum BankTestStep {
    Put(u8, u16),
    Remove(u8),
    RemoveSeveral(Vec<u8>),
    Undo(usize),
}

fn any_step() -> impl Strategy<Value = BankTestStep> {
    prop_oneof![
        4 => (0..6_u8, 0..2000_u16).prop_map(|(key, length)| BankTestStep::Put(key, length)),
        2 => (0..6_u8).prop_map(BankTestStep::Remove),
        1 => proptest::collection::vec(0..6_u8, 2..4).prop_map(BankTestStep::RemoveSeveral),
        2 => (0..12_usize).prop_map(BankTestStep::Undo),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(memory_core::testing::extent(48, 768)))]

    /// Compares a folder with a map, for any layout of the file, plain or in small members.
    #[test]
    fn any_changes_leave_what_a_map_would_hold(
        steps in proptest::collection::vec(any_step(), 1..14),
        compress_above in prop_oneof![Just(None), Just(Some(0)), Just(Some(900))],
        layout in 0..3_usize,
    ) {
        let folder = TestBanks::new(BankOptions { compress_above, ..BankOptions::default() });
        let theirs = ["{\"entries\":{}}", "{\n  \"_meta\": {},\n  \"entries\": {\n  }\n}", THEIRS][layout];
        folder.put_file("session.json", theirs);
        let mut model: BTreeMap<String, String> =
            folder.bank().entries.iter().map(|(key, entry)| (key.to_string(), entry.value.to_string())).collect();
        let mut done: Vec<(OperationId, BTreeMap<String, String>)> = Vec::new();
        for step in steps {
            let before = model.clone();
            match step {
                BankTestStep::Put(key, length) => {
                    let (key, value) = (format!("k{key}"), format!("\"{}\"", "x".repeat(length.into())));
                    done.push((folder.put(&key, &value), before));
                    model.insert(key, value);
                }
                BankTestStep::Remove(key) => {
                    let key = format!("k{key}");
                    if model.remove(&key).is_some() {
                        done.push((folder.remove(&key), before));
                    }
                }
                BankTestStep::RemoveSeveral(keys) => {
                    let mut keys: Vec<_> = keys.into_iter().map(|key| format!("k{key}")).filter(|key| model.contains_key(key)).collect();
                    keys.sort();
                    keys.dedup();
                    if !keys.is_empty() {
                        done.push((folder.change(keys.iter().map(|key| BankEntryChange::Remove(key.parse().unwrap())).collect()), before));
                        for key in &keys {
                            model.remove(key);
                        }
                    }
                }
                BankTestStep::Undo(back) => {
                    // Only a sequence of the latest operations can certainly be undone.
                    for _ in 0..back.min(3) {
                        let Some((id, before)) = done.pop() else { break };
                        folder.undo(&id);
                        model = before;
                    }
                    done.clear();
                }
            }
            let bank = folder.bank();
            prop_assert!(bank.damaged.is_empty());
            let held: BTreeMap<_, _> = bank.entries.iter().map(|(key, entry)| (key.to_string(), entry.value.to_string())).collect();
            prop_assert_eq!(&held, &model);
            prop_assert!(folder.files().len() <= 2, "{:?}", folder.files());
        }
    }
}

#[test]
fn the_mode_of_a_file_survives_a_change_a_repair_and_the_way_back() {
    use std::os::unix::fs::PermissionsExt;

    if cfg!(portable_system) {
        // The portable implementation sets no modes.
        return;
    }
    let folder = TestBanks::new(BankOptions {
        compress_above: Some(10_000),
        ..BankOptions::default()
    });
    let mode = |name: &str| {
        std::fs::metadata(folder.path().join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    folder.put("a", "1");
    assert_eq!(mode("session.json"), 0o600);
    for wanted in [0o640, 0o664, 0o400] {
        std::fs::set_permissions(
            folder.path().join("session.json"),
            std::fs::Permissions::from_mode(wanted),
        )
        .unwrap();
        let last = folder.put("a", "2");
        assert_eq!(mode("session.json"), wanted);
        folder.undo(&last);
        let removal = folder.operation(Verb::Delete);
        folder
            .banks
            .change(&name(), &removal, &mut |_| Ok(BankChange::Remove))
            .unwrap();
        folder.undo(&removal.id);
        assert_eq!(mode("session.json"), wanted);
        let large = folder.put("b", &format!("\"{}\"", "x".repeat(20_000)));
        assert_eq!(mode("session.json.gz"), wanted, "it is compressed now");
        folder.undo(&large);
        assert_eq!(mode("session.json"), wanted);
    }
}
