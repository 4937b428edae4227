//! Showing messages on a desktop, by the program that it has for that.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use memory_core::text::one_line;
use memory_core::{Notification, Notifier, NotifyError};

use super::run::run;

/// How long the program may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest line that is shown, in characters.
const LONGEST: usize = 500;

/// Shows messages on a desktop.
#[derive(Debug, Clone)]
pub struct DesktopNotifier {
    desktop: Desktop,
    program: PathBuf,
    bus: Option<PathBuf>,
}

/// Which program shows messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Desktop {
    /// `osascript`, which comes with macOS.
    Osascript,
    /// `notify-send` of libnotify, which speaks to whatever shows messages over D-Bus.
    NotifySend,
}

impl Desktop {
    /// Returns the name of the program.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Osascript => "osascript",
            Self::NotifySend => "notify-send",
        }
    }
}

impl DesktopNotifier {
    /// Returns what shows messages by the program of `desktop` that lies at `program`.
    pub fn new(desktop: Desktop, program: PathBuf) -> Self {
        Self { desktop, program, bus: None }
    }

    /// Has the program speak to the session whose bus lies at `bus`, for where the environment does not say which.
    #[must_use]
    pub fn on_bus(self, bus: PathBuf) -> Self {
        Self { bus: Some(bus), ..self }
    }
}

impl Notifier for DesktopNotifier {
    fn notify(&self, notification: &Notification) -> Result<(), NotifyError> {
        let mut command = Command::new(&self.program);
        command.args(arguments(self.desktop, notification));
        command.envs(self.bus.as_ref().map(|bus| ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", bus.display()))));
        run(&mut command, PATIENCE).map_err(|why| NotifyError { why: format!("{} {why}", self.desktop.program()) })
    }
}

/// The script gets its texts as arguments: nothing that is remembered is ever part of a program.
const SCRIPT: [&str; 3] = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];

fn arguments(desktop: Desktop, notification: &Notification) -> Vec<String> {
    let title = filled(one_line(&notification.title, LONGEST));
    let body = one_line(&notification.body, LONGEST);
    match desktop {
        Desktop::Osascript => {
            let script = SCRIPT.into_iter().flat_map(|line| ["-e".to_owned(), line.to_owned()]);
            script.chain([no_option(title), body]).collect()
        }
        Desktop::NotifySend => vec!["--app-name=memory".into(), "--".into(), title, unmarked(&body)],
    }
}

/// A message without a title is refused.
fn filled(title: String) -> String {
    if title.is_empty() { "memory".into() } else { title }
}

/// Returns a title that cannot be taken for an option; what follows it is taken for none.
fn no_option(title: String) -> String {
    if title.starts_with('-') { format!(" {title}") } else { title }
}

/// Returns a text so that it is shown as it is: `notify-send` reads `\n` and the like, and desktops read
/// [markup](https://specifications.freedesktop.org/notification-spec/latest/markup.html).
fn unmarked(text: &str) -> String {
    text.replace('\\', "\\\\").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(desktop: Desktop, title: &str, body: &str) -> Vec<String> {
        arguments(desktop, &Notification { title: title.into(), body: body.into() })
    }

    #[test]
    fn texts_are_arguments_and_never_part_of_the_script() {
        let hostile = "\" & (do shell script \"id\") & \"\u{7}\nend run";
        let arguments = of(Desktop::Osascript, "-e", hostile);
        let script: Vec<_> = SCRIPT.iter().flat_map(|line| ["-e", line]).collect();
        assert_eq!(arguments[..6], script);
        assert_eq!(arguments[6..], [" -e", "\" & (do shell script \"id\") & \" end run"]);
    }

    #[test]
    fn a_desktop_shows_marks_and_obeys_none() {
        let arguments = of(Desktop::NotifySend, "--urgency=critical", "a <b>& \\n\u{1b}[0m\tc");
        assert_eq!(arguments, ["--app-name=memory", "--", "--urgency=critical", "a &lt;b&gt;&amp; \\\\n[0m c"]);
        assert_eq!(of(Desktop::NotifySend, "\n", "")[2], "memory");
    }
}
