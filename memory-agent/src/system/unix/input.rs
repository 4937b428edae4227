//! The standard input of this process.

use std::io;

/// Returns whether bytes wait on the standard input; it never waits itself.
pub fn has_waiting_input() -> bool {
    rustix::io::ioctl_fionread(io::stdin()).is_ok_and(|count| 0 < count)
}
