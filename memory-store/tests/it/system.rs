//! The machine's clock and chance.

use memory_core::testing::{clock_suite, id_suite, notifier_suite};
use memory_store::{FileNotifier, RandomIds, SystemClock};

#[test]
fn the_systems_clock_and_ids_keep_their_promises() {
    clock_suite(&SystemClock);
    id_suite(&RandomIds);
}

#[test]
fn what_shows_messages_keeps_its_promises() {
    notifier_suite(&FileNotifier);
}

#[cfg(unix)]
#[test]
fn a_desktop_gets_the_texts_of_a_message() {
    use std::os::unix::fs::PermissionsExt;

    use memory_core::{Notification, Notifier};
    use memory_store::{Desktop, DesktopNotifier};

    let folder = tempfile::tempdir().unwrap();
    let (program, shown) = (folder.path().join("notify-send"), folder.path().join("shown"));
    std::fs::write(&program, format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n", shown.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let notifier = DesktopNotifier::new(Desktop::NotifySend, program);
    notifier_suite(&notifier);
    notifier.notify(&Notification { title: "Tea".into(), body: "$(id) `id`".into() }).unwrap();
    assert_eq!(std::fs::read_to_string(shown).unwrap(), "--app-name=memory\n--\nTea\n$(id) `id`\n");
}
