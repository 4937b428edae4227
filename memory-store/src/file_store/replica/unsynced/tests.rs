//! Tests of replicas that lose unsynced files at a power cut.

use std::fs;
use std::path::Path;

use memory_core::{MemoryStore, delete};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::file_store::replica::state::STATE;
use crate::file_store::replica::tests::{MemoryNode, read_files, two_nodes};

/// What a power cut leaves of an unsynced file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remains {
    Nothing,
    EmptyFile,
    FirstHalf,
}

/// Makes the system seem to have started again since the last operation of the node.
fn start_system_again(node: &MemoryNode) {
    let path = node.home.path().join(STATE);
    let mut state: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_ne!(
        state["start"],
        Value::Null,
        "the operation was performed without syncs"
    );
    state["start"] = "an earlier start".into();
    fs::write(path, state.to_string()).unwrap();
}

fn lose(path: &Path, remains: Remains) {
    match remains {
        Remains::Nothing => fs::remove_file(path).unwrap(),
        Remains::EmptyFile => fs::write(path, "").unwrap(),
        Remains::FirstHalf => {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        }
    }
}

/// Returns the paths of the files that operations write.
fn files(node: &MemoryNode) -> Vec<String> {
    let mut files = std::collections::BTreeMap::new();
    for folder in ["categories", "trash", "journal"] {
        read_files(node.home.path(), &node.home.path().join(folder), &mut files);
    }
    files.into_keys().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(memory_core::testing::extent(48, 768)))]

    #[test]
    fn a_replica_that_loses_files_at_a_power_cut_is_created_again(
        at in any::<Index>(),
        remains in prop_oneof![Just(Remains::Nothing), Just(Remains::EmptyFile), Just(Remains::FirstHalf)],
        is_writer in any::<bool>(),
    ) {
        let (mut first, second) = two_nodes();
        let id = first.write("The team deploys on Mondays");
        second.store.refresh().unwrap();
        first.update(&id, "The team deploys on Tuesdays");
        let deleted = second.write("The office is closed");
        first.store.refresh().unwrap();
        delete(&first.services, &deleted).unwrap();
        first.write("Tea is in the kitchen");
        let files = files(&first);
        let lost = at.get(&files);
        start_system_again(&first);
        lose(&first.home.path().join(lost), remains);
        first.restart();

        if is_writer {
            first.write("Coffee, too");
        }
        prop_assert_eq!(first.state(), MemoryNode::new(&first.connection.log).state(), "after the loss of {}", lost);
    }
}

#[test]
fn a_replica_that_lost_no_file_is_used_after_a_start_of_the_system() {
    let (mut first, _) = two_nodes();
    first.write("The team deploys on Mondays");
    start_system_again(&first);
    first.restart();
    // A replica that is created again needs the database.
    first.disconnect();
    first.write("Tea is in the kitchen");
    first.synchronize();
    assert_eq!(
        first.state(),
        MemoryNode::new(&first.connection.log).state()
    );
}

// The portable implementation syncs each file.
#[cfg(not(portable_system))]
#[test]
fn without_the_database_all_files_are_durable() {
    let (mut first, _) = two_nodes();
    let id = first.write("The team deploys on Mondays");
    first.disconnect();
    first.update(&id, "The team deploys on Tuesdays");
    let state: Value =
        serde_json::from_slice(&fs::read(first.home.path().join(STATE)).unwrap()).unwrap();
    let (name, length) = state["synced"].as_str().unwrap().split_once(':').unwrap();
    let journal = fs::read_to_string(first.home.path().join("journal").join(name)).unwrap();
    assert_eq!(
        journal[length.parse().unwrap()..].lines().count(),
        1,
        "only the operation in the queue is later"
    );
    start_system_again(&first);
    first.restart();
    assert_eq!(first.content(&id).unwrap(), "The team deploys on Tuesdays");
}
