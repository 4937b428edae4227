//! Short names for commands of `memory`.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Replaces this process with the program `memory` in the same folder.
///
/// The process name is `own`, by which `memory` selects the command. A symlink with this name to `memory` has the same effect.
pub(crate) fn become_memory(own: &str) -> ExitCode {
    let beside = std::env::current_exe().map(|own| own.with_file_name("memory"));
    let error = match beside {
        Ok(program) => Command::new(program).arg0(own).args(std::env::args_os().skip(1)).exec(),
        Err(error) => error,
    };
    eprintln!("error[io]: cannot run the program memory; it must be in the same folder as {own}\n  because: {error}");
    ExitCode::FAILURE
}
