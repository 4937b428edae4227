//! Processes that are stopped with the processes that they started, as far as the standard library allows.

use std::process::{Child, Command};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Interval between checks for the end of a process.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Makes a command start in a process group of its own, so that an interrupt of this process does not interrupt it.
///
/// This works only on Windows.
pub fn own_group(command: &mut Command) -> &mut Command {
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;

        const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
        command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    }
    command
}

/// Waits at most `patience` for a command to exit; returns whether it exited.
pub(crate) fn wait_for_exit(child: &mut Child, patience: Duration) -> bool {
    let end = Instant::now() + patience;
    let (_sender, receiver) = channel::<()>();
    while matches!(child.try_wait(), Ok(None)) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let _ = receiver.recv_timeout(left.min(CHECK_INTERVAL));
    }
    true
}

/// Kills a command. On Windows, the processes that it started are killed as well, if it still runs.
pub(crate) fn kill_group(child: &mut Child) {
    if !matches!(child.try_wait(), Ok(None)) {
        return;
    }
    #[cfg(windows)]
    {
        use std::process::Stdio;

        let mut command = Command::new("taskkill");
        command.args(["/T", "/F", "/PID", &child.id().to_string()]);
        let _ = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
    let _ = child.kill();
}
