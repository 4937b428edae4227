//! The lock, state, log and file watcher of a daemon.
//!
//! `.daemon.lock` is locked by a running daemon, `index/daemon.json` contains its state, and `daemon.log` its log. A [`FileWatcher`] detects
//! files that other programs change.

mod lock;
mod log;
mod state;
mod watch;

pub use lock::{DaemonLock, DaemonProcess};
pub use log::{EventLog, LogFile};
pub use state::{ChoreResult, ChoreState, DaemonState};
pub use watch::{FileWatcher, WatchedChanges};
