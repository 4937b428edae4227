//! Signals that end the process, received one after the other on a thread.

use std::thread::{self, JoinHandle};

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

/// A thread that receives signals. If it is dropped, it receives no more, and the drop waits for its end.
pub(crate) struct SignalThread {
    handle: SignalHandle,
    thread: Option<JoinHandle<()>>,
}

impl SignalThread {
    /// Starts `work`, which ends when the signals end.
    pub(crate) fn spawn(signals: Signals, work: impl FnOnce(Signals) + Send + 'static) -> Self {
        Self {
            handle: signals.handle(),
            thread: Some(thread::spawn(move || work(signals))),
        }
    }
}

impl Drop for SignalThread {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}
