//! The lock of a daemon, the notification of changes, and work in slices.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use memory_core::secret::Checked;
use memory_core::testing::wait_until;
use memory_core::{Change, Draft, MemoryStore, SecretPolicy, StoreError, Verb, write};
use memory_store::{
    DaemonLock, DaemonProcess, FileStore, FileStoreOptions, FileWatcher, Freshness,
};

use crate::home::{TestHome, services};

/// Environment variable with the home of a daemon that runs until it is killed.
const HOME: &str = "MEMORY_TEST_DAEMON_HOME";

/// A timeout that is long enough for any machine.
const DEADLINE: Duration = Duration::from_mins(1);

/// The daemon process. On its own it releases the lock; the tests below start it and kill it.
#[test]
fn a_daemon_has_the_lock_while_it_lives() {
    let Ok(home) = std::env::var(HOME) else {
        let home = TestHome::new();
        drop(DaemonLock::acquire(home.path(), std::process::id()).unwrap());
        assert_eq!(DaemonLock::find_running(home.path()).unwrap(), None);
        return;
    };
    let _lock = DaemonLock::acquire(Path::new(&home), std::process::id()).unwrap();
    println!("\nlocked");
    // Nothing is written to the standard input, which is closed at the end of the test.
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// Starts a daemon, and waits until it has the lock.
fn start_daemon(home: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "daemon::a_daemon_has_the_lock_while_it_lives",
            "--exact",
            "--nocapture",
        ])
        .env(HOME, home);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "locked"));
    child
}

#[test]
fn a_living_daemon_is_named_to_the_next_one_and_a_killed_one_makes_way() {
    let home = TestHome::new();
    let mut first = start_daemon(home.path());
    match DaemonLock::acquire(home.path(), 1).unwrap_err() {
        StoreError::DaemonRunning { pid, .. } => assert_eq!(pid, Some(first.id())),
        other => panic!("{other}"),
    }
    assert_eq!(
        DaemonLock::find_running(home.path()).unwrap(),
        Some(DaemonProcess {
            pid: Some(first.id())
        })
    );
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(
        fs::read_to_string(home.path().join(".daemon.lock")).unwrap(),
        format!("{}\n", first.id())
    );
    // The kernel may release the lock of a killed process a moment after its end.
    wait_until("the lock is free", || {
        DaemonLock::find_running(home.path()).unwrap().is_none()
    });
    let mut second = start_daemon(home.path());
    assert_eq!(
        DaemonLock::find_running(home.path()).unwrap(),
        Some(DaemonProcess {
            pid: Some(second.id())
        })
    );
    second.kill().unwrap();
    second.wait().unwrap();
}

/// Watches a home.
fn watch(home: &TestHome) -> (FileWatcher, Receiver<()>) {
    let (sender, receiver) = channel();
    // After the test the channel has no receiver.
    let watch = FileWatcher::watch_home(&fs::canonicalize(home.path()).unwrap(), move || {
        let _ = sender.send(());
    })
    .unwrap();
    (watch, receiver)
}

/// Writes a file. Earlier changes are reported before it.
fn write_marker(home: &TestHome, name: &str) -> String {
    let path = format!("categories/inbox/{name}.md");
    fs::write(home.path().join(&path), name).unwrap();
    path
}

/// Returns the reported files up to `last`.
fn collect_changes_until(watch: &FileWatcher, bell: &Receiver<()>, last: &str) -> BTreeSet<String> {
    let until = Instant::now() + DEADLINE;
    let mut heard = BTreeSet::new();
    while !heard.contains(last) {
        bell.recv_timeout(until.saturating_duration_since(Instant::now()))
            .unwrap();
        heard.extend(watch.take_changes().files);
    }
    heard
}

#[test]
fn changes_of_others_are_heard_and_reading_is_not() {
    let home = TestHome::new();
    let services = home.services();
    let path = write(
        &services,
        Draft::new("prefers dark mode"),
        SecretPolicy::Refuse,
    )
    .unwrap()
    .path;
    let (watch, bell) = watch(&home);
    let place = home.path().join(&path);
    fs::write(
        &place,
        fs::read_to_string(&place).unwrap().replace("dark", "pale"),
    )
    .unwrap();
    let heard = collect_changes_until(&watch, &bell, &write_marker(&home, "first"));
    assert!(heard.contains(&path), "{heard:?}");
    let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
    store.reread(std::slice::from_ref(&path)).unwrap();
    store.refresh_all().unwrap();
    let heard = collect_changes_until(&watch, &bell, &write_marker(&home, "second"));
    assert!(!heard.contains(&path), "{heard:?}");
}

#[test]
fn changes_of_conversations_are_heard() {
    let home = TestHome::new();
    write(
        &home.services(),
        Draft::new("prefers dark mode"),
        SecretPolicy::Refuse,
    )
    .unwrap();
    let path = "entries/default/facts/1.md";
    // A name such as `../me` becomes a folder that starts with dots.
    let dotted = "entries/.._me/facts/1.md";
    for path in [path, dotted] {
        fs::create_dir_all(home.path().join(path).parent().unwrap()).unwrap();
        fs::write(home.path().join(path), "likes tea").unwrap();
    }
    let store = FileStore::open(
        home.path(),
        FileStoreOptions {
            freshness: Freshness::Heard,
            ..FileStoreOptions::default()
        },
    )
    .unwrap();
    store.refresh().unwrap();
    let (watch, bell) = watch(&home);
    fs::write(home.path().join(path), "likes coffee").unwrap();
    assert!(collect_changes_until(&watch, &bell, path).contains(path));
    fs::write(home.path().join(dotted), "likes coffee").unwrap();
    assert!(collect_changes_until(&watch, &bell, dotted).contains(dotted));
    assert_eq!(
        store
            .reread(&[
                path.to_owned(),
                "entries/deleted/x/facts/1.md".into(),
                "memory.md".into()
            ])
            .unwrap(),
        1
    );
}

#[test]
fn a_new_home_can_be_listened_to_and_a_missing_one_is_not_made() {
    let home = TestHome::new();
    assert!(FileWatcher::watch_home(home.path(), || ()).is_ok());
    let missing = home.path().join("missing");
    assert!(FileWatcher::watch_home(&missing, || ()).is_err());
    assert!(!missing.exists());
}

#[test]
fn the_trash_is_emptied_in_slices_and_no_file_is_counted_twice() {
    let home = TestHome::new();
    let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
    let services = services(FileStore::open(home.path(), FileStoreOptions::default()).unwrap());
    let ids: Vec<_> = (0..600)
        .map(|number| {
            write(
                &services,
                Draft::new(&format!("memory {number}")),
                SecretPolicy::Refuse,
            )
            .unwrap()
            .id
        })
        .collect();
    let mut operation = services.change_set(Verb::Delete);
    operation.changes = ids
        .into_iter()
        .map(|id| Change::Remove { id, expected: None })
        .collect();
    services.store.commit(Checked::allowed(&operation)).unwrap();
    assert_eq!(store.trash_size().unwrap().0, 600);
    let before = services.clock.now() + TimeDelta::days(1);
    let (first, _) = store.purge_while(before, &mut || false).unwrap();
    assert!(0 < first && first < 600, "{first}");
    assert_eq!(store.trash_size().unwrap().0, 600 - first);
    let (rest, _) = store.purge_while(before, &mut || true).unwrap();
    assert_eq!((first + rest, store.trash_size().unwrap()), (600, (0, 0)));
}

#[test]
fn the_journal_tells_whether_somebody_else_has_written() {
    let home = TestHome::new();
    let store = FileStore::open(home.path(), FileStoreOptions::default()).unwrap();
    let services = services(FileStore::open(home.path(), FileStoreOptions::default()).unwrap());
    let start = store.journal_end().unwrap();
    assert!(!store.was_written_since(&start, "daemon").unwrap());
    write(&services, Draft::new("one"), SecretPolicy::Refuse).unwrap();
    assert!(
        store.was_written_since(&start, "daemon").unwrap()
            && !store.was_written_since(&start, "test").unwrap()
    );
    let end = store.journal_end().unwrap();
    assert!(!store.was_written_since(&end, "daemon").unwrap());
    assert!(store.was_written_since("nonsense", "daemon").unwrap());
}
