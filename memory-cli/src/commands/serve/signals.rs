//! Signal handling of the daemon process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default};

use crate::daemon::{DaemonLog, StopHandle};
use crate::signals::{SignalThread, Signals};

/// Time after a stop request until the process exits. Every operation is atomic, so none is damaged.
const STOP_TIMEOUT: Duration = Duration::from_secs(4);

/// Time after a stop request in which HTTP requests may complete: their limit and a small margin.
const HTTP_DRAIN_TIMEOUT: Duration = Duration::from_secs(31);

/// Interval between checks for the end of HTTP requests.
const DRAIN_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The handler of SIGINT and SIGTERM. The first signal requests a stop, the second one exits at once.
pub(super) struct StopSignals {
    heard: Signals,
}

/// A guard that ends the signal handler when it is dropped.
pub(super) struct SignalGuard {
    done: SyncSender<()>,
    _thread: SignalThread,
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        let _ = self.done.try_send(());
    }
}

impl StopSignals {
    /// Installs the signal handlers.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn install() -> io::Result<Self> {
        let heard = Signals::new([SIGINT, SIGTERM])?;
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The order matters: at the first signal, the flag is not yet set, so the default action is skipped.
            register_conditional_default(signal, Arc::clone(&asked))?;
            register(signal, Arc::clone(&asked))?;
        }
        Ok(Self { heard })
    }

    /// Stops a daemon after a signal, and exits the process if the daemon continues for a few seconds.
    ///
    /// The limit is longer while HTTP is still `serving`.
    pub(super) fn stop_daemon(
        self,
        stop: StopHandle,
        diary: Arc<DaemonLog>,
        serving: Arc<AtomicBool>,
    ) -> SignalGuard {
        let (done, ended) = sync_channel(1);
        let thread = SignalThread::spawn(self.heard, move |heard| {
            wait(heard, &stop, &diary, &serving, &ended);
        });
        SignalGuard {
            done,
            _thread: thread,
        }
    }
}

/// Stops the daemon after a signal.
fn wait(
    mut heard: Signals,
    stop: &StopHandle,
    diary: &DaemonLog,
    serving: &AtomicBool,
    ended: &Receiver<()>,
) {
    let Some(signal) = heard.forever().next() else {
        return;
    };
    diary.info(if signal == SIGINT {
        "SIGINT: stopping"
    } else {
        "SIGTERM: stopping"
    });
    stop.stop();
    let asked = Instant::now();
    let mut patience = STOP_TIMEOUT;
    while ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
        if serving.load(Ordering::SeqCst) && asked.elapsed() < HTTP_DRAIN_TIMEOUT {
            patience = DRAIN_CHECK_INTERVAL;
            continue;
        }
        diary.info("stopped during a chore; the next run continues it");
        diary.record_end();
        std::process::exit(0);
    }
}
