//! What a repair keeps, and where it puts the rest.

use memory_core::bank::{BankStore, Damage, Repairs};

use super::*;

fn told(damage: &[Damage]) -> Vec<String> {
    damage.iter().map(|damage| damage.what.clone()).collect()
}

fn repair(folder: &Folder, repairs: Repairs) -> Vec<Damage> {
    folder.banks.repair(None, repairs, &folder.operation(BankVerb::Repair)).unwrap()
}

#[test]
fn what_can_be_read_is_kept_and_the_file_as_it_was_lies_beside_the_bank() {
    let whole = r#"{"_meta":{"version":1,"created_at":"2024-01-15T10:30:00Z","updated_at":"2024-01-15T10:30:00Z","schema":null},
        "entries":{"a":{"value":{"n":1e1000},"note":"mine"},"b":{"value":[1,2]},"c":{"value":3}}}"#;
    let cases = [
        ("cut off", whole[..whole.find("[1,2]").unwrap() + 2].to_owned().into_bytes(), vec!["a"]),
        ("one entry", whole.replace("[1,2]", "[1,2").into_bytes(), vec!["a", "c"]),
        ("bad bytes", whole.replace("[1,2]", "\"\u{1}\"").into_bytes(), vec!["a", "c"]),
        ("twice", whole.replace("\"c\"", "\"a\"").into_bytes(), vec!["a", "b"]),
        ("no number", whole.replace("\"value\":3", "\"value\":3,\"ttl\":\"x\"").into_bytes(), vec!["a", "b"]),
        ("wrong _meta", whole.replace("\"version\":1", "\"version\":\"one\"").into_bytes(), vec!["a", "b", "c"]),
        ("no _meta", whole.replace("_meta", "meta").into_bytes(), vec!["a", "b", "c"]),
    ];
    for (case, bytes, expected) in cases {
        let folder = Folder::plain();
        folder.put_file("session.json", &bytes);
        let checked = repair(&folder, Repairs::None);
        assert!(!checked.is_empty() && checked.iter().all(|damage| !damage.repaired), "{case}");
        assert_eq!(std::fs::read(folder.path().join("session.json")).unwrap(), bytes, "{case}: a check changes nothing");

        let repaired = repair(&folder, Repairs::All);
        assert_eq!(told(&repaired), told(&checked), "{case}");
        let aside = repaired[0].set_aside.clone().unwrap();
        assert_eq!(std::fs::read(folder.path().join(&aside)).unwrap(), bytes, "{case}: nothing is lost");
        let bank = folder.bank();
        let keys: Vec<_> = bank.entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!((keys, bank.damaged.len()), (expected, 0), "{case}");
        assert_eq!(bank.entries[0].1.value.as_str(), r#"{"n":1e1000}"#, "{case}");
        assert!(folder.file("session.json").contains("\"note\":\"mine\""), "{case}: what others wrote beside the value stays");
        assert_eq!(repair(&folder, Repairs::None), [], "{case}: then all is well");
    }
}

#[test]
fn a_repair_is_taken_back_like_any_other_change() {
    let folder = Folder::plain();
    folder.put_file("session.json", "{\"entries\":{\"a\":{\"value\":1},\"b\":");
    repair(&folder, Repairs::All);
    let last = folder.banks.history().unwrap().remove(0);
    assert_eq!(last.operation.verb, BankVerb::Repair);
    folder.undo(&last.operation.id);
    assert_eq!(folder.file("session.json"), "{\"entries\":{\"a\":{\"value\":1},\"b\":");
}

#[test]
fn unfinished_files_and_second_files_of_a_bank_go_out_of_the_way() {
    let folder = Folder::plain();
    folder.put("a", "1");
    folder.put_file("session.json.tmp", "{\"half");
    folder.put_file("session.json.gz", super::super::gzip::pack(b"{\"entries\":{}}", &[]).unwrap());
    // Whichever was written last is the bank.
    let old = std::time::SystemTime::UNIX_EPOCH;
    std::fs::File::options().write(true).open(folder.path().join("session.json.gz")).unwrap().set_modified(old).unwrap();
    let repaired = repair(&folder, Repairs::All);
    assert_eq!(told(&repaired), ["session.json takes the place of session.json.gz", "session.json.tmp was never finished"]);
    assert_eq!(folder.files().len(), 3, "both were set aside");
    assert_eq!(folder.bank().entries.len(), 1);
    assert_eq!(repair(&folder, Repairs::None), []);
}

#[test]
fn a_packed_bank_that_breaks_off_gives_back_what_was_packed_before() {
    let folder = Folder::new(BankOptions { compress_above: Some(0), ..BankOptions::default() });
    for key in ["a", "b"] {
        folder.put(key, &format!("\"{}\"", "x".repeat(70_000)));
    }
    folder.put("c", "3");
    let path = folder.path().join("session.json.gz");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 40]).unwrap();
    let repaired = repair(&folder, Repairs::All);
    assert_eq!(repaired[0].what, "session.json.gz cannot be unpacked to its end");
    let keys: Vec<_> = folder.bank().entries.into_iter().map(|(key, _)| key.to_string()).collect();
    assert!(keys == ["a"] || keys == ["a", "b"], "{keys:?}");
}
