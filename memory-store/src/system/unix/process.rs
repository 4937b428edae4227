//! Limits of processes, and the replacement of the running program.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};

use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};

/// Disables core dumps for this process and its children: a dump contains keys and memories.
///
/// # Errors
/// If the system call fails.
pub fn disable_core_dumps() -> io::Result<()> {
    let maximum = getrlimit(Resource::Core).maximum;
    Ok(setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum,
        },
    )?)
}

/// Limits the memory (in bytes) and the CPU time (in seconds) of this process.
///
/// Only memory that is written counts, including stacks; mapped files do not, so the size of the executable does not matter.
///
/// # Errors
/// If a system call fails.
pub fn limit_resources(memory: u64, seconds: u64) -> io::Result<()> {
    let bound = |most| Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    let counted = if cfg!(target_os = "linux") {
        Resource::Data
    } else {
        Resource::As
    };
    setrlimit(counted, bound(memory))?;
    Ok(setrlimit(Resource::Cpu, bound(seconds))?)
}

/// Lets the system kill this process when the thread that started it ends. Only Linux has this.
///
/// # Errors
/// If the system call fails.
pub fn end_with_parent() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(())
}

/// Returns whether a process ended because it exceeded its CPU time.
pub fn exceeded_cpu_time(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::XCPU.as_raw())
}

/// Raises the limit of open files of this process to at most `wanted`, and returns it; `None` if there is no limit.
pub fn raise_open_files_limit(wanted: u64) -> Option<u64> {
    let known = getrlimit(Resource::Nofile);
    let wanted = known.maximum.unwrap_or(wanted).min(wanted);
    let is_raised = known.current.is_some_and(|current| current < wanted)
        && setrlimit(
            Resource::Nofile,
            Rlimit {
                current: Some(wanted),
                ..known
            },
        )
        .is_ok();
    if is_raised {
        Some(wanted)
    } else {
        known.current
    }
}

/// Replaces this process with `command`. It returns only if this fails.
pub fn replace_process(command: &mut Command) -> io::Error {
    command.exec()
}

/// Returns the free space of the file system of `path` in bytes; `None` if the system does not report it.
///
/// # Errors
/// If the system call fails.
pub fn free_space(path: &Path) -> io::Result<Option<u64>> {
    let found = rustix::fs::statvfs(path)?;
    Ok(Some(found.f_bavail.saturating_mul(found.f_frsize)))
}
