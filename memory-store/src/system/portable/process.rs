//! Limits of processes, which this implementation does not set, and the replacement of the running program.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Does nothing: the standard library has no call for it, and Windows writes no core dumps by default.
///
/// # Errors
/// Never.
pub fn disable_core_dumps() -> io::Result<()> {
    Ok(())
}

/// Does nothing: only the parent process limits the time of its child.
///
/// # Errors
/// Never.
pub fn limit_resources(_: u64, _: u64) -> io::Result<()> {
    Ok(())
}

/// Does nothing: a child process that outlives its parent ends when it writes its output.
///
/// # Errors
/// Never.
pub fn end_with_parent() -> io::Result<()> {
    Ok(())
}

/// Returns `false`: CPU time is not limited.
pub fn exceeded_cpu_time(_: ExitStatus) -> bool {
    false
}

/// Returns `None`: the limit is not known.
pub fn raise_open_files_limit(_: u64) -> Option<u64> {
    None
}

/// Runs `command` in a child process, waits for it, and exits with its exit code. It returns only if this fails.
pub fn replace_process(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

/// Returns `None`: the standard library does not report free space.
///
/// # Errors
/// Never.
pub fn free_space(_: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}
