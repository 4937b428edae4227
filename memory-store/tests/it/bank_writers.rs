//! Several processes count in one bank, and no update is lost.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memory_core::bank::{
    BankWriteCondition, BankWriteRequest, Banks, JsonFilter, JsonFilterError, MissingKey,
    ScopeChoice, history, read, update, write,
};
use memory_core::json::JsonText;
use memory_core::testing::banks;
use memory_core::{Code, SecretPolicy};
use memory_store::bank::{BankFolder, BankOptions};

/// Environment variable with the folder and the number of updates.
const TASK: &str = "MEMORY_TEST_COUNTER";
const WRITERS: usize = 8;
/// Returns the number of changes of each writer.
fn changes_per_writer() -> usize {
    memory_core::testing::extent(100, 500)
}

fn open(path: &Path) -> Banks {
    // Random ids keep the operations of the writers distinct.
    let (banks, _) = banks(
        Arc::new(BankFolder::new(path, BankOptions::default())),
        None,
    );
    Banks {
        ids: Arc::new(memory_store::RandomIds),
        ..banks
    }
}

fn count(banks: &Banks, times: usize) {
    let (bank, key) = ("stats".parse().unwrap(), "visits".parse().unwrap());
    for _ in 0..times {
        update(
            banks,
            &bank,
            &key,
            ".+1",
            ScopeChoice::Detected,
            MissingKey::Create,
            SecretPolicy::Refuse,
        )
        .unwrap();
    }
}

fn read_counter(banks: &Banks) -> String {
    let (bank, key) = ("stats".parse().unwrap(), "visits".parse().unwrap());
    read(banks, &bank, &key, ScopeChoice::Detected)
        .unwrap()
        .entry
        .value
        .to_string()
}

/// A writer process. On its own it counts to 3; the test below starts it with a task.
#[test]
fn a_counter_counts() {
    if let Ok(task) = std::env::var(TASK) {
        let [folder, times] = task.split('\n').collect::<Vec<_>>().try_into().unwrap();
        count(&open(Path::new(folder)), times.parse().unwrap());
        return;
    }
    let home = tempfile::tempdir().unwrap();
    count(&open(home.path()), 3);
    assert_eq!(read_counter(&open(home.path())), "3");
}

#[test]
fn eight_processes_that_count_at_once_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let writers: Vec<Child> = (0..WRITERS).map(|_| start(home.path())).collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
    let banks = open(home.path());
    assert_eq!(
        read_counter(&banks),
        (WRITERS * changes_per_writer()).to_string()
    );
    assert_eq!(
        history(&banks).unwrap().len(),
        WRITERS * changes_per_writer(),
        "each can be taken back"
    );
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bank_writers::a_counter_counts", "--nocapture"])
        .env(
            TASK,
            format!("{}\n{}", folder.display(), changes_per_writer()),
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// A filter that adds one, and waits until the test lets it continue.
#[derive(Debug)]
struct PausedFilter {
    begun: Sender<()>,
    goes_on: Mutex<Receiver<()>>,
}

impl JsonFilter for PausedFilter {
    fn run(&self, filter: &str, input: &str) -> Result<Vec<JsonText>, JsonFilterError> {
        self.begun.send(()).expect("the test waits for it");
        self.goes_on
            .lock()
            .expect("one test")
            .recv()
            .expect("the test says so");
        self.run_with_timeout(filter, input, Duration::MAX)
    }

    fn run_with_timeout(
        &self,
        _: &str,
        input: &str,
        _: Duration,
    ) -> Result<Vec<JsonText>, JsonFilterError> {
        let number: u64 = input.parse().expect("a number");
        Ok(vec![
            (number + 1).to_string().parse().expect("a number is JSON"),
        ])
    }
}

fn put(banks: &Banks, bank: &str, key: &str, value: &str) -> Result<(), Code> {
    let request = BankWriteRequest {
        bank: bank.parse().unwrap(),
        key: key.parse().unwrap(),
        value: value.parse().unwrap(),
        ttl: None,
        condition: BankWriteCondition::Any,
        scope: ScopeChoice::Detected,
        secrets: SecretPolicy::Refuse,
    };
    write(banks, &request)
        .map(drop)
        .map_err(|error| error.code())
}

#[test]
fn a_filter_that_runs_delays_no_other_writer_and_runs_again_where_one_was_faster() {
    let home = tempfile::tempdir().unwrap();
    let options = BankOptions {
        patience: Duration::ZERO,
        ..BankOptions::default()
    };
    let (others, _) = banks(Arc::new(BankFolder::new(home.path(), options)), None);
    let others = Banks {
        ids: Arc::new(memory_store::RandomIds),
        ..others
    };
    put(&others, "stats", "visits", "10").unwrap();
    let ((begun, begins), (go_on, goes_on)) = (channel(), channel());
    let halting = Banks {
        filter: Arc::new(PausedFilter {
            begun,
            goes_on: Mutex::new(goes_on),
        }),
        ..open(home.path())
    };
    let (bank, key) = ("stats".parse().unwrap(), "visits".parse().unwrap());
    let count = || {
        update(
            &halting,
            &bank,
            &key,
            "",
            ScopeChoice::Detected,
            MissingKey::Refuse,
            SecretPolicy::Refuse,
        )
        .unwrap()
    };
    for (changes, expected) in [
        (vec![], "11"),
        (vec!["20"], "21"),
        (vec!["30", "40", "50"], "51"),
    ] {
        let counted = std::thread::scope(|scope| {
            let counting = scope.spawn(count);
            for change in &changes {
                begins.recv().unwrap();
                // No call waits: a lock that is held would make the writer fail immediately.
                put(&others, "stats", "other", "1").unwrap();
                put(&others, "another", "key", "1").unwrap();
                put(&others, "stats", "visits", change).unwrap();
                go_on.send(()).unwrap();
            }
            // The fourth time, the filter runs under the lock, and not through `run`.
            if changes.len() < 3 {
                begins.recv().unwrap();
                go_on.send(()).unwrap();
            }
            counting.join().unwrap()
        });
        assert_eq!(
            (
                counted.entry.value.as_str(),
                self::read_counter(&others).as_str()
            ),
            (expected, expected)
        );
    }
}

#[test]
fn a_version_that_locks_the_folder_is_waited_for_and_one_bank_does_not_wait_for_another() {
    let home = tempfile::tempdir().unwrap();
    let options = BankOptions {
        patience: Duration::ZERO,
        ..BankOptions::default()
    };
    let (impatient, _) = banks(Arc::new(BankFolder::new(home.path(), options)), None);
    put(&impatient, "stats", "a", "1").unwrap();
    let lock = |path: &str| std::fs::File::open(home.path().join(path)).unwrap();
    let former = lock(".lock");
    former.lock().unwrap();
    assert_eq!(put(&impatient, "stats", "a", "2"), Err(Code::Locked));
    former.unlock().unwrap();
    let of_stats = lock(".locks/stats");
    of_stats.lock().unwrap();
    assert_eq!(put(&impatient, "stats", "a", "2"), Err(Code::Locked));
    put(&impatient, "another", "a", "2").unwrap();
}

/// A filter during which a program without a lock changes the value.
#[derive(Debug)]
struct RacingFilter {
    file: std::path::PathBuf,
    /// The time limit of each run under the lock.
    times: Arc<Mutex<Vec<Duration>>>,
    changes: std::sync::atomic::AtomicU64,
}

impl JsonFilter for RacingFilter {
    fn run(&self, _: &str, input: &str) -> Result<Vec<JsonText>, JsonFilterError> {
        let number = self
            .changes
            .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        std::fs::write(
            &self.file,
            format!(r#"{{"entries":{{"visits":{{"value":{number}}}}}}}"#),
        )
        .expect("it can be written");
        Ok(vec![format!("1{input}").parse().expect("a number is JSON")])
    }

    fn run_with_timeout(
        &self,
        filter: &str,
        input: &str,
        time: Duration,
    ) -> Result<Vec<JsonText>, JsonFilterError> {
        self.times.lock().expect("one test").push(time);
        self.run(filter, input)
    }
}

#[test]
fn a_filter_that_runs_several_times_under_the_lock_has_one_second_in_all() {
    let home = tempfile::tempdir().unwrap();
    let times = Arc::new(Mutex::new(Vec::new()));
    let (file, changes) = (
        home.path().join("stats.json"),
        std::sync::atomic::AtomicU64::new(1),
    );
    std::fs::write(&file, r#"{"entries":{"visits":{"value":0}}}"#).unwrap();
    let filter = Arc::new(RacingFilter {
        file,
        times: Arc::clone(&times),
        changes,
    });
    // The clock advances by a second with each reading.
    let banks = Banks {
        filter,
        ..open(home.path())
    };
    let (bank, key) = ("stats".parse().unwrap(), "visits".parse().unwrap());
    let refused = update(
        &banks,
        &bank,
        &key,
        "",
        ScopeChoice::Detected,
        MissingKey::Refuse,
        SecretPolicy::Refuse,
    )
    .unwrap_err();
    assert_eq!(refused.code(), Code::Conflict);
    let times = times.lock().unwrap();
    assert_eq!(
        times.as_slice(),
        [Duration::from_secs(1), Duration::ZERO, Duration::ZERO]
    );
}
