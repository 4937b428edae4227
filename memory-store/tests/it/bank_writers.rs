//! Several processes count in one bank and lose nothing.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use memory_core::Secrets;
use memory_core::bank::{Banks, Missing, ScopeChoice, history, read, update};
use memory_core::testing::banks;
use memory_store::bank::{BankFolder, BankOptions};

/// Names the folder and how often to count.
const TASK: &str = "MEMORY_TEST_COUNTER";
const WRITERS: usize = 8;
const TIMES: usize = 500;

fn open(path: &Path) -> Banks {
    // Every writer's operations have names of their own.
    let (banks, _) = banks(Arc::new(BankFolder::new(path, BankOptions::default())), None);
    Banks { ids: Arc::new(memory_store::RandomIds), ..banks }
}

fn count(banks: &Banks, times: usize) {
    let (bank, key) = ("stats".parse().unwrap(), "visits".parse().unwrap());
    for _ in 0..times {
        update(banks, &bank, &key, ".+1", ScopeChoice::Detected, Missing::Create, Secrets::Refuse).unwrap();
    }
}

fn counted(banks: &Banks) -> String {
    let (bank, key) = ("stats".parse().unwrap(), "visits".parse().unwrap());
    read(banks, &bank, &key, ScopeChoice::Detected).unwrap().entry.value.to_string()
}

/// One writer: on its own it counts a little; started by the test below, as far as it is told.
#[test]
fn a_counter_counts() {
    if let Ok(task) = std::env::var(TASK) {
        let [folder, times] = task.split('\n').collect::<Vec<_>>().try_into().unwrap();
        count(&open(Path::new(folder)), times.parse().unwrap());
        return;
    }
    let home = tempfile::tempdir().unwrap();
    count(&open(home.path()), 3);
    assert_eq!(counted(&open(home.path())), "3");
}

#[test]
fn eight_processes_that_count_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let writers: Vec<Child> = (0..WRITERS).map(|_| start(home.path())).collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let banks = open(home.path());
    assert_eq!(counted(&banks), (WRITERS * TIMES).to_string());
    assert_eq!(history(&banks).unwrap().len(), WRITERS * TIMES, "each can be taken back");
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bank_writers::a_counter_counts", "--nocapture"])
        .env(TASK, format!("{}\n{TIMES}", folder.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}
