//! Shutdown of a server process by signals.

use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::signals::{SignalThread, Signals};

/// Time in which further signals are part of the first: `timeout` sends one to its child and one to its group.
const SAME_SIGNAL: Duration = Duration::from_millis(300);

/// The shutdown of a server process: the first signal requests it, the second one exits at once.
pub(crate) struct ShutdownSignal {
    asked: Option<oneshot::Receiver<()>>,
    _thread: SignalThread,
}

impl ShutdownSignal {
    /// Starts to listen for SIGINT and SIGTERM, until it is dropped.
    pub(crate) fn install() -> Result<Self, Failure> {
        let signals =
            Signals::new([SIGINT, SIGTERM]).map_err(Failure::file("listen for signals"))?;
        let (ask, asked) = oneshot::channel();
        let thread = SignalThread::spawn(signals, move |mut signals| {
            let mut signals = signals.forever();
            if signals.next().is_some() {
                let first = Instant::now();
                let _ = ask.send(());
                if signals.any(|_| SAME_SIGNAL < first.elapsed()) {
                    std::process::exit(130);
                }
            }
        });
        Ok(Self {
            asked: Some(asked),
            _thread: thread,
        })
    }

    /// Returns a future that waits for the shutdown request. Only the first call returns one that waits.
    pub(crate) fn requested(&mut self) -> impl Future<Output = ()> + Send + use<> {
        let asked = self.asked.take();
        async {
            if let Some(asked) = asked {
                drop(asked.await);
            }
        }
    }
}
