//! How far tests search that try random or very many inputs.
//!
//! A normal run tries a sample; `MEMORY_TEST_EXHAUSTIVE=1` tries everything, as `.ci/nightly` does.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};

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
