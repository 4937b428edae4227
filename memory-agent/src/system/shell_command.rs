//! Commands from a command line.

use std::process::Command;

/// Returns a command that runs a line in the shell of the system.
#[cfg(not(windows))]
pub(crate) fn shell_command(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    command
}

/// Returns a command that runs a line in the shell of the system.
#[cfg(windows)]
pub(crate) fn shell_command(line: &str) -> Command {
    use std::os::windows::process::CommandExt;

    let mut command = Command::new("cmd");
    // With /S, the shell removes exactly the outer quotes.
    command
        .args(["/D", "/S", "/C"])
        .raw_arg(format!("\"{line}\""));
    command
}
