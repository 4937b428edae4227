//! The clock and the random ids of the system.

use memory_core::testing::{clock_suite, id_suite, notifier_suite};
use memory_core::{Notification, Notifier};
use memory_store::{DesktopNotifier, DesktopProgram, NoopNotifier, RandomIds, SystemClock};

#[test]
fn the_systems_clock_and_ids_keep_their_promises() {
    clock_suite(&SystemClock);
    id_suite(&RandomIds);
}

#[test]
fn what_shows_messages_keeps_its_promises() {
    notifier_suite(&NoopNotifier);
}

#[cfg(unix)]
#[test]
fn a_desktop_is_told_by_a_program_that_ends_well() {
    let place = |name: &str| {
        let places = ["/bin", "/usr/bin"].map(|folder| std::path::Path::new(folder).join(name));
        places.into_iter().find(|place| place.exists()).unwrap()
    };
    notifier_suite(&DesktopNotifier::new(
        DesktopProgram::NotifySend,
        place("true"),
    ));
    let notification = Notification {
        title: "Tea".into(),
        body: String::new(),
    };
    let failed = DesktopNotifier::new(DesktopProgram::Osascript, place("false"))
        .notify(&notification)
        .unwrap_err();
    assert_eq!(failed.why, "osascript failed (exit status: 1)");
}
