//! Disables core dumps.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Disables core dumps for this process and its children: a dump contains keys and memories.
///
/// # Errors
/// If the system call fails.
pub fn disable_core_dumps() -> io::Result<()> {
    let maximum = getrlimit(Resource::Core).maximum;
    Ok(setrlimit(Resource::Core, Rlimit { current: Some(0), maximum })?)
}
