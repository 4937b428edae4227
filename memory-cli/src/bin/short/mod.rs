//! Short names for commands of `memory`.

use std::io;
use std::process::{Command, ExitCode};

use memory_store::system::replace_process;

/// Replaces this process with the program `memory` in the same folder, which runs `command`.
///
/// On Unix the process name is `own`, by which `memory` selects the command and writes its help. A symlink with this name to
/// `memory` has the same effect.
pub(crate) fn become_memory(own: &str, command: &str) -> ExitCode {
    let error = run_memory(own, command);
    eprintln!(
        "error[io]: cannot run the program memory; it must be in the same folder as {own}\n  because: {error}"
    );
    ExitCode::FAILURE
}

#[cfg(unix)]
fn run_memory(own: &str, _: &str) -> io::Error {
    use std::os::unix::process::CommandExt;

    match std::env::current_exe() {
        Ok(program) => {
            let mut memory = Command::new(program.with_file_name("memory"));
            replace_process(memory.arg0(own).args(std::env::args_os().skip(1)))
        }
        Err(error) => error,
    }
}

#[cfg(not(unix))]
fn run_memory(_: &str, command: &str) -> io::Error {
    match std::env::current_exe() {
        Ok(program) => {
            let name = format!("memory{}", std::env::consts::EXE_SUFFIX);
            let mut memory = Command::new(program.with_file_name(name));
            replace_process(memory.arg(command).args(std::env::args_os().skip(1)))
        }
        Err(error) => error,
    }
}
