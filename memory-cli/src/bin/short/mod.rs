//! Short names for commands of `memory`.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Replaces this process with the program `memory` in the same folder.
///
/// `command` is inserted before the arguments. The process name is `own`, which `memory` uses in help and hints.
pub(crate) fn become_memory(own: &str, command: &str) -> ExitCode {
    let beside = std::env::current_exe().map(|own| own.with_file_name("memory"));
    let error = match beside {
        Ok(program) => Command::new(program).arg0(own).arg(command).args(std::env::args_os().skip(1)).exec(),
        Err(error) => error,
    };
    eprintln!("error[io]: cannot run the program memory; it must be in the same folder as {own}\n  because: {error}");
    ExitCode::FAILURE
}
