//! What a daemon needs of the home, and what it leaves there.
//!
//! `.daemon.lock` says that one is running, `index/daemon.json` what it has done, `daemon.log` what happened; and a [`Watch`]
//! tells which files others have changed.

mod lock;
mod log;
mod state;
mod watch;

pub use lock::{DaemonLock, DaemonProcess};
pub use log::{Log, LogFile};
pub use state::{ChoreState, DaemonState, Ending};
pub use watch::{News, Watch};
