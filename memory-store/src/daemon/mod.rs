//! The lock, state, log and file watcher of a daemon.
//!
//! `.daemon.lock` is locked by a running daemon, `index/daemon.json` contains its state, and `daemon.log` its log. A [`FileWatcher`] detects
//! files that other programs change.
//!
//! `.daemon.lock` also contains the id of the process, for display. The log has up to three previous files, and
//! contains no text of a memory.

mod lock;
mod log;
mod state;
mod watch;

pub use lock::{DaemonLock, DaemonProcess};
pub use log::{EventLog, LogFile};
pub use state::{ChoreResult, ChoreState, DaemonState};
pub use watch::{FileWatcher, WatchedChanges};
