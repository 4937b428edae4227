//! Tests with two handles on values.

use std::collections::BTreeMap;
use std::sync::Arc;

use memory_core::instance::kv::{KeyPrefix, KeyValues, ValueKey, delete, get, list, set, undo};
use memory_core::testing::values;
use memory_core::{Code, SecretPolicy};
use memory_store::kv::ValueFolder;
use proptest::collection::vec;
use proptest::prelude::*;

const KEYS: [&str; 4] = ["a", "b/c", "b/d", "e/f/g"];

#[derive(Debug, Clone)]
enum ValueHandleStep {
    Set(usize, String),
    Delete(usize),
    Undo,
}

fn any_step() -> impl Strategy<Value = ValueHandleStep> {
    prop_oneof![
        4 => (0..KEYS.len(), "[ab深\n]?").prop_map(|(key, value)| ValueHandleStep::Set(key, value)),
        2 => (0..KEYS.len()).prop_map(ValueHandleStep::Delete),
        2 => Just(ValueHandleStep::Undo),
    ]
}

fn stored_values(values: &KeyValues) -> BTreeMap<String, String> {
    let keys = list(values, &KeyPrefix::default()).unwrap();
    keys.iter()
        .map(|summary| {
            (
                summary.key.to_string(),
                get(values, &summary.key).unwrap().text,
            )
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(memory_core::testing::extent(48, 768)))]

    #[test]
    fn two_handles_on_values_hold_what_a_map_holds(steps in vec((0..2_usize, any_step()), 1..24)) {
        let home = tempfile::tempdir().unwrap();
        let open = || Arc::new(ValueFolder::new(home.path().join("kv"), home.path().join("state")));
        let first = values(open());
        let handles = [first.clone(), KeyValues { store: open(), ..first }];
        let mut model = BTreeMap::<String, String>::new();
        let mut done = Vec::<(ValueKey, Option<String>, Option<String>)>::new();
        for (handle, step) in steps {
            let values = &handles[handle];
            match step {
                ValueHandleStep::Set(key, value) => {
                    let key: ValueKey = KEYS[key].parse().unwrap();
                    let is_new = set(values, &key, &value, SecretPolicy::Refuse).unwrap();
                    let before = model.insert(key.to_string(), value.clone());
                    prop_assert_eq!(is_new, before.is_none());
                    // Setting an equal value is not an operation.
                    done.extend((before.as_ref() != Some(&value)).then_some((key, before, Some(value))));
                }
                ValueHandleStep::Delete(key) => {
                    let key: ValueKey = KEYS[key].parse().unwrap();
                    let deleted = delete(values, &key);
                    let before = model.remove(key.as_str());
                    prop_assert_eq!(deleted.is_ok(), before.is_some());
                    done.extend(before.map(|before| (key, Some(before), None)));
                }
                ValueHandleStep::Undo => match done.pop() {
                    Some((key, before, after)) if model.get(key.as_str()) == after.as_ref() => {
                        undo(values, None).unwrap();
                        match before {
                            Some(before) => drop(model.insert(key.to_string(), before)),
                            None => drop(model.remove(key.as_str())),
                        }
                    }
                    Some(changed_since) => {
                        prop_assert_eq!(undo(values, None).unwrap_err().code(), Code::Conflict);
                        done.push(changed_since);
                    }
                    None => prop_assert_eq!(undo(values, None).unwrap_err().code(), Code::OperationNotFound),
                },
            }
            for values in &handles {
                prop_assert_eq!(&stored_values(values), &model);
            }
        }
    }
}
