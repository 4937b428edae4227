//! The connection of a replica with its shared log.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use memory_core::{Code, StoreError};

use crate::shared_log::{LogIdentity, SharedLog};

/// Minimum time between two reads that fetch operations without a hint, if hints arrive.
const LISTENING_INTERVAL: Duration = Duration::from_secs(2);

/// Errors after which a read continues with what the replica has.
const TEMPORARY: [Code; 5] = [
    Code::DatabaseUnreachable,
    Code::DatabaseTimeout,
    Code::Locked,
    Code::DiskFull,
    Code::Io,
];

/// The connection of a replica with its log.
#[derive(Debug)]
pub(crate) struct LogConnection {
    log: Arc<dyn SharedLog>,
    /// Minimum time between two reads that fetch operations.
    interval: Duration,
    identity: OnceLock<LogIdentity>,
    last: Mutex<LastPull>,
    news: Arc<NewsSignal>,
}

/// The last attempt of a read to fetch operations.
#[derive(Debug, Default)]
struct LastPull {
    at: Option<Instant>,
    /// The reason why it failed, if it did.
    trouble: Option<(Code, String)>,
}

impl LogConnection {
    /// Returns the connection with a log. Reads fetch operations at most once in each `interval`.
    #[cfg(any(test, feature = "postgres"))]
    pub(crate) fn new(log: Arc<dyn SharedLog>, interval: Duration) -> Self {
        Self {
            log,
            interval,
            identity: OnceLock::new(),
            last: Mutex::default(),
            news: Arc::default(),
        }
    }

    /// Returns the log.
    pub(crate) fn log(&self) -> &dyn SharedLog {
        self.log.as_ref()
    }

    /// Returns the identity of the log, which is asked only once.
    ///
    /// # Errors
    /// If the database has to be asked, and cannot be reached or rejects the token of the node.
    pub(crate) fn identity(&self) -> Result<&LogIdentity, StoreError> {
        if let Some(known) = self.known_identity() {
            return Ok(known);
        }
        let identity = self.log.identity()?;
        Ok(self.identity.get_or_init(|| identity))
    }

    /// Returns the identity of the log if the database was asked.
    pub(crate) fn known_identity(&self) -> Option<&LogIdentity> {
        self.identity.get()
    }

    /// Returns whether hints arrive.
    pub(crate) fn is_listening(&self) -> bool {
        self.news.is_listening()
    }

    /// Returns whether a read must fetch operations.
    pub(crate) fn is_due(&self) -> bool {
        let interval = if self.news.is_listening() {
            self.interval.max(LISTENING_INTERVAL)
        } else {
            self.interval
        };
        self.news.take() || self.last().at.is_none_or(|at| interval <= at.elapsed())
    }

    /// Records an attempt of a read to fetch operations, and why it failed, if it did.
    pub(crate) fn record_pull(&self, trouble: Option<(Code, String)>) {
        *self.last() = LastPull {
            at: Some(Instant::now()),
            trouble,
        };
    }

    /// Returns the reason why the last attempt to fetch operations failed, if it did.
    pub(crate) fn trouble(&self) -> Option<(Code, String)> {
        self.last().trouble.clone()
    }

    /// Listens for operations of other nodes, and calls `on_news` after each hint.
    pub(crate) fn listen(&self, on_news: Box<dyn Fn() + Send + Sync>) {
        let _ = self.news.on_news.set(on_news);
        self.log.listen(Arc::clone(&self.news));
    }

    fn last(&self) -> MutexGuard<'_, LastPull> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a read continues with what the replica has.
pub(crate) fn is_temporary(error: &StoreError) -> bool {
    TEMPORARY.contains(&error.code())
}

/// Returns whether the database did not respond, so that the log may or may not have changed.
pub(crate) fn is_unreachable(error: &StoreError) -> bool {
    matches!(
        error.code(),
        Code::DatabaseUnreachable | Code::DatabaseTimeout
    )
}

/// Checks that a write may be planned again after changes of other nodes.
///
/// # Errors
/// [`StoreError::Locked`] if it `begun` the time `patience` ago or earlier.
pub(crate) fn check_patience(begun: Instant, patience: Duration) -> Result<(), StoreError> {
    if begun.elapsed() < patience {
        return Ok(());
    }
    Err(StoreError::Locked {
        home: "the database".to_owned(),
        seconds: patience.as_secs(),
        holder: None,
    })
}

/// The hint that the log has new operations. Hints may be lost, so nodes also fetch operations without one.
#[derive(Default)]
pub(crate) struct NewsSignal {
    is_listening: AtomicBool,
    has_news: AtomicBool,
    on_news: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl fmt::Debug for NewsSignal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NewsSignal")
            .field("is_listening", &self.is_listening)
            .finish_non_exhaustive()
    }
}

impl NewsSignal {
    /// Records whether hints arrive.
    pub(crate) fn set_listening(&self, is_listening: bool) {
        self.is_listening.store(is_listening, Ordering::SeqCst);
    }

    /// Returns whether hints arrive.
    pub(crate) fn is_listening(&self) -> bool {
        self.is_listening.load(Ordering::SeqCst)
    }

    /// Records a hint.
    pub(crate) fn notify(&self) {
        self.has_news.store(true, Ordering::SeqCst);
        if let Some(on_news) = self.on_news.get() {
            on_news();
        }
    }

    /// Returns whether there was a hint since the last call.
    pub(crate) fn take(&self) -> bool {
        self.has_news.swap(false, Ordering::SeqCst)
    }
}
