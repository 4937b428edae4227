//! Signals on systems without a call that waits for them.

use std::borrow::Borrow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use signal_hook::SigId;
use signal_hook::flag::register_usize;
use signal_hook::low_level::unregister;

/// Interval between checks for a signal.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The received signals. Two signals within one interval count as one.
#[derive(Debug)]
pub(crate) struct PolledSignals {
    /// The last signal that was not returned yet, or 0.
    received: Arc<AtomicUsize>,
    is_closed: Arc<AtomicBool>,
    handlers: Vec<SigId>,
}

/// Ends the wait for signals.
#[derive(Debug)]
pub(crate) struct SignalHandle {
    is_closed: Arc<AtomicBool>,
}

impl PolledSignals {
    /// Installs handlers of these signals.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn new(signals: impl IntoIterator<Item = impl Borrow<i32>>) -> io::Result<Self> {
        let received = Arc::new(AtomicUsize::new(0));
        let mut installed = Self {
            received,
            is_closed: Arc::default(),
            handlers: Vec::new(),
        };
        for signal in signals {
            let signal = *signal.borrow();
            let value = usize::try_from(signal).map_err(io::Error::other)?;
            installed.handlers.push(register_usize(
                signal,
                Arc::clone(&installed.received),
                value,
            )?);
        }
        Ok(installed)
    }

    /// Returns a handle that ends the wait.
    pub(crate) fn handle(&self) -> SignalHandle {
        SignalHandle {
            is_closed: Arc::clone(&self.is_closed),
        }
    }

    /// Returns the signals as they arrive, until the handle is closed.
    pub(crate) fn forever(&mut self) -> impl Iterator<Item = i32> {
        let (received, is_closed) = (&self.received, &self.is_closed);
        let (sender, pause) = channel::<()>();
        std::iter::from_fn(move || {
            let _sender = &sender;
            while !is_closed.load(Ordering::SeqCst) {
                let signal = received.swap(0, Ordering::SeqCst);
                if signal != 0 {
                    return i32::try_from(signal).ok();
                }
                let _ = pause.recv_timeout(CHECK_INTERVAL);
            }
            None
        })
    }
}

impl Drop for PolledSignals {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            unregister(handler);
        }
    }
}

impl SignalHandle {
    /// Ends the wait for signals.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }
}
