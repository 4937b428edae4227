//! Signal handling of the daemon.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use memory_dream::schedule::CancellationToken;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default};
use signal_hook::iterator::Handle;

use crate::daemon::DaemonLog;
use crate::wake_signal::WakeSignal;

/// Time after a stop request until the process exits. Every operation is atomic, so none is damaged.
const STOP_TIMEOUT: Duration = Duration::from_secs(4);

/// Time after a stop request in which HTTP requests may complete: their limit and a small margin.
const HTTP_DRAIN_TIMEOUT: Duration = Duration::from_secs(31);

/// Interval between checks for the end of HTTP requests.
const DRAIN_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The handler of SIGINT and SIGTERM. The first signal requests a stop, the second one exits at once.
pub(crate) struct StopSignals {
    heard: signal_hook::iterator::Signals,
    ended: Receiver<()>,
    end: SyncSender<()>,
}

/// A guard that stops the signal handler and all other threads when dropped.
pub(crate) struct End {
    handle: Handle,
    done: SyncSender<()>,
    stop: CancellationToken,
    bells: [Arc<WakeSignal>; 3],
}

impl Drop for End {
    fn drop(&mut self) {
        self.stop.cancel();
        for bell in &self.bells {
            bell.notify();
        }
        let _ = self.done.try_send(());
        self.handle.close();
    }
}

impl StopSignals {
    /// Installs the signal handlers.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn install() -> io::Result<Self> {
        let heard = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The order matters: at the first signal, the flag is not yet set, so the default action is skipped.
            register_conditional_default(signal, Arc::clone(&asked))?;
            register(signal, Arc::clone(&asked))?;
        }
        let (end, ended) = sync_channel(1);
        Ok(Self { heard, ended, end })
    }

    /// Returns the guard that ends [`StopSignals::wait`] and requests all other threads to stop.
    pub(crate) fn stop_guard(&self, stop: &CancellationToken, bells: [&Arc<WakeSignal>; 3]) -> End {
        End { handle: self.heard.handle(), done: self.end.clone(), stop: stop.clone(), bells: bells.map(Arc::clone) }
    }

    /// Waits for a signal, requests all threads to stop, and exits the process after a few seconds.
    ///
    /// The limit is longer while HTTP is still `serving`.
    pub(crate) fn wait(mut self, stop: &CancellationToken, bells: &[Arc<WakeSignal>], diary: &DaemonLog, serving: &AtomicBool) {
        let Some(signal) = self.heard.forever().next() else { return };
        diary.info(if signal == SIGINT { "SIGINT: stopping" } else { "SIGTERM: stopping" });
        stop.cancel();
        for bell in bells {
            bell.notify();
        }
        let asked = Instant::now();
        let mut patience = STOP_TIMEOUT;
        while self.ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            if serving.load(Ordering::SeqCst) && asked.elapsed() < HTTP_DRAIN_TIMEOUT {
                patience = DRAIN_CHECK_INTERVAL;
                continue;
            }
            diary.info("stopped during a chore; the next run continues it");
            diary.record_end();
            std::process::exit(0);
        }
    }
}
