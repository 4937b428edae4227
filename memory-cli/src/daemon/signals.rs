//! Being told to end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use memory_dream::schedule::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_default};
use signal_hook::iterator::Handle;

use super::bell::Bell;
use super::diary::Diary;

/// Whatever goes on so long after somebody asked to stop is left in the middle: every operation is whole or not at all.
const PATIENCE: Duration = Duration::from_secs(4);

/// Requests over HTTP may take so long to be answered, and a little more.
const DRAIN: Duration = Duration::from_secs(31);

/// How often it is looked whether they are.
const LOOK: Duration = Duration::from_millis(50);

/// SIGINT and SIGTERM ask to stop; the second one ends the process at once.
pub(crate) struct Signals {
    heard: signal_hook::iterator::Signals,
    ended: Receiver<()>,
    end: SyncSender<()>,
}

/// Ends the listening to signals, and all other threads, when it is dropped.
pub(crate) struct End {
    handle: Handle,
    done: SyncSender<()>,
    stop: Stop,
    bells: [Arc<Bell>; 3],
}

impl Drop for End {
    fn drop(&mut self) {
        self.stop.ask();
        for bell in &self.bells {
            bell.ring();
        }
        let _ = self.done.try_send(());
        self.handle.close();
    }
}

impl Signals {
    /// Takes the signals over from the system.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn take() -> io::Result<Self> {
        let heard = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds nobody asked before it.
            register_conditional_default(signal, Arc::clone(&asked))?;
            register(signal, Arc::clone(&asked))?;
        }
        let (end, ended) = sync_channel(1);
        Ok(Self { heard, ended, end })
    }

    /// Returns what ends [`Signals::listen`], and asks all others to stop.
    pub(crate) fn end(&self, stop: &Stop, bells: [&Arc<Bell>; 3]) -> End {
        End { handle: self.heard.handle(), done: self.end.clone(), stop: stop.clone(), bells: bells.map(Arc::clone) }
    }

    /// Waits for a signal, and asks all to stop; those who do not within a few seconds are left where they are. Where HTTP is still
    /// `serving`, what was asked gets longer.
    pub(crate) fn listen(mut self, stop: &Stop, bells: &[Arc<Bell>], diary: &Diary, serving: &AtomicBool) {
        let Some(signal) = self.heard.forever().next() else { return };
        diary.info(if signal == SIGINT { "SIGINT: stopping" } else { "SIGTERM: stopping" });
        stop.ask();
        for bell in bells {
            bell.ring();
        }
        let asked = Instant::now();
        let mut patience = PATIENCE;
        while self.ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            if serving.load(Ordering::SeqCst) && asked.elapsed() < DRAIN {
                patience = LOOK;
                continue;
            }
            diary.info("stopped in the middle of a chore; the next run goes on from there");
            diary.end();
            std::process::exit(0);
        }
    }
}
