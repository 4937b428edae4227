//! Tests with two handles on banks.

use std::collections::BTreeMap;
use std::sync::Arc;

use memory_core::SecretPolicy;
use memory_core::bank::{
    BankName, BankWriteCondition, BankWriteRequest, Banks, Key, ScopeChoice, delete, delete_bank,
    last, read_bank, undo, write,
};
use memory_core::testing::banks;
use memory_store::bank::{BankFolder, BankOptions};
use proptest::collection::vec;
use proptest::prelude::*;

const KEYS: [&str; 4] = ["a", "b", "c d", "深"];

#[derive(Debug, Clone)]
enum BankHandleStep {
    Write(usize, usize, BankWriteCondition),
    Delete(usize),
    DeleteBank,
    Undo,
}

fn any_step() -> impl Strategy<Value = BankHandleStep> {
    let condition = prop_oneof![4 => Just(BankWriteCondition::Any), 1 => Just(BankWriteCondition::Absent), 1 => Just(BankWriteCondition::Present)];
    prop_oneof![
        5 => (0..KEYS.len(), 0..300_usize, condition).prop_map(|(key, length, condition)| BankHandleStep::Write(key, length, condition)),
        2 => (0..KEYS.len()).prop_map(BankHandleStep::Delete),
        1 => Just(BankHandleStep::DeleteBank),
        3 => Just(BankHandleStep::Undo),
    ]
}

fn name() -> BankName {
    "b".parse().unwrap()
}

fn bank_entries(banks: &Banks) -> Option<BTreeMap<String, String>> {
    let (_, bank) = read_bank(banks, &name(), ScopeChoice::Detected).ok()?;
    assert_eq!(bank.damaged, []);
    Some(
        bank.entries
            .iter()
            .map(|(key, entry)| (key.to_string(), entry.value.to_string()))
            .collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(memory_core::testing::extent(48, 768)))]

    #[test]
    fn two_handles_on_banks_hold_what_a_map_holds(
        steps in vec((0..2_usize, any_step()), 1..20),
        compress_above in prop_oneof![Just([None, None]), Just([Some(0), Some(0)]), Just([Some(400), None])],
    ) {
        let home = tempfile::tempdir().unwrap();
        let open = |handle: usize| {
            let options = BankOptions { compress_above: compress_above[handle], ..BankOptions::default() };
            Arc::new(BankFolder::new(home.path(), options))
        };
        let (first, _) = banks(open(0), None);
        let handles = [first.clone(), Banks { user: open(1), ..first }];
        let mut model = None::<BTreeMap<String, String>>;
        let mut done = Vec::new();
        for (handle, step) in steps {
            let (banks, before) = (&handles[handle], model.clone());
            match step {
                BankHandleStep::Write(key, length, condition) => {
                    let key: Key = KEYS[key].parse().unwrap();
                    let value = format!("\"{}\"", "x".repeat(length));
                    let is_there = model.as_ref().is_some_and(|own| own.contains_key(key.as_str()));
                    let may_be = match condition {
                        BankWriteCondition::Any => true,
                        BankWriteCondition::Absent => !is_there,
                        BankWriteCondition::Present => is_there,
                        BankWriteCondition::WrittenAt(_) => unreachable!("no step has this condition"),
                    };
                    let request = BankWriteRequest {
                        bank: name(),
                        key: key.clone(),
                        value: value.parse().unwrap(),
                        ttl: None,
                        condition,
                        scope: ScopeChoice::Detected,
                        secrets: SecretPolicy::Refuse,
                    };
                    let written = write(banks, &request);
                    prop_assert_eq!(written.is_ok(), may_be, "{:?}", written);
                    if let Ok(written) = written {
                        prop_assert_eq!(written.created, !is_there);
                        model.get_or_insert_default().insert(key.to_string(), value);
                        done.push(before);
                    }
                }
                BankHandleStep::Delete(key) => {
                    let key: Key = KEYS[key].parse().unwrap();
                    let is_gone = delete(banks, &name(), &key, ScopeChoice::Detected).is_ok();
                    prop_assert_eq!(is_gone, model.as_mut().is_some_and(|own| own.remove(key.as_str()).is_some()));
                    done.extend(is_gone.then_some(before));
                }
                BankHandleStep::DeleteBank => {
                    let is_gone = delete_bank(banks, &name(), ScopeChoice::Detected).is_ok();
                    prop_assert_eq!(is_gone, model.take().is_some());
                    done.extend(is_gone.then_some(before));
                }
                BankHandleStep::Undo => {
                    let record = last(banks).unwrap();
                    prop_assert_eq!(record.is_some(), !done.is_empty());
                    if let (Some(record), Some(former)) = (record, done.pop()) {
                        undo(banks, record.operation.id.as_str()).unwrap();
                        model = former;
                    }
                }
            }
            for banks in &handles {
                // A deleted bank has no entries left, and a bank may exist without entries.
                prop_assert_eq!(bank_entries(banks).unwrap_or_default(), model.clone().unwrap_or_default());
            }
        }
    }
}
