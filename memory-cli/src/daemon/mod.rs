//! The daemon: one thread runs chores, a second detects changed files, a third handles signals.
//!
//! Chores run in slices, between which they can be stopped. Work that continues four seconds after a signal is
//! abandoned, which is as safe as a power cut. Files that other programs edit in place are reread under the
//! writer lock. A writer of this program updates the index before it releases that lock, so its changes are never
//! mistaken for those of others and trigger nothing. `index/daemon.json` stores the results for `memory status`
//! and for the next daemon.

mod chores;
mod daemon_log;
mod file_listener;
mod main_loop;
mod servers;

pub(crate) use chores::HomeChores;
pub(crate) use daemon_log::{DaemonLog, error_text};
pub(crate) use file_listener::{FileListener, ForeignWriteFlag};
pub(crate) use main_loop::{ChoreReport, run_chores, run_once};
pub(crate) use servers::DaemonServers;

/// The actor of the daemon's changes in the journal.
pub(crate) const ACTOR: &str = "daemon";
