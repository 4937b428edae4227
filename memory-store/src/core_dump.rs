//! What a process leaves behind that dies of a mistake.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Has this process, and those that it starts, leave no image of their memory behind: keys and memories stand in it.
///
/// # Errors
/// When the system refuses.
pub fn leave_no_core() -> io::Result<()> {
    let maximum = getrlimit(Resource::Core).maximum;
    Ok(setrlimit(Resource::Core, Rlimit { current: Some(0), maximum })?)
}
