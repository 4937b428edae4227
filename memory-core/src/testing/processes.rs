//! Other programs, users and threads in tests.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::leave_out;

/// The longest time that a condition may take, on a machine that is busy with other tests.
const DEADLINE: Duration = Duration::from_mins(2);

/// The pause between two checks of a condition.
const PAUSE: Duration = Duration::from_millis(1);

/// Returns a command that runs `program` as another user, without any rights of this one.
///
/// Without the rights of root, or without `setpriv`, it reports that the current test is left out, and returns `None`.
///
/// # Panics
/// Like [`leave_out`].
pub fn command_of_another_user(program: &str) -> Option<Command> {
    let command = |program: &str| {
        let mut command = Command::new("setpriv");
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups", program];
        command.args(user);
        command
    };
    let is_allowed = command("true")
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !is_allowed {
        leave_out("only root can run a program as another user, and only with setpriv");
    }
    is_allowed.then(|| command(program))
}

/// Copies the content of a folder, with owners, modes and times, into a folder that is created if it does not exist.
///
/// # Panics
/// If the copy fails.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be created");
    copy(&from.join("."), to);
}

/// Copies a program that will be run. The kernel runs no file that a process has open to write, and a process that another
/// thread starts meanwhile would have a copy made in this process open.
///
/// # Panics
/// If the copy fails.
pub fn copy_program(from: &Path, to: &Path) {
    copy(from, to);
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp")
        .arg("-a")
        .args([from, to])
        .output()
        .expect("cp runs");
    assert!(
        copied.status.success(),
        "cannot copy {}: {}",
        from.display(),
        String::from_utf8_lossy(&copied.stderr)
    );
}

/// Waits until `condition` is true, which another thread or process makes true.
///
/// # Panics
/// If `condition` is false for two minutes, with `what` as the message.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !condition() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        #[expect(
            clippy::disallowed_methods,
            reason = "a check without a pause takes a core from what it waits for"
        )]
        std::thread::sleep(PAUSE);
    }
}
