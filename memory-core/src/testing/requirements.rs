//! Requirements of tests beyond Rust and a C compiler.

use std::io::{self, Write as _};
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
