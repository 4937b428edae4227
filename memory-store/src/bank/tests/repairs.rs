//! Tests of repairs.

use std::collections::BTreeMap;

use memory_core::bank::{BankDamage, BankRepairMode, BankStore};
use memory_core::testing::wait_until;

use super::*;
use memory_core::Verb;

fn damage_messages(damage: &[BankDamage]) -> Vec<String> {
    damage.iter().map(|damage| damage.what.clone()).collect()
}

fn repair(folder: &TestBanks, repairs: BankRepairMode) -> Vec<BankDamage> {
    folder
        .banks
        .repair(None, repairs, &folder.operation(Verb::Repair))
        .unwrap()
}

#[test]
fn what_can_be_read_is_kept_and_the_file_as_it_was_lies_beside_the_bank() {
    let whole = r#"{"_meta":{"version":1,"created_at":"2024-01-15T10:30:00Z","updated_at":"2024-01-15T10:30:00Z","schema":null},
        "entries":{"a":{"value":{"n":1e1000},"note":"mine"},"b":{"value":[1,2]},"c":{"value":3}}}"#;
    let cases = [
        (
            "cut off",
            whole[..whole.find("[1,2]").unwrap() + 2]
                .to_owned()
                .into_bytes(),
            vec!["a"],
        ),
        (
            "one entry",
            whole.replace("[1,2]", "[1,2").into_bytes(),
            vec!["a", "c"],
        ),
        (
            "bad bytes",
            whole.replace("[1,2]", "\"\u{1}\"").into_bytes(),
            vec!["a", "c"],
        ),
        (
            "twice",
            whole.replace("\"c\"", "\"a\"").into_bytes(),
            vec!["a", "b"],
        ),
        (
            "no number",
            whole
                .replace("\"value\":3", "\"value\":3,\"ttl\":\"x\"")
                .into_bytes(),
            vec!["a", "b", "c"],
        ),
        (
            "no time",
            whole
                .replace("\"value\":3", "\"value\":3,\"updated_at\":\"soon\"")
                .into_bytes(),
            vec!["a", "b", "c"],
        ),
        (
            "no value",
            whole.replace("\"value\":3", "\"ttl\":3").into_bytes(),
            vec!["a", "b"],
        ),
        (
            "wrong _meta",
            whole
                .replace("\"version\":1", "\"version\":\"one\"")
                .into_bytes(),
            vec!["a", "b", "c"],
        ),
        (
            "no _meta",
            whole.replace("_meta", "meta").into_bytes(),
            vec!["a", "b", "c"],
        ),
    ];
    for (case, bytes, expected) in cases {
        let folder = TestBanks::plain();
        folder.put_file("session.json", &bytes);
        let checked = repair(&folder, BankRepairMode::None);
        assert!(
            !checked.is_empty() && checked.iter().all(|damage| !damage.repaired),
            "{case}"
        );
        assert_eq!(
            std::fs::read(folder.path().join("session.json")).unwrap(),
            bytes,
            "{case}: a check changes nothing"
        );

        let repaired = repair(&folder, BankRepairMode::All);
        assert_eq!(
            damage_messages(&repaired),
            damage_messages(&checked),
            "{case}"
        );
        let aside = repaired[0].set_aside.clone().unwrap();
        assert_eq!(
            std::fs::read(folder.path().join(&aside)).unwrap(),
            bytes,
            "{case}: nothing is lost"
        );
        let bank = folder.bank();
        let keys: Vec<_> = bank.entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!((keys, bank.damaged.len()), (expected, 0), "{case}");
        assert_eq!(
            bank.entries[0].1.value.as_str(),
            r#"{"n":1e1000}"#,
            "{case}"
        );
        assert!(
            folder.file("session.json").contains("\"note\":\"mine\""),
            "{case}: what others wrote beside the value stays"
        );
        assert_eq!(
            repair(&folder, BankRepairMode::None),
            [],
            "{case}: then all is well"
        );
    }
}

#[test]
fn a_repair_is_taken_back_like_any_other_change() {
    let folder = TestBanks::plain();
    folder.put_file("session.json", "{\"entries\":{\"a\":{\"value\":1},\"b\":");
    repair(&folder, BankRepairMode::All);
    let last = folder.banks.history().unwrap().remove(0);
    assert_eq!(last.operation.verb, Verb::Repair);
    folder.undo(&last.operation.id);
    assert_eq!(
        folder.file("session.json"),
        "{\"entries\":{\"a\":{\"value\":1},\"b\":"
    );
}

#[test]
fn unfinished_files_and_second_files_of_a_bank_go_out_of_the_way() {
    let folder = TestBanks::plain();
    folder.put("a", "1");
    folder.put_file("session.json.tmp", "{\"half");
    let whole = folder.file("session.json");
    folder.put_file(
        "session.json.gz",
        super::super::gzip::compress(b"{\"entries\":{}}", &[]).unwrap(),
    );
    // The file with the later change time is the bank, regardless of its modification time.
    write_until_later(&folder, "session.json.gz", "session.json", &whole);
    // The portable implementation knows only the modification time.
    if cfg!(not(portable_system)) {
        let old = std::time::SystemTime::UNIX_EPOCH;
        std::fs::File::options()
            .write(true)
            .open(folder.path().join("session.json"))
            .unwrap()
            .set_modified(old)
            .unwrap();
    }
    let repaired = repair(&folder, BankRepairMode::All);
    assert_eq!(
        damage_messages(&repaired),
        [
            "session.json is used instead of session.json.gz",
            "session.json.tmp is an unfinished temporary file"
        ]
    );
    assert_eq!(folder.files().len(), 3, "both were set aside");
    assert_eq!(folder.bank().entries.len(), 1);
    assert_eq!(repair(&folder, BankRepairMode::None), []);
}

#[test]
fn a_packed_bank_that_breaks_off_gives_back_what_was_packed_before() {
    let folder = TestBanks::new(BankOptions {
        compress_above: Some(0),
        ..BankOptions::default()
    });
    for key in ["a", "b"] {
        folder.put(key, &format!("\"{}\"", "x".repeat(70_000)));
    }
    folder.put("c", "3");
    let path = folder.path().join("session.json.gz");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 40]).unwrap();
    let repaired = repair(&folder, BankRepairMode::All);
    assert_eq!(
        repaired[0].what,
        "session.json.gz cannot be decompressed to its end"
    );
    let keys: Vec<_> = folder
        .bank()
        .entries
        .into_iter()
        .map(|(key, _)| key.to_string())
        .collect();
    assert!(keys == ["a"] || keys == ["a", "b"], "{keys:?}");
}

/// Writes a file repeatedly until its change time is later than that of the other file.
fn write_until_later(folder: &TestBanks, first: &str, second: &str, text: &str) {
    use std::os::unix::fs::MetadataExt;
    let changed = |name: &str| {
        let found = std::fs::metadata(folder.path().join(name)).unwrap();
        (found.ctime(), found.ctime_nsec())
    };
    wait_until("the second file is later", || {
        folder.put_file(second, text);
        changed(first) < changed(second)
    });
}

#[test]
fn a_second_file_of_a_bank_is_in_the_trash_before_it_goes() {
    let folder = TestBanks::plain();
    folder.put_file(
        "session.json.gz",
        super::super::gzip::compress(b"{\"entries\":{\"much\":{\"value\":1}}}", &[]).unwrap(),
    );
    write_until_later(
        &folder,
        "session.json.gz",
        "session.json",
        "{\"entries\":{\"little\":{\"value\":1}}}",
    );
    let id = folder.put("a", "1");
    assert_eq!(folder.files(), ["session.json"]);
    let kept = folder
        .path()
        .join(format!(".trash/2024-10/{id}/session.json.gz"));
    assert!(super::super::gzip::is_gzip(&std::fs::read(kept).unwrap()));
}

#[test]
fn entries_within_values_are_not_taken_for_those_of_the_bank() {
    let folder = TestBanks::plain();
    let text = r#"{"note":{"entries":{}},"_meta":{"version":1,"updated_at":"2024-01-15T10:30:00Z","created_at":"2024-01-15T10:30:00Z"},"entries":{"a":{"value":1,"ttl":"x"},"b":{"value":2}}}"#;
    folder.put_file("session.json", text);
    let mended = "the entry 'a' has a ttl that is not a number of seconds; its value is intact";
    assert_eq!(
        damage_messages(&repair(&folder, BankRepairMode::All)),
        [mended]
    );
    let expected = text.replace(r#""ttl":"x""#, r#""ttl":null"#);
    assert_eq!(
        folder.file("session.json"),
        expected,
        "what is well stays byte for byte"
    );
    folder.put_file("session.json", text.replace("2}}}", "2}"));
    repair(&folder, BankRepairMode::All);
    assert_eq!(folder.bank().entries.len(), 2);
}

#[test]
fn what_a_person_added_to_meta_stays() {
    for wrong in [
        r#""updated_at": "today""#,
        r#""version": "one""#,
        r#""created_at": 7"#,
        r#""schema": null"#,
    ] {
        let folder = TestBanks::plain();
        let text = format!(
            r#"{{"_meta": {{"owner": ["me", 1.50], {wrong}, "note": "x"}}, "entries": {{"a": {{"value": 1}}}}}}"#
        );
        folder.put_file("session.json", &text);
        assert_eq!(repair(&folder, BankRepairMode::All).len(), 1, "{wrong}");
        let mended = folder.file("session.json");
        assert!(
            mended.contains(r#""owner": ["me", 1.50], "#) && mended.contains(r#", "note": "x"}"#),
            "{mended}"
        );
        assert_eq!(
            (
                repair(&folder, BankRepairMode::None),
                folder.bank().entries.len()
            ),
            (Vec::new(), 1),
            "{wrong}"
        );
    }
}

/// Returns a compressed bank and its values by key.
///
/// It has 400 entries of about 1 KB, about 60 in each member.
fn large_packed() -> (TestBanks, BTreeMap<String, String>) {
    let folder = TestBanks::new(BankOptions {
        compress_above: Some(0),
        ..BankOptions::default()
    });
    let word = |number: u64, part: u64| format!("{:016x}", number * 7919 + part * part);
    let value = |number| {
        format!(
            "\"{}\"",
            (0..60)
                .map(|part| word(number, part))
                .collect::<Vec<_>>()
                .join(" ")
        )
    };
    let values: BTreeMap<_, _> = (0..400)
        .map(|number| (format!("key{number}"), value(number)))
        .collect();
    folder.change(
        values
            .iter()
            .map(|(key, value)| put(key, value, 1))
            .collect(),
    );
    (folder, values)
}

/// A function that damages the bytes of a file.
type FileDamageFn<'a> = dyn Fn(&mut Vec<u8>) + 'a;

#[test]
fn a_repair_of_a_packed_bank_keeps_every_member_but_the_damaged_ones_and_names_what_is_lost() {
    let (folder, values) = large_packed();
    let path = folder.path().join("session.json.gz");
    let (whole, index) = (std::fs::read(&path).unwrap(), folder.file("_index.json"));
    let journal = std::fs::read(folder.path().join(".trash/2024-10.jsonl")).unwrap();
    let middle = whole.len() / 2;
    let flip = |bytes: &mut Vec<u8>| bytes[middle] ^= 0x10;
    let damages: [(&str, &FileDamageFn<'_>); 6] = [
        ("a flipped bit", &flip),
        ("a flipped bit in the first header", &|bytes| bytes[1] ^= 1),
        ("a zeroed block in the middle", &|bytes| {
            bytes[middle..middle + 512].fill(0);
        }),
        ("a zeroed block at the beginning", &|bytes| {
            bytes[..512].fill(0);
        }),
        ("bytes that are missing", &|bytes| {
            drop(bytes.drain(middle..middle + 100));
        }),
        ("an end that is missing", &|bytes| bytes.truncate(middle)),
    ];
    for (case, damage) in damages {
        for (with_index, with_journal) in [(true, true), (false, true), (false, false)] {
            let mut bytes = whole.clone();
            damage(&mut bytes);
            std::fs::write(&path, &bytes).unwrap();
            let _ = std::fs::remove_file(folder.path().join("session.json"));
            folder.put_file(
                "_index.json",
                if with_index {
                    index.as_str()
                } else {
                    "{\"wrong\":"
                },
            );
            folder.put_file(
                ".trash/2024-10.jsonl",
                if with_journal {
                    journal.as_slice()
                } else {
                    b""
                },
            );
            let repaired = repair(&folder, BankRepairMode::All);
            let bank = folder.bank();
            assert!(
                bank.entries
                    .iter()
                    .all(|(key, entry)| values[key.as_str()] == entry.value.as_str()),
                "{case}"
            );
            let least = if case.starts_with("an end") { 180 } else { 320 };
            assert!(
                least <= bank.entries.len(),
                "{case}: {}",
                bank.entries.len()
            );
            let named = repaired
                .iter()
                .filter(|damage| damage.key.is_some())
                .count();
            if with_journal {
                assert_eq!(named + bank.entries.len(), 400, "{case}");
            }
            assert!(repaired.iter().all(|damage| damage.repaired), "{case}");
            assert_eq!(repair(&folder, BankRepairMode::None), [], "{case}");
            let members = super::super::gzip::members(&std::fs::read(&path).unwrap());
            assert!(
                2 < members.len(),
                "{case}: the next damage costs no more than this one"
            );

            let repair_record = folder.banks.history().unwrap().remove(0);
            folder.undo(&repair_record.operation.id);
            assert!(
                std::fs::read(&path).unwrap() == bytes,
                "{case}: the damaged file comes back"
            );
        }
    }
}
