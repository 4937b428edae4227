//! Signals that end the process, received one after the other on a thread.

use std::io;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use signal_hook::low_level::emulate_default_handler;

#[cfg(any(not(unix), portable_system))]
mod portable;

#[cfg(all(unix, not(portable_system)))]
pub(crate) use signal_hook::iterator::{Handle as SignalHandle, Signals};

#[cfg(any(not(unix), portable_system))]
pub(crate) use self::portable::{PolledSignals as Signals, SignalHandle};

/// The signals that end a process by default when its user, its terminal or the system stops it.
#[cfg(unix)]
const TERMINATION: &[i32] = &[
    signal_hook::consts::SIGHUP,
    signal_hook::consts::SIGINT,
    signal_hook::consts::SIGTERM,
];

/// The signals that end a process by default when its user or the system stops it.
#[cfg(not(unix))]
const TERMINATION: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

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

/// Maximum number of attempts to delete a folder in which other threads still create files.
const MAX_ATTEMPTS: usize = 1_000;

/// A guard for a temporary folder: until it is dropped, SIGHUP, SIGINT and SIGTERM delete the folder before they end the process.
///
/// After a signal, the drop waits for the end of the process, since its other threads fail without the folder.
pub(crate) struct DeleteOnSignal(
    #[expect(dead_code, reason = "its drop ends the thread")] SignalThread,
);

impl DeleteOnSignal {
    /// Starts to listen for signals.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn new(folder: PathBuf) -> io::Result<Self> {
        let signals = Signals::new(TERMINATION)?;
        Ok(Self(SignalThread::spawn(signals, move |mut signals| {
            if let Some(signal) = signals.forever().next() {
                delete(&folder);
                // The default action ends the process, so that its parent sees which signal it was.
                let _ = emulate_default_handler(signal);
            }
        })))
    }
}

fn delete(folder: &Path) {
    for _ in 0..MAX_ATTEMPTS {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                thread::park_timeout(Duration::from_millis(1));
            }
            // A thread may have created a file in it again.
            _ if folder.exists() => {}
            _ => return,
        }
    }
}
