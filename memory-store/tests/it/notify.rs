//! Reminders are shown once by several processes, and no crash loses one.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::testing::FakeNotifier;
use memory_core::{
    Category, Draft, Notification, Notifier, NotifyError, Reminder, ReminderFilter, SecretPolicy,
    Services, notify, pending, reminders, write,
};
use memory_store::disk::RealDisk;
use memory_store::{FileStore, FileStoreOptions};

use crate::faulty_disk::{DiskFault, FaultyDisk};
use crate::home::{TestHome, services};

/// Environment variable with the home of a process that shows the due reminders.
const TASK: &str = "MEMORY_TEST_NOTIFIER";
const PROCESSES: usize = 3;
const REMINDERS: i64 = 24;

fn put(services: &Services, number: i64) {
    let reminder = Some(Reminder::new(
        DateTime::UNIX_EPOCH + TimeDelta::seconds(number),
    ));
    let draft = Draft {
        category: Some(Category::Reminders),
        reminder,
        ..Draft::new(&format!("number {number}"))
    };
    write(services, draft, SecretPolicy::Refuse).unwrap();
}

#[test]
fn whoever_dies_while_showing_leaves_what_was_not_shown_due() {
    for at in 1.. {
        let home = TestHome::new();
        put(&home.services(), 1);
        let (disk, steps) =
            FaultyDisk::new(RealDisk::open(home.path()).unwrap(), DiskFault::Dies, at);
        let dying = services(FileStore::on_disk(
            Arc::new(disk),
            home.path(),
            FileStoreOptions::default(),
        ));
        let (first, second) = (FakeNotifier::default(), FakeNotifier::default());
        let died = notify(&dying, &first, &Utc).is_err();
        let after = home.services();
        notify(&after, &second, &Utc).unwrap();
        let shown = first.shown().len() + second.shown().len();
        assert!(shown <= 1, "a cut at step {at}: shown {shown} times");
        assert!(
            died || shown == 1,
            "a cut at step {at}: told that it was shown, and it was not"
        );
        assert_eq!(
            reminders(&after, ReminderFilter::Due, None).unwrap().total,
            1,
            "a cut at step {at}: due until it is done"
        );
        assert!(
            pending(&after, &Utc)
                .unwrap()
                .is_some_and(|page| page.contains("number 1")),
            "a cut at step {at}"
        );
        if steps.load(Ordering::Relaxed) < at {
            assert_eq!(first.shown().len(), 1, "a disk that works");
            return;
        }
    }
}

/// A notifier that fails after the disk has died, so the failure cannot be recorded either.
#[derive(Debug)]
struct FailingNotifier;

impl Notifier for FailingNotifier {
    fn notify(&self, _: &Notification) -> Result<(), NotifyError> {
        Err(NotifyError {
            why: "nobody looks".into(),
        })
    }
}

#[test]
fn a_failure_that_cannot_be_written_down_loses_nothing_that_is_due() {
    for at in 1.. {
        let home = TestHome::new();
        put(&home.services(), 1);
        let (disk, steps) =
            FaultyDisk::new(RealDisk::open(home.path()).unwrap(), DiskFault::Dies, at);
        let _ = notify(
            &services(FileStore::on_disk(
                Arc::new(disk),
                home.path(),
                FileStoreOptions::default(),
            )),
            &FailingNotifier,
            &Utc,
        );
        let after = home.services();
        notify(&after, &FakeNotifier::default(), &Utc).unwrap();
        assert_eq!(
            reminders(&after, ReminderFilter::Due, None).unwrap().total,
            1,
            "a cut at step {at}"
        );
        if steps.load(Ordering::Relaxed) < at {
            return;
        }
    }
}

/// A notifier process. On its own it shows all; the test below starts several at once.
#[test]
fn a_notifier_shows_what_is_due() {
    if let Ok(home) = std::env::var(TASK) {
        let notifier = FakeNotifier::default();
        notify(
            &services(FileStore::open(Path::new(&home), FileStoreOptions::default()).unwrap()),
            &notifier,
            &Utc,
        )
        .unwrap();
        notifier
            .shown()
            .iter()
            .for_each(|shown| println!("\nshown: {}", shown.body));
        return;
    }
    let home = TestHome::new();
    (0..3).for_each(|number| put(&home.services(), number));
    let notifier = FakeNotifier::default();
    notify(&home.services(), &notifier, &Utc).unwrap();
    assert_eq!(notifier.shown().len(), 3);
}

#[test]
fn processes_that_notify_at_once_show_each_reminder_once() {
    let home = TestHome::new();
    let services = home.services();
    (0..REMINDERS).for_each(|number| put(&services, number));
    let notifiers: Vec<_> = (0..PROCESSES).map(|_| start(&home)).collect();
    let mut shown = HashMap::<String, usize>::new();
    for notifier in notifiers {
        let output = notifier.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        for body in text.lines().filter_map(|line| line.strip_prefix("shown: ")) {
            *shown.entry(body.to_owned()).or_default() += 1;
        }
    }
    assert_eq!(shown.len(), usize::try_from(REMINDERS).unwrap());
    assert!(shown.values().all(|times| *times == 1), "{shown:?}");
}

fn start(home: &TestHome) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "notify::a_notifier_shows_what_is_due",
            "--nocapture",
        ])
        .env(TASK, home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}
