//! Deletion of a temporary folder when a signal ends the process.

use std::io;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;

/// Maximum number of attempts to delete a folder in which other threads still create files.
const MAX_ATTEMPTS: usize = 1_000;

/// A guard for a temporary folder: until it is dropped, SIGHUP, SIGINT and SIGTERM delete the folder before they end the process.
pub(crate) struct DeleteOnSignal {
    signals: Handle,
    listening: Option<JoinHandle<()>>,
}

impl DeleteOnSignal {
    /// Starts to listen for signals.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn new(folder: PathBuf) -> io::Result<Self> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let handle = signals.handle();
        let listening = thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                delete(&folder);
                // The default action ends the process, so that its parent sees which signal it was.
                let _ = emulate_default_handler(signal);
            }
        });
        Ok(Self { signals: handle, listening: Some(listening) })
    }
}

impl Drop for DeleteOnSignal {
    /// Stops listening. After a signal, waits for the end of the process, since its other threads fail without the folder.
    fn drop(&mut self) {
        self.signals.close();
        if let Some(listening) = self.listening.take() {
            // A panic of the thread was already reported.
            let _ = listening.join();
        }
    }
}

fn delete(folder: &Path) {
    for _ in 0..MAX_ATTEMPTS {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::yield_now(),
            // A thread may have created a file in it again.
            _ if folder.exists() => {}
            _ => return,
        }
    }
}
