//! How much a run of the tests tries, and what it leaves out.
//!
//! A normal run tries a sample of random or very many inputs and of thread schedules; `MEMORY_TEST_EXHAUSTIVE=1` tries everything, as
//! `.ci/nightly` does. A test whose requirements beyond Rust and a C compiler are missing is left out.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::{env, thread};

use shuttle::{check_pct, check_random};

/// Returns whether the tests try everything.
pub fn is_exhaustive() -> bool {
    env::var_os("MEMORY_TEST_EXHAUSTIVE").is_some_and(|value| value == "1")
}

/// Returns `sample` in a normal run, and `all` in an exhaustive one.
pub fn extent<T>(sample: T, all: T) -> T {
    if is_exhaustive() { all } else { sample }
}

/// Returns whether a normal run tries `case`, one of `rate` on average. An exhaustive run tries all.
///
/// `MEMORY_TEST_SEED` determines the sample.
pub fn is_sampled(case: impl Hash, rate: u64) -> bool {
    let mut hasher = DefaultHasher::new();
    (env::var_os("MEMORY_TEST_SEED"), case).hash(&mut hasher);
    is_exhaustive() || hasher.finish().is_multiple_of(rate)
}

/// Runs `claim` under random schedules, and under schedules that delay a thread at critical points.
///
/// Threads are switched at operations of `shuttle::sync` and `shuttle::thread`. Time does not pass, so that timeouts never expire.
///
/// # Panics
/// In the first schedule in which `claim` fails, with the data to replay it.
pub fn in_any_order(claim: fn()) {
    let schedules = extent(250, 2_000);
    check_random(claim, schedules);
    check_pct(claim, schedules, 3);
}

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
