//! Requirements of tests beyond Rust and a C compiler.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::{env, thread};

/// Reports that the current test is left out, and why.
///
/// The line `left out: TEST: WHY` is on the standard error even if the harness captures the output of tests. `.ci/run` repeats
/// these tests after it has installed the requirements.
///
/// # Panics
/// With `MEMORY_TEST_REQUIRE_ALL=1`.
pub fn leave_out(why: &str) {
    let current = thread::current();
    let test = current.name().unwrap_or("a thread of a test");
    assert!(
        env::var_os("MEMORY_TEST_REQUIRE_ALL").is_none_or(|value| value != "1"),
        "{test} must not be left out: {why}"
    );
    // `eprintln!` would be captured. One write keeps the line whole beside other output; if nobody reads it, nothing is lost.
    let line = format!("\nleft out: {test}: {why}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

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
