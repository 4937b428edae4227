//! Calls for processes and local sockets that differ between operating systems.
//!
//! The module `system` of `memory-store` has the calls for files. As there, `unix` is for Linux, macOS and other Unix systems, and
//! `portable` uses the standard library only; `--cfg portable_system` selects `portable` on Unix as well.
//!
//! | concern | `unix` | `portable` |
//! |---|---|---|
//! | the socket in the home | a Unix socket; the system reports the user of a client | a TCP listener on 127.0.0.1; the file of the socket has its address and a random token, which a client sends first |
//! | a command with all processes that it starts | a process group | Windows: the tree of child processes, by `taskkill`; else the process only |
//! | bytes that wait on the standard input | `FIONREAD` | unknown |
//! | a command line | `sh -c` | Windows: `cmd /S /C` |

#[cfg(any(not(unix), portable_system))]
mod portable;
mod shell_command;
#[cfg(all(unix, not(portable_system)))]
mod unix;

#[cfg(any(not(unix), portable_system))]
use self::portable as current;
#[cfg(all(unix, not(portable_system)))]
use self::unix as current;

pub use current::input::has_waiting_input;
#[cfg(feature = "server")]
pub(crate) use current::local_socket;
pub use current::process_group::own_group;
pub(crate) use current::process_group::{kill_group, wait_for_exit};
pub(crate) use shell_command::shell_command;
