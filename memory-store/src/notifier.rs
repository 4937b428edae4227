//! Desktop notifications, shown by an external program, and the notifier that shows none.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use memory_core::text::to_one_line;
use memory_core::{Notification, Notifier, NotifyError};

use crate::command::run;

/// Maximum run time of the program.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum length of the title and of the body in characters.
const MAX_CHARACTERS: usize = 500;

/// A notifier that shows messages on a desktop.
#[derive(Debug, Clone)]
pub struct DesktopNotifier {
    desktop: DesktopProgram,
    program: PathBuf,
    bus: Option<PathBuf>,
}

/// The program that shows messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DesktopProgram {
    /// `osascript`, which is part of macOS.
    Osascript,
    /// `notify-send` of libnotify, which sends messages to the notification server over D-Bus.
    NotifySend,
}

impl DesktopProgram {
    /// Returns the name of the program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Osascript => "osascript",
            Self::NotifySend => "notify-send",
        }
    }
}

impl DesktopNotifier {
    /// Returns a notifier that runs the program of `desktop` at the path `program`.
    pub fn new(desktop: DesktopProgram, program: PathBuf) -> Self {
        Self {
            desktop,
            program,
            bus: None,
        }
    }

    /// Sets the path of the session bus, for environments that do not contain it.
    #[must_use]
    pub fn with_bus(self, bus: PathBuf) -> Self {
        Self {
            bus: Some(bus),
            ..self
        }
    }
}

impl Notifier for DesktopNotifier {
    fn notify(&self, notification: &Notification) -> Result<(), NotifyError> {
        let mut command = Command::new(&self.program);
        command.args(build_arguments(self.desktop, notification));
        command.envs(self.bus.as_ref().map(|bus| {
            (
                "DBUS_SESSION_BUS_ADDRESS",
                format!("unix:path={}", bus.display()),
            )
        }));
        run(&mut command, TIMEOUT).map_err(|why| NotifyError {
            why: format!("{} {why}", self.desktop.name()),
        })
    }
}

/// A notifier that shows nothing.
///
/// The due reminders are in `pending.md`, which [`crate::FileStore::update_pending_page`] writes.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopNotifier;

impl Notifier for NoopNotifier {
    fn notify(&self, _: &Notification) -> Result<(), NotifyError> {
        Ok(())
    }
}

/// The script receives its texts as arguments, so that no text of a memory is part of a program.
const SCRIPT: [&str; 3] = [
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
];

fn build_arguments(desktop: DesktopProgram, notification: &Notification) -> Vec<String> {
    let title = title_or_default(to_one_line(&notification.title, MAX_CHARACTERS));
    let body = to_one_line(&notification.body, MAX_CHARACTERS);
    match desktop {
        DesktopProgram::Osascript => {
            let script = SCRIPT
                .into_iter()
                .flat_map(|line| ["-e".to_owned(), line.to_owned()]);
            script.chain([escape_leading_dash(title), body]).collect()
        }
        DesktopProgram::NotifySend => vec![
            "--app-name=memory".into(),
            "--".into(),
            title,
            escape_markup(&body),
        ],
    }
}

/// Returns the title, or `memory` if it is empty: a message without a title is rejected.
fn title_or_default(title: String) -> String {
    if title.is_empty() {
        "memory".into()
    } else {
        title
    }
}

/// Returns a title that is not parsed as an option. The argument after it is never parsed as one.
fn escape_leading_dash(title: String) -> String {
    if title.starts_with('-') {
        format!(" {title}")
    } else {
        title
    }
}

/// Returns a text escaped so that it is shown literally.
///
/// `notify-send` interprets `\n` and similar escapes, and desktops interpret
/// [markup](https://specifications.freedesktop.org/notification-spec/latest/markup.html).
fn escape_markup(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments_for(desktop: DesktopProgram, title: &str, body: &str) -> Vec<String> {
        build_arguments(
            desktop,
            &Notification {
                title: title.into(),
                body: body.into(),
            },
        )
    }

    #[test]
    fn texts_are_arguments_and_never_part_of_the_script() {
        let hostile = "\" & (do shell script \"id\") & \"\u{7}\nend run";
        let arguments = arguments_for(DesktopProgram::Osascript, "-e", hostile);
        let script: Vec<_> = SCRIPT.iter().flat_map(|line| ["-e", line]).collect();
        assert_eq!(arguments[..6], script);
        assert_eq!(
            arguments[6..],
            [" -e", "\" & (do shell script \"id\") & \" end run"]
        );
    }

    #[test]
    fn a_desktop_shows_marks_and_obeys_none() {
        let arguments = arguments_for(
            DesktopProgram::NotifySend,
            "--urgency=critical",
            "a <b>& \\n\u{1b}[0m\tc",
        );
        assert_eq!(
            arguments,
            [
                "--app-name=memory",
                "--",
                "--urgency=critical",
                "a &lt;b&gt;&amp; \\\\n[0m c"
            ]
        );
        assert_eq!(
            arguments_for(DesktopProgram::NotifySend, "\n", "")[2],
            "memory"
        );
    }
}
