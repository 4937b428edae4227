//! Fuzzes instance definitions with a secret.
//!
//! A sealed value opens to the original value. A modified one never opens to another value, and sealing requires the key.

use std::fs;

use memory_core::instance::InstanceName;
use memory_core::testing::{CountingIds, FakeClock};
use memory_core::{Operation, Verb};
use memory_store::sealed::{
    FieldValue, InstanceDefinition, InstanceFolder, MasterKey, NewFieldValue,
};

use crate::fixtures::{folder, parse_input};

const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// Whether the definition is written by us; the secret, a plain value and the edits of our definition; another definition.
type SealedInput<'a> = (bool, &'a str, &'a str, Vec<(u16, u8)>, &'a [u8]);

/// Writes, edits and opens the definition of an instance with a secret.
pub fn sealed(bytes: &[u8]) {
    let Some((is_ours, secret, plain, edits, theirs)) = parse_input::<SealedInput>(bytes) else {
        return;
    };
    let home = folder();
    let key: MasterKey = KEY.parse().expect("a key");
    let instances = InstanceFolder::new(home.path(), home.path(), Some(key));
    let (backend, name): (InstanceName, InstanceName) = (
        "kv".parse().expect("a name"),
        "team".parse().expect("a name"),
    );
    let operation = Operation::new(
        Verb::Set,
        "cli",
        &FakeClock::default(),
        &CountingIds::default(),
    );
    let path = home.path().join("kv/team.yaml");
    if !is_ours {
        fs::create_dir(home.path().join("kv")).expect("a folder");
        fs::write(&path, theirs).expect("room");
        if let Ok(Some(definition)) = instances.read(&backend, &name) {
            assert_eq!(
                opened(&instances, &definition),
                None,
                "nobody seals without the key"
            );
        }
        return;
    }
    let fields = [
        ("dsn".to_owned(), NewFieldValue::secret(secret)),
        ("note".to_owned(), NewFieldValue::Plain(plain.to_owned())),
    ];
    instances
        .write(&backend, &name, &fields, &operation)
        .expect("room");
    let definition = instances
        .read(&backend, &name)
        .expect("we wrote it")
        .expect("it is there");
    assert_eq!(opened(&instances, &definition).as_deref(), Some(secret));
    if !plain.starts_with("secretbox:") {
        assert_eq!(
            definition.field("note"),
            Some(&FieldValue::Plain(plain.to_owned())),
            "{plain:?}"
        );
    }
    let mut bytes = fs::read(&path).expect("we wrote it");
    for (at, mask) in edits {
        let at = usize::from(at) % bytes.len();
        bytes[at] ^= mask;
    }
    fs::write(&path, bytes).expect("room");
    if let Ok(Some(definition)) = instances.read(&backend, &name) {
        assert!(
            opened(&instances, &definition).is_none_or(|opened| opened == secret),
            "what is tampered with does not open"
        );
    }
}

/// Returns the first sealed value that opens.
fn opened(instances: &InstanceFolder, definition: &InstanceDefinition) -> Option<String> {
    let mut opened = definition
        .fields
        .iter()
        .filter_map(|(field, value)| match value {
            FieldValue::Sealed(sealed) => instances.open(definition, field, sealed).ok(),
            FieldValue::Plain(_) => None,
        });
    opened.next().map(|secret| secret.as_str().to_owned())
}
