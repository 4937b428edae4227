//! Fuzzes bank files, plain and compressed.
//!
//! A file is read or refused, and a change of one key leaves the other entries unchanged.

use std::fs;

use chrono::{DateTime, Utc};
use memory_core::bank::{
    Bank, BankChange, BankEntry, BankEntryChange, BankName, BankRepairMode, BankStore, Key,
};
use memory_core::json::JsonText;
use memory_core::secret::Checked;
use memory_core::{Operation, OperationId, Verb};
use memory_store::bank::{BankFolder, BankOptions};

use crate::fixtures::folder;

/// Changes, undoes and repairs a bank file whose first byte selects its form.
pub fn bank(bytes: &[u8]) {
    let Some((first, file)) = bytes.split_first() else {
        return;
    };
    let home = folder();
    let path = home.path().join(if first % 8 == 7 {
        "b.json.gz"
    } else {
        "b.json"
    });
    fs::write(&path, file).expect("room");
    let compress_above = (first % 8 == 6).then_some(64);
    let banks = BankFolder::new(
        home.path(),
        BankOptions {
            compress_above,
            ..BankOptions::default()
        },
    );
    let name: BankName = "b".parse().expect("a name");
    let key: Key = "of the fuzzer".parse().expect("a key");
    let at = DateTime::from_timestamp(1_800_000_000, 0).expect("a moment");
    let Ok(before) = banks.bank(&name) else {
        // A bank that cannot be read can only be deleted.
        let mut blind = |_: Option<&Bank>| Ok(BankChange::Entries(Vec::new()));
        assert!(
            banks
                .change(&name, &bank_operation(1, at), &mut blind)
                .is_err()
        );
        assert_eq!(
            fs::read(&path).expect("it is there"),
            file,
            "a file that cannot be read is left alone"
        );
        banks
            .repair(None, BankRepairMode::All, &bank_operation(2, at))
            .expect("what can be kept is kept");
        assert!(banks.bank(&name).is_ok(), "and what is kept can be read");
        return;
    };
    let before = before.expect("there is a file");
    let is_damaged = before
        .damaged
        .iter()
        .any(|(damaged, _)| *damaged == key.to_string());
    assert_eq!(
        banks.entry(&name, &key).is_err(),
        is_damaged,
        "an entry is refused alone if it is refused among the others"
    );
    let is_new = before.entry(&key).is_none() && !is_damaged;
    let value: JsonText = r#"{"n":1.50,"深":"色"}"#.parse().expect("JSON");
    let entry = BankEntry {
        value: value.clone(),
        created_at: at,
        updated_at: at,
        ttl: None,
    };
    let put = BankChange::Entries(vec![BankEntryChange::Put(
        key.clone(),
        Checked::allowed(entry),
    )]);
    let read = |when: &str| banks.bank(&name).expect(when).expect(when);
    let document = || {
        banks
            .document(&name, DateTime::UNIX_EPOCH)
            .expect("it is read")
            .expect("it is there")
    };
    let text = document();
    if banks
        .change(&name, &bank_operation(1, at), &mut |_| Ok(put.clone()))
        .is_err()
    {
        assert_eq!(document(), text, "what is refused changes nothing");
        return;
    }
    let after = read("what we wrote");
    assert_eq!(after.entry(&key).map(|entry| &entry.value), Some(&value));
    assert_eq!(
        other_entries(&after, &key),
        other_entries(&before, &key),
        "the other entries stay letter by letter"
    );
    assert_eq!(
        after.damaged.len(),
        before.damaged.len() - usize::from(is_damaged)
    );
    if is_new {
        banks
            .undo(&bank_operation(1, at).id, &bank_operation(2, at))
            .expect("it is the last change");
        assert_eq!(
            without_header(&document()),
            without_header(&text),
            "what is taken back leaves no trace but in the head"
        );
    }
}

fn bank_operation(number: u64, at: DateTime<Utc>) -> Operation {
    Operation {
        id: OperationId::from_random(number),
        verb: Verb::Write,
        by: "fuzzer".into(),
        at,
    }
}

fn other_entries<'b>(bank: &'b Bank, key: &Key) -> Vec<(&'b Key, &'b str)> {
    bank.entries
        .iter()
        .filter(|(own, _)| own != key)
        .map(|(own, entry)| (own, entry.value.as_str()))
        .collect()
}

/// Returns a bank without the header fields that each write sets, and without formatting.
///
/// The first write adds the header if it is missing.
fn without_header(text: &str) -> serde_json::Value {
    let mut document: serde_json::Value =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let Some(parts) = document.as_object_mut() else {
        return document;
    };
    if let Some(head) = parts
        .get_mut("_meta")
        .and_then(serde_json::Value::as_object_mut)
    {
        head.retain(|key, _| {
            !["version", "created_at", "updated_at", "schema"].contains(&key.as_str())
        });
    }
    let has_more = |head: &serde_json::Value| head.as_object().is_some_and(|head| !head.is_empty());
    if !parts.get("_meta").is_some_and(has_more) {
        parts.shift_remove("_meta");
    }
    document
}
