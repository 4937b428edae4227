//! `memory-cli`: short for `memory bank`.
//!
//! It becomes the program `memory` that lies beside it.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let beside = std::env::current_exe().map(|own| own.with_file_name("memory"));
    let error = match beside {
        Ok(program) => Command::new(program).arg("bank").args(std::env::args_os().skip(1)).exec(),
        Err(error) => error,
    };
    eprintln!("error[io]: cannot run the program memory, which should lie beside memory-cli\n  because: {error}");
    ExitCode::FAILURE
}
