//! Selection of the notification method.

use std::ffi::OsStr;
use std::path::PathBuf;

use memory_core::Notifier;
use memory_store::{DesktopNotifier, DesktopProgram, NoopNotifier};

use crate::config::{Environment, NotificationMethod};

/// The selected notification method.
pub(crate) struct SelectedNotifier {
    /// The notifier.
    pub notifier: Box<dyn Notifier>,
    /// Name of the method.
    pub name: &'static str,
    /// Reason for the difference from the configured method, if it differs.
    pub instead: Option<String>,
}

/// Whether this build is for macOS, the only system with `osascript`.
const IS_MACOS: bool = cfg!(target_os = "macos");

/// Returns the configured method, or else the best available one.
pub(crate) fn select_notifier(
    method: NotificationMethod,
    environment: &Environment,
) -> SelectedNotifier {
    let wanted = match method {
        NotificationMethod::File => return with_file(None),
        NotificationMethod::NotifySend => DesktopProgram::NotifySend,
        NotificationMethod::Osascript | NotificationMethod::Auto => DesktopProgram::Osascript,
    };
    let missing = match find_desktop_notifier(wanted, environment) {
        Ok(notifier) => return with_desktop(wanted, notifier, None),
        Err(missing) => missing,
    };
    // The default setting names the method of macOS; on other systems a warning would be wrong.
    let is_missed = method == NotificationMethod::NotifySend
        || (method == NotificationMethod::Osascript && IS_MACOS);
    let said = |instead: &str| is_missed.then(|| format!("{missing}; {instead}"));
    match find_desktop_notifier(DesktopProgram::NotifySend, environment) {
        Ok(notifier) => with_desktop(
            DesktopProgram::NotifySend,
            notifier,
            said("notify-send is used instead"),
        ),
        Err(_) if method == NotificationMethod::Auto || is_missed => {
            with_file(said("due reminders are listed in pending.md only"))
        }
        Err(_) => with_file(Some(
            "no desktop session found; due reminders are listed in pending.md only".into(),
        )),
    }
}

/// Returns the notifier for a desktop, or the reason for its absence.
fn find_desktop_notifier(
    desktop: DesktopProgram,
    environment: &Environment,
) -> Result<DesktopNotifier, String> {
    let program = desktop.name();
    let found = find_program(program, environment.path.as_deref())
        .ok_or_else(|| format!("{program} not found"))?;
    let notifier = DesktopNotifier::new(desktop, found);
    if desktop == DesktopProgram::Osascript || environment.has_desktop {
        return Ok(notifier);
    }
    // A cron job has no variable for the desktop session, so the default path is tried.
    let bus = environment
        .runtime
        .as_ref()
        .map(|runtime| runtime.join("bus"))
        .filter(|bus| bus.exists());
    bus.map(|bus| notifier.with_bus(bus))
        .ok_or_else(|| format!("no desktop session found for {program}"))
}

fn with_desktop(
    desktop: DesktopProgram,
    notifier: DesktopNotifier,
    instead: Option<String>,
) -> SelectedNotifier {
    SelectedNotifier {
        notifier: Box::new(notifier),
        name: desktop.name(),
        instead,
    }
}

fn with_file(instead: Option<String>) -> SelectedNotifier {
    SelectedNotifier {
        notifier: Box::new(NoopNotifier),
        name: "file",
        instead,
    }
}

/// Finds a program in the absolute folders of `PATH`; relative ones could contain any program.
pub(crate) fn find_program(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let folders = std::env::split_paths(path?).filter(|folder| folder.is_absolute());
    folders
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected(method: NotificationMethod, programs: &[&str]) -> (&'static str, Option<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        for program in programs {
            std::fs::write(folder.path().join(program), "").expect("a file");
        }
        let environment = Environment {
            path: Some(folder.path().into()),
            has_desktop: true,
            ..Environment::default()
        };
        let way = select_notifier(method, &environment);
        (way.name, way.instead)
    }

    #[test]
    fn the_way_that_is_named_is_taken_where_it_can_be() {
        let both = ["osascript", "notify-send"];
        assert_eq!(
            selected(NotificationMethod::Osascript, &both),
            ("osascript", None)
        );
        assert_eq!(
            selected(NotificationMethod::NotifySend, &both),
            ("notify-send", None)
        );
        assert_eq!(selected(NotificationMethod::File, &both), ("file", None));
        assert_eq!(
            selected(NotificationMethod::Auto, &both),
            ("osascript", None)
        );
    }

    #[test]
    fn what_is_taken_instead_is_said_unless_nobody_named_anything() {
        let instead = |program: &str, rest: &str| Some(format!("{program} not found; {rest}"));
        let page = "due reminders are listed in pending.md only";
        assert_eq!(
            selected(NotificationMethod::NotifySend, &["osascript"]),
            ("file", instead("notify-send", page))
        );
        assert_eq!(
            selected(NotificationMethod::Auto, &["notify-send"]),
            ("notify-send", None)
        );
        assert_eq!(selected(NotificationMethod::Auto, &[]), ("file", None));
    }

    #[test]
    #[cfg(not(target_os = "macos"))]
    fn the_program_of_macos_is_not_missed_elsewhere() {
        assert_eq!(
            selected(NotificationMethod::Osascript, &["notify-send"]),
            ("notify-send", None)
        );
        let (name, instead) = selected(NotificationMethod::Osascript, &[]);
        let page = "no desktop session found; due reminders are listed in pending.md only";
        assert_eq!((name, instead.as_deref()), ("file", Some(page)));
    }

    #[test]
    fn a_desktop_is_found_by_its_bus_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("notify-send"), "").expect("a file");
        let here = Some(folder.path().to_owned());
        let environment = Environment {
            path: Some(folder.path().into()),
            runtime: here,
            ..Environment::default()
        };
        let method = NotificationMethod::NotifySend;
        let nowhere =
            "no desktop session found for notify-send; due reminders are listed in pending.md only";
        assert_eq!(
            select_notifier(method, &environment).instead.as_deref(),
            Some(nowhere)
        );
        std::fs::write(folder.path().join("bus"), "").expect("a file");
        assert_eq!(
            (
                select_notifier(method, &environment).name,
                select_notifier(method, &environment).instead
            ),
            ("notify-send", None)
        );
    }
}
