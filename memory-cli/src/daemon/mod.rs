//! The daemon: one thread runs chores, a second detects changed files, a third serves agents.
//!
//! Chores run in slices, between which they can be stopped. Files that other programs edit in place are reread under the
//! writer lock. A writer of this program updates the index before it releases that lock, so its changes are never
//! mistaken for those of others and trigger nothing. `index/daemon.json` stores the results for `memory status`
//! and for the next daemon.

mod builder;
mod chores;
mod daemon_log;
mod file_listener;
mod main_loop;
mod program_file;
mod servers;
mod web_page;

pub use builder::{Daemon, DaemonBuilder};
pub(crate) use builder::{OpenedDaemon, StopHandle};
pub(crate) use daemon_log::{DaemonLog, error_text};
pub(crate) use main_loop::{ChoreReport, DaemonEnd};
pub(crate) use program_file::ProgramFile;

/// The actor of the daemon's changes in the journal.
pub(crate) const ACTOR: &str = "daemon";
