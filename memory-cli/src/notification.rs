//! How a person is told of what is due.

use std::ffi::OsStr;
use std::path::PathBuf;

use memory_core::Notifier;
use memory_store::{Desktop, DesktopNotifier, FileNotifier};

use crate::config::{Environment, NotificationMethod};

/// The way that is taken.
pub(crate) struct Way {
    /// What shows messages.
    pub notifier: Box<dyn Notifier>,
    /// What it is called.
    pub name: &'static str,
    /// Why it is not the one that the settings name, if it is not.
    pub instead: Option<String>,
}

/// Returns the way that the settings name, or the next best on this machine.
pub(crate) fn way(method: NotificationMethod, environment: &Environment) -> Way {
    let find = |desktop: Desktop| find(desktop.program(), environment.path.as_deref());
    let wanted = match method {
        NotificationMethod::File => None,
        NotificationMethod::NotifySend => Some(Desktop::NotifySend),
        NotificationMethod::Osascript | NotificationMethod::Auto => Some(Desktop::Osascript),
    };
    let Some(wanted) = wanted else { return by_file(None) };
    if let Some(program) = find(wanted) {
        return by_desktop(wanted, program, None);
    }
    let missing = |instead: &str| {
        let is_named = method != NotificationMethod::Auto;
        is_named.then(|| format!("there is no {} here; {instead}", wanted.program()))
    };
    match find(Desktop::NotifySend) {
        Some(program) => by_desktop(Desktop::NotifySend, program, missing("notify-send is taken instead")),
        None => by_file(missing("what is due stands in pending.md only")),
    }
}

fn by_desktop(desktop: Desktop, program: PathBuf, instead: Option<String>) -> Way {
    Way { notifier: Box::new(DesktopNotifier::new(desktop, program)), name: desktop.program(), instead }
}

fn by_file(instead: Option<String>) -> Way {
    Way { notifier: Box::new(FileNotifier), name: "file", instead }
}

/// Finds a program in the folders of `PATH`; those that are not absolute may hold anybody's.
fn find(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let folders = std::env::split_paths(path?).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(method: NotificationMethod, programs: &[&str]) -> (&'static str, Option<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        for program in programs {
            std::fs::write(folder.path().join(program), "").expect("a file");
        }
        let environment = Environment { path: Some(folder.path().into()), ..Environment::default() };
        let way = way(method, &environment);
        (way.name, way.instead)
    }

    #[test]
    fn the_way_that_is_named_is_taken_where_it_can_be() {
        let both = ["osascript", "notify-send"];
        assert_eq!(chosen(NotificationMethod::Osascript, &both), ("osascript", None));
        assert_eq!(chosen(NotificationMethod::NotifySend, &both), ("notify-send", None));
        assert_eq!(chosen(NotificationMethod::File, &both), ("file", None));
        assert_eq!(chosen(NotificationMethod::Auto, &both), ("osascript", None));
    }

    #[test]
    fn what_is_taken_instead_is_said_unless_nobody_named_anything() {
        let instead = |program: &str, rest: &str| Some(format!("there is no {program} here; {rest}"));
        let taken = instead("osascript", "notify-send is taken instead");
        assert_eq!(chosen(NotificationMethod::Osascript, &["notify-send"]), ("notify-send", taken));
        let page = "what is due stands in pending.md only";
        assert_eq!(chosen(NotificationMethod::Osascript, &[]), ("file", instead("osascript", page)));
        assert_eq!(chosen(NotificationMethod::NotifySend, &["osascript"]), ("file", instead("notify-send", page)));
        assert_eq!(chosen(NotificationMethod::Auto, &["notify-send"]), ("notify-send", None));
        assert_eq!(chosen(NotificationMethod::Auto, &[]), ("file", None));
    }
}
