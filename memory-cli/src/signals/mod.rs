//! Signals that end the process, received one after the other on a thread.

#[cfg(any(not(unix), portable_system))]
mod portable;

#[cfg(all(unix, not(portable_system)))]
pub(crate) use signal_hook::iterator::{Handle as SignalHandle, Signals};

#[cfg(any(not(unix), portable_system))]
pub(crate) use self::portable::{PolledSignals as Signals, SignalHandle};

/// The signals that end a process by default when its user, its terminal or the system stops it.
#[cfg(unix)]
pub(crate) const TERMINATION: &[i32] = &[
    signal_hook::consts::SIGHUP,
    signal_hook::consts::SIGINT,
    signal_hook::consts::SIGTERM,
];

/// The signals that end a process by default when its user or the system stops it.
#[cfg(not(unix))]
pub(crate) const TERMINATION: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];
